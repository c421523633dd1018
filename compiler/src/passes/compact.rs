//! Lays the nodes that are in use in the order of evaluation and drops all others; nothing else changes.

use super::rewrite::{blocks_mut, each_section, map_operands, map_roots};
use crate::{
    ir::{Expr, ExprId, Program, Stmt, Value},
    span::Span,
};

/// Compacts the arena of expressions.
pub(super) fn run(program: &mut Program) {
    let mut old = std::mem::take(&mut program.exprs);
    let spans = std::mem::take(&mut program.spans);
    each_section(program, |program, _, block| {
        for stmt in block {
            statement(program, &mut old, &spans, stmt);
        }
    });
}

fn statement(program: &mut Program, old: &mut [Expr], spans: &[Span], stmt: &mut Stmt) {
    map_roots(stmt, |root| lay(program, old, spans, root));
    for inner in blocks_mut(stmt).into_iter().flatten() {
        for stmt in inner {
            statement(program, old, spans, stmt);
        }
    }
}

fn lay(program: &mut Program, old: &mut [Expr], spans: &[Span], id: ExprId) -> ExprId {
    let at = id.0 as usize;
    let mut expr = std::mem::replace(&mut old[at], Expr::Literal(Value::Bool(false)));
    map_operands(&mut expr, |operand| lay(program, old, spans, operand));
    program.add(expr, spans[at])
}
