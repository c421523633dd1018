//! Declarations and types.

use super::{Printer, Space};
use crate::align::Kind;
use sim_compiler::syntax::{
    Token,
    ast::{
        Block, Expr, ExprKind, Field, Function, InputSource, Item, ItemKind, Name, Range, Type,
        TypeKind,
    },
};

impl Printer<'_> {
    /// A declaration, from its first word to its last.
    pub(super) fn item(&mut self, item: &Item) {
        if item.of_world {
            self.word();
            self.one();
        }
        match &item.kind {
            ItemKind::Agents(value) | ItemKind::Steps(value) | ItemKind::World(value) => {
                self.word();
                self.cell(Kind::Count);
                self.one();
                self.value(value);
                self.end_of_cells();
            }
            ItemKind::Const { ty, value, .. } => self.declaration(Kind::Const, ty, Some(value)),
            ItemKind::State { ty, value, .. } => self.declaration(Kind::State, ty, Some(value)),
            ItemKind::Output { ty, value, .. } => {
                self.declaration(Kind::Output, ty, value.as_ref());
            }
            ItemKind::Record {
                ty, value, every, ..
            }
            | ItemKind::Observe {
                ty, value, every, ..
            } => self.series(ty, value.as_ref(), every.as_ref()),
            ItemKind::Param {
                ty, value, range, ..
            } => self.param(ty, value.as_ref(), range.as_ref()),
            ItemKind::Data { ty, .. } => self.head(Some(ty)),
            ItemKind::Input { ty, source, .. } => {
                self.head(ty.as_ref());
                match source {
                    InputSource::Required => {}
                    InputSource::Default(value) => self.source(Kind::Input, Token::Assign, value),
                    InputSource::Drawn(value) => self.source(Kind::Input, Token::Tilde, value),
                }
                self.end_of_cells();
            }
            ItemKind::Fn(function) => self.function(function),
            ItemKind::Struct { fields, .. } => {
                self.head(None);
                self.one_flush();
                self.bracket(Space::Line, |p| p.list(fields, Space::Line, Self::field));
            }
            ItemKind::Enum { variants, .. } => {
                self.head(None);
                self.one_flush();
                self.bracket(Space::Line, |p| {
                    p.list(variants, Space::Line, Self::variant)
                });
            }
            ItemKind::Init(body) | ItemKind::Finish(body) => self.phase(body),
            ItemKind::Step { index, body } => {
                if index.is_some() {
                    self.word();
                    self.one();
                }
                self.phase(body);
            }
            ItemKind::Test(test) => self.test(test),
            ItemKind::Error => self.lose("a declaration"),
        }
    }

    /// `const x: T = e`
    fn declaration(&mut self, kind: Kind, ty: &Option<Type>, value: Option<&Expr>) {
        self.head(ty.as_ref());
        if let Some(value) = value {
            self.source(kind, Token::Assign, value);
        }
        self.end_of_cells();
    }

    /// `param x: T = e in a..b`
    fn param(&mut self, ty: &Option<Type>, value: Option<&Expr>, range: Option<&Range>) {
        self.head(ty.as_ref());
        if let Some(value) = value {
            self.source(Kind::Param, Token::Assign, value);
        }
        if let Some(range) = range {
            self.cell(Kind::Param);
            self.one();
            self.token(Token::In);
            self.one();
            self.range(range);
        }
        self.end_of_cells();
    }

    /// `record x: T = e every n`
    fn series(&mut self, ty: &Option<Type>, value: Option<&Expr>, every: Option<&Expr>) {
        self.head(ty.as_ref());
        // Behind a chain that breaks, `every` has a line of its own.
        if let (Some(chain), Some(every)) = (value, every)
            && matches!(chain.kind, ExprKind::Binary(..))
        {
            self.equals(Kind::Series, Token::Assign);
            self.group(|p| {
                p.value(chain);
                p.nest(|p| p.every(Space::Line, every));
            });
        } else {
            if let Some(value) = value {
                self.source(Kind::Series, Token::Assign, value);
            }
            if let Some(every) = every {
                self.every(Space::One, every);
            }
        }
        self.end_of_cells();
    }

    /// `const x: T`
    pub(super) fn head(&mut self, ty: Option<&Type>) {
        self.word();
        self.one();
        self.token(Token::Ident);
        if let Some(ty) = ty {
            self.annotation(ty);
        }
    }

    /// ` = e`, ` ~ e`, under those of the lines around.
    pub(super) fn source(&mut self, kind: Kind, sign: Token, value: &Expr) {
        self.equals(kind, sign);
        self.value(value);
    }

    fn equals(&mut self, kind: Kind, sign: Token) {
        self.cell(kind);
        self.one();
        self.token(sign);
        self.one();
    }

    /// ` every e`
    fn every(&mut self, space: Space, every: &Expr) {
        self.space(space);
        self.word();
        self.one();
        self.value(every);
    }

    /// `: T`
    fn annotation(&mut self, ty: &Type) {
        self.token(Token::Colon);
        self.one();
        self.ty(ty);
    }

    fn field(&mut self, field: &Field) {
        self.token(Token::Ident);
        self.annotation(&field.ty);
    }

    fn variant(&mut self, _: &Name) {
        self.token(Token::Ident);
    }

    fn function(&mut self, function: &Function) {
        self.head(None);
        self.bracket(Space::Soft, |p| {
            p.list(&function.params, Space::Line, Self::field);
        });
        if let Some(result) = &function.result {
            self.one();
            self.token(Token::Arrow);
            self.one();
            self.ty(result);
        }
        self.one_flush();
        self.block(&function.body);
    }

    /// The last word of a head, and a block.
    fn phase(&mut self, body: &Block) {
        self.word();
        self.one_flush();
        self.block(body);
    }

    /// `f32`, `[f32; 16]`
    pub(super) fn ty(&mut self, ty: &Type) {
        match &ty.kind {
            TypeKind::Name(_) => self.token(Token::Ident),
            TypeKind::Array(element, length) => {
                self.token(Token::LeftBracket);
                self.ty(element);
                if let Some(length) = length {
                    self.token(Token::Semicolon);
                    self.one();
                    self.expr(length);
                }
                self.token(Token::RightBracket);
            }
            TypeKind::Error => self.lose("a type"),
        }
    }
}
