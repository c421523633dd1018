//! The scalar meaning of the arithmetic builtins: one plain function a builtin and type.
//!
//! Like all of [`super`] they are straight-line code without calls, so that a loop over lanes becomes vector
//! instructions and gives the bits of the scalar function by construction.

use super::errors::{OneArgument, one};

/// How far those that round more than once, or a GPU does, may be off.
pub(super) const ERRORS: &[OneArgument] = &[
    one("inverseSqrt", inverse_sqrt, |x| 1.0 / x.sqrt(), 0.51),
    one("sqrt", sqrt, f64::sqrt, 0.51),
];

/// 180/π.
const DEGREES: f32 = 57.295_78;
/// π/180.
const RADIANS: f32 = 0.017_453_292;

/// `abs` of a float.
#[inline(always)]
pub fn abs(x: f32) -> f32 {
    x.abs()
}

/// `abs` of an `i32`; the smallest stays.
#[inline(always)]
pub fn abs_i32(x: i32) -> i32 {
    x.wrapping_abs()
}

/// `ceil`.
#[inline(always)]
pub fn ceil(x: f32) -> f32 {
    x.ceil()
}

/// `clamp` of floats.
#[inline(always)]
pub fn clamp(x: f32, low: f32, high: f32) -> f32 {
    min(max(x, low), high)
}

/// `clamp` of `i32`s.
#[inline(always)]
pub fn clamp_i32(x: i32, low: i32, high: i32) -> i32 {
    min_i32(max_i32(x, low), high)
}

/// `clamp` of `u32`s.
#[inline(always)]
pub fn clamp_u32(x: u32, low: u32, high: u32) -> u32 {
    min_u32(max_u32(x, low), high)
}

/// `degrees`.
#[inline(always)]
pub fn degrees(x: f32) -> f32 {
    x * DEGREES
}

/// `floor`.
#[inline(always)]
pub fn floor(x: f32) -> f32 {
    x.floor()
}

/// `fma`: rounded once.
///
/// WebAssembly has no such instruction, and a loop of calls would take ten times as long. There the product,
/// which is exact in `f64`, and the sum are: the sum is rounded twice, which gives another bit than rounding
/// once in about one of 2^29 operations.
#[inline(always)]
pub fn fma(a: f32, b: f32, c: f32) -> f32 {
    match cfg!(target_family = "wasm") {
        true => (f64::from(a) * f64::from(b) + f64::from(c)) as f32,
        false => a.mul_add(b, c),
    }
}

/// `fract`.
#[inline(always)]
pub fn fract(x: f32) -> f32 {
    x - x.floor()
}

/// `inverseSqrt`: one Newton step from 1/√x, whose residue 1 - x y² is computed with products kept whole.
#[inline(always)]
pub fn inverse_sqrt(x: f32) -> f32 {
    let y = 1.0 / x.sqrt();
    let high = x * y;
    let low = fma(x, y, -high);
    let residue = fma(-low, y, fma(-high, y, 1.0));
    let better = fma(0.5 * y, residue, y);
    // Zeros and infinity: 0 · ∞ above.
    if better.is_nan() { y } else { better }
}

/// `ldexp`: `x` times a power of two, rounded once, since the product is exact in `f64`.
#[inline(always)]
pub fn ldexp(x: f32, exponent: i32) -> f32 {
    // Beyond this every product is 0 or infinite.
    let exponent = clamp_i32(exponent, -300, 300);
    let power = f64::from_bits(((exponent + 1023) as u64) << 52);
    (f64::from(x) * power) as f32
}

/// `max` of floats: the first of equals, and the other one if one is NaN.
#[inline(always)]
pub fn max(a: f32, b: f32) -> f32 {
    if (b > a) | a.is_nan() { b } else { a }
}

/// `max` of `i32`s.
#[inline(always)]
pub fn max_i32(a: i32, b: i32) -> i32 {
    if b > a { b } else { a }
}

/// `max` of `u32`s.
#[inline(always)]
pub fn max_u32(a: u32, b: u32) -> u32 {
    if b > a { b } else { a }
}

/// `min` of floats: the first of equals, and the other one if one is NaN.
#[inline(always)]
pub fn min(a: f32, b: f32) -> f32 {
    if (b < a) | a.is_nan() { b } else { a }
}

/// `min` of `i32`s.
#[inline(always)]
pub fn min_i32(a: i32, b: i32) -> i32 {
    if b < a { b } else { a }
}

/// `min` of `u32`s.
#[inline(always)]
pub fn min_u32(a: u32, b: u32) -> u32 {
    if b < a { b } else { a }
}

/// `mix`.
#[inline(always)]
pub fn mix(a: f32, b: f32, t: f32) -> f32 {
    a * (1.0 - t) + b * t
}

/// `radians`.
#[inline(always)]
pub fn radians(x: f32) -> f32 {
    x * RADIANS
}

/// `relu`; 0 for NaN.
#[inline(always)]
pub fn relu(x: f32) -> f32 {
    max(x, 0.0)
}

/// `round`: ties to even.
#[inline(always)]
pub fn round(x: f32) -> f32 {
    x.round_ties_even()
}

/// `saturate`; 0 for NaN.
#[inline(always)]
pub fn saturate(x: f32) -> f32 {
    clamp(x, 0.0, 1.0)
}

/// `select` of any scalar.
#[inline(always)]
pub fn select<T: Copy>(reject: T, accept: T, condition: bool) -> T {
    if condition { accept } else { reject }
}

/// `sign` of a float; 0 for NaN and for both zeros.
#[inline(always)]
pub fn sign(x: f32) -> f32 {
    let positive = if x > 0.0 { 1.0 } else { 0.0 };
    if x < 0.0 { -1.0 } else { positive }
}

/// `sign` of an `i32`.
#[inline(always)]
pub fn sign_i32(x: i32) -> i32 {
    i32::from(x > 0) - i32::from(x < 0)
}

/// `smoothstep`.
#[inline(always)]
pub fn smoothstep(low: f32, high: f32, x: f32) -> f32 {
    let t = saturate((x - low) / (high - low));
    t * t * (3.0 - 2.0 * t)
}

/// `sqrt`.
#[inline(always)]
pub fn sqrt(x: f32) -> f32 {
    x.sqrt()
}

/// `step`.
#[inline(always)]
pub fn step(edge: f32, x: f32) -> f32 {
    if x < edge { 0.0 } else { 1.0 }
}

/// `trunc`.
#[inline(always)]
pub fn trunc(x: f32) -> f32 {
    x.trunc()
}
