//! Sums as lists of terms, and lists of terms as sums.

use crate::{
    ir::{BinaryOp, Expr, ExprId, Program, UnaryOp},
    span::Span,
};

/// A term of a sum, and whether it is subtracted.
pub(crate) type Term = (ExprId, bool);

/// The terms of a sum, in order.
pub(crate) fn terms(program: &Program, id: ExprId) -> Vec<Term> {
    terms_but(program, id, |_| false)
}

/// The same, where some subtrees count as one term each, whatever they are.
pub(crate) fn terms_but(
    program: &Program,
    id: ExprId,
    mut is_one: impl FnMut(ExprId) -> bool,
) -> Vec<Term> {
    let mut found = Vec::new();
    let mut pending = vec![(id, false)];
    while let Some((id, negative)) = pending.pop() {
        if is_one(id) {
            found.push((id, negative));
        } else if let Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Subtract), a, b) = program[id] {
            pending.push((b, negative != (op == BinaryOp::Subtract)));
            pending.push((a, negative));
        } else if let Expr::Unary(UnaryOp::Negate, a) = program[id] {
            pending.push((a, !negative));
        } else {
            found.push((id, negative));
        }
    }
    found
}

/// Adds terms in their order.
pub(crate) fn sum(program: &mut Program, terms: &[Term], span: Span) -> ExprId {
    let mut total: Option<ExprId> = None;
    for &(term, negative) in terms {
        let expr = match (total, negative) {
            (None, false) => {
                total = Some(term);
                continue;
            }
            (None, true) => Expr::Unary(UnaryOp::Negate, term),
            (Some(before), false) => Expr::Binary(BinaryOp::Add, before, term),
            (Some(before), true) => Expr::Binary(BinaryOp::Subtract, before, term),
        };
        total = Some(program.add(expr, span));
    }
    total.expect("a sum has terms")
}
