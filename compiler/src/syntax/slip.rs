//! Faults to diagnostics: what a reader of Rust, WGSL, Python or C may have meant.
//!
//! The grammar knows the token that fits nowhere and the kinds that would have fitted. From these and the
//! tokens around, each area recognises its own slips; what nobody recognises is an unexpected token.

mod block;
mod call;
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
    diagnostic::{
        Diagnostic,
        catalog::{names, syntax as say},
    },
    foreign::{self, Meant},
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
        .or_else(|| call::slip(&scene))
        .or_else(|| operator::slip(&scene))
        .or_else(|| block::brackets(&scene))
        .or_else(|| declaration::slip(&scene))
        .or_else(|| statement::slip(&scene))
        .or_else(|| scene.keyword_as_name())
        .or_else(|| scene.missing_comma());
    Some(known.unwrap_or_else(|| {
        say::unexpected_token(&expectation(scene.expected), scene.text(0), scene.place(0))
    }))
}

/// How many tokens a message looks at in each direction.
const REACH: isize = 400;

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

    /// The same from another token.
    fn at(&self, offset: isize) -> Scene<'_> {
        Scene {
            grammar: self.grammar,
            at: self.index(offset).unwrap_or(0),
            expected: self.expected,
        }
    }

    /// The place from one token to another, both included.
    fn span(&self, from: isize, to: isize) -> Span {
        self.place(from).to(self.place(to))
    }

    /// The text of that place.
    fn between(&self, from: isize, to: isize) -> &str {
        let source = self.grammar.script.source;
        source.get(self.span(from, to).range()).unwrap_or_default()
    }

    /// How far a token stands from the start of its line, in characters.
    fn column(&self, offset: isize) -> usize {
        let before = &self.grammar.script.source[..self.place(offset).start as usize];
        let line = before.rfind('\n').map_or(before, |at| &before[at + 1..]);
        line.chars().take_while(|c| c.is_whitespace()).count()
    }

    /// The bracket that closes the one at an offset.
    fn closer(&self, open: isize) -> Option<isize> {
        let mut depth = 0usize;
        for at in open..open + REACH {
            let token = self.token(at)?;
            if token.opens() {
                depth += 1;
            } else if token.closes() {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
        }
        None
    }

    /// The innermost bracket that is open at an offset.
    fn opener(&self, offset: isize) -> Option<isize> {
        let mut depth = 0usize;
        for at in (offset - REACH..offset).rev() {
            let token = self.token(at)?;
            if token.closes() {
                depth += 1;
            } else if token.opens() {
                if depth == 0 {
                    return Some(at);
                }
                depth -= 1;
            }
        }
        None
    }

    /// The first token of the name, call or index that ends at an offset: `a.b[0](c)`.
    fn chain_start(&self, last: isize) -> isize {
        let mut at = last;
        for _ in 0..REACH {
            if self.token(at).is_some_and(Token::closes)
                && let Some(open) = self.opener(at)
            {
                at = open;
                let called = self.is(at - 1, &[Token::Ident])
                    || self.token(at - 1).is_some_and(Token::closes);
                if called && !self.first(at) {
                    at -= 1;
                    continue;
                }
            }
            if !self.is(at - 1, &[Token::Dot]) {
                break;
            }
            at -= 2;
        }
        at
    }

    /// The last token of the name, call or index that begins at an offset.
    fn chain_end(&self, first: isize) -> isize {
        let mut at = first;
        if self.token(at).is_some_and(Token::opens) {
            at = self.closer(at).unwrap_or(at);
        }
        for _ in 0..REACH {
            if self.is(at + 1, &[Token::LeftParen, Token::LeftBracket])
                && let Some(close) = self.closer(at + 1)
            {
                at = close;
            } else if self.is(at + 1, &[Token::Dot]) && self.is(at + 2, &[Token::Ident]) {
                at += 2;
            } else {
                break;
            }
        }
        at
    }

    /// Whether a token stands between two values, so that neither goes on over it.
    fn parts(&self, offset: isize) -> bool {
        self.token(offset).is_none_or(|token| {
            let word = token.is_keyword()
                && !EXPRESSION.has(token)
                && !matches!(token, Token::True | Token::False);
            let sign = matches!(
                token,
                Token::Comma
                    | Token::Semicolon
                    | Token::Colon
                    | Token::FatArrow
                    | Token::DotDot
                    | Token::LeftBrace
            );
            word || sign || ASSIGNMENTS.has(token) || token == Token::If
        })
    }

    /// The first token of the value that ends at an offset.
    fn value_start(&self, last: isize) -> isize {
        let mut at = last;
        for _ in 0..REACH {
            if self.token(at).is_some_and(Token::closes)
                && let Some(open) = self.opener(at)
            {
                at = open;
            }
            let begins = self.first(at)
                && !INFIX.has(self.token(at).unwrap_or(Token::Hole))
                && !INFIX.has(self.token(at - 1).unwrap_or(Token::Hole));
            if begins || self.parts(at - 1) || self.token(at - 1).is_some_and(Token::opens) {
                break;
            }
            at -= 1;
        }
        at
    }

    /// The last token of the value that begins at an offset.
    fn value_end(&self, first: isize) -> isize {
        let mut at = first;
        for _ in 0..REACH {
            if self.token(at).is_some_and(Token::opens)
                && let Some(close) = self.closer(at)
            {
                at = close;
            }
            let next = self.token(at + 1);
            let ends = self.first(at + 1) && !next.is_some_and(|token| INFIX.has(token));
            if ends || self.parts(at + 1) || next.is_some_and(Token::closes) {
                break;
            }
            at += 1;
        }
        at
    }

    /// `a if c else b` around the `if` at an offset, as it is written here.
    fn choice(&self, word: isize) -> Option<(Span, String)> {
        let mut other = word + 1;
        while !self.is(other, &[Token::Else]) {
            if self.parts(other) || other > word + REACH {
                return None;
            }
            other = match self.token(other)?.opens() {
                true => self.closer(other)? + 1,
                false => other + 1,
            };
        }
        let (from, to) = (self.value_start(word - 1), self.value_end(other + 1));
        let text = format!(
            "if {} {{ {} }} else {{ {} }}",
            self.between(word + 1, other - 1),
            self.between(from, word - 1),
            self.between(other + 1, to)
        );
        Some((self.span(from, to), text))
    }

    /// Whether the innermost block is the body of a function.
    fn in_function(&self) -> bool {
        let Some(open) = self.opener(0) else {
            return false;
        };
        let barriers = [Token::LeftBrace, Token::RightBrace, Token::Semicolon];
        self.is(open, &[Token::LeftBrace])
            && self.at(open).back_to(&[Token::Fn], &barriers).is_some()
    }

    /// A text that is no message.
    fn text_elsewhere(&self) -> Option<Diagnostic> {
        if self.token(0) != Some(Token::Text) {
            return None;
        }
        let name = if self.is(-2, &[Token::Not]) { -3 } else { -2 };
        let printing = foreign::function(self.text(name)) == Some(Meant::Say(foreign::PRINTING));
        if printing && self.is(-1, &[Token::LeftParen]) {
            return Some(names::unknown_function(
                self.text(name),
                self.place(name),
                None,
            ));
        }
        let between = self.expected.covers(DECLARATIONS) || self.expected.covers(STATEMENT);
        let (comment, index) = (between && self.first(0), self.is(-1, &[Token::LeftBracket]));
        Some(say::string_literal(comment, index, self.place(0)))
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
