//! Which variables carry a derivative: those that depend on what it is taken by, and on which a wanted output
//! depends.

use crate::gradient::rules;
use crate::ir::{Block, Expr, ExprId, Program, Stmt, UnaryOp, VarId, each_statement};
use std::collections::HashSet;

/// The operands of an operation through which a derivative passes.
pub(super) fn carriers(expr: &Expr) -> Vec<ExprId> {
    match expr {
        Expr::Swizzle { vector: one, .. }
        | Expr::Splat { value: one, .. }
        | Expr::Unary(UnaryOp::Negate | UnaryOp::Fence, one)
        | Expr::AcrossWorld { value: one, .. } => vec![*one],
        Expr::Convert { to, value } if to.is_float() => vec![*value],
        Expr::Binary(op, a, b) if !op.gives_bool() => vec![*a, *b],
        Expr::Select { accept, reject, .. } => vec![*accept, *reject],
        Expr::Compose(parts) => parts.clone(),
        Expr::Builtin(builtin, args) => {
            let moves = |k: &usize| rules::text(*builtin, *k) != Some("0.0");
            (0..args.len()).filter(moves).map(|k| args[k]).collect()
        }
        Expr::Literal(_)
        | Expr::Double(_)
        | Expr::Launch(_)
        | Expr::Rows(_)
        | Expr::Read(_)
        | Expr::Element { .. }
        | Expr::Unary(..)
        | Expr::Binary(..)
        | Expr::Convert { .. }
        | Expr::Bitcast { .. }
        | Expr::Call(..)
        | Expr::RandomWord { .. }
        | Expr::Other { .. }
        | Expr::AcrossLanes { .. }
        | Expr::Shuffle { .. } => Vec::new(),
    }
}

/// The variables whose values reach an expression's through operations that have a derivative.
pub(super) fn sources(program: &Program, root: ExprId) -> Vec<VarId> {
    let (mut found, mut waiting) = (Vec::new(), vec![root]);
    while let Some(id) = waiting.pop() {
        let expr = &program[id];
        let float = |var: &VarId| program[*var].ty.is_float();
        found.extend(expr.variable().filter(float));
        waiting.extend(carriers(expr));
    }
    found
}

/// The variables that carry a derivative.
pub(super) fn active(
    program: &Program,
    blocks: &[&Block],
    wrt: &[VarId],
    wanted: &[VarId],
) -> HashSet<VarId> {
    let mut flows: Vec<(VarId, Vec<VarId>)> = Vec::new();
    for block in blocks {
        each_statement(block, &mut |stmt| {
            if let Stmt::Let { var, value }
            | Stmt::Var {
                var,
                value: Some(value),
            }
            | Stmt::Assign { var, value }
            | Stmt::AssignElement { var, value, .. } = stmt
                && program[*var].ty.is_float()
            {
                flows.push((*var, sources(program, *value)));
            }
        });
    }
    let mut varied: HashSet<VarId> = wrt.iter().copied().collect();
    spread(&mut varied, || {
        flows
            .iter()
            .flat_map(|(to, from)| from.iter().map(move |from| (*from, *to)))
    });
    let mut useful: HashSet<VarId> = wanted.iter().copied().collect();
    spread(&mut useful, || {
        let back = flows.iter().rev();
        back.flat_map(|(to, from)| from.iter().map(move |from| (*to, *from)))
    });
    &varied & &useful
}

/// Adds whatever can be reached from the set.
fn spread<I: Iterator<Item = (VarId, VarId)>>(set: &mut HashSet<VarId>, edges: impl Fn() -> I) {
    loop {
        let before = set.len();
        for (from, to) in edges() {
            if set.contains(&from) {
                set.insert(to);
            }
        }
        if set.len() == before {
            return;
        }
    }
}
