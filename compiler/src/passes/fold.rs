//! Constant folding of a node: an operation on literals becomes the literal that the interpreter computes.
//! Every backend is compared with the interpreter, so this is one of the results that it may have.

use super::rewrite::literal;
use crate::{
    builtin::eval,
    ir::{Expr, Program, Value},
};

/// The value of a node whose operands are literals.
pub(crate) fn fold(program: &Program, expr: &Expr) -> Option<Value> {
    let known = |id| literal(program, id);
    match expr {
        Expr::Literal(value) => Some(*value),
        Expr::Launch(_)
        | Expr::Rows(_)
        | Expr::Read(_)
        | Expr::Element { .. }
        | Expr::Call(_, _)
        | Expr::RandomWord { .. }
        | Expr::AcrossLanes { .. }
        | Expr::AcrossWorld { .. }
        | Expr::Other { .. } => None,
        Expr::Swizzle { vector, components } => Some(eval::swizzle(known(*vector)?, components)),
        Expr::Compose(parts) => {
            let parts: Vec<Value> = parts
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
            let args: Vec<Value> = args.iter().map(|&arg| known(arg)).collect::<Option<_>>()?;
            Some((id.row().pure().eval)(&args))
        }
    }
}
