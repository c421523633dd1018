//! Parts of values: elements, fields, swizzles, and variants behind the name of their enum.

use crate::{
    check::{Checker, Global, suggest::nearest},
    diagnostic::catalog,
    hir::{Constant, ExprId, ExprKind, Type},
    ir::{self, Value},
    span::Span,
    syntax::ast,
};

impl Checker<'_> {
    pub(super) fn index(&mut self, base: &ast::Expr, index: &ast::Expr, span: Span) -> ExprId {
        let base = self.expr(base, None);
        let position = self.expr(index, Some(&Type::I32));
        let before = self.diagnostics.len();
        let position = self.adapt(position, &Type::I32).unwrap_or(position);
        let too_large = self.diagnostics.len() > before;
        let ty = self.ty(base).clone();
        let (element, length) = match &ty {
            Type::Array(element, length) => ((**element).clone(), Some(*length)),
            Type::Open(element) => ((**element).clone(), None),
            Type::Error => return self.error(span),
            Type::Value(_)
            | Type::Struct(_)
            | Type::Enum(_)
            | Type::AbstractInt
            | Type::AbstractFloat => {
                let report = catalog::types::not_an_array(&self.show(&ty), self.expr_span(base));
                self.report(report);
                return self.error(span);
            }
        };
        if !matches!(
            self.ty(position),
            Type::Value(ir::Type::I32 | ir::Type::U32)
        ) {
            if !too_large && !self.is_error(position) {
                let found = self.show(self.ty(position));
                self.report(catalog::types::mismatched_types(
                    "an index", "i32", &found, index.span, None,
                ));
            }
            return self.error(span);
        }
        if let Some(value) = self.constant(position).and_then(Constant::as_int) {
            if value < 0 || length.is_some_and(|length| value >= i64::from(length)) {
                let report = match length {
                    Some(length) => catalog::constants::index_out_of_range(
                        value,
                        length,
                        index.span,
                        self.expr_span(base),
                    ),
                    None => catalog::constants::constant_out_of_range(
                        &value.to_string(),
                        "an index",
                        index.span,
                    ),
                };
                self.report(report);
                return self.error(span);
            }
            if let Some(Constant::Many(values)) = self.constant(base) {
                let value = values[value as usize].clone();
                return self.constant_node(value, element, span);
            }
        }
        let base = self.concrete(base);
        self.node(
            ExprKind::Index(base, position),
            element.default_concrete(),
            span,
        )
    }

    pub(super) fn field(&mut self, base: &ast::Expr, field: &ast::Name, span: Span) -> ExprId {
        if let Some(id) = self.qualified_variant(base, field, span) {
            return id;
        }
        let base = self.expr(base, None);
        let ty = self.ty(base).clone();
        self.note_members(field.span, &ty);
        match &ty {
            Type::Error => self.error(span),
            Type::Struct(id) => {
                let item = &self.model[*id];
                let Some(position) = item.fields.iter().position(|(name, _)| *name == field.text)
                else {
                    let near = nearest(
                        &field.text,
                        item.fields.iter().map(|(name, _)| name.as_str()),
                    );
                    let report =
                        catalog::names::unknown_field(&item.name, &field.text, field.span, near);
                    self.report(report);
                    return self.error(span);
                };
                let field_ty = item.fields[position].1.clone();
                self.note_field(field.span, *id, position);
                if let Some(Constant::Many(values)) = self.constant(base) {
                    let value = values[position].clone();
                    return self.constant_node(value, field_ty, span);
                }
                self.node(ExprKind::Field(base, position as u32), field_ty, span)
            }
            Type::Value(vector) if vector.is_vector() => {
                match swizzle(&field.text, vector.components()) {
                    Some(components) => self.swizzle(base, components, span),
                    None => {
                        self.report(catalog::names::unknown_field(
                            vector.name(),
                            &field.text,
                            field.span,
                            None,
                        ));
                        self.error(span)
                    }
                }
            }
            Type::Value(_)
            | Type::Array(..)
            | Type::Open(_)
            | Type::Enum(_)
            | Type::AbstractInt
            | Type::AbstractFloat => {
                let report = catalog::types::no_fields(&self.show(&ty), self.expr_span(base));
                self.report(report);
                self.error(span)
            }
        }
    }

    fn swizzle(&mut self, base: ExprId, components: Vec<u8>, span: Span) -> ExprId {
        let ty = Type::Value(ir::Type::float(components.len()));
        if let Some(Constant::Value(value)) = self.constant(base) {
            let floats = value.floats();
            let parts: Vec<f32> = components.iter().map(|&k| floats[k as usize]).collect();
            return self.constant_node(Constant::Value(Value::from_floats(&parts)), ty, span);
        }
        self.node(ExprKind::Swizzle(base, components), ty, span)
    }

    /// `Health.Infected`
    fn qualified_variant(
        &mut self,
        base: &ast::Expr,
        field: &ast::Name,
        span: Span,
    ) -> Option<ExprId> {
        let ast::ExprKind::Name(name) = &base.kind else {
            return None;
        };
        if self.scopes.iter().any(|scope| scope.contains_key(name)) {
            return None;
        }
        let Some((Global::Enum(id), declared)) = self.globals.get(name.as_str()).copied() else {
            return None;
        };
        self.note(base.span, declared);
        self.note_enum(field.span, id);
        if let Some(value) = position_of(&self.model[id].variants, &field.text) {
            self.note_variant(field.span, id, value);
        }
        let variants = &self.model[id].variants;
        match position_of(variants, &field.text) {
            Some(value) => Some(self.constant_node(
                Constant::Value(Value::U32(value as u32)),
                Type::Enum(id),
                span,
            )),
            None => {
                let near = nearest(&field.text, variants.iter().map(String::as_str));
                let report = catalog::names::unknown_variant(name, &field.text, field.span, near);
                self.report(report);
                Some(self.error(span))
            }
        }
    }
}

fn position_of(variants: &[String], name: &str) -> Option<usize> {
    variants.iter().position(|variant| variant == name)
}

/// The components that a swizzle names, if a vector of that size has them.
fn swizzle(name: &str, size: usize) -> Option<Vec<u8>> {
    let letters = |set: &str| -> Option<Vec<u8>> {
        name.chars()
            .map(|letter| set.find(letter).filter(|k| *k < size).map(|k| k as u8))
            .collect()
    };
    if name.is_empty() || name.len() > 4 {
        return None;
    }
    letters("xyzw").or_else(|| letters("rgba"))
}
