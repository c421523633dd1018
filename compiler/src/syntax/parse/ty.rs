//! Types as written.

use super::{Grammar, Rule};
use crate::syntax::{
    ast::{Expr, Field, Type, TypeKind},
    token::Token,
};
use chumsky::prelude::*;

impl<'a> Grammar<'a> {
    /// `f32`, `[f32; 16]`, `[[f32; 36]]`
    pub(super) fn ty(self, expr: Rule<'a, Expr>) -> Rule<'a, Type> {
        recursive(|ty| {
            let array = ty
                .then(self.after(Token::Semicolon, expr))
                .delimited_by(
                    self.token(Token::LeftBracket),
                    self.token(Token::RightBracket),
                )
                .map(|(element, length): (Type, Option<Expr>)| {
                    TypeKind::Array(Box::new(element), length.map(Box::new))
                });
            let name = self.name().map(|name| TypeKind::Name(name.text));
            let hole = self.token(Token::Hole).to(TypeKind::Error);
            choice((name, array, hole)).map_with(move |kind, extra| {
                let tokens: SimpleSpan = extra.span();
                Type {
                    kind,
                    span: self.span(tokens.start, tokens.end),
                }
            })
        })
        .boxed()
    }

    /// `name: type`, `name: type`, … between brackets.
    pub(super) fn fields(
        self,
        ty: Rule<'a, Type>,
        open: Token,
        close: Token,
    ) -> Rule<'a, Vec<Field>> {
        self.name()
            .then_ignore(self.token(Token::Colon))
            .then(ty)
            .map(|(name, ty)| Field { name, ty })
            .separated_by(self.token(Token::Comma))
            .allow_trailing()
            .collect()
            .delimited_by(self.token(open), self.token(close))
            .boxed()
    }
}
