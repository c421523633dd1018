//! Parts of values: elements, fields, swizzles, and variants behind the name of their enum.

use crate::{
    check::{Checked, Checker, Global},
    diagnostic::{Reported, catalog},
    foreign,
    hir::{Constant, EnumId, ExprId, ExprKind, Type},
    ir::{self, Value},
    span::Span,
    syntax::ast,
};

/// Rows that a table may have, since an index becomes an `i32`.
const MOST_ROWS: i64 = 1 << 31;

impl Checker<'_> {
    pub(super) fn index(&mut self, base: &ast::Expr, index: &ast::Expr, span: Span) -> Checked {
        if is_world(base) {
            return self.agent_at(base.span, index, span);
        }
        let base = self.expr(base, None);
        let position = self.expr(index, Some(&Type::I32));
        let position = self.adapt_or_keep(position, &Type::I32);
        let ty = self.ty(base).clone();
        let (element, length) = match &ty {
            Type::Array(element, length) => ((**element).clone(), Some(*length)),
            Type::Open(element) => ((**element).clone(), None),
            Type::Error(reported) => return Err(*reported),
            Type::Value(_)
            | Type::Struct(_)
            | Type::Enum(_)
            | Type::Agent
            | Type::AbstractInt
            | Type::AbstractFloat => {
                let population =
                    matches!(self.model[base].kind, ExprKind::Launch(ir::Launch::Agents));
                let span = self.expr_span(base);
                let report = catalog::types::not_an_array(&self.show(&ty), population, span);
                return Err(self.report(report));
            }
        };
        let position = self.sound(position?)?;
        if !matches!(
            self.ty(position),
            Type::Value(ir::Type::I32 | ir::Type::U32)
        ) {
            let found = self.show(self.ty(position));
            return Err(self.report(catalog::types::mismatched_types(
                "an index", "i32", &found, index.span, None, None,
            )));
        }
        if let Some(value) = self.constant(position).and_then(Constant::as_int) {
            let end = length.map_or(MOST_ROWS, i64::from);
            // In a function that is evaluated, any index has become a constant.
            let value = match self.evaluates() {
                true => value.clamp(0, end - 1),
                false => value,
            };
            if value < 0 || value >= end {
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
                return Err(self.report(report));
            }
            if let Some(Constant::Many(values)) = self.constant(base) {
                let value = values[value as usize].clone();
                return Ok(self.constant_node(value, element, span));
            }
        }
        let base = self.concrete(base);
        let element = element.default_concrete();
        Ok(self.node(ExprKind::Index(base, position), element, span))
    }

    pub(super) fn field(&mut self, base: &ast::Expr, field: &ast::Name, span: Span) -> Checked {
        if let Some(id) = self.qualified_variant(base, field, span)? {
            return Ok(id);
        }
        if is_world(base) {
            return self.number_of_world(base.span, field, span);
        }
        if let Some(reported) = self.qualifier(base, field) {
            return Err(reported);
        }
        let base = self.expr_or_agent(base, None);
        let ty = self.ty(base).clone();
        self.note_members(field.span, &ty);
        match &ty {
            Type::Error(reported) => Err(*reported),
            Type::Struct(id) => {
                let item = &self.model[*id];
                let Some(position) = item.fields.iter().position(|(name, _)| *name == field.text)
                else {
                    let names = item.fields.iter().map(|(name, _)| name.as_str());
                    let near = self.suggestions.nearest(&field.text, names);
                    let report =
                        catalog::names::unknown_field(&item.name, &field.text, field.span, near);
                    return Err(self.report(report));
                };
                let field_ty = item.fields[position].1.clone();
                self.note_field(field.span, *id, position);
                if let Some(Constant::Many(values)) = self.constant(base) {
                    let value = values[position].clone();
                    return Ok(self.constant_node(value, field_ty, span));
                }
                Ok(self.node(ExprKind::Field(base, position as u32), field_ty, span))
            }
            Type::Value(vector) if vector.is_vector() => {
                match swizzle(&field.text, vector.components()) {
                    Some(components) => Ok(self.swizzle(base, components, span)),
                    None => Err(self.report(catalog::names::unknown_field(
                        vector.name(),
                        &field.text,
                        field.span,
                        None,
                    ))),
                }
            }
            Type::Agent => self.field_of_agent(base, field, span),
            Type::Value(_)
            | Type::Array(..)
            | Type::Open(_)
            | Type::Enum(_)
            | Type::AbstractInt
            | Type::AbstractFloat => {
                let report = catalog::types::no_fields(&self.show(&ty), self.expr_span(base));
                Err(self.report(report))
            }
        }
    }

    fn swizzle(&mut self, base: ExprId, components: Vec<u8>, span: Span) -> ExprId {
        let ty = Type::Value(ir::Type::float(components.len()));
        if let Some(Constant::Value(value)) = self.constant(base) {
            let floats = value.floats();
            let parts: Vec<f64> = components.iter().map(|&k| floats[k as usize]).collect();
            return self.constant_node(Constant::Value(Value::from_floats(&parts)), ty, span);
        }
        self.node(ExprKind::Swizzle(base, components), ty, span)
    }

    /// Complains of `self.x` and `math.pi`, where nothing has the name before the point.
    fn qualifier(&mut self, base: &ast::Expr, field: &ast::Name) -> Option<Reported> {
        let ast::ExprKind::Name(name) = &base.kind else {
            return None;
        };
        let known = self.scopes.iter().any(|scope| scope.contains_key(name))
            || self.globals.contains_key(name.as_str());
        if known || !(matches!(&**name, "self" | "this") || foreign::is_module(name)) {
            return None;
        }
        let (whole, meant) = (base.span.to(field.span), field.text.as_str());
        let report =
            catalog::names::foreign_qualifier(name, meant, base.span, Some((whole, meant)));
        Some(self.report(report))
    }

    /// `Health.Infected`, if the name before the point is that of an enum.
    fn qualified_variant(
        &mut self,
        base: &ast::Expr,
        field: &ast::Name,
        span: Span,
    ) -> Checked<Option<ExprId>> {
        let ast::ExprKind::Name(name) = &base.kind else {
            return Ok(None);
        };
        if self.scopes.iter().any(|scope| scope.contains_key(name)) {
            return Ok(None);
        }
        let Some((Global::Enum(id), declared)) = self.globals.get(name.as_str()).copied() else {
            return Ok(None);
        };
        self.note(base.span, declared);
        self.note_enum(field.span, id);
        let Some(value) = self.variant_of(id, &field.text) else {
            let variants = self.model[id].variants.iter().map(String::as_str);
            let near = self.suggestions.nearest(&field.text, variants);
            let report = catalog::names::unknown_variant(name, &field.text, field.span, near);
            return Err(self.report(report));
        };
        self.note_variant(field.span, id, value as usize);
        let variant = Constant::Value(Value::U32(value));
        Ok(Some(self.constant_node(variant, Type::Enum(id), span)))
    }

    /// The number of an enum's variant of that name.
    pub(in crate::check) fn variant_of(&self, owner: EnumId, name: &str) -> Option<u32> {
        self.variants
            .get(name)?
            .binary_search_by_key(&owner, |(id, _)| *id)
            .ok()
            .map(|at| self.variants[name][at].1)
    }
}

/// `world`, which no other name can hide.
fn is_world(expr: &ast::Expr) -> bool {
    matches!(&expr.kind, ast::ExprKind::Name(name) if name == "world")
}

/// The components that a swizzle of a vector names.
pub(in crate::check) fn components(name: &str) -> Vec<usize> {
    let components = swizzle(name, 4).unwrap_or_default();
    components.into_iter().map(usize::from).collect()
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
