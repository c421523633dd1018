//! A lower bound that keeps NaN, which `max` loses: NVIDIA's compiler makes its `FMNMX`, which takes the
//! operand that is a number, of any comparison and selection of floats.
//!
//! As unsigned integers, the bits of negative numbers grow with their size and are above those of all other
//! numbers and of NaN without a sign: `min(bits(x), bits(-57.7))` is one instruction, too. GPUs make such
//! NaN; where a processor runs a kernel, NaN of x86 have the sign, and become the bound.

use crate::{
    builtin::BuiltinId,
    ir::{Expr, ExprId, Program, Type, Value},
};

/// `x`, but no less than `low`, which is negative; NaN where that is.
pub(crate) fn at_least(program: &mut Program, x: ExprId, low: f32) -> ExprId {
    let span = program.span(x);
    let bits = |program: &mut Program, expr| program.add(expr, span);
    let to = Type::U32;
    let x = bits(program, Expr::Bitcast { to, value: x });
    let low = bits(program, Expr::Literal(Value::U32(low.to_bits())));
    let least = bits(program, Expr::Builtin(BuiltinId::MIN, vec![x, low]));
    let to = Type::F32;
    bits(program, Expr::Bitcast { to, value: least })
}

/// What `at_least` made of: `x` and `low`.
pub(crate) fn of(program: &Program, id: ExprId) -> Option<(ExprId, f32)> {
    let Expr::Bitcast {
        to: Type::F32,
        value,
    } = program[id]
    else {
        return None;
    };
    let Expr::Builtin(BuiltinId::MIN, args) = &program[value] else {
        return None;
    };
    match (&program[args[0]], &program[args[1]]) {
        (Expr::Bitcast { value: x, .. }, Expr::Literal(Value::U32(low)))
            if program.type_of(*x) == Type::F32 && low >> 31 == 1 =>
        {
            Some((*x, f32::from_bits(*low)))
        }
        _ => None,
    }
}
