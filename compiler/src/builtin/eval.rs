//! The reference meaning of the IR's operators, shared by constant folding, the interpreter and the tests.
//!
//! Every function is total over well-typed operands. Arithmetic on floats is IEEE 754, rounded to nearest
//! after each operation and never fused; integers wrap. Floats are `f32`, or `f64` where the interpreter runs
//! a program with more digits (see [`Real`]). Ill-typed operands are a bug of the compiler and
//! reach `ill_typed`.

use super::{math::operator, real::Real};
use crate::value::{BinaryOp, Type, UnaryOp, Value};

/// `op operand`.
pub fn unary<R: Real>(op: UnaryOp, operand: Value<R>) -> Value<R> {
    match (op, operand) {
        (UnaryOp::Fence | UnaryOp::Keep, _) => operand,
        (UnaryOp::Negate, Value::F32(x)) => Value::F32(-x),
        (UnaryOp::Negate, Value::I32(x)) => Value::I32(x.wrapping_neg()),
        (UnaryOp::Negate, _) => map(operand, |x| -x),
        (UnaryOp::Not, Value::Bool(x)) => Value::Bool(!x),
        (UnaryOp::Complement, Value::I32(x)) => Value::I32(!x),
        (UnaryOp::Complement, Value::U32(x)) => Value::U32(!x),
        (UnaryOp::Not | UnaryOp::Complement, _) => ill_typed("operand of a unary operator"),
    }
}

/// `a op b`. One of `a`, `b` may be a vector and the other an `f32`, which then stands for a vector with
/// all components equal to it.
#[inline]
pub fn binary<R: Real>(op: BinaryOp, a: Value<R>, b: Value<R>) -> Value<R> {
    match (a, b) {
        (Value::F32(a), Value::F32(b)) => floats(op, a, b),
        (Value::I32(a), Value::I32(b)) => signed(op, a, b),
        (Value::U32(a), Value::U32(b)) => unsigned(op, a, b),
        (Value::I32(a), Value::U32(b)) if op == BinaryOp::ShiftLeft => {
            Value::I32(operator::shift_left_i32(a, b))
        }
        (Value::I32(a), Value::U32(b)) if op == BinaryOp::ShiftRight => {
            Value::I32(operator::shift_right_i32(a, b))
        }
        (Value::Bool(a), Value::Bool(b)) => booleans(op, a, b),
        _ => zip(a, b, |a, b| float_of(floats(op, a, b))),
    }
}

#[inline]
fn floats<R: Real>(op: BinaryOp, a: R, b: R) -> Value<R> {
    match op {
        BinaryOp::Add => Value::F32(a + b),
        BinaryOp::Subtract => Value::F32(a - b),
        BinaryOp::Multiply => Value::F32(a * b),
        BinaryOp::Divide => Value::F32(a / b),
        BinaryOp::Remainder => Value::F32(a.remainder(b)),
        BinaryOp::Equal => Value::Bool(a == b),
        BinaryOp::NotEqual => Value::Bool(a != b),
        BinaryOp::Less => Value::Bool(a < b),
        BinaryOp::LessEqual => Value::Bool(a <= b),
        BinaryOp::Greater => Value::Bool(a > b),
        BinaryOp::GreaterEqual => Value::Bool(a >= b),
        BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::ShiftLeft
        | BinaryOp::ShiftRight => ill_typed("operator on floats"),
    }
}

/// A comparison of two scalars of one type; none for other operators. Comparisons with NaN are false,
/// but `!=` is true.
fn comparison<T: PartialOrd>(op: BinaryOp, a: &T, b: &T) -> Option<bool> {
    match op {
        BinaryOp::Equal => Some(a == b),
        BinaryOp::NotEqual => Some(a != b),
        BinaryOp::Less => Some(a < b),
        BinaryOp::LessEqual => Some(a <= b),
        BinaryOp::Greater => Some(a > b),
        BinaryOp::GreaterEqual => Some(a >= b),
        BinaryOp::Add
        | BinaryOp::Subtract
        | BinaryOp::Multiply
        | BinaryOp::Divide
        | BinaryOp::Remainder
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::ShiftLeft
        | BinaryOp::ShiftRight => None,
    }
}

fn signed<R>(op: BinaryOp, a: i32, b: i32) -> Value<R> {
    let value = match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Subtract => a.wrapping_sub(b),
        BinaryOp::Multiply => a.wrapping_mul(b),
        BinaryOp::Divide => operator::divide_i32(a, b),
        BinaryOp::Remainder => operator::remainder_i32(a, b),
        BinaryOp::BitAnd => a & b,
        BinaryOp::BitOr => a | b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::Equal
        | BinaryOp::NotEqual
        | BinaryOp::Less
        | BinaryOp::LessEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterEqual
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::ShiftLeft
        | BinaryOp::ShiftRight => {
            return comparison(op, &a, &b)
                .map_or_else(|| ill_typed("operator on i32"), Value::Bool);
        }
    };
    Value::I32(value)
}

fn unsigned<R>(op: BinaryOp, a: u32, b: u32) -> Value<R> {
    let value = match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Subtract => a.wrapping_sub(b),
        BinaryOp::Multiply => a.wrapping_mul(b),
        BinaryOp::Divide => operator::divide_u32(a, b),
        BinaryOp::Remainder => operator::remainder_u32(a, b),
        BinaryOp::BitAnd => a & b,
        BinaryOp::BitOr => a | b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::ShiftLeft => operator::shift_left(a, b),
        BinaryOp::ShiftRight => operator::shift_right(a, b),
        BinaryOp::Equal
        | BinaryOp::NotEqual
        | BinaryOp::Less
        | BinaryOp::LessEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterEqual
        | BinaryOp::And
        | BinaryOp::Or => {
            return comparison(op, &a, &b)
                .map_or_else(|| ill_typed("operator on u32"), Value::Bool);
        }
    };
    Value::U32(value)
}

fn booleans<R>(op: BinaryOp, a: bool, b: bool) -> Value<R> {
    Value::Bool(match op {
        BinaryOp::And => a && b,
        BinaryOp::Or => a || b,
        BinaryOp::Equal => a == b,
        BinaryOp::NotEqual => a != b,
        BinaryOp::Add
        | BinaryOp::Subtract
        | BinaryOp::Multiply
        | BinaryOp::Divide
        | BinaryOp::Remainder
        | BinaryOp::Less
        | BinaryOp::LessEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterEqual
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::ShiftLeft
        | BinaryOp::ShiftRight => ill_typed("operator on bool"),
    })
}

/// A conversion between scalar types by value, see [`operator`]. Of numbers only zeros are false (NaN is
/// true), and `true` is 1.
pub fn convert<R: Real>(to: Type, value: Value<R>) -> Value<R> {
    match (to, value) {
        (Type::F32, Value::F32(_))
        | (Type::I32, Value::I32(_))
        | (Type::U32, Value::U32(_))
        | (Type::Bool, Value::Bool(_)) => value,
        (Type::F32, Value::I32(x)) => Value::F32(R::from_i32(x)),
        (Type::F32, Value::U32(x)) => Value::F32(R::from_u32(x)),
        (Type::F32, Value::Bool(x)) => Value::F32(R::from_u32(u32::from(x))),
        (Type::I32, Value::F32(x)) => Value::I32(x.to_i32()),
        (Type::I32, Value::U32(x)) => Value::I32(x as i32),
        (Type::I32, Value::Bool(x)) => Value::I32(i32::from(x)),
        (Type::U32, Value::F32(x)) => Value::U32(x.to_u32()),
        (Type::U32, Value::I32(x)) => Value::U32(x as u32),
        (Type::U32, Value::Bool(x)) => Value::U32(u32::from(x)),
        (Type::Bool, Value::F32(x)) => Value::Bool(x != R::ZERO),
        (Type::Bool, Value::I32(x)) => Value::Bool(x != 0),
        (Type::Bool, Value::U32(x)) => Value::Bool(x != 0),
        (Type::Vec2 | Type::Vec3 | Type::Vec4, _)
        | (_, Value::Vec2(_) | Value::Vec3(_) | Value::Vec4(_)) => ill_typed("conversion"),
    }
}

/// The same 32 bits as another scalar type: of a wider float those of the `f32` next to it. Every NaN has
/// the bits `0x7fc00000` here, because processors disagree about the bits of the NaNs that they make.
pub fn bitcast<R: Real>(to: Type, value: Value<R>) -> Value<R> {
    let bits = match value {
        Value::F32(x) => operator::f32_to_bits(x.to_f32()),
        Value::I32(x) => x as u32,
        Value::U32(x) => x,
        _ => ill_typed("operand of a bitcast"),
    };
    match to {
        Type::F32 => Value::F32(R::from_f32(f32::from_bits(bits))),
        Type::I32 => Value::I32(bits as i32),
        Type::U32 => Value::U32(bits),
        _ => ill_typed("bitcast"),
    }
}

/// `accept` if `condition`, else `reject`.
pub fn select<R>(condition: Value<R>, accept: Value<R>, reject: Value<R>) -> Value<R> {
    if truth(condition) { accept } else { reject }
}

/// The chosen components of a vector, 1 to 4 of them.
pub fn swizzle<R: Real>(vector: Value<R>, components: &[u8]) -> Value<R> {
    let floats = vector.floats();
    let mut parts = [R::ZERO; 4];
    for (part, &component) in parts.iter_mut().zip(components) {
        *part = floats[component as usize];
    }
    Value::from_floats(&parts[..components.len()])
}

/// A vector from 2 to 4 scalars.
pub fn compose<R: Real>(parts: &[Value<R>]) -> Value<R> {
    let mut floats = [R::ZERO; 4];
    for (float, &part) in floats.iter_mut().zip(parts) {
        *float = float_of(part);
    }
    Value::from_floats(&floats[..parts.len()])
}

/// A vector with all components equal.
pub fn splat<R: Real>(ty: Type, value: Value<R>) -> Value<R> {
    Value::from_floats(&[float_of(value); 4][..ty.components()])
}

/// The `bool` in a value.
pub fn truth<R>(value: Value<R>) -> bool {
    match value {
        Value::Bool(x) => x,
        _ => ill_typed("condition"),
    }
}

/// The `f32` in a value.
pub fn float_of<R>(value: Value<R>) -> R {
    match value {
        Value::F32(x) => x,
        _ => ill_typed("scalar"),
    }
}

/// A function of one float, component by component.
pub fn map<R: Copy>(a: Value<R>, f: impl Fn(R) -> R) -> Value<R> {
    match a {
        Value::F32(x) => Value::F32(f(x)),
        _ => map_vector(a, &f),
    }
}

/// Not generic over the function: there are many, and vectors are rare.
fn map_vector<R: Copy>(a: Value<R>, f: &dyn Fn(R) -> R) -> Value<R> {
    match a {
        Value::Vec2(v) => Value::Vec2(v.map(f)),
        Value::Vec3(v) => Value::Vec3(v.map(f)),
        Value::Vec4(v) => Value::Vec4(v.map(f)),
        Value::F32(_) | Value::I32(_) | Value::U32(_) | Value::Bool(_) => ill_typed("floats"),
    }
}

/// A function of two floats, component by component; an `f32` goes with every component of a vector.
pub fn zip<R: Copy>(a: Value<R>, b: Value<R>, f: impl Fn(R, R) -> R) -> Value<R> {
    match (a, b) {
        (Value::F32(x), Value::F32(y)) => Value::F32(f(x, y)),
        _ => zip_vector(a, b, &f),
    }
}

fn zip_vector<R: Copy>(a: Value<R>, b: Value<R>, f: &dyn Fn(R, R) -> R) -> Value<R> {
    match (a, b) {
        (Value::F32(x), _) => map_vector(b, &|y| f(x, y)),
        (_, Value::F32(y)) => map_vector(a, &|x| f(x, y)),
        (Value::Vec2(a), Value::Vec2(b)) => Value::Vec2(pairs(a, b, f)),
        (Value::Vec3(a), Value::Vec3(b)) => Value::Vec3(pairs(a, b, f)),
        (Value::Vec4(a), Value::Vec4(b)) => Value::Vec4(pairs(a, b, f)),
        _ => ill_typed("pair of floats"),
    }
}

fn pairs<R: Copy, const N: usize>(a: [R; N], b: [R; N], f: &dyn Fn(R, R) -> R) -> [R; N] {
    std::array::from_fn(|k| f(a[k], b[k]))
}

/// The value with all bits zero.
pub fn zero<R: Real>(ty: Type) -> Value<R> {
    Value::zero(ty).map_floats(R::from_f32)
}

/// What a caller gets that breaks the typing of the IR.
#[cold]
pub(crate) fn ill_typed(what: &str) -> ! {
    unreachable!("internal error: the program has an ill-typed {what}")
}

#[cfg(test)]
mod tests;
