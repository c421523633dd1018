//! Identities of `bool`s and selections.

use super::{Rewrite, constant, into};
use crate::ir::{BinaryOp, Expr, ExprId, Program, Type, UnaryOp, Value};
use crate::passes::{rewrite::literal, shape::identical};

/// `!!x` is `x`; so for `~`.
pub(super) fn twice(program: &Program, op: UnaryOp, operand: ExprId) -> Option<Rewrite> {
    if let Expr::Unary(inner, x) = program[operand]
        && inner == op
    {
        return Some(Rewrite::Same(x));
    }
    None
}

/// `!(a == b)` is `a != b`; orderings are reversed for integers only, because of NaN.
pub(super) fn not(program: &Program, operand: ExprId) -> Option<Rewrite> {
    let Expr::Binary(op, a, b) = program[operand] else {
        return twice(program, UnaryOp::Not, operand);
    };
    let (_, opposite) = *OPPOSITES.iter().find(|(known, _)| *known == op)?;
    let is_equality = matches!(op, BinaryOp::Equal | BinaryOp::NotEqual);
    let is_integer = matches!(program.type_of(a), Type::I32 | Type::U32);
    match is_equality || is_integer {
        true => into(opposite, a, b),
        false => None,
    }
}

/// Comparisons, and those that are true where they are not.
const OPPOSITES: [(BinaryOp, BinaryOp); 6] = [
    (BinaryOp::Equal, BinaryOp::NotEqual),
    (BinaryOp::NotEqual, BinaryOp::Equal),
    (BinaryOp::Less, BinaryOp::GreaterEqual),
    (BinaryOp::LessEqual, BinaryOp::Greater),
    (BinaryOp::Greater, BinaryOp::LessEqual),
    (BinaryOp::GreaterEqual, BinaryOp::Less),
];

/// Rules for two `bool`s.
pub(super) fn binary(program: &Program, op: BinaryOp, a: ExprId, b: ExprId) -> Option<Rewrite> {
    let known = match (truth(program, a), truth(program, b)) {
        (Some(known), _) => Some((known, b)),
        (None, Some(known)) => Some((known, a)),
        (None, None) => None,
    };
    match (op, known) {
        (BinaryOp::And | BinaryOp::Equal, Some((true, x)))
        | (BinaryOp::Or | BinaryOp::NotEqual, Some((false, x))) => Some(Rewrite::Same(x)),
        (BinaryOp::And, Some((false, _))) => constant(Value::Bool(false)),
        (BinaryOp::Or, Some((true, _))) => constant(Value::Bool(true)),
        (BinaryOp::Equal, Some((false, x))) | (BinaryOp::NotEqual, Some((true, x))) => {
            Some(Rewrite::Into(Expr::Unary(UnaryOp::Not, x)))
        }
        (BinaryOp::And | BinaryOp::Or, None) if identical(program, a, b) => Some(Rewrite::Same(a)),
        (BinaryOp::Equal, None) if identical(program, a, b) => constant(Value::Bool(true)),
        (BinaryOp::NotEqual, None) if identical(program, a, b) => constant(Value::Bool(false)),
        _ => None,
    }
}

/// Selections with a known or no effect.
pub(super) fn select(
    program: &Program,
    condition: ExprId,
    accept: ExprId,
    reject: ExprId,
) -> Option<Rewrite> {
    match truth(program, condition) {
        Some(true) => return Some(Rewrite::Same(accept)),
        Some(false) => return Some(Rewrite::Same(reject)),
        None => {}
    }
    if identical(program, accept, reject) {
        return Some(Rewrite::Same(accept));
    }
    if let Expr::Unary(UnaryOp::Not, condition) = program[condition] {
        return Some(Rewrite::Into(Expr::Select {
            condition,
            accept: reject,
            reject: accept,
        }));
    }
    match (truth(program, accept), truth(program, reject)) {
        (Some(true), Some(false)) => Some(Rewrite::Same(condition)),
        (Some(false), Some(true)) => Some(Rewrite::Into(Expr::Unary(UnaryOp::Not, condition))),
        (Some(true), None) => into(BinaryOp::Or, condition, reject),
        (None, Some(false)) => into(BinaryOp::And, condition, accept),
        (Some(true | false) | None, Some(true | false) | None) => None,
    }
}

fn truth(program: &Program, id: ExprId) -> Option<bool> {
    if let Some(Value::Bool(known)) = literal(program, id) {
        Some(known)
    } else {
        None
    }
}
