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

/// Where a fused multiply–add stands: the same bits, by other instructions.
pub trait Fused {
    /// `a b + c`, rounded once.
    fn fma(a: f32, b: f32, c: f32) -> f32;
}

/// In code for one value.
pub struct Single;

/// In a loop that becomes vector instructions, each lane of which is one value.
pub struct Lanes;

impl Fused for Single {
    #[inline(always)]
    fn fma(a: f32, b: f32, c: f32) -> f32 {
        fma(a, b, c)
    }
}

impl Fused for Lanes {
    /// Among the relaxed vector instructions of WebAssembly is one that processors have fused. LLVM makes it
    /// of this intrinsic in a vector, and a product and a sum elsewhere.
    #[cfg(all(sim_web, target_feature = "relaxed-simd"))]
    #[inline(always)]
    fn fma(a: f32, b: f32, c: f32) -> f32 {
        std::intrinsics::fmuladdf32(a, b, c)
    }

    #[cfg(not(all(sim_web, target_feature = "relaxed-simd")))]
    #[inline(always)]
    fn fma(a: f32, b: f32, c: f32) -> f32 {
        fma(a, b, c)
    }
}

/// `fma`: rounded once.
#[inline(always)]
pub fn fma(a: f32, b: f32, c: f32) -> f32 {
    match cfg!(target_family = "wasm") {
        true => fma_by_f64(a, b, c),
        false => a.mul_add(b, c),
    }
}

/// [`fma`] for processors without such an instruction, where a call would take ten times as long. The product
/// is exact in `f64`. The sum is rounded to odd, so that rounding it once more rounds as if it were the first
/// time (S. Boldo and G. Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
#[inline(always)]
fn fma_by_f64(a: f32, b: f32, c: f32) -> f32 {
    let (product, c) = (f64::from(a) * f64::from(b), f64::from(c));
    let sum = product + c;
    // What the sum lost, exactly (Knuth's two-sum); NaN where anything is infinite.
    let of_c = sum - product;
    let lost = (product - (sum - of_c)) + (c - of_c);
    let bits = sum.to_bits();
    // Away from zero if the rest has the sum's sign, else towards it.
    let away = (lost > 0.0) == (sum > 0.0);
    let neighbour = if away {
        bits.wrapping_add(1)
    } else {
        bits.wrapping_sub(1)
    };
    let is_exact = !((lost > 0.0) | (lost < 0.0));
    let odd = if is_exact | (bits & 1 == 1) {
        bits
    } else {
        neighbour
    };
    f64::from_bits(odd) as f32
}

/// `fract`.
#[inline(always)]
pub fn fract(x: f32) -> f32 {
    x - x.floor()
}

/// `inverseSqrt`: one Newton step from 1/√x, whose residue 1 - x y² is computed with products kept whole.
#[inline(always)]
pub fn inverse_sqrt(x: f32) -> f32 {
    inverse_sqrt_by::<Single>(x)
}

/// [`inverse_sqrt`] with its fused operations.
#[inline(always)]
pub fn inverse_sqrt_by<F: Fused>(x: f32) -> f32 {
    let y = 1.0 / x.sqrt();
    let high = x * y;
    let low = F::fma(x, y, -high);
    let residue = F::fma(-low, y, F::fma(-high, y, 1.0));
    let better = F::fma(0.5 * y, residue, y);
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
