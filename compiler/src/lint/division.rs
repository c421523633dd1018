//! Divisions of integers whose results are used as floats.

use super::Facts;
use crate::{
    diagnostic::{Diagnostic, catalog::warning as say},
    hir::{BinaryOp, ExprKind, Type},
    names::Kind,
    span::Span,
};

pub(super) fn lint(facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
    constants(facts, found);
    quotients(facts, found);
}

/// Divisions that are computed when the model is compiled: `1 / 2` where a float is due.
fn constants(facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
    let users = Users::of(&facts.floats);
    let constants = facts.names.declarations.iter().zip(&facts.uses);
    let constants = constants.filter(|(it, _)| it.kind == Kind::Const && !it.typed);
    let mut constants: Vec<_> = constants.collect();
    constants.sort_by_key(|(it, _)| it.whole);
    for (division, quotient) in &facts.divisions {
        let mut used = users.around(*division);
        if used.is_none() {
            // A constant that is used as a float, and as nothing else.
            let after = constants.partition_point(|(it, _)| it.whole.start <= division.start);
            if let Some((constant, places)) = after.checked_sub(1).map(|index| constants[index])
                && division.end <= constant.whole.end
            {
                let places = places.iter().map(|place| users.around(*place));
                used = places
                    .collect::<Option<Vec<Span>>>()
                    .and_then(|all| all.first().copied());
            }
        }
        if let Some(used) = used {
            found.push(say::integer_division(Some(*quotient), *division, used));
        }
    }
}

/// Where integers become floats.
struct Users {
    /// By their starts, each with the one of it and those before it that ends last.
    spans: Vec<(u32, Span)>,
}

impl Users {
    fn of(floats: &[Span]) -> Users {
        let mut sorted = floats.to_vec();
        sorted.sort();
        let mut last = Span::default();
        let spans = sorted.into_iter().map(|span| {
            if span.end >= last.end {
                last = span;
            }
            (span.start, last)
        });
        Users {
            spans: spans.collect(),
        }
    }

    /// One around a place.
    fn around(&self, place: Span) -> Option<Span> {
        let after = self
            .spans
            .partition_point(|(start, _)| *start <= place.start);
        let (_, last) = self.spans.get(after.checked_sub(1)?)?;
        (place.end <= last.end).then_some(*last)
    }
}

/// `f32(a / b)` of values of the run. A divisor that is known when the model is compiled is left alone: it
/// often is the width of a grid.
fn quotients(facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
    let model = facts.model;
    for id in facts.within(facts.roots()) {
        let ExprKind::Convert(value) = model[id].kind else {
            continue;
        };
        if model[id].ty != Type::F32 {
            continue;
        }
        if let ExprKind::Binary(BinaryOp::Divide, _, divisor) = model[value].kind
            && !matches!(model[divisor].kind, ExprKind::Constant(_))
        {
            found.push(say::integer_division(
                None,
                model[value].span,
                model[id].span,
            ));
        }
    }
}
