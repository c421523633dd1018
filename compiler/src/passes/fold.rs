//! Constant folding of a node: an operation on literals becomes the literal that the interpreter computes.
//! Every backend is compared with the interpreter, so this is one of the results that it may have.

use super::rewrite::literal;
use crate::{
    builtin::{eval, real::Real},
    ir::{Expr, ExprId, Program, Value},
};

/// The literal that a node is whose operands are literals. A vector in `f64` that has no `f32` stays.
pub(crate) fn fold(program: &Program, expr: &Expr) -> Option<Expr> {
    if !program.real.is_double() {
        return folded(expr, |id| literal(program, id)).map(Expr::Literal);
    }
    let known = |id: ExprId| {
        if let Expr::Double(bits) = program[id] {
            return Some(Value::F32(f64::from_bits(bits)));
        }
        literal(program, id).map(Value::double)
    };
    program.literal(folded(expr, known)?)
}

/// The value of a node, given those of its operands.
fn folded<R: Real>(expr: &Expr, known: impl Fn(ExprId) -> Option<Value<R>>) -> Option<Value<R>> {
    match expr {
        Expr::Literal(_) | Expr::Double(_) => None,
        Expr::Launch(_)
        | Expr::Rows(_)
        | Expr::Read(_)
        | Expr::Element { .. }
        | Expr::Call(_, _)
        | Expr::RandomWord { .. }
        | Expr::AcrossLanes { .. }
        | Expr::Shuffle { .. }
        | Expr::AcrossWorld { .. }
        | Expr::Other { .. } => None,
        Expr::Swizzle { vector, components } => Some(eval::swizzle(known(*vector)?, components)),
        Expr::Compose(parts) => {
            let parts: Vec<Value<R>> = parts
                .iter()
                .map(|&part| known(part))
                .collect::<Option<_>>()?;
            Some(eval::compose(&parts))
        }
        Expr::Splat { ty, value } => Some(eval::splat(*ty, known(*value)?)),
        Expr::Unary(op, operand) => Some(eval::unary(*op, known(*operand)?)),
        Expr::Binary(op, a, b) => Some(eval::binary(*op, known(*a)?, known(*b)?)),
        Expr::Select {
            condition,
            accept,
            reject,
        } => Some(eval::select(
            known(*condition)?,
            known(*accept)?,
            known(*reject)?,
        )),
        Expr::Convert { to, value } => Some(eval::convert(*to, known(*value)?)),
        Expr::Bitcast { to, value } => Some(eval::bitcast(*to, known(*value)?)),
        Expr::Builtin(id, args) => {
            let args: Vec<Value<R>> = args.iter().map(|&arg| known(arg)).collect::<Option<_>>()?;
            Some(R::apply(*id, &args))
        }
    }
}
