//! Faults to diagnostics: what a reader of Rust, WGSL, Python or C may have meant.

use super::{
    parse::{
        DECLARATIONS, EXPRESSION, Grammar, STATEMENT, TYPE, fault::Fault, operator::INFIX,
        stmt::ASSIGNMENTS,
    },
    token::{Token, TokenSet},
};
use crate::diagnostic::{Diagnostic, catalog::syntax as say};

/// The complaint about a fault; none if another complaint covers it.
pub(super) fn complaint(grammar: Grammar<'_>, fault: Fault) -> Option<Diagnostic> {
    if let Some(diagnostic) = fault.said {
        return Some(*diagnostic);
    }
    let found = grammar.script.tokens.get(fault.at).copied();
    if found == Some(Token::Hole) {
        return None;
    }
    let text = grammar.text(fault.at);
    let expected = expectation(fault.expected);
    Some(say::unexpected_token(
        &expected,
        text,
        grammar.place(fault.at),
    ))
}

/// What was expected, in words: `an expression`, `` `,` or `)` ``.
fn expectation(set: TokenSet) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut rest = set;
    if set.covers(DECLARATIONS) {
        return "a declaration".into();
    }
    if set.covers(STATEMENT) {
        words.push("a statement".into());
        rest = TokenSet::of(&[Token::RightBrace]);
    } else if set.covers(EXPRESSION) {
        words.push("an expression".into());
        rest = rest.without(EXPRESSION);
    } else if set.covers(TYPE) {
        words.push("a type".into());
        rest = rest.without(TYPE);
    } else if set.has(Token::Ident) {
        words.push("a name".into());
    }
    let after_operand = TokenSet::of(&[Token::LeftBracket, Token::Dot]).or(INFIX);
    if rest.covers(after_operand) {
        rest = rest.without(after_operand);
        if rest.is_empty() {
            words.push("an operator".into());
        }
    }
    if rest.covers(ASSIGNMENTS) {
        rest = rest.without(ASSIGNMENTS).or(TokenSet::of(&[Token::Assign]));
    }
    words.extend(rest.texts().map(|text| format!("`{text}`")));
    match words.as_slice() {
        [] => "something else".into(),
        [one] => one.clone(),
        [init @ .., last] => format!("{} or {last}", init.join(", ")),
    }
}
