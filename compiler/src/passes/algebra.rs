//! Algebraic simplification of one node whose operands are already simple, by identities that hold for
//! every value of the type to the bit. For floats these are few (`x * 1`, `x - 0.0`, `-(-x)`, division
//! by powers of two …): `x + 0.0` is not `x` for -0.0, `x * 0` not 0 for infinities, and sums do not
//! reassociate. Integers form a ring modulo 2^32 and have many more.

mod float;
mod integer;
mod logic;
mod vector;

use super::fold::fold;
use crate::ir::{BinaryOp, Expr, ExprId, Program, RealType, Type, UnaryOp, Value};

/// The result of a simplification.
enum Rewrite {
    /// The node is replaced by its descendant.
    Same(ExprId),
    /// The node is replaced by another one over some of its descendants.
    Into(Expr),
}

/// Rules that may fire one after another on one node; each makes the tree smaller or cheaper, so few do.
const MAX_RULES: usize = 8;

/// Folds and simplifies a node, assuming that its operands are simple.
pub(super) fn simplify(program: &mut Program, id: ExprId) {
    for _ in 0..MAX_RULES {
        let at = id.0 as usize;
        if program.exprs[at].operands().is_empty() {
            return;
        }
        if let Some(literal) = fold(program, &program.exprs[at]) {
            program.exprs[at] = literal;
            return;
        }
        match rule(program, id) {
            None => return,
            Some(Rewrite::Same(descendant)) => {
                let nothing = Expr::Literal(Value::Bool(false));
                let node = std::mem::replace(&mut program[descendant], nothing);
                program.spans[at] = program.span(descendant);
                program.exprs[at] = node;
                // A descendant was simplified before.
                return;
            }
            Some(Rewrite::Into(node)) => program.exprs[at] = node,
        }
    }
}

fn rule(program: &mut Program, id: ExprId) -> Option<Rewrite> {
    match &program[id] {
        Expr::Unary(op, operand) => {
            let (op, operand) = (*op, *operand);
            match op {
                UnaryOp::Negate => float::negate(program, operand),
                UnaryOp::Not => logic::not(program, operand),
                UnaryOp::Complement => logic::twice(program, op, operand),
                UnaryOp::Fence | UnaryOp::Keep => None,
            }
        }
        Expr::Binary(op, a, b) => {
            let (op, a, b) = (*op, *a, *b);
            match program.type_of(a) {
                Type::I32 | Type::U32 => integer::binary(program, op, a, b),
                Type::Bool => logic::binary(program, op, a, b),
                Type::F32 | Type::Vec2 | Type::Vec3 | Type::Vec4 => {
                    float::binary(program, id, op, a, b)
                }
            }
        }
        Expr::Select {
            condition,
            accept,
            reject,
        } => logic::select(program, *condition, *accept, *reject),
        Expr::Convert { to, value } => {
            (program.type_of(*value) == *to).then_some(Rewrite::Same(*value))
        }
        Expr::Bitcast { to, value } => bitcast(program, *to, *value),
        Expr::Swizzle { vector, components } => {
            let components = components.clone();
            vector::swizzle(program, *vector, &components)
        }
        Expr::Compose(parts) => vector::compose(program, parts),
        Expr::Literal(_)
        | Expr::Double(_)
        | Expr::Launch(_)
        | Expr::Rows(_)
        | Expr::Read(_)
        | Expr::Element { .. }
        | Expr::Splat { .. }
        | Expr::Builtin(_, _)
        | Expr::Call(_, _)
        | Expr::RandomWord { .. }
        | Expr::AcrossLanes { .. }
        | Expr::Shuffle { .. }
        | Expr::AcrossWorld { .. }
        | Expr::Other { .. } => None,
    }
}

fn bitcast(program: &Program, to: Type, value: ExprId) -> Option<Rewrite> {
    // In `f64` these bits are those of the nearest `f32`.
    let rounds = program.real == RealType::F64 && to == Type::F32;
    if program.type_of(value) == to && !rounds {
        return Some(Rewrite::Same(value));
    }
    // A conversion to a float and back would change the bits of a NaN.
    if let Expr::Bitcast {
        to: Type::I32 | Type::U32,
        value: inner,
    } = program[value]
        && !(rounds && program.type_of(inner) == Type::F32)
    {
        return Some(Rewrite::Into(Expr::Bitcast { to, value: inner }));
    }
    None
}

fn into(op: BinaryOp, a: ExprId, b: ExprId) -> Option<Rewrite> {
    Some(Rewrite::Into(Expr::Binary(op, a, b)))
}

fn constant(value: Value) -> Option<Rewrite> {
    Some(Rewrite::Into(Expr::Literal(value)))
}

fn negated(program: &Program, id: ExprId) -> Option<ExprId> {
    if let Expr::Unary(UnaryOp::Negate, inner) = program[id] {
        Some(inner)
    } else {
        None
    }
}
