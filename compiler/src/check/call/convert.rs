//! Conversions between scalars, bit casts, and vectors from their components.

use crate::{
    builtin::eval,
    check::Checker,
    diagnostic::catalog,
    hir::{Constant, ExprId, ExprKind, Type},
    ir::{self, Value},
    span::Span,
    syntax::ast,
};

impl Checker<'_> {
    /// `f32(x)` and its kin.
    pub(super) fn convert(
        &mut self,
        to: ir::Type,
        callee: &ast::Name,
        args: &[ast::Expr],
        span: Span,
    ) -> ExprId {
        let target = Type::Value(to);
        if !self.count(
            &callee.text,
            "one argument",
            args.len() == 1,
            args.len(),
            span,
        ) {
            return self.error(span);
        }
        let Some(ids) = self.args(args, None) else {
            return self.error(span);
        };
        let mut id = ids[0];
        if let Some(adapted) = self.adapt(id, &target) {
            return adapted;
        }
        if self
            .diagnostics
            .last()
            .is_some_and(|last| last.span() == self.expr_span(id))
        {
            return self.error(span);
        }
        id = self.concrete(id);
        let from = self.ty(id).clone();
        let legal = match &from {
            Type::Value(value) => !value.is_vector(),
            Type::Enum(_) => to == ir::Type::I32 || to == ir::Type::U32,
            _ => false,
        };
        if !legal {
            if !from.has_error() {
                let report =
                    catalog::types::no_conversion(&self.show(&from), to.name(), self.expr_span(id));
                self.report(report);
            }
            return self.error(span);
        }
        if let Some(Constant::Value(value)) = self.constant(id) {
            let value = eval::convert(to, *value);
            return self.constant_node(Constant::Value(value), target, span);
        }
        self.node(ExprKind::Convert(id), target, span)
    }

    pub(in crate::check) fn bitcast(
        &mut self,
        to: &ast::Type,
        value: &ast::Expr,
        span: Span,
    ) -> ExprId {
        let target = self.resolve_type(to, false);
        let id = self.expr(value, None);
        let id = self.concrete(id);
        if target.has_error() || self.is_error(id) {
            return self.error(span);
        }
        let word = |ty: &Type| {
            matches!(
                ty,
                Type::Value(ir::Type::F32 | ir::Type::I32 | ir::Type::U32)
            )
        };
        let from = self.ty(id).clone();
        if !word(&target) || !word(&from) {
            let report =
                catalog::types::no_conversion(&self.show(&from), &self.show(&target), span);
            self.report(report);
            return self.error(span);
        }
        if let (Some(Constant::Value(value)), Some(to)) = (self.constant(id), target.value()) {
            let value = eval::bitcast(to, *value);
            return self.constant_node(Constant::Value(value), target, span);
        }
        self.node(ExprKind::Bitcast(id), target, span)
    }

    /// `vec3(…)`
    pub(super) fn vector(&mut self, ty: ir::Type, args: &[ast::Expr], span: Span) -> ExprId {
        let Some(mut ids) = self.args(args, Some(&Type::F32)) else {
            return self.error(span);
        };
        let mut found = 0;
        for id in &mut ids {
            if let Some(adapted) = self.adapt(*id, &Type::F32) {
                *id = adapted;
            }
            match self.ty(*id) {
                Type::Value(value) if value.is_float() => found += value.components(),
                other => {
                    let (found, span) = (self.show(other), self.expr_span(*id));
                    self.report(catalog::types::bad_argument(
                        ty.name(),
                        "component",
                        "`f32`",
                        &found,
                        span,
                    ));
                    return self.error(span);
                }
            }
        }
        let target = Type::Value(ty);
        if ids.len() == 1 && found == 1 {
            if let Some(Constant::Value(Value::F32(x))) = self.constant(ids[0]) {
                let value = Value::from_floats(&vec![*x; ty.components()]);
                return self.constant_node(Constant::Value(value), target, span);
            }
            return self.node(ExprKind::Splat(ids[0]), target, span);
        }
        if found != ty.components() {
            self.report(catalog::types::wrong_components(
                ty.name(),
                ty.components(),
                found,
                span,
            ));
            return self.error(span);
        }
        if let Some(values) = self.values(&ids) {
            let parts: Vec<f32> = values
                .iter()
                .flat_map(|value| value.floats().to_vec())
                .collect();
            return self.constant_node(Constant::Value(Value::from_floats(&parts)), target, span);
        }
        self.node(ExprKind::Compose(ids), target, span)
    }
}
