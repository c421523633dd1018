//! Faults to diagnostics: what a reader of Rust, WGSL, Python or C may have meant.
//!
//! The grammar knows the token that fits nowhere and the kinds that would have fitted. From these and the
//! tokens around, each area recognises its own slips; what nobody recognises is an unexpected token.

mod declaration;
mod operator;
mod statement;

use super::{
    parse::{
        DECLARATIONS, EXPRESSION, Grammar, RESERVED, STATEMENT, TYPE, fault::Fault,
        operator::INFIX, stmt::ASSIGNMENTS,
    },
    token::{Token, TokenSet},
};
use crate::{
    diagnostic::{Diagnostic, catalog::syntax as say},
    span::Span,
};

/// The complaint about a fault; none if another complaint covers it.
pub(super) fn complaint(grammar: Grammar<'_>, fault: Fault) -> Option<Diagnostic> {
    if let Some(diagnostic) = fault.said {
        return Some(*diagnostic);
    }
    let scene = Scene {
        grammar,
        at: fault.at,
        expected: fault.expected,
    };
    if scene.token(0) == Some(Token::Hole) || scene.token(-1) == Some(Token::Hole) {
        return None;
    }
    let known = scene
        .text_elsewhere()
        .or_else(|| scene.reserved())
        .or_else(|| operator::slip(&scene))
        .or_else(|| declaration::slip(&scene))
        .or_else(|| statement::slip(&scene))
        .or_else(|| scene.keyword_as_name())
        .or_else(|| scene.missing_comma());
    Some(known.unwrap_or_else(|| {
        say::unexpected_token(&expectation(scene.expected), scene.text(0), scene.place(0))
    }))
}

/// A fault and what stands around it. Indices are relative to the token that fits nowhere.
struct Scene<'a> {
    grammar: Grammar<'a>,
    at: usize,
    expected: TokenSet,
}

impl Scene<'_> {
    fn index(&self, offset: isize) -> Option<usize> {
        self.at.checked_add_signed(offset)
    }

    fn token(&self, offset: isize) -> Option<Token> {
        let tokens = self.grammar.script.tokens;
        self.index(offset)
            .and_then(|index| tokens.get(index))
            .copied()
    }

    /// Whether the token is of these kinds.
    fn is(&self, offset: isize, kinds: &[Token]) -> bool {
        self.token(offset)
            .is_some_and(|token| kinds.contains(&token))
    }

    fn text(&self, offset: isize) -> &str {
        self.index(offset)
            .map_or("", |index| self.grammar.text(index))
    }

    /// Whether the token is a name with one of these spellings.
    fn word(&self, offset: isize, words: &[&str]) -> bool {
        self.token(offset) == Some(Token::Ident) && words.contains(&self.text(offset))
    }

    fn place(&self, offset: isize) -> Span {
        self.grammar.place(self.index(offset).unwrap_or(0))
    }

    /// Whether nothing stands between a token and the next.
    fn glued(&self, offset: isize) -> bool {
        self.place(offset).end == self.place(offset + 1).start
    }

    /// Whether the token is the first on its line, or there is none.
    fn first(&self, offset: isize) -> bool {
        let marks = self.grammar.script.marks;
        let mark = self.index(offset).and_then(|index| marks.get(index));
        mark.is_none_or(|mark| mark.first)
    }

    /// Whether exactly this one kind would have fitted.
    fn wants_only(&self, kind: Token) -> bool {
        self.expected == TokenSet::of(&[kind])
    }

    /// The last token before the fault that is one of `kinds`, with nothing of `barriers` between; its
    /// offset. Looks no further than a statement is long.
    fn back_to(&self, kinds: &[Token], barriers: &[Token]) -> Option<isize> {
        (-64..0)
            .rev()
            .take_while(|offset| !self.is(*offset, barriers))
            .find(|offset| self.is(*offset, kinds))
    }

    /// A text that is no message.
    fn text_elsewhere(&self) -> Option<Diagnostic> {
        let text = self.token(0) == Some(Token::Text);
        text.then(|| say::string_literal(self.place(0)))
    }

    fn reserved(&self) -> Option<Diagnostic> {
        let word = self.token(0).filter(|token| RESERVED.has(*token))?;
        Some(say::reserved_word(word.text()?, self.place(0)))
    }

    fn keyword_as_name(&self) -> Option<Diagnostic> {
        let keyword = self.token(0).filter(|token| token.is_keyword())?;
        let name = self.expected.has(Token::Ident) && !self.expected.has(Token::Int);
        name.then(|| say::keyword_as_name(keyword.text().unwrap_or_default(), self.place(0)))
    }

    fn missing_comma(&self) -> Option<Diagnostic> {
        let next = self.token(0)?;
        let wanted = self.expected.has(Token::Comma) && !self.expected.has(Token::FatArrow);
        let end = self.place(-1).end as usize;
        (wanted && EXPRESSION.has(next))
            .then(|| say::missing_comma(self.text(0), self.place(0), Span::new(end, end)))
    }
}

/// What was expected, in words: `an expression`, `` `,` or `)` ``.
fn expectation(set: TokenSet) -> String {
    let after_operand = TokenSet::of(&[Token::LeftBracket, Token::Dot]).or(INFIX);
    let mut words: Vec<String> = Vec::new();
    let mut rest = set;
    if set.covers(DECLARATIONS) {
        return "a declaration".into();
    }
    if set.covers(STATEMENT) {
        if set.covers(after_operand) {
            words.push("an operator".into());
        }
        words.push("a statement".into());
        rest = TokenSet::of(&[Token::RightBrace]);
    } else if set.covers(EXPRESSION) {
        words.push("an expression".into());
        rest = rest.without(EXPRESSION);
    } else if set.covers(after_operand) {
        rest = rest.without(after_operand);
        if rest.is_empty() {
            words.push("an operator".into());
        }
    } else if set.covers(TYPE) {
        words.push("a type".into());
        rest = rest.without(TYPE);
    } else if set.has(Token::Ident) {
        words.push("a name".into());
    }
    if rest.covers(ASSIGNMENTS) {
        let others = rest.without(ASSIGNMENTS);
        rest = others.or(TokenSet::of(&[Token::Assign]));
    }
    words.extend(rest.texts().map(|text| format!("`{text}`")));
    match words.as_slice() {
        [] => "something else".into(),
        [one] => one.clone(),
        [init @ .., last] => format!("{} or {last}", init.join(", ")),
    }
}
