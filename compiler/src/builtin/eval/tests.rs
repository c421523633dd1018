//! The corners of the operators, written out.

use super::*;

#[test]
fn integers_wrap_and_guard_their_divisors() {
    let i = |op, a, b| binary(op, Value::I32(a), Value::I32(b));
    assert_eq!(i(BinaryOp::Add, i32::MAX, 1), Value::I32(i32::MIN));
    assert_eq!(i(BinaryOp::Divide, 7, 0), Value::I32(7));
    assert_eq!(i(BinaryOp::Remainder, 7, 0), Value::I32(0));
    assert_eq!(i(BinaryOp::Divide, i32::MIN, -1), Value::I32(i32::MIN));
    assert_eq!(i(BinaryOp::Remainder, i32::MIN, -1), Value::I32(0));
    assert_eq!(i(BinaryOp::Remainder, -7, 3), Value::I32(-1));
    let u = |op, a, b| binary(op, Value::U32(a), Value::U32(b));
    assert_eq!(u(BinaryOp::Subtract, 0, 1), Value::U32(u32::MAX));
    assert_eq!(u(BinaryOp::Divide, 7, 0), Value::U32(7));
    assert_eq!(u(BinaryOp::Remainder, 7, 0), Value::U32(0));
    assert_eq!(
        unary(UnaryOp::Negate, Value::I32(i32::MIN)),
        Value::I32(i32::MIN)
    );
}

#[test]
fn shifts_take_the_low_five_bits() {
    let shift = |op, a, b| binary(op, a, Value::U32(b));
    assert_eq!(shift(BinaryOp::ShiftLeft, Value::U32(1), 33), Value::U32(2));
    assert_eq!(
        shift(BinaryOp::ShiftRight, Value::I32(-8), 1),
        Value::I32(-4)
    );
    assert_eq!(
        shift(BinaryOp::ShiftRight, Value::I32(-8), 64),
        Value::I32(-8)
    );
}

#[test]
fn float_remainder_truncates() {
    let rem = |a, b| binary(BinaryOp::Remainder, Value::F32(a), Value::F32(b));
    assert_eq!(rem(-5.5, 2.0), Value::F32(-1.5));
    assert_eq!(rem(5.5, -2.0), Value::F32(1.5));
    assert!(float_of(rem(1.0, f32::INFINITY)).is_nan());
    assert!(float_of(rem(1.0, 0.0)).is_nan());
}

#[test]
fn scalars_mix_with_vectors() {
    let v = Value::Vec3([1.0, 2.0, 3.0]);
    assert_eq!(
        binary(BinaryOp::Subtract, Value::F32(1.0), v),
        Value::Vec3([0.0, -1.0, -2.0])
    );
    assert_eq!(
        binary(BinaryOp::Divide, v, Value::F32(2.0)),
        Value::Vec3([0.5, 1.0, 1.5])
    );
    assert_eq!(
        binary(BinaryOp::Multiply, v, v),
        Value::Vec3([1.0, 4.0, 9.0])
    );
    assert_eq!(swizzle(v, &[2, 0]), Value::Vec2([3.0, 1.0]));
    assert_eq!(swizzle(v, &[1]), Value::F32(2.0));
}

#[test]
fn conversions_truncate_and_saturate() {
    let to_i32 = |x| convert(Type::I32, Value::F32(x));
    assert_eq!(to_i32(-1.9), Value::I32(-1));
    assert_eq!(to_i32(1e20), Value::I32(2_147_483_520));
    assert_eq!(to_i32(f32::NEG_INFINITY), Value::I32(i32::MIN));
    assert_eq!(to_i32(f32::NAN), Value::I32(0));
    assert_eq!(convert(Type::U32, Value::F32(-3.0)), Value::U32(0));
    assert_eq!(
        convert(Type::U32, Value::F32(f32::INFINITY)),
        Value::U32(4_294_967_040)
    );
    assert_eq!(convert(Type::U32, Value::I32(-1)), Value::U32(u32::MAX));
    // 2^24 + 1 lies between two floats: ties go to even.
    assert_eq!(
        convert(Type::F32, Value::I32(16_777_217)),
        Value::F32(16_777_216.0)
    );
    assert_eq!(convert(Type::Bool, Value::F32(-0.0)), Value::Bool(false));
    assert_eq!(convert(Type::Bool, Value::F32(f32::NAN)), Value::Bool(true));
}

#[test]
fn nan_has_one_bit_pattern() {
    for bits in [0x7fc0_0000, 0xffc0_0000, 0x7f80_0001] {
        let nan = Value::F32(f32::from_bits(bits));
        assert_eq!(bitcast(Type::U32, nan), Value::U32(0x7fc0_0000));
    }
    assert_eq!(
        bitcast(Type::U32, Value::F32(-0.0)),
        Value::U32(0x8000_0000)
    );
}

#[test]
fn comparisons_with_nan_are_false() {
    let nan = Value::F32(f32::NAN);
    assert_eq!(binary(BinaryOp::Equal, nan, nan), Value::Bool(false));
    assert_eq!(binary(BinaryOp::NotEqual, nan, nan), Value::Bool(true));
    assert_eq!(binary(BinaryOp::LessEqual, nan, nan), Value::Bool(false));
}
