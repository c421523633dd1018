//! Identities of integers, which wrap; `x / 0` is `x` and `x % 0` is 0.

use super::{Rewrite, constant, into, negated};
use crate::ir::{BinaryOp, Expr, ExprId, Program, Type, UnaryOp, Value};
use crate::passes::{rewrite::literal, shape::identical};

/// Rules for `a op b` of two integers, or of an integer and a shift count.
pub(super) fn binary(program: &mut Program, op: BinaryOp, a: ExprId, b: ExprId) -> Option<Rewrite> {
    let ty = program.type_of(a);
    let (left, right) = (bits(program, a), bits(program, b));
    match op {
        BinaryOp::Add => match (left, right) {
            (_, Some(0)) => Some(Rewrite::Same(a)),
            (Some(0), _) => Some(Rewrite::Same(b)),
            (None, Some(_)) => gather(program, op, a, b),
            // Literals go to the right, where chains of them meet.
            (Some(_), None) => into(op, b, a),
            (None, None) => negated(program, b).and_then(|b| into(BinaryOp::Subtract, a, b)),
            (Some(_), Some(_)) => None,
        },
        BinaryOp::Subtract => match right {
            Some(0) => Some(Rewrite::Same(a)),
            Some(_) => gather(program, op, a, b),
            None if identical(program, a, b) => constant(Value::zero(ty)),
            None => negated(program, b).and_then(|b| into(BinaryOp::Add, a, b)),
        },
        BinaryOp::Multiply => match (left, right) {
            (_, Some(0)) | (Some(0), _) => constant(Value::zero(ty)),
            (_, Some(1)) => Some(Rewrite::Same(a)),
            (Some(1), _) => Some(Rewrite::Same(b)),
            (None, Some(_)) => gather(program, op, a, b),
            (Some(_), None) => into(op, b, a),
            (None, None) | (Some(_), Some(_)) => None,
        },
        BinaryOp::Divide => match (left, right) {
            (_, Some(0 | 1)) => Some(Rewrite::Same(a)),
            (Some(0), _) => constant(Value::zero(ty)),
            (_, Some(u32::MAX)) if ty == Type::I32 => {
                Some(Rewrite::Into(Expr::Unary(UnaryOp::Negate, a)))
            }
            (Some(_) | None, Some(_) | None) => None,
        },
        BinaryOp::Remainder => match (left, right) {
            (_, Some(0 | 1)) | (Some(0), _) => constant(Value::zero(ty)),
            (_, Some(u32::MAX)) if ty == Type::I32 => constant(Value::zero(ty)),
            (Some(_) | None, Some(_) | None) => None,
        },
        BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => {
            bitwise(program, op, (a, left), (b, right))
        }
        BinaryOp::ShiftLeft | BinaryOp::ShiftRight => shift(program, op, (a, left), (b, right)),
        BinaryOp::Equal | BinaryOp::LessEqual | BinaryOp::GreaterEqual => {
            identical(program, a, b).then_some(Rewrite::Into(Expr::Literal(Value::Bool(true))))
        }
        BinaryOp::NotEqual | BinaryOp::Less | BinaryOp::Greater => {
            identical(program, a, b).then_some(Rewrite::Into(Expr::Literal(Value::Bool(false))))
        }
        BinaryOp::And | BinaryOp::Or => None,
    }
}

fn bitwise(
    program: &Program,
    op: BinaryOp,
    (a, left): (ExprId, Option<u32>),
    (b, right): (ExprId, Option<u32>),
) -> Option<Rewrite> {
    let (x, value) = match (left, right) {
        (_, Some(value)) => (a, value),
        (Some(value), None) => (b, value),
        (None, None) if !identical(program, a, b) => return None,
        (None, None) if op == BinaryOp::BitXor => {
            return constant(Value::zero(program.type_of(a)));
        }
        (None, None) => return Some(Rewrite::Same(a)),
    };
    let ty = program.type_of(x);
    match (op, value) {
        (BinaryOp::BitOr | BinaryOp::BitXor, 0) | (BinaryOp::BitAnd, u32::MAX) => {
            Some(Rewrite::Same(x))
        }
        (BinaryOp::BitAnd, 0) => constant(Value::zero(ty)),
        (BinaryOp::BitOr, u32::MAX) => constant(Value::from_words(ty, &[u32::MAX])),
        (BinaryOp::BitXor, u32::MAX) => Some(Rewrite::Into(Expr::Unary(UnaryOp::Complement, x))),
        _ => None,
    }
}

/// Shift counts count modulo 32; shader validators refuse larger literals.
fn shift(
    program: &mut Program,
    op: BinaryOp,
    (a, left): (ExprId, Option<u32>),
    (b, right): (ExprId, Option<u32>),
) -> Option<Rewrite> {
    if left == Some(0) {
        return Some(Rewrite::Same(a));
    }
    let count = right?;
    if count % 32 == 0 {
        return Some(Rewrite::Same(a));
    }
    if count < 32 {
        return None;
    }
    let span = program.span(b);
    let count = program.add(Expr::Literal(Value::U32(count % 32)), span);
    into(op, a, count)
}

/// `(x + 1) + 2` is `x + 3`, `(x - 1) + 2` is `x + 1`, `(x * 2) * 3` is `x * 6`, all modulo 2^32.
fn gather(program: &mut Program, op: BinaryOp, a: ExprId, b: ExprId) -> Option<Rewrite> {
    let Expr::Binary(inner, x, c) = program[a] else {
        return None;
    };
    let (c, d) = (bits(program, c)?, bits(program, b)?);
    let (joint, sum) = match (inner, op) {
        (BinaryOp::Add, BinaryOp::Add) => (BinaryOp::Add, c.wrapping_add(d)),
        (BinaryOp::Add, BinaryOp::Subtract) => (BinaryOp::Add, c.wrapping_sub(d)),
        (BinaryOp::Subtract, BinaryOp::Add) => (BinaryOp::Subtract, c.wrapping_sub(d)),
        (BinaryOp::Subtract, BinaryOp::Subtract) => (BinaryOp::Subtract, c.wrapping_add(d)),
        (BinaryOp::Multiply, BinaryOp::Multiply) => (BinaryOp::Multiply, c.wrapping_mul(d)),
        _ => return None,
    };
    let value = Value::from_words(program.type_of(b), &[sum]);
    let span = program.span(b);
    let value = program.add(Expr::Literal(value), span);
    into(joint, x, value)
}

fn bits(program: &Program, id: ExprId) -> Option<u32> {
    let value = literal(program, id)?;
    value.words().next()
}
