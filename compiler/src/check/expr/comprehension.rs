//! Comprehensions, as arrays and in constants.

use super::element_of;
use crate::{
    check::{Binding, Checked, Checker, Place, extent::is_spelled_out},
    diagnostic::catalog,
    hir::{Comprehension, Constant, Domain, ExprId, ExprKind, LocalKind, Type},
    ir::Value,
    span::Span,
    syntax::ast,
};
use std::rc::Rc;

/// Iterations of a comprehension that is evaluated at compile time, at most.
const MAX_CONSTANT_ROUNDS: i64 = 1 << 16;

impl Checker<'_> {
    pub(super) fn array_comprehension(
        &mut self,
        inner: &ast::Comprehension,
        want: Option<&Type>,
        span: Span,
    ) -> Checked {
        if let Some(filter) = &inner.filter {
            self.report(catalog::control::filter_in_array(filter.span));
        }
        let want = element_of(want);
        if self.place == Place::Constant {
            return self.constant_comprehension(inner, want.as_ref(), span);
        }
        let written = self.ends(&inner.domain)?;
        let comprehension = self.comprehension(inner, want.as_ref());
        let Domain::Range(start, end) = comprehension.domain else {
            return Err(self.not_constant(span));
        };
        let (start, end) = (self.sound(start)?, self.sound(end)?);
        let range = written.start.span.to(written.end.span);
        let known = |id| self.constant(id).and_then(Constant::as_int);
        let (Some(start), Some(end)) = (known(start), known(end)) else {
            return Err(self.report(catalog::constants::range_not_constant(range)));
        };
        if end <= start {
            return Err(self.report(catalog::constants::empty_range(start, end, range)));
        }
        if end - start > 1 << 24 {
            let length = (end - start).to_string();
            return Err(self.report(catalog::constants::bad_length(&length, span)));
        }
        let ty = Type::Array(
            Rc::new(self.ty(comprehension.value).clone()),
            (end - start) as u32,
        );
        Ok(self.node(ExprKind::Comprehension(Box::new(comprehension)), ty, span))
    }

    /// The parts of a comprehension; its value is concrete.
    pub(in crate::check) fn comprehension(
        &mut self,
        inner: &ast::Comprehension,
        want: Option<&Type>,
    ) -> Comprehension {
        let (domain, ty) = self.domain(&inner.domain);
        let before = self.in_elements;
        self.in_elements |= self.of_world && ty == Type::Agent;
        let comprehension = self.scoped(|checker| {
            let index = checker.declare(&inner.index, ty, LocalKind::Index);
            let filter = inner
                .filter
                .as_ref()
                .map(|filter| checker.expr_of(filter, &Type::BOOL, "a filter"));
            let value = checker.expr(&inner.value, want);
            let adapted = want.map_or(Ok(value), |want| checker.adapt_or_keep(value, want));
            let value = match adapted {
                Ok(value) => checker.concrete(value),
                Err(reported) => checker.error(inner.value.span, reported),
            };
            Comprehension {
                index,
                domain,
                filter,
                value,
            }
        });
        self.in_elements = before;
        comprehension
    }

    /// What a loop runs over, and the type of its index.
    pub(in crate::check) fn domain(&mut self, domain: &ast::Domain) -> (Domain, Type) {
        match domain {
            ast::Domain::Range(range) => {
                let start = self.expr_of(&range.start, &Type::I32, "the start of a range");
                let end = self.expr_of(&range.end, &Type::I32, "the end of a range");
                (Domain::Range(start, end), Type::I32)
            }
            ast::Domain::World(span) => match self.agents_of_world(*span) {
                Ok(()) => (Domain::World, Type::Agent),
                Err(reported) => (Domain::World, Type::Error(reported)),
            },
        }
    }

    /// The range of a comprehension whose values make an array.
    fn ends<'t>(&mut self, domain: &'t ast::Domain) -> Checked<&'t ast::Range> {
        match domain {
            ast::Domain::Range(range) => Ok(range),
            ast::Domain::World(span) => Err(self.report(catalog::world::array_of_agents(*span))),
        }
    }

    /// A comprehension in a constant: its elements, computed here.
    fn constant_comprehension(
        &mut self,
        inner: &ast::Comprehension,
        want: Option<&Type>,
        span: Span,
    ) -> Checked {
        self.constant_work.rounds += 1;
        let values = self.constant_rounds(inner, want);
        self.constant_work.rounds -= 1;
        let mut values = values?;
        if values.is_empty() {
            return Err(self.report(catalog::types::empty_array(span)));
        }
        let element = self.common(&mut values, want, "the elements of an array");
        self.all_sound(&values)?;
        let numbers = self.numbers(&element);
        if numbers > 1 && !is_spelled_out(&inner.value) {
            self.afford(numbers.saturating_mul(values.len() as u64), span)?;
        }
        let ty = Type::Array(Rc::new(element), values.len() as u32);
        match self.constants(&values) {
            Some(values) => Ok(self.constant_node(Constant::Many(values.into()), ty, span)),
            None => Err(self.not_constant(inner.value.span)),
        }
    }

    /// The values of a comprehension whose index is known at compile time, one per iteration.
    fn constant_rounds(
        &mut self,
        inner: &ast::Comprehension,
        want: Option<&Type>,
    ) -> Checked<Vec<ExprId>> {
        let what = "the range of a constant comprehension";
        let written = self.ends(&inner.domain)?;
        let start = self.constant_int(&written.start, what)?;
        let end = self.constant_int(&written.end, what)?;
        // The difference of the ends may need all 64 bits.
        let rounds = i128::from(end) - i128::from(start);
        if rounds > i128::from(MAX_CONSTANT_ROUNDS) {
            let (length, span) = (rounds.to_string(), written.end.span);
            return Err(self.report(catalog::constants::bad_length(&length, span)));
        }
        let range = written.start.span.to(written.end.span);
        self.afford(rounds.max(0) as u64, range)?;
        self.scoped(|checker| {
            let mut values = Vec::new();
            for round in start..end {
                checker.afford_round(inner.value.span)?;
                let nodes = checker.model.exprs.len();
                let value = checker.constant_round(inner, want, round)?;
                // Only the value is read again.
                let value = value.map(|id| checker.model[id].clone());
                checker.model.exprs.truncate(nodes);
                values.extend(value.map(|value| checker.node(value.kind, value.ty, value.span)));
            }
            Ok(values)
        })
    }

    /// An iteration of a constant comprehension; none if the filter skips it.
    fn constant_round(
        &mut self,
        inner: &ast::Comprehension,
        want: Option<&Type>,
        round: i64,
    ) -> Checked<Option<ExprId>> {
        let index = Binding::Constant(Constant::Int(round), Type::AbstractInt);
        self.rebind(&inner.index, index);
        if let Some(filter) = &inner.filter {
            let id = self.expr_of(filter, &Type::BOOL, "a filter");
            let id = self.sound(id)?;
            match self.constant(id) {
                Some(Constant::Value(Value::Bool(true))) => {}
                Some(_) => return Ok(None),
                None => return Err(self.not_constant(filter.span)),
            }
        }
        let id = self.expr(&inner.value, want);
        let id = self.sound(id)?;
        match self.constant(id) {
            Some(_) => Ok(Some(id)),
            None => Err(self.not_constant(inner.value.span)),
        }
    }
}
