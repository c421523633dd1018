//! Elementary functions in `f64`, good to about 1e-14 of the result: enough that rounding to `f32` is all
//! the error that is left. Plain series after an argument reduction; no fused operations, so that they cost
//! the same where a processor has none.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, LN_2, LOG2_E};

/// The upper 32 bits of ln 2, so that its product with an 11-bit count is exact.
const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
/// ln 2 less [`LN_2_HIGH`].
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// `sum of c[k] x^k`, by Horner's rule.
#[inline(always)]
pub(super) fn polynomial(x: f64, c: &[f64]) -> f64 {
    c.iter().rev().fold(0.0, |sum, &c| sum * x + c)
}

/// 2^n for n in -1022..=1023.
#[inline(always)]
fn power_of_two(n: i32) -> f64 {
    f64::from_bits(((n + 1023) as u64) << 52)
}

/// e^r for |r| <= 0.35, the Taylor series.
#[inline(always)]
fn exp_kernel(r: f64) -> f64 {
    const C: [f64; 13] = [
        1.0,
        1.0,
        1.0 / 2.0,
        1.0 / 6.0,
        1.0 / 24.0,
        1.0 / 120.0,
        1.0 / 720.0,
        1.0 / 5_040.0,
        1.0 / 40_320.0,
        1.0 / 362_880.0,
        1.0 / 3_628_800.0,
        1.0 / 39_916_800.0,
        1.0 / 479_001_600.0,
    ];
    polynomial(r, &C)
}

/// e^x; 0 below -700 and infinite above 700, which no `f32` tells apart.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    if x > 700.0 {
        return f64::INFINITY;
    }
    if x < -700.0 {
        return 0.0;
    }
    let n = (x * LOG2_E).round_ties_even();
    exp_kernel((x - n * LN_2_HIGH) - n * LN_2_LOW) * power_of_two(n as i32)
}

/// 2^x; 0 below -1000 and infinite above 1000, which no `f32` tells apart. Exact for integers.
#[inline(always)]
pub fn exp2(x: f64) -> f64 {
    if x > 1000.0 {
        return f64::INFINITY;
    }
    if x < -1000.0 {
        return 0.0;
    }
    let n = x.round_ties_even();
    exp_kernel((x - n) * LN_2) * power_of_two(n as i32)
}

/// The exponent and the logarithm of the mantissa in [√½, √2) of a positive normal number.
#[inline(always)]
fn log_parts(x: f64) -> (f64, f64) {
    const ROOT_HALF: u64 = std::f64::consts::FRAC_1_SQRT_2.to_bits();
    const MANTISSA: u64 = (1 << 52) - 1;
    const C: [f64; 10] = [
        1.0,
        1.0 / 3.0,
        1.0 / 5.0,
        1.0 / 7.0,
        1.0 / 9.0,
        1.0 / 11.0,
        1.0 / 13.0,
        1.0 / 15.0,
        1.0 / 17.0,
        1.0 / 19.0,
    ];
    let bits = x.to_bits().wrapping_sub(ROOT_HALF);
    let exponent = (bits as i64) >> 52;
    let f = f64::from_bits((bits & MANTISSA) + ROOT_HALF) - 1.0;
    // ln(1 + f) = 2 artanh(f / (2 + f))
    let s = f / (2.0 + f);
    (exponent as f64, 2.0 * s * polynomial(s * s, &C))
}

/// The natural logarithm of a positive, finite, normal number.
#[inline(always)]
pub fn log(x: f64) -> f64 {
    let (e, log_m) = log_parts(x);
    e * LN_2_HIGH + (e * LN_2_LOW + log_m)
}

/// The binary logarithm of a positive, finite, normal number. Exact for powers of two.
#[inline(always)]
pub fn log2(x: f64) -> f64 {
    let (e, log_m) = log_parts(x);
    e + log_m * LOG2_E
}

/// Sine of `quarter` right angles and `r` more, |r| <= π/4.
#[inline(always)]
pub fn sin_of(quarter: i32, r: f64) -> f64 {
    let value = if quarter & 1 == 0 {
        sin_kernel(r)
    } else {
        cos_kernel(r)
    };
    if quarter & 2 == 0 { value } else { -value }
}

/// Sine for |r| <= π/4, the Taylor series.
#[inline(always)]
fn sin_kernel(r: f64) -> f64 {
    const C: [f64; 8] = [
        1.0,
        -1.0 / 6.0,
        1.0 / 120.0,
        -1.0 / 5_040.0,
        1.0 / 362_880.0,
        -1.0 / 39_916_800.0,
        1.0 / 6_227_020_800.0,
        -1.0 / 1_307_674_368_000.0,
    ];
    r * polynomial(r * r, &C)
}

/// Cosine for |r| <= π/4, the Taylor series.
#[inline(always)]
fn cos_kernel(r: f64) -> f64 {
    const C: [f64; 9] = [
        1.0,
        -1.0 / 2.0,
        1.0 / 24.0,
        -1.0 / 720.0,
        1.0 / 40_320.0,
        -1.0 / 3_628_800.0,
        1.0 / 479_001_600.0,
        -1.0 / 87_178_291_200.0,
        1.0 / 20_922_789_888_000.0,
    ];
    polynomial(r * r, &C)
}

/// Arc tangent, for any `x` but NaN.
#[inline(always)]
pub fn atan(x: f64) -> f64 {
    let size = x.abs();
    // atan a = π/2 - atan 1/a, and atan a = π/4 + atan((a - 1)/(a + 1)): what is left is below tan π/8.
    let angle = if size > 2.414_213_562_373_095 {
        FRAC_PI_2 - atan_kernel(1.0 / size)
    } else if size > 0.414_213_562_373_095 {
        FRAC_PI_4 + atan_kernel((size - 1.0) / (size + 1.0))
    } else {
        atan_kernel(size)
    };
    angle.copysign(x)
}

/// Arc tangent for |t| <= tan π/8, the Taylor series.
#[inline(always)]
fn atan_kernel(t: f64) -> f64 {
    const C: [f64; 18] = [
        1.0,
        -1.0 / 3.0,
        1.0 / 5.0,
        -1.0 / 7.0,
        1.0 / 9.0,
        -1.0 / 11.0,
        1.0 / 13.0,
        -1.0 / 15.0,
        1.0 / 17.0,
        -1.0 / 19.0,
        1.0 / 21.0,
        -1.0 / 23.0,
        1.0 / 25.0,
        -1.0 / 27.0,
        1.0 / 29.0,
        -1.0 / 31.0,
        1.0 / 33.0,
        -1.0 / 35.0,
    ];
    t * polynomial(t * t, &C)
}
