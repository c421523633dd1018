//! Identities of floats that hold to the bit, signed zeros and infinities included.

use super::{Rewrite, into, negated};
use crate::ir::{BinaryOp, Expr, ExprId, Program, UnaryOp, Value};
use crate::passes::rewrite::literal;

/// `-(-x)` is `x`; `-(a - b)` is not `b - a` (zeros).
pub(super) fn negate(program: &Program, operand: ExprId) -> Option<Rewrite> {
    negated(program, operand).map(Rewrite::Same)
}

/// Rules for `a op b` where `a` is not an integer; comparisons have none.
pub(super) fn binary(
    program: &mut Program,
    id: ExprId,
    op: BinaryOp,
    a: ExprId,
    b: ExprId,
) -> Option<Rewrite> {
    let (left, right) = (splat_literal(program, a), splat_literal(program, b));
    match op {
        BinaryOp::Add => {
            // x + -0.0 is x for both zeros; x + 0.0 is not.
            if right.is_some_and(is_minus_zero) {
                return only(program, id, a);
            }
            if left.is_some_and(is_minus_zero) {
                return only(program, id, b);
            }
            if let Some(b) = negated(program, b) {
                return into(BinaryOp::Subtract, a, b);
            }
            // Addition commutes.
            negated(program, a).and_then(|a| into(BinaryOp::Subtract, b, a))
        }
        BinaryOp::Subtract => {
            if right.is_some_and(|c| c.to_bits() == 0) {
                return only(program, id, a);
            }
            if left.is_some_and(is_minus_zero) && program.type_of(b) == program.type_of(id) {
                return Some(Rewrite::Into(Expr::Unary(UnaryOp::Negate, b)));
            }
            negated(program, b).and_then(|b| into(BinaryOp::Add, a, b))
        }
        BinaryOp::Multiply => {
            if let (Some(a), Some(b)) = (negated(program, a), negated(program, b)) {
                return into(op, a, b);
            }
            times(program, id, a, right).or_else(|| times(program, id, b, left))
        }
        BinaryOp::Divide => {
            if let (Some(a), Some(b)) = (negated(program, a), negated(program, b)) {
                return into(op, a, b);
            }
            times(program, id, a, right).or_else(|| by_reciprocal(program, a, b))
        }
        BinaryOp::Remainder
        | BinaryOp::Equal
        | BinaryOp::NotEqual
        | BinaryOp::Less
        | BinaryOp::LessEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterEqual
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::ShiftLeft
        | BinaryOp::ShiftRight => None,
    }
}

/// `x * 1`, `x / 1`, `x * -1`, `x / -1`.
fn times(program: &Program, id: ExprId, x: ExprId, factor: Option<f32>) -> Option<Rewrite> {
    let factor = factor?;
    if factor == 1.0 {
        return only(program, id, x);
    }
    if factor == -1.0 && program.type_of(x) == program.type_of(id) {
        return Some(Rewrite::Into(Expr::Unary(UnaryOp::Negate, x)));
    }
    None
}

/// `x / c` is `x * (1 / c)` where `1 / c` is exact: for powers of two, unless either is subnormal.
fn by_reciprocal(program: &mut Program, x: ExprId, divisor: ExprId) -> Option<Rewrite> {
    let value = literal(program, divisor)?;
    let exact = |c: &f32| {
        let mantissa = c.to_bits() & 0x007f_ffff;
        mantissa == 0 && c.is_normal() && c.recip().is_normal()
    };
    if !value.floats().iter().all(exact) {
        return None;
    }
    let mut parts = [0.0; 4];
    for (part, c) in parts.iter_mut().zip(value.floats()) {
        *part = c.recip();
    }
    let reciprocal = Value::from_floats(&parts[..value.floats().len()]);
    let span = program.span(divisor);
    let reciprocal = program.add(Expr::Literal(reciprocal), span);
    into(BinaryOp::Multiply, x, reciprocal)
}

/// `x` as the whole of the node `id`, as a vector if that is one.
fn only(program: &Program, id: ExprId, x: ExprId) -> Option<Rewrite> {
    let ty = program.type_of(id);
    if program.type_of(x) == ty {
        Some(Rewrite::Same(x))
    } else {
        Some(Rewrite::Into(Expr::Splat { ty, value: x }))
    }
}

/// The one float that all components of a literal equal.
fn splat_literal(program: &Program, id: ExprId) -> Option<f32> {
    let value = literal(program, id)?;
    let floats = value.floats();
    let first = *floats.first()?;
    floats
        .iter()
        .all(|x| x.to_bits() == first.to_bits())
        .then_some(first)
}

fn is_minus_zero(x: f32) -> bool {
    x.to_bits() == 0x8000_0000
}
