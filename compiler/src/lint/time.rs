//! Time in floats, over more steps than they can count.

use super::Facts;
use crate::{
    diagnostic::{Diagnostic, catalog::warning as say},
    hir::{BinaryOp, ExprId, ExprKind, Stmt, StmtKind, Type},
    ir::Launch,
};
use std::collections::HashMap;

/// The largest number up to which an `f32` has every integer.
const EXACT: u32 = 1 << 24;
/// What an increment may lose at the end of a run.
const MOST_LOST: f64 = 0.01;

pub(super) fn lint(facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
    let Some(steps) = facts.model.steps else {
        return;
    };
    if steps > EXACT {
        conversions(facts, steps, found);
    }
    sums(facts, steps, found);
}

/// `f32(t)` of the number of a step that an `f32` cannot hold.
fn conversions(facts: &Facts<'_>, steps: u32, found: &mut Vec<Diagnostic>) {
    let model = facts.model;
    for id in facts.within(facts.roots()) {
        if let ExprKind::Convert(value) = model[id].kind
            && model[id].ty == Type::F32
            && matches!(model[value].kind, ExprKind::Launch(Launch::Step))
        {
            let message = format!("an `f32` does not tell {steps} steps apart");
            let label = format!("from {EXACT} on, several steps are the same number");
            found.push(say::inexact_time(&message, &label, model[id].span));
        }
    }
}

/// `time += DT`, where a float as large as `time` at the end loses a part of `DT`.
fn sums(facts: &Facts<'_>, steps: u32, found: &mut Vec<Diagnostic>) {
    let model = facts.model;
    let mut assigned: HashMap<u32, u32> = HashMap::new();
    for stmt in &facts.statements {
        if let StmtKind::Assign { place, .. } = &stmt.kind
            && let ExprKind::State(state) = model[facts.root_of(*place)].kind
        {
            *assigned.entry(state.0).or_default() += 1;
        }
    }
    for stmt in model.step.iter().flat_map(|block| &block.body) {
        let Some((state, increment)) = increment(facts, stmt) else {
            continue;
        };
        let item = &model.states[state as usize];
        let Some(first) = number(facts, item.init) else {
            continue;
        };
        if item.integrated || assigned.get(&state) != Some(&1) {
            continue;
        }
        let last = (first + increment * f64::from(steps)) as f32;
        let grows = f64::from(last + increment as f32) - f64::from(last);
        if last.is_finite() && (grows - increment).abs() > MOST_LOST * increment.abs() {
            let name = &item.name;
            let message = format!("`{name}` loses a part of what each of {steps} steps adds");
            let label = format!("adds {grows} instead of {increment} where `{name}` is {last}");
            found.push(say::inexact_time(&message, &label, stmt.span));
        }
    }
}

/// The state that a statement increases, and by how much.
fn increment(facts: &Facts<'_>, stmt: &Stmt) -> Option<(u32, f64)> {
    let model = facts.model;
    let StmtKind::Assign { place, op, value } = &stmt.kind else {
        return None;
    };
    let ExprKind::State(state) = model[*place].kind else {
        return None;
    };
    let (op, value) = match (op, &model[*value].kind) {
        (Some(op), _) => (*op, *value),
        (None, ExprKind::Binary(op, a, b)) => match model[*a].kind {
            ExprKind::State(own) if own == state => (*op, *b),
            _ => return None,
        },
        (None, _) => return None,
    };
    let by = number(facts, value)?;
    let is_float = model[*place].ty == Type::F32;
    if !is_float || by == 0.0 || !matches!(op, BinaryOp::Add | BinaryOp::Subtract) {
        return None;
    }
    Some((state.0, if op == BinaryOp::Add { by } else { -by }))
}

/// A constant, or the default of a param.
fn number(facts: &Facts<'_>, id: ExprId) -> Option<f64> {
    match &facts.model[id].kind {
        ExprKind::Constant(constant) => super::interval::number(constant),
        ExprKind::Param(param) => super::interval::number(facts.model[*param].default.as_ref()?),
        _ => None,
    }
}
