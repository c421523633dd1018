//! A lower bound that keeps NaN, which `max` loses: NVIDIA's compiler turns every comparison and selection of
//! floats into its `FMNMX`, which takes the operand that is a number.
//!
//! As unsigned integers, the bits of negative numbers grow with their magnitude. They are above those of all
//! other numbers and of NaN without a sign, so `min(bits(x), bits(-57.7))` does the same in one instruction.
//! GPUs make NaN without a sign; where a CPU runs a kernel, x86 makes NaN with the sign, and these become the
//! bound.

use crate::{
    builtin::BuiltinId,
    ir::{Expr, ExprId, Program, Type, Value},
};

/// `x`, but no less than `low`, which is negative; NaN if `x` is NaN.
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

/// The operands of an expression that `at_least` made: `x` and `low`.
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
