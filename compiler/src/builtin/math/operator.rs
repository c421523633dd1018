//! The scalar meaning of the operators and conversions that are not an instruction of every processor.
//!
//! The others are Rust's own: `+ - * /`, negation and comparisons of floats; `wrapping_add`,
//! `wrapping_sub`, `wrapping_mul`, `wrapping_neg`, `& | ^ !` and comparisons of integers; `as f32` of
//! integers, rounded to nearest; `as` between integers, which keeps the bits; `x != 0` to `bool`.

/// The bits of every NaN that a bitcast sees.
const NAN_BITS: u32 = 0x7fc0_0000;

/// `a % b` of floats: WGSL's formula taken literally, one rounding an operation. Unlike C's `fmod` it is
/// inexact for large quotients and NaN for an infinite divisor, as on GPUs.
#[inline(always)]
pub fn remainder(a: f32, b: f32) -> f32 {
    a - b * (a / b).trunc()
}

/// `a / b` of `i32`s: `a` for a zero divisor; the smallest by -1 wraps.
///
/// Through `f64`, since processors have no vector instruction that divides integers: the quotient of two
/// numbers of 32 bits is too far from the next integer for its rounding to matter.
#[inline(always)]
pub fn divide_i32(a: i32, b: i32) -> i32 {
    let divisor = if b == 0 { 1 } else { b };
    low_word((f64::from(a) / f64::from(divisor)).trunc()) as i32
}

/// `a / b` of `u32`s: `a` for a zero divisor. Through `f64`, like [`divide_i32`].
#[inline(always)]
pub fn divide_u32(a: u32, b: u32) -> u32 {
    let divisor = if b == 0 { 1 } else { b };
    low_word((f64::from(a) / f64::from(divisor)).trunc())
}

/// `a % b` of `i32`s, with the sign of `a`: 0 for a zero divisor.
#[inline(always)]
pub fn remainder_i32(a: i32, b: i32) -> i32 {
    let divisor = if b == 0 { 1 } else { b };
    a.wrapping_sub(divide_i32(a, b).wrapping_mul(divisor))
}

/// `a % b` of `u32`s: 0 for a zero divisor.
#[inline(always)]
pub fn remainder_u32(a: u32, b: u32) -> u32 {
    let divisor = if b == 0 { 1 } else { b };
    a.wrapping_sub(divide_u32(a, b).wrapping_mul(divisor))
}

/// The lowest 32 bits of an integer below 2^51 in magnitude, in two's complement.
#[inline(always)]
fn low_word(x: f64) -> u32 {
    // 1.5 · 2^52: the sum's last bit weighs 1.
    (x + 6_755_399_441_055_744.0).to_bits() as u32
}

/// `a << b` of `u32`s: by the low five bits of `b`.
#[inline(always)]
pub fn shift_left(a: u32, b: u32) -> u32 {
    a.wrapping_shl(b)
}

/// `a << b` of an `i32`.
#[inline(always)]
pub fn shift_left_i32(a: i32, b: u32) -> i32 {
    a.wrapping_shl(b)
}

/// `a >> b` of `u32`s: by the low five bits of `b`.
#[inline(always)]
pub fn shift_right(a: u32, b: u32) -> u32 {
    a.wrapping_shr(b)
}

/// `a >> b` of an `i32`, which copies the sign.
#[inline(always)]
pub fn shift_right_i32(a: i32, b: u32) -> i32 {
    a.wrapping_shr(b)
}

/// `i32(x)` of a float: truncated, between `i32::MIN` and 2147483520, the type's last value that is a
/// float, too (WGSL, "Floating Point Conversion"); 0 for NaN.
#[inline(always)]
pub fn f32_to_i32(x: f32) -> i32 {
    whole_between(x, -2_147_483_648.0, 2_147_483_520.0) as i32
}

/// `u32(x)` of a float: truncated, between 0 and 4294967040; 0 for NaN.
#[inline(always)]
pub fn f32_to_u32(x: f32) -> u32 {
    whole_between(x, 0.0, 4_294_967_040.0)
}

/// [`f32_to_i32`] of an `f64`.
#[inline(always)]
pub fn f64_to_i32(x: f64) -> i32 {
    whole_of_double(x, -2_147_483_648.0, 2_147_483_520.0) as i32
}

/// [`f32_to_u32`] of an `f64`.
#[inline(always)]
pub fn f64_to_u32(x: f64) -> u32 {
    whole_of_double(x, 0.0, 4_294_967_040.0)
}

/// `f32(x)` of an `i32`: the nearest, ties to even.
#[inline(always)]
pub fn i32_to_f32(x: i32) -> f32 {
    x as f32
}

/// `f32(x)` of a `u32`: the nearest, ties to even.
#[inline(always)]
pub fn u32_to_f32(x: u32) -> f32 {
    x as f32
}

/// `f32(x)` of a `bool`.
#[inline(always)]
pub fn bool_to_f32(x: bool) -> f32 {
    if x { 1.0 } else { 0.0 }
}

/// `bool(x)` of a float: true for all but zeros, NaN included.
#[inline(always)]
pub fn f32_to_bool(x: f32) -> bool {
    x != 0.0
}

/// The bits of a float as a `u32`; those of every NaN are `0x7fc00000`, because processors disagree about
/// the bits of the NaNs that they make. A bitcast to `f32`, too, passes through this, if it is of an `f32`.
#[inline(always)]
pub fn f32_to_bits(x: f32) -> u32 {
    if x.is_nan() { NAN_BITS } else { x.to_bits() }
}

/// The bits of the integer that `x` truncates to, but for the bounds; 0 for NaN. By [`low_word`], since the
/// language's own saturating conversion does not become vector instructions.
#[inline(always)]
fn whole_between(x: f32, first: f32, last: f32) -> u32 {
    let x = if x > last { last } else { x };
    let x = if x < first { first } else { x };
    let x = if x.is_nan() { 0.0 } else { x };
    low_word(f64::from(x.trunc()))
}

/// [`whole_between`] of an `f64`.
#[inline(always)]
fn whole_of_double(x: f64, first: f64, last: f64) -> u32 {
    let x = if x > last { last } else { x };
    let x = if x < first { first } else { x };
    let x = if x.is_nan() { 0.0 } else { x };
    low_word(x.trunc())
}
