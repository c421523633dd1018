//! Comprehensions, as arrays and in constants.

use super::element_of;
use crate::{
    check::{Binding, Checker, Place},
    diagnostic::catalog,
    hir::{Comprehension, Constant, ExprId, ExprKind, LocalKind, Type},
    ir::Value,
    span::Span,
    syntax::ast,
};
use std::rc::Rc;

/// Comprehensions that are evaluated at compile time may have so many rounds.
const MAX_CONSTANT_ROUNDS: i64 = 1 << 16;

impl Checker<'_> {
    pub(super) fn array_comprehension(
        &mut self,
        inner: &ast::Comprehension,
        want: Option<&Type>,
        span: Span,
    ) -> ExprId {
        if let Some(filter) = &inner.filter {
            self.report(catalog::control::filter_in_array(filter.span));
        }
        let want = element_of(want);
        if self.place == Place::Constant {
            let Some(mut values) = self.constant_rounds(inner, want.as_ref()) else {
                return self.error(span);
            };
            if values.is_empty() {
                self.report(catalog::types::empty_array(span));
                return self.error(span);
            }
            let element = self.common(&mut values, want.as_ref(), "the elements of an array");
            let ty = Type::Array(Rc::new(element), values.len() as u32);
            return match self.constants(&values) {
                Some(values) => self.constant_node(Constant::Many(values.into()), ty, span),
                None => self.not_constant(span),
            };
        }
        let comprehension = self.comprehension(inner, want.as_ref());
        let (start, end) = (
            self.constant(comprehension.start),
            self.constant(comprehension.end),
        );
        let (Some(start), Some(end)) = (
            start.and_then(Constant::as_int),
            end.and_then(Constant::as_int),
        ) else {
            if !self.is_error(comprehension.start) && !self.is_error(comprehension.end) {
                self.report(catalog::constants::range_not_constant(
                    inner.range.start.span.to(inner.range.end.span),
                ));
            }
            return self.error(span);
        };
        if end <= start {
            self.report(catalog::constants::empty_range(
                start,
                end,
                inner.range.start.span.to(inner.range.end.span),
            ));
            return self.error(span);
        }
        if end - start > 1 << 24 {
            self.report(catalog::constants::bad_length(
                &(end - start).to_string(),
                span,
            ));
            return self.error(span);
        }
        let ty = Type::Array(
            Rc::new(self.ty(comprehension.value).clone()),
            (end - start) as u32,
        );
        self.node(ExprKind::Comprehension(Box::new(comprehension)), ty, span)
    }

    /// The parts of a comprehension; its value is concrete.
    pub(in crate::check) fn comprehension(
        &mut self,
        inner: &ast::Comprehension,
        want: Option<&Type>,
    ) -> Comprehension {
        let start = self.expr_of(&inner.range.start, &Type::I32, "the start of a range");
        let end = self.expr_of(&inner.range.end, &Type::I32, "the end of a range");
        self.scoped(|checker| {
            let index = checker.declare(&inner.index, Type::I32, LocalKind::Index);
            let filter = inner
                .filter
                .as_ref()
                .map(|filter| checker.expr_of(filter, &Type::BOOL, "a filter"));
            let value = checker.expr(&inner.value, want);
            let value = want
                .and_then(|want| checker.adapt(value, want))
                .unwrap_or(value);
            let value = checker.concrete(value);
            Comprehension {
                index,
                start,
                end,
                filter,
                value,
            }
        })
    }

    /// The values of a comprehension whose index is known at compile time, round by round.
    fn constant_rounds(
        &mut self,
        inner: &ast::Comprehension,
        want: Option<&Type>,
    ) -> Option<Vec<ExprId>> {
        let start =
            self.constant_int(&inner.range.start, "the range of a constant comprehension")?;
        let end = self.constant_int(&inner.range.end, "the range of a constant comprehension")?;
        if end - start > MAX_CONSTANT_ROUNDS {
            self.report(catalog::constants::bad_length(
                &(end - start).to_string(),
                inner.range.end.span,
            ));
            return None;
        }
        if !self.afford(
            (end - start).max(0) as u64,
            inner.range.start.span.to(inner.range.end.span),
        ) {
            return None;
        }
        let mut values = Vec::new();
        for round in start..end {
            let value = self.scoped(|checker| {
                checker.bind(
                    &inner.index,
                    Binding::Constant(Constant::Int(round), Type::AbstractInt),
                );
                if let Some(filter) = &inner.filter {
                    let id = checker.expr_of(filter, &Type::BOOL, "a filter");
                    match checker.constant(id) {
                        Some(Constant::Value(Value::Bool(true))) => {}
                        Some(_) => return Some(None),
                        None => return None,
                    }
                }
                let id = checker.expr(&inner.value, want);
                (!checker.is_error(id)).then_some(Some(id))
            })?;
            values.extend(value);
        }
        Some(values)
    }
}
