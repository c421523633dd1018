//! Written types to types, and values to the type that their place needs.

use super::{Checked, Checker, Place, constant::Misfit};
use crate::{
    diagnostic::catalog,
    hir::{Constant, ExprId, Type},
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

/// Is the name that of a type or of a number of the launch, which nothing else can have?
pub(super) fn is_built_in(name: &str) -> bool {
    matches!(name, "agent" | "agents" | "steps" | "member") || value_type(name).is_some()
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
                    Ok(length) => Type::Array(Rc::new(element), length),
                    Err(reported) => Type::Error(reported),
                }
            }
            ast::TypeKind::Array(element, None) => {
                let element = self.resolve_type(element, false);
                if let Some(reported) = element.error() {
                    return Type::Error(reported);
                }
                if !open {
                    return Type::Error(self.report(catalog::types::open_array(ty.span)));
                }
                Type::Open(Rc::new(element))
            }
            ast::TypeKind::Error => Type::Error(self.hole(ty.span)),
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
        let scalars = SCALARS.iter().map(|(name, _)| *name);
        let candidates = scalars.chain(own).chain(enums);
        let near = self.suggestions.nearest(name, candidates);
        let report = catalog::names::unknown_type(name, span, near);
        Type::Error(self.report(report))
    }

    /// An array length: a positive constant.
    pub(super) fn length(&mut self, length: &ast::Expr) -> Checked<u32> {
        let value = self.constant_int(length, "an array length")?;
        if !(1..=MAX_LENGTH).contains(&value) {
            return Err(self.report(catalog::constants::bad_length(
                &value.to_string(),
                length.span,
            )));
        }
        Ok(value as u32)
    }

    /// An integer known at compile time.
    pub(super) fn constant_int(&mut self, expr: &ast::Expr, what: &str) -> Checked<i64> {
        let id = self.at_constant(|checker| checker.expr(expr, None));
        let id = self.sound(id)?;
        let is_enum = matches!(self.ty(id), Type::Enum(_));
        match self.constant(id).map(Constant::as_int) {
            Some(Some(value)) if !is_enum => Ok(value),
            Some(_) => {
                let found = self.show(self.ty(id));
                Err(self.report(catalog::types::mismatched_types(
                    what, "i32", &found, expr.span, None, None,
                )))
            }
            None => Err(self.report(catalog::constants::not_constant(what, expr.span))),
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
        if found == *want || found.has_error() {
            return id;
        }
        let span = self.expr_span(id);
        if let Some(reported) = want.error() {
            return self.error(span, reported);
        }
        let report = match self.adapt(id, want) {
            Ok(Some(adapted)) => return adapted,
            Err(reported) => return self.error(span, reported),
            Ok(None) => match (want, &found) {
                _ if let Some(reported) = self.whole_number(id, want) => {
                    return self.error(span, reported);
                }
                (Type::Array(_, needed), Type::Array(_, found)) if needed != found => {
                    let cause = cause.map(|(span, _)| span);
                    catalog::types::wrong_array_length(place, *needed, *found, span, cause)
                }
                _ => {
                    let (want, found) = (self.show(want), self.show(&found));
                    let literal = self.constant(id).and_then(Constant::as_int);
                    catalog::types::mismatched_types(place, &want, &found, span, cause, literal)
                }
            },
        };
        let reported = self.report(report);
        self.error(span, reported)
    }

    /// A constant of an abstract type as one of type `want`; none if it is of another kind. Complains if
    /// only its size does not fit.
    pub(super) fn adapt(&mut self, id: ExprId, want: &Type) -> Checked<Option<ExprId>> {
        if !self.ty(id).is_abstract() {
            return Ok(None);
        }
        let span = self.expr_span(id);
        let Some(constant) = self.constant(id).cloned() else {
            return Ok(None);
        };
        let from = self.ty(id).clone();
        match self
            .adapted
            .concrete(&constant, &from, want, self.model.real)
        {
            Ok(constant) => {
                if from == Type::AbstractInt && *want == Type::F32 {
                    self.note_float(span);
                }
                let text = match self.constant(id) {
                    Some(Constant::Float(value)) => Some(*value),
                    Some(Constant::Int(value)) if *want == Type::F32 => Some(*value as f64),
                    _ => None,
                };
                let node = self.constant_node(constant, want.clone(), span);
                let real = self.model.real;
                if let Some(text) = text.filter(|&text| real.nearest(text) != text) {
                    self.model.texts.insert(node, text);
                }
                Ok(Some(node))
            }
            Err(Misfit::Kind) => Ok(None),
            Err(Misfit::Range(value)) => {
                let ty = self.show(want);
                Err(self.report(catalog::constants::constant_out_of_range(&value, &ty, span)))
            }
        }
    }

    /// A constant of an abstract type as one of type `want`; anything else as it is.
    pub(super) fn adapt_or_keep(&mut self, id: ExprId, want: &Type) -> Checked {
        Ok(self.adapt(id, want)?.unwrap_or(id))
    }

    /// The expression with a concrete type: literals become `i32` or `f32`.
    pub(super) fn concrete(&mut self, id: ExprId) -> ExprId {
        if !self.ty(id).is_abstract() {
            return id;
        }
        let want = self.ty(id).default_concrete();
        let span = self.expr_span(id);
        let reported = match self.adapt(id, &want) {
            Ok(Some(adapted)) => return adapted,
            // What has no machine type yet is a constant.
            Ok(None) => self.report(catalog::constants::not_constant("this", span)),
            Err(reported) => reported,
        };
        self.error(span, reported)
    }

    /// Checks an expression that must have type `want`.
    pub(super) fn expr_of(&mut self, expr: &ast::Expr, want: &Type, place: &str) -> ExprId {
        let id = self.expr(expr, Some(want));
        self.coerce(id, want, place, None)
    }

    /// Brings two expressions to one type: an abstract one adapts to the other. The types may still
    /// differ afterwards.
    pub(super) fn unify(&mut self, a: ExprId, b: ExprId) -> Checked<(ExprId, ExprId)> {
        let (left, right) = (self.ty(a).clone(), self.ty(b).clone());
        if left == right {
            return Ok((a, b));
        }
        let scalar = |ty: &Type| match ty {
            Type::Value(value) => Type::Value(value.scalar()),
            other => other.clone(),
        };
        Ok(match (left.is_abstract(), right.is_abstract()) {
            (true, true) => match (&left, &right) {
                (Type::AbstractInt, Type::AbstractFloat) => (self.widen(a), b),
                (Type::AbstractFloat, Type::AbstractInt) => (a, self.widen(b)),
                _ => (self.concrete(a), self.concrete(b)),
            },
            (true, false) => (self.adapt_or_keep(a, &scalar(&right))?, b),
            (false, true) => (a, self.adapt_or_keep(b, &scalar(&left))?),
            (false, false) => (a, b),
        })
    }

    /// An abstract integer as an abstract float.
    fn widen(&mut self, id: ExprId) -> ExprId {
        let span = self.expr_span(id);
        match self.constant(id) {
            Some(Constant::Int(value)) => {
                let value = *value as f64;
                self.note_float(span);
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
        let mut complained = None;
        for id in ids.iter_mut() {
            let own = self.ty(*id).clone();
            if own == ty || own.has_error() {
                first = first.or(Some(*id));
                continue;
            }
            let span = self.expr_span(*id);
            *id = match self.adapt(*id, &ty) {
                Ok(Some(adapted)) => adapted,
                Ok(None) if ty == Type::AbstractFloat && own == Type::AbstractInt => {
                    self.widen(*id)
                }
                Err(reported) => self.error(span, reported),
                Ok(None) => {
                    let reported = complained.unwrap_or_else(|| {
                        let from = first.map_or(span, |id| self.expr_span(id));
                        let (ty, own) = (self.show(&ty), self.show(&own));
                        let report = catalog::types::no_common_type(place, &ty, &own, from, span);
                        self.report(report)
                    });
                    complained = Some(reported);
                    self.error(span, reported)
                }
            };
            first = first.or(Some(*id));
        }
        ty
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
            .or_else(|| ids.first().map(|&id| self.ty(id)))
            .cloned()
            .expect("at least one value is joined")
    }
}
