//! Conversions between scalars, bit casts, and vectors from their components.

use crate::{
    builtin::eval,
    check::{Checked, Checker},
    diagnostic::catalog,
    hir::{Constant, EnumId, ExprKind, Type},
    ir::{self, Value},
    span::Span,
    syntax::ast,
};

impl Checker<'_> {
    /// `f32(x)` and the other conversions.
    pub(super) fn convert(
        &mut self,
        to: ir::Type,
        callee: &ast::Name,
        args: &[ast::Expr],
        span: Span,
    ) -> Checked {
        let target = Type::Value(to);
        let one = args.len() == 1;
        self.count(&callee.text, "one argument", one, args.len(), span)?;
        let ids = self.args(args, None)?;
        if let Some(adapted) = self.adapt(ids[0], &target)? {
            return Ok(adapted);
        }
        let id = self.concrete(ids[0]);
        let id = self.sound(id)?;
        let from = self.ty(id).clone();
        let legal = match &from {
            Type::Value(value) => !value.is_vector(),
            Type::Enum(_) => to == ir::Type::I32 || to == ir::Type::U32,
            _ => false,
        };
        if !legal {
            let report =
                catalog::types::no_conversion(&self.show(&from), to.name(), self.expr_span(id));
            return Err(self.report(report));
        }
        if let Some(Constant::Value(value)) = self.constant(id) {
            let value = match self.model.real.is_double() {
                false => eval::convert(to, value.single()).double(),
                true => eval::convert(to, *value),
            };
            return Ok(self.constant_node(Constant::Value(value), target, span));
        }
        Ok(self.node(ExprKind::Convert(id), target, span))
    }

    /// `Health(k)`: the variant of a number.
    pub(super) fn variant_numbered(
        &mut self,
        owner: EnumId,
        callee: &ast::Name,
        args: &[ast::Expr],
        span: Span,
    ) -> Checked {
        let one = args.len() == 1;
        self.count(&callee.text, "one argument", one, args.len(), span)?;
        let ids = self.args(args, None)?;
        let id = self.concrete(ids[0]);
        let id = self.sound(id)?;
        let variants = self.model[owner].variants.len();
        let integer = matches!(self.ty(id), Type::Value(ir::Type::I32 | ir::Type::U32));
        if !integer || variants == 0 {
            let from = self.show(self.ty(id));
            let report = catalog::types::no_conversion(&from, &callee.text, self.expr_span(id));
            return Err(self.report(report));
        }
        let target = Type::Enum(owner);
        let Some(number) = self.constant(id).and_then(Constant::as_int) else {
            return Ok(self.node(ExprKind::Convert(id), target, span));
        };
        if !(0..variants as i64).contains(&number) {
            let place = self.expr_span(id);
            let name = &callee.text;
            let report = catalog::constants::no_such_variant(number, name, variants, place);
            return Err(self.report(report));
        }
        let variant = Constant::Value(Value::U32(number as u32));
        Ok(self.constant_node(variant, target, span))
    }

    pub(in crate::check) fn bitcast(
        &mut self,
        to: &ast::Type,
        value: &ast::Expr,
        span: Span,
    ) -> Checked {
        let target = self.resolve_type(to, false);
        let id = self.expr(value, None);
        let id = self.concrete(id);
        if let Some(reported) = target.error() {
            return Err(reported);
        }
        let id = self.sound(id)?;
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
            return Err(self.report(report));
        }
        if let (Some(Constant::Value(value)), Some(to)) = (self.constant(id), target.value()) {
            let value = eval::bitcast(to, value.single()).double();
            return Ok(self.constant_node(Constant::Value(value), target, span));
        }
        Ok(self.node(ExprKind::Bitcast(id), target, span))
    }

    /// `vec3(…)`
    pub(super) fn vector(&mut self, ty: ir::Type, args: &[ast::Expr], span: Span) -> Checked {
        let mut ids = self.args(args, Some(&Type::F32))?;
        let mut found = 0;
        for id in &mut ids {
            *id = self.adapt_or_keep(*id, &Type::F32)?;
            match self.ty(*id) {
                Type::Value(value) if value.is_float() => found += value.components(),
                other => {
                    let (found, span) = (self.show(other), self.expr_span(*id));
                    return Err(self.report(catalog::types::bad_argument(
                        ty.name(),
                        "component",
                        "`f32`",
                        &found,
                        span,
                    )));
                }
            }
        }
        let target = Type::Value(ty);
        if ids.len() == 1 && found == 1 {
            if let Some(Constant::Value(Value::F32(x))) = self.constant(ids[0]) {
                let value = Value::from_floats(&vec![*x; ty.components()]);
                return Ok(self.constant_node(Constant::Value(value), target, span));
            }
            return Ok(self.node(ExprKind::Splat(ids[0]), target, span));
        }
        if found != ty.components() {
            return Err(self.report(catalog::types::wrong_components(
                ty.name(),
                ty.components(),
                found,
                span,
            )));
        }
        if let Some(values) = self.values(&ids) {
            let parts: Vec<f64> = values
                .iter()
                .flat_map(|value| value.floats().to_vec())
                .collect();
            let vector = Constant::Value(Value::from_floats(&parts));
            return Ok(self.constant_node(vector, target, span));
        }
        Ok(self.node(ExprKind::Compose(ids), target, span))
    }
}
