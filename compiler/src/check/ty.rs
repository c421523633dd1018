//! Written types to types, and values to the type that their place needs.

use super::{Checker, Place, suggest::nearest};
use crate::{
    diagnostic::catalog,
    hir::{Constant, ExprId, ExprKind, Type},
    ir,
    span::Span,
    syntax::ast,
};
use std::rc::Rc;

const MAX_LENGTH: i64 = 1 << 24;
pub(crate) const SCALARS: [(&str, ir::Type); 7] = [
    ("f32", ir::Type::F32),
    ("i32", ir::Type::I32),
    ("u32", ir::Type::U32),
    ("bool", ir::Type::Bool),
    ("vec2", ir::Type::Vec2),
    ("vec3", ir::Type::Vec3),
    ("vec4", ir::Type::Vec4),
];

/// The machine's type of that name.
pub(super) fn value_type(name: &str) -> Option<ir::Type> {
    SCALARS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, ty)| *ty)
}

/// May a literal of the abstract type become one of type `want`, if its value fits?
pub(super) fn adapts(own: &Type, want: &Type) -> bool {
    match (own, want) {
        (Type::AbstractInt, Type::Value(value)) => !value.is_vector() && *value != ir::Type::Bool,
        (Type::AbstractFloat, Type::Value(value)) => *value == ir::Type::F32,
        (Type::Array(own, a), Type::Array(want, b)) => a == b && (own == want || adapts(own, want)),
        _ => false,
    }
}

impl Checker<'_> {
    /// A type as written; an open length only where `open` says so.
    pub(super) fn resolve_type(&mut self, ty: &ast::Type, open: bool) -> Type {
        match &ty.kind {
            ast::TypeKind::Name(name) => self.named_type(name, ty.span),
            ast::TypeKind::Array(element, Some(length)) => {
                let element = self.resolve_type(element, false);
                match self.length(length) {
                    Some(length) => Type::Array(Rc::new(element), length),
                    None => Type::Error,
                }
            }
            ast::TypeKind::Array(element, None) => {
                let element = self.resolve_type(element, false);
                if !open {
                    self.report(catalog::types::open_array(ty.span));
                    return Type::Error;
                }
                Type::Open(Rc::new(element))
            }
            ast::TypeKind::Error => Type::Error,
        }
    }

    fn named_type(&mut self, name: &str, span: Span) -> Type {
        if let Some(ty) = value_type(name) {
            return Type::Value(ty);
        }
        if let Some((global, declared)) = self.globals.get(name).copied() {
            self.note(span, declared);
            match global {
                super::Global::Struct(id) => return Type::Struct(id),
                super::Global::Enum(id) => return Type::Enum(id),
                _ => {}
            }
        }
        let own = self.model.structs.iter().map(|item| item.name.as_str());
        let enums = self.model.enums.iter().map(|item| item.name.as_str());
        let foreign = match name {
            "float" | "double" | "f64" | "real" | "Float" | "number" => Some("f32"),
            "int" | "integer" | "i64" | "Int" | "isize" => Some("i32"),
            "uint" | "unsigned" | "u64" | "usize" => Some("u32"),
            "boolean" | "Bool" => Some("bool"),
            _ => None,
        };
        let near = foreign.or_else(|| {
            nearest(
                name,
                SCALARS
                    .iter()
                    .map(|(name, _)| *name)
                    .chain(own)
                    .chain(enums),
            )
        });
        let report = catalog::names::unknown_type(name, span, near);
        self.report(report);
        Type::Error
    }

    /// An array length: a positive constant.
    pub(super) fn length(&mut self, length: &ast::Expr) -> Option<u32> {
        let value = self.constant_int(length, "an array length")?;
        if !(1..=MAX_LENGTH).contains(&value) {
            self.report(catalog::constants::bad_length(
                &value.to_string(),
                length.span,
            ));
            return None;
        }
        Some(value as u32)
    }

    /// An integer known at compile time; none after a complaint.
    pub(super) fn constant_int(&mut self, expr: &ast::Expr, what: &str) -> Option<i64> {
        let id = self.at_constant(|checker| checker.expr(expr, None));
        if self.ty(id).has_error() {
            return None;
        }
        let is_enum = matches!(self.ty(id), Type::Enum(_));
        match self.constant(id).map(Constant::as_int) {
            Some(Some(value)) if !is_enum => Some(value),
            Some(_) => {
                let found = self.show(self.ty(id));
                self.report(catalog::types::mismatched_types(
                    what, "i32", &found, expr.span, None,
                ));
                None
            }
            None => {
                self.report(catalog::constants::not_constant(what, expr.span));
                None
            }
        }
    }

    /// Runs a check at a place where everything must be known at compile time, but within the names of
    /// the current scope (an index may be a constant there).
    pub(super) fn at_constant<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.place, Place::Constant);
        let result = run(self);
        self.place = before;
        result
    }

    /// The expression as a value of type `want`: literals adapt, anything else must have that type.
    /// `place` says in words what needs it ("the condition of `if`").
    pub(super) fn coerce(
        &mut self,
        id: ExprId,
        want: &Type,
        place: &str,
        cause: Option<(Span, String)>,
    ) -> ExprId {
        let found = self.ty(id).clone();
        if found == *want || found.has_error() || want.has_error() {
            return id;
        }
        let span = self.expr_span(id);
        if let Some(converted) = self.adapt(id, want) {
            return converted;
        }
        if self
            .diagnostics
            .last()
            .is_some_and(|last| last.span() == span && last.slug == "constant_out_of_range")
        {
            return self.error(span);
        }
        if let (Type::Array(_, needed), Type::Array(_, found_length)) = (want, &found)
            && needed != found_length
        {
            let cause = cause.map(|(span, _)| span);
            self.report(catalog::types::wrong_array_length(
                place,
                *needed,
                *found_length,
                span,
                cause,
            ));
            return self.error(span);
        }
        let report = catalog::types::mismatched_types(
            place,
            &self.show(want),
            &self.show(&found),
            span,
            cause,
        );
        self.report(report);
        self.error(span)
    }

    /// A constant of an abstract type as one of type `want`, if it fits; complains if only its size does
    /// not.
    pub(super) fn adapt(&mut self, id: ExprId, want: &Type) -> Option<ExprId> {
        if !self.ty(id).is_abstract() {
            return None;
        }
        let span = self.expr_span(id);
        let constant = self.constant(id)?.clone();
        let from = self.ty(id).clone();
        match super::constant::concrete(&constant, &from, want) {
            Ok(constant) => Some(self.constant_node(constant, want.clone(), span)),
            Err(super::constant::Misfit::Kind) => None,
            Err(super::constant::Misfit::Range(value)) => {
                let ty = self.show(want);
                self.report(catalog::constants::constant_out_of_range(&value, &ty, span));
                None
            }
        }
    }

    /// The expression with a concrete type: literals become `i32` or `f32`.
    pub(super) fn concrete(&mut self, id: ExprId) -> ExprId {
        if !self.ty(id).is_abstract() {
            return id;
        }
        let want = self.ty(id).default_concrete();
        match self.adapt(id, &want) {
            Some(id) => id,
            None => {
                let span = self.expr_span(id);
                self.error(span)
            }
        }
    }

    /// Checks an expression that must have type `want`.
    pub(super) fn expr_of(&mut self, expr: &ast::Expr, want: &Type, place: &str) -> ExprId {
        let id = self.expr(expr, Some(want));
        self.coerce(id, want, place, None)
    }

    /// Brings two expressions to one type: an abstract one adapts to the other. The types may still
    /// differ afterwards.
    pub(super) fn unify(&mut self, a: ExprId, b: ExprId) -> (ExprId, ExprId) {
        let (left, right) = (self.ty(a).clone(), self.ty(b).clone());
        if left == right {
            return (a, b);
        }
        let scalar = |ty: &Type| match ty {
            Type::Value(value) => Type::Value(value.scalar()),
            other => other.clone(),
        };
        match (left.is_abstract(), right.is_abstract()) {
            (true, true) => match (&left, &right) {
                (Type::AbstractInt, Type::AbstractFloat) => (self.widen(a), b),
                (Type::AbstractFloat, Type::AbstractInt) => (a, self.widen(b)),
                _ => (self.concrete(a), self.concrete(b)),
            },
            (true, false) => (self.adapt(a, &scalar(&right)).unwrap_or(a), b),
            (false, true) => (a, self.adapt(b, &scalar(&left)).unwrap_or(b)),
            (false, false) => (a, b),
        }
    }

    /// An abstract integer as an abstract float.
    fn widen(&mut self, id: ExprId) -> ExprId {
        let span = self.expr_span(id);
        match self.constant(id) {
            Some(Constant::Int(value)) => {
                let value = *value as f64;
                self.constant_node(Constant::Float(value), Type::AbstractFloat, span)
            }
            _ => id,
        }
    }

    /// Brings the branches of an `if` value or the elements of an array to one type.
    pub(super) fn common(&mut self, ids: &mut [ExprId], want: Option<&Type>, place: &str) -> Type {
        let mut ty = match want {
            Some(want) if !want.has_error() && ids.iter().all(|&id| self.fits(id, want)) => {
                want.clone()
            }
            _ => self.meet(ids),
        };
        if ty.is_abstract() && ids.iter().any(|&id| self.constant(id).is_none()) {
            ty = ty.default_concrete();
        }
        let mut first: Option<ExprId> = None;
        let mut complained = false;
        for id in ids.iter_mut() {
            let own = self.ty(*id).clone();
            if own == ty || own.has_error() {
                first = first.or(Some(*id));
                continue;
            }
            if let Some(adapted) = self
                .adapt(*id, &ty)
                .or_else(|| self.adapt_abstract(*id, &ty))
            {
                *id = adapted;
                first = first.or(Some(*id));
                continue;
            }
            if std::mem::replace(&mut complained, true) {
                let span = self.expr_span(*id);
                *id = self.error(span);
                continue;
            }
            let (span, from) = (
                self.expr_span(*id),
                first.map_or_else(|| self.expr_span(*id), |id| self.expr_span(id)),
            );
            let report = catalog::types::no_common_type(
                place,
                &self.show(&ty),
                &self.show(&own),
                from,
                span,
            );
            self.report(report);
            *id = self.error(span);
        }
        ty
    }

    fn adapt_abstract(&mut self, id: ExprId, ty: &Type) -> Option<ExprId> {
        (*ty == Type::AbstractFloat && *self.ty(id) == Type::AbstractInt).then(|| self.widen(id))
    }

    fn fits(&self, id: ExprId, want: &Type) -> bool {
        let own = self.ty(id);
        own == want || own.has_error() || adapts(own, want)
    }

    /// The type that the others must adapt to: the first concrete one, else float before integer.
    fn meet(&self, ids: &[ExprId]) -> Type {
        let types = || {
            ids.iter()
                .map(|&id| self.ty(id))
                .filter(|ty| !ty.has_error())
        };
        types()
            .find(|ty| !ty.is_abstract())
            .or_else(|| types().find(|ty| **ty == Type::AbstractFloat))
            .or_else(|| types().next())
            .cloned()
            .unwrap_or(Type::Error)
    }

    /// Is this a literal error node?
    pub(super) fn is_error(&self, id: ExprId) -> bool {
        matches!(self.model[id].kind, ExprKind::Error) || self.ty(id).has_error()
    }
}
