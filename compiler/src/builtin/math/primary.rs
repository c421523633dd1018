//! `sin cos exp log tanh`: least-maximum polynomials in `f32` with explicit fused multiply–adds.
//!
//! Each is branch-free but for angles that [need a wide reduction](needs_wide_reduction).

use super::arithmetic::{Fused, Single};
use super::errors::{OneArgument, one};
use super::{reduction, wide};

/// How far they may be off.
pub(super) const ERRORS: &[OneArgument] = &[
    one("cos", cos, f64::cos, 1.6),
    one("exp", exp, f64::exp, 1.1),
    one("log", log, f64::ln, 0.9),
    one("sin", sin, f64::sin, 1.6),
    one("tanh", tanh, f64::tanh, 5.7),
];

/// Beyond this magnitude `sin`, `cos` and `tan` leave their fast path for [`reduction::large`].
pub const LARGE: f32 = 100_000.0;

/// Adding and subtracting 1.5 · 2^23 rounds to the nearest integer, ties to even, for |x| < 2^22; the lowest
/// bits of the sum are the integer's.
pub const ROUND: f32 = 12_582_912.0;

/// The sign bit.
const SIGN: u32 = 1 << 31;

/// π/2 as a sum of three floats.
pub const HALF_PI: [f32; 3] = [1.570_796_4, -4.371_139e-8, -1.715_124_5e-15];

/// ln 2 as a sum of two floats.
pub const LN_2: [f32; 2] = [std::f32::consts::LN_2, -1.904_654_2e-9];

/// The bits of √½, where mantissas begin whose logarithm is taken.
pub const ROOT_HALF: u32 = std::f32::consts::FRAC_1_SQRT_2.to_bits();

/// (sin r - r) / r³ by r², for |r| <= π/4.
pub const SINE: [f32; 3] = [-0.166_666_55, 0.008_332_158, -0.000_195_149_58];

/// (cos r - 1 + r²/2) / r⁴ by r², for |r| <= π/4.
pub const COSINE: [f32; 3] = [0.041_666_646, -0.001_388_731_3, 2.443_278_6e-5];

/// e^r for |r| <= ln 2 / 2.
pub const EXP: [f32; 7] = [
    1.0,
    1.0,
    0.499_999_94,
    0.166_665_21,
    0.041_668_39,
    0.008_368_724,
    0.001_381_458_4,
];

/// (ln(1 + f) - f + f²/2) / f³ for 1 + f in [√½, √2).
pub const LOG: [f32; 8] = [
    0.333_333_3,
    -0.250_008_2,
    0.200_012_27,
    -0.166_233_57,
    0.142_017_59,
    -0.131_601_83,
    0.127_615_75,
    -0.076_344_93,
];

/// The numerator of tanh x / x by x².
pub const TANH_ABOVE: [f32; 5] = [
    1.0,
    0.133_797_14,
    0.003_494_029_6,
    2.058_339_7e-5,
    1.331_895_3e-8,
];

/// Its denominator.
pub const TANH_BELOW: [f32; 5] = [
    1.0,
    0.467_130_3,
    0.025_871_055,
    0.000_328_308_47,
    7.761_971e-7,
];

/// `c[0] + c[1] x + c[2] x² + …` by Horner's rule, fused.
#[inline(always)]
fn polynomial<F: Fused, const N: usize>(x: f32, c: [f32; N]) -> f32 {
    let mut sum = c[N - 1];
    let mut k = N - 1;
    while k > 0 {
        k -= 1;
        sum = F::fma(sum, x, c[k]);
    }
    sum
}

/// Is the angle so large that [`sin_fast`], [`cos_fast`] and [`super::tan_fast`] do not hold? Infinities may
/// go either way, NaN needs none.
#[inline(always)]
pub fn needs_wide_reduction(x: f32) -> bool {
    x.abs() > LARGE
}

/// The nearest multiple of π/2, as a count whose lowest bits matter and what is left, for |x| <= [`LARGE`].
#[inline(always)]
fn reduce<F: Fused>(x: f32) -> (u32, f32) {
    let sum = F::fma(x, std::f32::consts::FRAC_2_PI, ROUND);
    let n = sum - ROUND;
    let r = F::fma(n, -HALF_PI[0], x);
    let r = F::fma(n, -HALF_PI[1], r);
    let r = F::fma(n, -HALF_PI[2], r);
    (sum.to_bits(), r)
}

/// Sine of the angle that is `quarter` right angles and `r` more, |r| <= π/4 and a little more, with the
/// sign bit of `flip` turned into it.
#[inline(always)]
fn sin_of<F: Fused>(quarter: u32, r: f32, flip: u32) -> f32 {
    let r2 = r * r;
    let p = polynomial::<F, _>(r2, SINE);
    let sin = F::fma(r2 * r, p, r);
    let p = polynomial::<F, _>(r2, COSINE);
    let cos = F::fma(r2 * r2, p, F::fma(r2, -0.5, 1.0));
    let value = if quarter & 1 == 0 { sin } else { cos };
    f32::from_bits(value.to_bits() ^ (((quarter << 30) ^ flip) & SIGN))
}

/// Sine of an angle in radians; NaN for infinities.
#[inline(always)]
pub fn sin(x: f32) -> f32 {
    if needs_wide_reduction(x) {
        sin_large(x, 0)
    } else {
        sin_fast(x)
    }
}

/// Cosine of an angle in radians; NaN for infinities.
#[inline(always)]
pub fn cos(x: f32) -> f32 {
    if needs_wide_reduction(x) {
        sin_large(x, 1)
    } else {
        cos_fast(x)
    }
}

/// [`sin`] for |x| <= [`LARGE`], branch-free.
#[inline(always)]
pub fn sin_fast(x: f32) -> f32 {
    sin_fast_by::<Single>(x)
}

/// [`sin_fast`] with its fused operations.
#[inline(always)]
pub fn sin_fast_by<F: Fused>(x: f32) -> f32 {
    // Of the magnitude: zeros keep their signs.
    let (quarter, r) = reduce::<F>(x.abs());
    sin_of::<F>(quarter, r, x.to_bits())
}

/// [`cos`] for |x| <= [`LARGE`], branch-free.
#[inline(always)]
pub fn cos_fast(x: f32) -> f32 {
    cos_fast_by::<Single>(x)
}

/// [`cos_fast`] with its fused operations.
#[inline(always)]
pub fn cos_fast_by<F: Fused>(x: f32) -> f32 {
    let (quarter, r) = reduce::<F>(x);
    sin_of::<F>(quarter.wrapping_add(1), r, 0)
}

/// Sine of a large angle and `more` right angles.
#[cold]
#[inline(never)]
fn sin_large(x: f32, more: u32) -> f32 {
    let (quarter, r) = reduction::large(x);
    let quarter = quarter.wrapping_add(more);
    let value = if quarter & 1 == 0 {
        wide::sin_kernel(r)
    } else {
        wide::cos_kernel(r)
    };
    (if quarter & 2 == 0 { value } else { -value }) as f32
}

/// 2^n for n in -126..=127.
#[inline(always)]
fn power_of_two(n: i32) -> f32 {
    f32::from_bits((n.wrapping_add(127) as u32) << 23)
}

/// e^x; infinite above 88.72, denormal below -87.33, 0 below -103.97.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    exp_by::<Single>(x)
}

/// [`exp`] with its fused operations.
#[inline(always)]
pub fn exp_by<F: Fused>(x: f32) -> f32 {
    // Past this bound the result is infinite anyway; NaN stays.
    exp_of_negative::<F>(if x > 90.0 { 90.0 } else { x })
}

/// [`exp`] for x up to 90.
#[inline(always)]
pub(super) fn exp_of_negative<F: Fused>(x: f32) -> f32 {
    // Past this bound the result is 0 anyway; NaN stays.
    let x = if x < -105.0 { -105.0 } else { x };
    let sum = F::fma(x, std::f32::consts::LOG2_E, ROUND);
    let n = sum - ROUND;
    let r = F::fma(n, -LN_2[0], x);
    let r = F::fma(n, -LN_2[1], r);
    let p = polynomial::<F, _>(r, EXP);
    // 2^n in two factors: one alone would leave the exponent's range where the result does not.
    let n = (sum.to_bits() as i32).wrapping_sub(ROUND.to_bits() as i32);
    let half = n >> 1;
    p * power_of_two(half) * power_of_two(n.wrapping_sub(half))
}

/// The natural logarithm; NaN below zero, minus infinity at zero.
#[inline(always)]
pub fn log(x: f32) -> f32 {
    log_by::<Single>(x)
}

/// [`log`] with its fused operations.
#[inline(always)]
pub fn log_by<F: Fused>(x: f32) -> f32 {
    // Denormals are scaled up by arithmetic: two selections by one condition made LLVM double the rest.
    let shift = 23 * i32::from(x < f32::MIN_POSITIVE);
    log_corners(x, log_scaled::<F>(x * power_of_two(shift), shift))
}

/// [`log`] for positive, finite, normal numbers.
#[inline(always)]
pub(super) fn log_normal<F: Fused>(x: f32) -> f32 {
    log_scaled::<F>(x, 0)
}

/// A logarithm of `x`: `value` if `x` is positive and finite, else what IEEE 754 has there.
#[inline(always)]
pub(super) fn log_corners(x: f32, value: f32) -> f32 {
    let value = if x < f32::INFINITY { value } else { x };
    let corner = if x == 0.0 {
        f32::NEG_INFINITY
    } else {
        f32::NAN
    };
    if x > 0.0 { value } else { corner }
}

/// ln(x / 2^shift) for a positive, finite, normal number.
#[inline(always)]
fn log_scaled<F: Fused>(x: f32, shift: i32) -> f32 {
    // The mantissa in [√½, √2): the exponent counts from there.
    let bits = x.to_bits().wrapping_sub(ROOT_HALF);
    let exponent = (bits as i32) >> 23;
    let m = f32::from_bits((bits & 0x007f_ffff) + ROOT_HALF);
    let e = (exponent - shift) as f32;
    let f = m - 1.0;
    let p = polynomial::<F, _>(f, LOG);
    let f2 = f * f;
    let tail = F::fma(f2 * f, p, e * LN_2[1]);
    F::fma(e, LN_2[0], F::fma(f2, -0.5, tail) + f)
}

/// Hyperbolic tangent, a quotient of polynomials.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    tanh_by::<Single>(x)
}

/// [`tanh`] with its fused operations.
#[inline(always)]
pub fn tanh_by<F: Fused>(x: f32) -> f32 {
    // From 9.02 on the result rounds to 1; NaN passes both tests.
    let x = if x < -9.02 { -9.02 } else { x };
    let x = if x > 9.02 { 9.02 } else { x };
    let x2 = x * x;
    let p = polynomial::<F, _>(x2, TANH_ABOVE);
    let q = polynomial::<F, _>(x2, TANH_BELOW);
    x * p / q
}
