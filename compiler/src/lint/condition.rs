//! Conditions that are true, or false, whatever the values of a run are.

use super::{
    Facts,
    interval::{Interval, Intervals, number},
};
use crate::{
    diagnostic::{Diagnostic, catalog::warning as say},
    hir::{BinaryOp, Constant, ExprId, ExprKind, StmtKind, Type, UnaryOp},
    ir::Value,
    span::Span,
};
use std::collections::HashMap;

pub(super) fn lint(facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
    let intervals = Intervals::of(facts);
    literals(facts, found);
    // Each with the operator that it is a side of.
    let mut open: Vec<(ExprId, Option<BinaryOp>)> = Vec::new();
    open.extend(facts.roots().into_iter().map(|id| (id, None)));
    while let Some((id, side_of)) = open.pop() {
        let own = match facts.model[id].kind {
            ExprKind::Binary(op, ..) => Some(op),
            _ => None,
        };
        let decided = own.and_then(|op| match (Order::of(op), &facts.model[id].kind) {
            (Some(order), ExprKind::Binary(_, a, b)) => {
                comparison(facts, &intervals, order, *a, *b)
            }
            // A part of a chain was looked at with the whole of it.
            _ if matches!(op, BinaryOp::And | BinaryOp::Or) && side_of != own => {
                joined(facts, id, op)
            }
            _ => None,
        });
        match decided {
            Some(Decided {
                value,
                reason,
                help,
            }) => {
                let span = facts.model[id].span;
                found.push(say::constant_condition(value, reason, help, span));
            }
            None => open.extend(facts.model.operands(id).into_iter().map(|id| (id, own))),
        }
    }
}

/// A value that is known, and why.
struct Decided {
    value: bool,
    reason: Option<(Span, String)>,
    help: Option<&'static str>,
}

/// Conditions of `if` and filters that are literals, and those of `while` that are false: `while true` is a
/// loop that something else ends.
fn literals(facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
    let mut conditions: Vec<(ExprId, bool)> = Vec::new();
    for stmt in &facts.statements {
        match &stmt.kind {
            StmtKind::If { branches, .. } => {
                conditions.extend(branches.iter().map(|(condition, _)| (*condition, true)));
            }
            StmtKind::While { condition, .. } => conditions.push((*condition, false)),
            _ => {}
        }
    }
    for id in facts.within(facts.roots()) {
        if let ExprKind::Fold(_, over) = &facts.model[id].kind {
            conditions.extend(over.filter.map(|filter| (filter, true)));
        }
    }
    for (id, if_true) in conditions {
        let (kind, span) = (&facts.model[id].kind, facts.model[id].span);
        if let ExprKind::Constant(Constant::Value(Value::Bool(value))) = kind
            && (if_true || !value)
            && facts.is_literal(span)
        {
            found.push(say::constant_condition(*value, None, None, span));
        }
    }
}

/// A comparison that the intervals of its sides decide, or sides that are the same.
fn comparison(
    facts: &Facts<'_>,
    intervals: &Intervals<'_, '_>,
    order: Order,
    a: ExprId,
    b: ExprId,
) -> Option<Decided> {
    let model = facts.model;
    let same = facts.text(model[a].span) == facts.text(model[b].span);
    // NaN is not equal to itself.
    if same && model[a].ty != Type::F32 && !facts.draws(a) && !facts.draws(b) {
        return Some(Decided {
            value: matches!(order, Order::Equal | Order::NotAbove | Order::NotBelow),
            reason: None,
            help: Some("both sides are the same"),
        });
    }
    let value = order.of_all(intervals.interval(a)?, intervals.interval(b)?)?;
    let bounds = |id: ExprId| {
        let is_constant = matches!(model[id].kind, ExprKind::Constant(_));
        let (low, high) = intervals.interval(id).filter(|_| !is_constant)?;
        Some((model[id].span, format!("from {low} to {high}")))
    };
    Some(Decided {
        value,
        reason: bounds(a).or_else(|| bounds(b)),
        help: None,
    })
}

/// An operator that compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Equal,
    Unequal,
    Below,
    NotAbove,
    Above,
    NotBelow,
}

impl Order {
    fn of(op: BinaryOp) -> Option<Order> {
        Some(match op {
            BinaryOp::Equal => Order::Equal,
            BinaryOp::NotEqual => Order::Unequal,
            BinaryOp::Less => Order::Below,
            BinaryOp::LessEqual => Order::NotAbove,
            BinaryOp::Greater => Order::Above,
            BinaryOp::GreaterEqual => Order::NotBelow,
            BinaryOp::Add
            | BinaryOp::Subtract
            | BinaryOp::Multiply
            | BinaryOp::Divide
            | BinaryOp::Remainder
            | BinaryOp::Power
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::ShiftLeft
            | BinaryOp::ShiftRight => return None,
        })
    }

    /// Whether it is the same for all numbers of two intervals.
    fn of_all(self, x: Interval, y: Interval) -> Option<bool> {
        let (below, above) = (x.1 < y.0, x.0 > y.1);
        let (not_above, not_below) = (x.1 <= y.0, x.0 >= y.1);
        let (yes, no) = match self {
            Order::Equal => (false, below || above),
            Order::Unequal => (below || above, false),
            Order::Below => (below, not_below),
            Order::NotAbove => (not_above, above),
            Order::Above => (above, not_above),
            Order::NotBelow => (not_below, below),
        };
        (yes || no).then_some(yes)
    }

    /// With its sides exchanged.
    fn mirrored(self) -> Order {
        match self {
            Order::Equal | Order::Unequal => self,
            Order::Below => Order::Above,
            Order::NotAbove => Order::NotBelow,
            Order::Above => Order::Below,
            Order::NotBelow => Order::NotAbove,
        }
    }

    /// True where this is false; of floats that may be NaN only for equality.
    fn opposite(self) -> Order {
        match self {
            Order::Equal => Order::Unequal,
            Order::Unequal => Order::Equal,
            Order::Below => Order::NotBelow,
            Order::NotAbove => Order::Above,
            Order::Above => Order::NotAbove,
            Order::NotBelow => Order::Below,
        }
    }
}

/// What comparisons of one value with constants leave of it.
struct Rest {
    span: Span,
    low: f64,
    high: f64,
    /// Is an end of these not among the values?
    open: (bool, bool),
    equal: Vec<f64>,
    unequal: Vec<f64>,
}

/// `x < 1 && x > 2`, `x != A || x != B`.
fn joined(facts: &Facts<'_>, id: ExprId, op: BinaryOp) -> Option<Decided> {
    let model = facts.model;
    let is_and = op == BinaryOp::And;
    let (mut open, mut rests) = (vec![id], HashMap::<&str, Rest>::new());
    while let Some(id) = open.pop() {
        let (mut compared, mut negated) = (id, !is_and);
        while let ExprKind::Unary(UnaryOp::Not, inner) = model[compared].kind {
            (compared, negated) = (inner, !negated);
        }
        let ExprKind::Binary(inner, a, b) = model[compared].kind else {
            continue;
        };
        if inner == op && compared == id {
            open.extend([a, b]);
            continue;
        }
        let Some(order) = Order::of(inner) else {
            continue;
        };
        let constant = |id: ExprId| match &model[id].kind {
            ExprKind::Constant(constant) => number(constant),
            _ => None,
        };
        let (value, limit, order) = match (constant(a), constant(b)) {
            (None, Some(limit)) => (a, limit, order),
            (Some(limit), None) => (b, limit, order.mirrored()),
            _ => continue,
        };
        // A NaN fulfils neither an order nor its opposite.
        let is_float = model[value].ty == Type::F32;
        let exact = matches!(order, Order::Equal | Order::Unequal);
        if facts.draws(value) || is_float && negated && !exact {
            continue;
        }
        let span = model[value].span;
        let rest = rests.entry(facts.text(span)).or_insert(Rest {
            span,
            low: f64::NEG_INFINITY,
            high: f64::INFINITY,
            open: (false, false),
            equal: Vec::new(),
            unequal: Vec::new(),
        });
        rest.take(if negated { order.opposite() } else { order }, limit);
    }
    let rest = rests.into_values().find(Rest::is_empty)?;
    Some(Decided {
        value: !is_and,
        reason: Some((rest.span, "compared with more than one value".to_owned())),
        help: Some(match is_and {
            true => "no value fulfils all of it; was `||` meant?",
            false => "each value fulfils a part of it; was `&&` meant?",
        }),
    })
}

impl Rest {
    /// Leaves only what compares so.
    fn take(&mut self, order: Order, limit: f64) {
        match order {
            Order::Equal => self.equal.push(limit),
            Order::Unequal => self.unequal.push(limit),
            Order::Below | Order::NotAbove => {
                let open = order == Order::Below;
                if limit < self.high || limit == self.high && open {
                    (self.high, self.open.1) = (limit, open);
                }
            }
            Order::Above | Order::NotBelow => {
                let open = order == Order::Above;
                if limit > self.low || limit == self.low && open {
                    (self.low, self.open.0) = (limit, open);
                }
            }
        }
    }

    fn is_empty(&self) -> bool {
        let (low, high) = (self.low, self.high);
        let outside = |x: &f64| {
            *x < low || *x > high || *x == low && self.open.0 || *x == high && self.open.1
        };
        low > high
            || low == high && (self.open.0 || self.open.1)
            || self.equal.iter().any(outside)
            || self
                .equal
                .iter()
                .any(|x| *x != self.equal[0] || self.unequal.contains(x))
    }
}
