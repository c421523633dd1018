//! Tests of a model: `test "name" { … }`. Its words are names everywhere else.

use super::{Grammar, Reader, Rule, fault::Fault, here, recover::Row};
use crate::{
    diagnostic::catalog::test as say,
    syntax::{
        ast::{
            Expr, ItemKind, Name, Test, TestPart, TestPartKind, TestRelation, TestSource,
            ToleranceUnit,
        },
        lex::content,
        token::{Token, TokenSet},
    },
};
use chumsky::prelude::*;

/// The keywords that begin a part of a test; `seed` and `expect` are names elsewhere.
pub(in crate::syntax) const PARTS: TokenSet = TokenSet::of(&[
    Token::Agents,
    Token::Steps,
    Token::World,
    Token::Param,
    Token::Data,
    Token::Input,
]);

impl<'a> Grammar<'a> {
    /// Does a test begin at the index? Also one whose name is missing, or stands without its marks.
    pub(super) fn begins_test(self, index: usize) -> bool {
        let next = |ahead: usize| self.script.tokens.get(index + ahead);
        self.is_word(index, "test")
            && match next(1) {
                Some(Token::Text | Token::LeftBrace) => true,
                Some(Token::Ident) => next(2) == Some(&Token::LeftBrace),
                _ => false,
            }
    }

    /// Does a part of a test begin at the index?
    pub(super) fn begins_part(self, index: usize) -> bool {
        let token = self.script.tokens.get(index);
        token.is_some_and(|token| PARTS.has(*token))
            || self.is_word(index, "seed")
            || self.is_word(index, "expect")
    }

    fn is_word(self, index: usize, word: &str) -> bool {
        self.script.tokens.get(index) == Some(&Token::Ident) && self.text(index) == word
    }

    /// `test "name" { … }`
    pub(super) fn test(self, expr: Rule<'a, Expr>) -> Rule<'a, ItemKind> {
        let parts = self.parts(expr);
        custom(move |inp: &mut Reader<'a, '_>| {
            inp.skip();
            let name = self.test_name(inp);
            let open = here(inp);
            let parts = inp.parse(&parts)?;
            let body = self.span(open, here(inp));
            Ok(match name {
                Some(name) => ItemKind::Test(Test { name, parts, body }),
                None => ItemKind::Error,
            })
        })
        .boxed()
    }

    /// The name of a test; after a mistake none, and what stands there is read.
    fn test_name(self, inp: &mut Reader<'a, '_>) -> Option<Name> {
        let at = here(inp);
        let name = self.text_at(at);
        let named = name
            .as_ref()
            .is_some_and(|name| !name.text.trim().is_empty());
        if !named {
            let word = (inp.peek() == Some(Token::Ident)).then(|| self.text(at));
            let place = match inp.peek() {
                Some(Token::LeftBrace) => self.place(at - 1),
                _ => self.place(at),
            };
            self.note(inp, Fault::said(at, say::test_without_name(word, place)));
        }
        if inp.peek() != Some(Token::LeftBrace) {
            inp.skip();
        }
        name.filter(|_| named)
    }

    /// The text at an index, as it reads.
    fn text_at(self, index: usize) -> Option<Name> {
        let text = self.script.tokens.get(index) == Some(&Token::Text);
        text.then(|| Name {
            text: content(self.text(index)),
            span: self.place(index),
        })
    }

    fn parts(self, expr: Rule<'a, Expr>) -> Rule<'a, Vec<TestPart>> {
        let hole = |span| TestPart {
            kind: TestPartKind::Error,
            span,
        };
        let stray = self.token(Token::Semicolon).repeated();
        let parts = self
            .recovering(Row::TestPart, PARTS, self.part(expr), hole)
            .then_ignore(stray.clone())
            .repeated()
            .collect();
        stray
            .ignore_then(parts)
            .delimited_by(self.token(Token::LeftBrace), self.token(Token::RightBrace))
            .boxed()
    }

    /// One part; its first word says which.
    fn part(self, expr: Rule<'a, Expr>) -> Rule<'a, TestPart> {
        let param = self.given(expr.clone(), false);
        let source = self.given(expr.clone(), true);
        let relation = self.relation(expr.clone());
        custom(move |inp: &mut Reader<'a, '_>| {
            let from = here(inp);
            let first = inp.peek();
            if !self.begins_part(from) {
                let diagnostic = say::not_in_a_test(self.text(from), self.place(from));
                return Err(Fault::said(from, diagnostic));
            }
            inp.skip();
            let kind = match first {
                Some(Token::Agents) => TestPartKind::Agents(inp.parse(&expr)?),
                Some(Token::Steps) => TestPartKind::Steps(inp.parse(&expr)?),
                Some(Token::World) => TestPartKind::World(inp.parse(&expr)?),
                Some(Token::Param) => match inp.parse(&param)? {
                    (name, TestSource::Value(value)) => TestPartKind::Param { name, value },
                    (_, TestSource::File(_)) => TestPartKind::Error,
                },
                Some(Token::Data) => {
                    let (name, source) = inp.parse(&source)?;
                    TestPartKind::Data { name, source }
                }
                Some(Token::Input) => {
                    let (name, source) = inp.parse(&source)?;
                    TestPartKind::Input { name, source }
                }
                _ if self.text(from) == "seed" => TestPartKind::Seed(inp.parse(&expr)?),
                _ => {
                    let value = inp.parse(&expr)?;
                    let relation = inp.parse(&relation)?;
                    TestPartKind::Expect { value, relation }
                }
            };
            let span = self.span(from, here(inp));
            Ok(TestPart { kind, span })
        })
        .boxed()
    }

    /// `name = e`, and of what may be read from a file `name from "path"`.
    fn given(self, expr: Rule<'a, Expr>, files: bool) -> Rule<'a, (Name, TestSource)> {
        let value = self.token(Token::Assign).ignore_then(expr);
        let value = value.map(TestSource::Value).boxed();
        let source = custom(move |inp: &mut Reader<'a, '_>| {
            let at = here(inp);
            if !files || !self.is_word(at, "from") {
                return inp.parse(&value);
            }
            inp.skip();
            let Some(path) = self.text_at(at + 1) else {
                let diagnostic = say::file_without_path(self.place(at + 1));
                return Err(Fault::said(at + 1, diagnostic));
            };
            inp.skip();
            Ok(TestSource::File(path))
        });
        self.name().then(source).boxed()
    }

    /// `~ e within t`, `in a..b`, or nothing.
    fn relation(self, expr: Rule<'a, Expr>) -> Rule<'a, Option<TestRelation>> {
        let range = self.range(expr.clone()).map(TestRelation::In).boxed();
        let term = self.pattern(expr.clone());
        let near = custom(move |inp: &mut Reader<'a, '_>| {
            let value = inp.parse(&expr)?;
            let at = here(inp);
            if !self.is_word(at, "within") {
                let diagnostic = say::near_without_tolerance(value.span);
                return Err(self.fail(inp, Fault::said(at, diagnostic)));
            }
            inp.skip();
            let tolerance = inp.parse(&term)?;
            let unit = match inp.peek() {
                Some(Token::Percent) => ToleranceUnit::Percent,
                Some(Token::Ident) if self.text(here(inp)) == "se" => ToleranceUnit::StandardErrors,
                _ => ToleranceUnit::Absolute,
            };
            if unit != ToleranceUnit::Absolute {
                inp.skip();
            }
            Ok(TestRelation::Near {
                value,
                tolerance,
                unit,
            })
        })
        .boxed();
        custom(move |inp: &mut Reader<'a, '_>| {
            let at = here(inp);
            match inp.peek() {
                Some(Token::Tilde) => {
                    inp.skip();
                    inp.parse(&near).map(Some)
                }
                Some(Token::In) => {
                    inp.skip();
                    inp.parse(&range).map(Some)
                }
                Some(Token::Ident) if self.text(at) == "within" => {
                    let diagnostic = say::within_without_near(self.place(at));
                    Err(self.fail(inp, Fault::said(at, diagnostic)))
                }
                _ => Ok(None),
            }
        })
        .boxed()
    }
}
