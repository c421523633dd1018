//! Error recovery of the grammar: it continues with the next declaration, statement or arm, so that one
//! mistake gives one message and several mistakes give several.

use super::{
    Grammar, MAX_DIAGNOSTICS, NAMES, RESERVED, Reader, Rule, STATEMENT_WORDS, fault::Fault, here,
};
use crate::{
    span::Span,
    syntax::token::{Token, TokenSet},
};
use chumsky::prelude::*;

/// What comes in rows that recover one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// Declarations of the file.
    Declaration,
    /// Statements of a block.
    Statement,
    /// Arms of a `match`.
    Arm,
    /// What stands in a test.
    TestPart,
}

impl<'a> Grammar<'a> {
    /// `rule`, or after a mistake a hole that reaches to where the next of the row begins.
    pub(super) fn recovering<O: 'a>(
        self,
        row: Row,
        first: TokenSet,
        rule: Rule<'a, O>,
        hole: fn(Span) -> O,
    ) -> Rule<'a, O> {
        custom(move |inp: &mut Reader<'a, '_>| {
            let from = here(inp);
            if inp.peek().is_none_or(Token::closes) {
                return Err(Fault::unexpected(from, first));
            }
            match inp.parse(&rule) {
                Ok(value) => Ok(value),
                Err(fault) => {
                    let to = self.next_of(row, from, fault.at);
                    self.note(inp, fault);
                    while here(inp) < to {
                        inp.skip();
                    }
                    Ok(hole(self.span(from, to)))
                }
            }
        })
        .boxed()
    }

    /// What stands between a keyword and its block. After a mistake nothing, and the block is read.
    pub(super) fn header<O: 'a>(self, rule: Rule<'a, O>) -> Rule<'a, Option<O>> {
        let rule = rule.then_ignore(self.token(Token::LeftBrace).rewind());
        custom(move |inp: &mut Reader<'a, '_>| {
            let from = here(inp);
            let fault = match inp.parse(&rule) {
                Ok(value) => return Ok(Some(value)),
                Err(fault) => fault,
            };
            let Some(brace) = self.next_brace(from, fault.at) else {
                return Err(fault);
            };
            self.note(inp, fault);
            while here(inp) < brace {
                inp.skip();
            }
            Ok(None)
        })
        .boxed()
    }

    /// The fault of the token that comes next, with what else would have fitted there. A rule fails where
    /// it began as far as chumsky knows, and the farthest fault wins; so it must begin there.
    pub(super) fn fail(self, inp: &mut Reader<'a, '_>, fault: Fault) -> Fault {
        let failing = custom(move |_: &mut Reader<'a, '_>| Err::<(), _>(fault.clone()));
        match inp.parse(failing) {
            Ok(()) => Fault::unexpected(here(inp), TokenSet::default()),
            Err(fault) => fault,
        }
    }

    /// Notes a mistake and goes on.
    pub(super) fn note(self, inp: &mut Reader<'a, '_>, fault: Fault) {
        let noted = &self.script.noted;
        noted.set(noted.get() + 1);
        if noted.get() <= MAX_DIAGNOSTICS + 1 {
            inp.emit(fault);
        }
    }

    /// The index at which the next of the row begins, if the one from `from` is broken at `at`.
    fn next_of(self, row: Row, from: usize, at: usize) -> usize {
        let tokens = self.script.tokens;
        let mut depth = 0usize;
        let mut index = from;
        while let Some(&token) = tokens.get(index) {
            if token.opens() {
                depth += 1;
            } else if token.closes() {
                if depth == 0 {
                    return index;
                }
                depth -= 1;
                if depth == 0 && token == Token::RightBrace && index >= at && self.ended(index + 1)
                {
                    return index + 1;
                }
            } else if depth == 0 && index > from && index >= at && self.begins(row, index, at) {
                return index;
            }
            index += 1;
        }
        index
    }

    /// Whether nothing at the index goes on with what ended in a brace before it.
    fn ended(self, index: usize) -> bool {
        let first = self.script.marks.get(index).is_none_or(|mark| mark.first);
        match self.script.tokens.get(index) {
            None => true,
            Some(Token::Else) => false,
            Some(token) => first || token.closes(),
        }
    }

    /// Whether the token looks like the start of the next of a row, one of which is broken at `at`. The
    /// broken token itself is a start only at the start of a line: in `let state = 3` it is a bad name.
    fn begins(self, row: Row, index: usize, at: usize) -> bool {
        let token = self.script.tokens[index];
        let first = self.script.marks[index].first;
        let clear = first || index > at;
        match row {
            Row::Declaration => {
                let ambiguous = NAMES.or(RESERVED).has(token) || token == Token::Hole;
                super::DECLARATIONS.has(token) && !ambiguous && clear
                    || first && token != Token::Ident && ambiguous
                    || clear && self.begins_test(index)
            }
            Row::Statement => {
                token == Token::Semicolon
                    || STATEMENT_WORDS.has(token) && clear
                    || super::DECLARATIONS.without(NAMES).has(token) && clear
                    || first && super::STATEMENT.has(token)
            }
            Row::Arm => token == Token::Comma || first && super::EXPRESSION.has(token),
            Row::TestPart => token == Token::Semicolon || first || clear && self.begins_part(index),
        }
    }

    /// The brace that ends the header from `from`, which is broken at `at`, if the header has one.
    fn next_brace(self, from: usize, at: usize) -> Option<usize> {
        let mut depth = 0usize;
        for index in from..self.script.tokens.len() {
            let token = self.script.tokens[index];
            if depth == 0 {
                if token == Token::LeftBrace && index >= at {
                    return Some(index);
                }
                let parts = matches!(token, Token::Comma | Token::FatArrow);
                let next = parts || self.begins(Row::Statement, index, at);
                if token.closes() || index > at && next {
                    return None;
                }
            }
            if token.opens() {
                depth += 1;
            } else if token.closes() {
                depth -= 1;
            }
        }
        None
    }
}
