//! If-conversion: replaces an `if` that only selects the new values of a few variables from cheap expressions
//! by `select`s, which GPUs run without a branch, and which drivers compile faster.
//!
//! Expressions are pure and total, so both arms may be evaluated. A variable that an arm does not assign
//! keeps its value. Names of the arms come first; their values do not change, as no assignment stands before
//! them.

use super::names;
use crate::ir::{
    BinaryOp, Block, Expr, ExprId, Launch, Program, Stmt, UnaryOp, VarId, VarKind, cost,
};

/// Nodes that both arms may evaluate together: enough for the `if !done { … }` with which an episode ends,
/// whose branch some drivers keep.
const MAX_NODES: usize = 32;
/// Variables that may change.
const MAX_VARS: usize = 4;

/// Converts every `if` that allows it, inner ones first.
pub(super) fn run(program: &mut Program) {
    program.each_section(|program, _, block| convert(program, block));
}

fn convert(program: &mut Program, block: &mut Block) {
    let mut new = Vec::with_capacity(block.len());
    for mut stmt in std::mem::take(block) {
        for inner in stmt.blocks_mut() {
            convert(program, inner);
        }
        if let Stmt::If {
            condition,
            accept,
            reject,
        } = &mut stmt
            && !is_shared(program, *condition)
            && let Some(vars) = order(program, accept, reject)
        {
            let arms = [accept, reject].map(std::mem::take);
            choose(program, *condition, arms, &vars, &mut new);
        } else {
            new.push(stmt);
        }
    }
    *block = new;
}

/// Is a condition the same for all agents whatever they do? Then its branch is never taken needlessly.
fn is_shared(program: &Program, id: ExprId) -> bool {
    program.nodes(id).all(|id| {
        matches!(
            program[id],
            Expr::Literal(_)
                | Expr::Double(_)
                | Expr::Launch(Launch::Agents | Launch::Steps | Launch::Step | Launch::Members)
                | Expr::Unary(..)
                | Expr::Binary(..)
        )
    })
}

/// The variables that the arms assign, in an order that fits both; none if the `if` must stay.
fn order(program: &Program, accept: &[Stmt], reject: &[Stmt]) -> Option<Vec<VarId>> {
    let mut left = MAX_NODES;
    let first = targets(program, accept, &mut left)?;
    let second = targets(program, reject, &mut left)?;
    let mut vars = first.clone();
    vars.extend(second.iter().filter(|var| !first.contains(var)));
    let fits = |arm: &[VarId]| {
        let places = arm.iter().map(|var| vars.iter().position(|v| v == var));
        places.is_sorted_by(|a, b| a < b)
    };
    (!vars.is_empty() && vars.len() <= MAX_VARS && fits(&first) && fits(&second)).then_some(vars)
}

/// The variables that an arm assigns, each once, from cheap expressions, after its names.
fn targets(program: &Program, arm: &[Stmt], left: &mut usize) -> Option<Vec<VarId>> {
    let mut vars = Vec::new();
    for stmt in arm {
        if let Stmt::Let { value, .. } = stmt
            && vars.is_empty()
        {
            spend(program, *value, left)?;
        } else if let Stmt::Assign { var, value } = stmt
            && matches!(program[*var].kind, VarKind::Local | VarKind::State)
            && !vars.contains(var)
        {
            spend(program, *value, left)?;
            vars.push(*var);
        } else {
            return None;
        }
    }
    Some(vars)
}

/// Deducts the nodes of an expression from the budget; none if it is not cheap enough.
fn spend(program: &Program, id: ExprId, left: &mut usize) -> Option<()> {
    *left = left.checked_sub(cost::speculation(&program[id])?)?;
    program[id]
        .operands()
        .iter()
        .try_for_each(|&operand| spend(program, operand, left))
}

/// The variable and the operator if a condition is `x` or `!x`: `if !x { x = y }` is `x = x || y`. As a
/// choice it is slower where a driver then keeps `x` in a register of words.
fn latch(program: &Program, condition: ExprId) -> Option<(VarId, BinaryOp)> {
    let (read, op) = if let Expr::Unary(UnaryOp::Not, negated) = program[condition] {
        (negated, BinaryOp::Or)
    } else {
        (condition, BinaryOp::And)
    };
    if let Expr::Read(var) = program[read] {
        Some((var, op))
    } else {
        None
    }
}

fn choose(
    program: &mut Program,
    condition: ExprId,
    arms: [Block; 2],
    vars: &[VarId],
    new: &mut Block,
) {
    let mut values = [vec![None; vars.len()], vec![None; vars.len()]];
    let latch = latch(program, condition);
    if vars.len() > 1 {
        // The first assignment must not change the condition of the second.
        let (_, stmt) = names::extract(program, condition);
        new.push(stmt);
    }
    for (arm, values) in arms.into_iter().zip(&mut values) {
        for stmt in arm {
            if let Stmt::Assign { var, value } = stmt {
                let at = vars.iter().position(|v| *v == var);
                values[at.expect("`targets` listed it")] = Some(value);
            } else {
                new.push(stmt);
            }
        }
    }
    let [accepts, rejects] = values;
    for (k, (accept, reject)) in accepts.into_iter().zip(rejects).enumerate() {
        let span = program.span(condition);
        let var = vars[k];
        if let (Some(accept), None) = (accept, reject)
            && let Some((_, op)) = latch.filter(|(latch, _)| *latch == var)
        {
            let before = program.add(Expr::Read(var), span);
            let value = program.add(Expr::Binary(op, before, accept), span);
            new.push(Stmt::Assign { var, value });
            continue;
        }
        let mut or_itself =
            |value: Option<ExprId>| value.unwrap_or_else(|| program.add(Expr::Read(var), span));
        let (accept, reject) = (or_itself(accept), or_itself(reject));
        let condition = if k == 0 {
            condition
        } else {
            let again = program[condition].clone();
            program.add(again, span)
        };
        let value = program.add(
            Expr::Select {
                condition,
                accept,
                reject,
            },
            span,
        );
        new.push(Stmt::Assign { var, value });
    }
}
