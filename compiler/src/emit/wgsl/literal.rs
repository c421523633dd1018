//! Constants as WGSL text that means the same bits.

use crate::ir::{Type, Value};
use std::fmt::Write;

/// The name of a type. `bool` is `bool`; storage holds it as `u32`, see `storage`.
pub(super) fn type_name(ty: Type) -> &'static str {
    match ty {
        Type::F32 => "f32",
        Type::I32 => "i32",
        Type::U32 => "u32",
        Type::Bool => "bool",
        Type::Vec2 => "vec2f",
        Type::Vec3 => "vec3f",
        Type::Vec4 => "vec4f",
    }
}

/// Can an `f32` be written as digits? Not infinities, NaN and what a compiler may flush to zero.
pub(super) fn has_digits(x: f32) -> bool {
    x == 0.0 || x.is_normal()
}

/// Does a constant begin with a minus sign?
pub(super) fn is_negative(value: &Value) -> bool {
    match value {
        Value::F32(x) => x.is_sign_negative() && has_digits(*x),
        Value::I32(x) => *x < 0,
        Value::U32(_) | Value::Bool(_) | Value::Vec2(_) | Value::Vec3(_) | Value::Vec4(_) => false,
    }
}

/// Writes an `f32` that [`has_digits`].
pub(super) fn push_f32(out: &mut String, x: f32) {
    let start = out.len();
    let _ = write!(out, "{x:?}");
    // The text is read as an `f64` first: near the largest `f32`, or next to the middle of two, the
    // shortest digits would not survive that.
    let read = out[start..].parse::<f64>();
    if !read.is_ok_and(|y| y as f32 == x && y.abs() <= f64::from(f32::MAX)) {
        out.truncate(start);
        let _ = write!(out, "{:?}", f64::from(x));
    }
}

/// Writes a scalar that is no `f32`.
pub(super) fn push_scalar(out: &mut String, value: &Value) {
    let _ = match value {
        Value::I32(x) => write!(out, "{x}"),
        Value::U32(x) => write!(out, "{x}u"),
        Value::Bool(x) => write!(out, "{x}"),
        Value::F32(_) | Value::Vec2(_) | Value::Vec3(_) | Value::Vec4(_) => {
            unreachable!("floats are written component by component")
        }
    };
}

/// `vec3u` for 3.
pub(super) fn unsigned(components: u32) -> &'static str {
    match components {
        1 => "u32",
        2 => "vec2u",
        3 => "vec3u",
        _ => "vec4u",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_give_the_same_bits_back() {
        let samples = [
            0.0,
            -0.0,
            0.1,
            1e-30,
            f32::MAX,
            f32::MIN,
            f32::MIN_POSITIVE,
            16_777_216.0,
            1e10,
        ];
        let mut bits = 1u32;
        let many = std::iter::repeat_with(|| {
            bits = bits.wrapping_mul(0x9E37_79B9).wrapping_add(0x7F4A_7C15);
            f32::from_bits(bits)
        });
        for x in samples.into_iter().chain(many.take(20_000)) {
            if has_digits(x) {
                let mut text = String::new();
                push_f32(&mut text, x);
                let read: f64 = text.parse().expect("a number");
                assert!(read.abs() <= f64::from(f32::MAX), "{text}");
                assert_eq!((read as f32).to_bits(), x.to_bits(), "{text}");
                assert!(text.contains(['.', 'e']), "{text}");
            }
        }
    }
}
