//! Declarations and the file as a whole.

use super::{
    DECLARATIONS, Grammar, OF_WORLD, RESERVED, Reader, Rule, fault::Fault, here, recover::Row,
};
use crate::{
    diagnostic::catalog::{syntax as say, world},
    span::Span,
    syntax::{
        ast::{Block, Expr, Function, InputSource, Item, ItemKind, Type},
        token::{Token, TokenSet},
    },
};
use chumsky::prelude::*;

impl<'a> Grammar<'a> {
    /// All declarations of the file.
    pub(in crate::syntax) fn items(self) -> Rule<'a, Vec<Item>> {
        let hole = |span| Item {
            doc: String::new(),
            span,
            of_world: false,
            kind: ItemKind::Error,
        };
        let semicolons = self.token(Token::Semicolon).repeated();
        let items = self
            .recovering(Row::Declaration, DECLARATIONS, self.item(), hole)
            .then_ignore(semicolons.clone())
            .repeated()
            .collect();
        semicolons.ignore_then(items).boxed()
    }

    /// One declaration; its first word says which.
    fn item(self) -> Rule<'a, Item> {
        let expr = self.expr();
        let ty = self.ty(expr.clone());
        let block = self.block(expr.clone(), ty.clone());
        let count = self.count(expr.clone());
        let valued = self.valued(expr.clone(), ty.clone());
        let param = self.param(expr.clone(), ty.clone());
        let series = self.series(expr.clone(), ty.clone());
        let input = self.input(expr.clone(), ty.clone());
        let shape = self.shape(ty.clone());
        let function = self.function(ty, block.clone());
        let phase = self.phase(block);
        let test = self.test(expr);
        custom(move |inp: &mut Reader<'a, '_>| {
            let from = here(inp);
            let of_world = self.is_lifted(from)?;
            if of_world {
                inp.skip();
            }
            let rule = match inp.peek() {
                Some(Token::Agents | Token::Steps | Token::World) => &count,
                Some(Token::Const | Token::State | Token::Output) => &valued,
                Some(Token::Param) => &param,
                Some(Token::Input) => &input,
                Some(Token::Record | Token::Observe) => &series,
                Some(Token::Data | Token::Struct | Token::Enum) => &shape,
                Some(Token::Fn) => &function,
                Some(Token::Init | Token::Step | Token::Finish) => &phase,
                Some(word) if RESERVED.has(word) => {
                    let diagnostic = say::reserved_word(self.text(from), self.place(from));
                    return Err(Fault::said(from, diagnostic));
                }
                Some(Token::Ident) if self.begins_test(from) => &test,
                _ => return Err(Fault::unexpected(from, DECLARATIONS)),
            };
            let kind = inp.parse(rule)?;
            let span = self.span(from, here(inp));
            Ok(Item {
                doc: self.doc(from),
                span,
                of_world,
                kind,
            })
        })
        .boxed()
    }

    /// Does `world` stand at the index, before a declaration that it makes one of the world?
    fn is_lifted(self, index: usize) -> Result<bool, Fault> {
        let world = self.script.tokens.get(index) == Some(&Token::World);
        match self.script.tokens.get(index + 1) {
            Some(next) if world && OF_WORLD.has(*next) => Ok(true),
            Some(next) if world && DECLARATIONS.or(RESERVED).has(*next) => {
                let diagnostic = world::not_of_world(self.text(index + 1), self.place(index + 1));
                Err(Fault::said(index + 1, diagnostic))
            }
            _ => Ok(false),
        }
    }

    /// The `///` lines between the token before `index` and that token.
    fn doc(self, index: usize) -> String {
        let docs = self.script.docs;
        let before = index.checked_sub(1).map_or(0, |last| self.place(last).end);
        let from = docs.partition_point(|doc| doc.start < before);
        let to = docs.partition_point(|doc| doc.start < self.place(index).start);
        doc_text(self.script.source, docs.get(from..to).unwrap_or_default())
    }

    /// `agents 10_000`, `steps 1_500`, `world 1_000`
    fn count(self, expr: Rule<'a, Expr>) -> Rule<'a, ItemKind> {
        self.one(TokenSet::of(&[Token::Agents, Token::Steps, Token::World]))
            .then(expr)
            .map(|(word, value)| match word {
                Token::Agents => ItemKind::Agents(value),
                Token::World => ItemKind::World(value),
                _ => ItemKind::Steps(value),
            })
            .boxed()
    }

    /// `const X: T = e`, `state x: T = e`, `output x: T = e` and `output x`
    fn valued(self, expr: Rule<'a, Expr>, ty: Rule<'a, Type>) -> Rule<'a, ItemKind> {
        let output = self
            .token(Token::Output)
            .ignore_then(self.name())
            .then(self.after(Token::Colon, ty.clone()))
            .then(self.after(Token::Assign, expr.clone()))
            .map(|((name, ty), value)| ItemKind::Output { name, ty, value });
        let valued = self
            .one(TokenSet::of(&[Token::Const, Token::State]))
            .then(self.name())
            .then(self.after(Token::Colon, ty))
            .then_ignore(self.token(Token::Assign))
            .then(expr)
            .map(|(((word, name), ty), value)| match word {
                Token::Const => ItemKind::Const { name, ty, value },
                _ => ItemKind::State { name, ty, value },
            });
        choice((output, valued)).boxed()
    }

    /// `record x`, `record x: T = e every 5`, `observe m = mean(x) every 10`
    fn series(self, expr: Rule<'a, Expr>, ty: Rule<'a, Type>) -> Rule<'a, ItemKind> {
        self.one(TokenSet::of(&[Token::Record, Token::Observe]))
            .then(self.name())
            .then(self.after(Token::Colon, ty))
            .then(self.after(Token::Assign, expr.clone()))
            .then(self.after_word("every", expr))
            .map(|((((word, name), ty), value), every)| match word {
                Token::Record => ItemKind::Record {
                    name,
                    ty,
                    value,
                    every,
                },
                _ => ItemKind::Observe {
                    name,
                    ty,
                    value,
                    every,
                },
            })
            .boxed()
    }

    /// `param beta: f32 = 0.3 in 0.0..1.0`
    fn param(self, expr: Rule<'a, Expr>, ty: Rule<'a, Type>) -> Rule<'a, ItemKind> {
        self.token(Token::Param)
            .ignore_then(self.name())
            .then(self.after(Token::Colon, ty))
            .then(self.after(Token::Assign, expr.clone()))
            .then(self.after(Token::In, self.range(expr)))
            .map(|(((name, ty), value), range)| ItemKind::Param {
                name,
                ty,
                value,
                range,
            })
            .boxed()
    }

    /// `input x: T`, `input x = e`, `input x: T ~ normal(0.0, 1.0)`
    fn input(self, expr: Rule<'a, Expr>, ty: Rule<'a, Type>) -> Rule<'a, ItemKind> {
        self.token(Token::Input)
            .ignore_then(self.name())
            .then(self.after(Token::Colon, ty))
            .then(self.after(Token::Assign, expr.clone()))
            .then(self.after(Token::Tilde, expr))
            .try_map(move |(((name, ty), default), drawn), tokens| {
                let source = match (default, drawn) {
                    (None, None) => InputSource::Required,
                    (Some(value), None) => InputSource::Default(value),
                    (None, Some(value)) => InputSource::Drawn(value),
                    (Some(default), Some(drawn)) => {
                        let diagnostic = say::two_input_sources(default.span, drawn.span);
                        let at: SimpleSpan = tokens;
                        return Err(Fault::said(at.end.saturating_sub(1), diagnostic));
                    }
                };
                Ok(ItemKind::Input { name, ty, source })
            })
            .boxed()
    }

    /// `data x: [[f32; 36]]`, `struct S { a: f32 }`, `enum E { A, B }`
    fn shape(self, ty: Rule<'a, Type>) -> Rule<'a, ItemKind> {
        let data = self
            .token(Token::Data)
            .ignore_then(self.name())
            .then_ignore(self.token(Token::Colon))
            .then(ty.clone())
            .map(|(name, ty)| ItemKind::Data { name, ty });
        let fields = self.fields(ty, Token::LeftBrace, Token::RightBrace);
        let record = self
            .token(Token::Struct)
            .ignore_then(self.name())
            .then(fields)
            .map(|(name, fields)| ItemKind::Struct { name, fields });
        let variants = self
            .name()
            .separated_by(self.token(Token::Comma))
            .allow_trailing()
            .collect()
            .delimited_by(self.token(Token::LeftBrace), self.token(Token::RightBrace));
        let choices = self
            .token(Token::Enum)
            .ignore_then(self.name())
            .then(variants)
            .map(|(name, variants)| ItemKind::Enum { name, variants });
        choice((data, record, choices)).boxed()
    }

    /// `fn name(x: f32) -> f32 { … }`
    fn function(self, ty: Rule<'a, Type>, block: Rule<'a, Block>) -> Rule<'a, ItemKind> {
        let params = self.fields(ty.clone(), Token::LeftParen, Token::RightParen);
        let head = self
            .name()
            .then(params)
            .then(self.after(Token::Arrow, ty))
            .boxed();
        self.token(Token::Fn)
            .ignore_then(self.header(head))
            .then(block)
            .map(|(head, body)| match head {
                Some(((name, params), result)) => ItemKind::Fn(Function {
                    name,
                    params,
                    result,
                    body,
                }),
                None => ItemKind::Error,
            })
            .boxed()
    }

    /// `init { … }`, `step t { … }`, `finish { … }`
    fn phase(self, block: Rule<'a, Block>) -> Rule<'a, ItemKind> {
        let step = self
            .token(Token::Step)
            .ignore_then(self.header(self.name().or_not().boxed()))
            .then(block.clone())
            .map(|(index, body)| match index {
                Some(index) => ItemKind::Step { index, body },
                None => ItemKind::Error,
            });
        let ends = self
            .one(TokenSet::of(&[Token::Init, Token::Finish]))
            .then(block)
            .map(|(word, body)| match word {
                Token::Init => ItemKind::Init(body),
                _ => ItemKind::Finish(body),
            });
        choice((step, ends)).boxed()
    }
}

/// The text of documentation comments without their marks.
pub(in crate::syntax) fn doc_text(source: &str, comments: &[Span]) -> String {
    let lines = comments.iter().map(|comment| {
        let text = source.get(comment.range()).unwrap_or_default();
        let text = text.get(3..).unwrap_or_default().trim_end();
        text.strip_prefix(' ').unwrap_or(text)
    });
    lines.collect::<Vec<_>>().join("\n")
}
