//! `sin cos exp log tanh`: minimax polynomials in `f32` with explicit fused multiply–adds.
//!
//! Each is straight-line code over the range that simulations live in; what a vector backend must treat
//! apart is named: [`LARGE`] arguments of `sin` and `cos`.

use super::{reduction, wide};

/// Beyond this magnitude `sin` and `cos` leave the `f32` path for [`reduction::quadrant`].
pub const LARGE: f32 = 100_000.0;

/// Adding and subtracting 1.5 · 2^23 rounds to the nearest integer, ties to even, for |x| < 2^22.
const ROUND: f32 = 12_582_912.0;

/// π/2 as a sum of three floats.
const HALF_PI: [f32; 3] = [1.570_796_4, -4.371_139e-8, -1.715_124_5e-15];

/// ln 2 as a sum of two floats.
const LN_2: [f32; 2] = [std::f32::consts::LN_2, -1.904_654_2e-9];

/// `c[0] + c[1] x + c[2] x² + …` by Horner's rule, fused.
#[inline(always)]
fn polynomial<const N: usize>(x: f32, c: [f32; N]) -> f32 {
    c.iter().rev().fold(0.0, |sum, &c| sum.mul_add(x, c))
}

/// The nearest multiple of π/2, as a count and what is left, for |x| <= [`LARGE`].
#[inline(always)]
fn reduce(x: f32) -> (i32, f32) {
    let n = x.mul_add(std::f32::consts::FRAC_2_PI, ROUND) - ROUND;
    let r = n.mul_add(-HALF_PI[0], x);
    let r = n.mul_add(-HALF_PI[1], r);
    let r = n.mul_add(-HALF_PI[2], r);
    (n as i32, r)
}

/// Sine for |r| <= π/4 and a little more.
#[inline(always)]
fn sin_kernel(r: f32) -> f32 {
    let r2 = r * r;
    let p = polynomial(r2, [-0.166_666_55, 0.008_332_158, -0.000_195_149_58]);
    (r2 * r).mul_add(p, r)
}

/// Cosine for |r| <= π/4 and a little more.
#[inline(always)]
fn cos_kernel(r: f32) -> f32 {
    let r2 = r * r;
    let p = polynomial(r2, [0.041_666_646, -0.001_388_731_3, 2.443_278_6e-5]);
    (r2 * r2).mul_add(p, r2.mul_add(-0.5, 1.0))
}

/// Sine of the angle that is `quarter` right angles and `r` more.
#[inline(always)]
fn sin_of(quarter: i32, r: f32) -> f32 {
    let value = if quarter & 1 == 0 {
        sin_kernel(r)
    } else {
        cos_kernel(r)
    };
    if quarter & 2 == 0 { value } else { -value }
}

/// Sine of an angle in radians; NaN for infinities.
#[inline(always)]
pub fn sin(x: f32) -> f32 {
    if x.abs() <= LARGE {
        let (quarter, r) = reduce(x);
        return sin_of(quarter, r);
    }
    let (quarter, r) = reduction::quadrant(x);
    wide::sin_of(quarter, r) as f32
}

/// Cosine of an angle in radians; NaN for infinities.
#[inline(always)]
pub fn cos(x: f32) -> f32 {
    if x.abs() <= LARGE {
        let (quarter, r) = reduce(x);
        return sin_of(quarter.wrapping_add(1), r);
    }
    let (quarter, r) = reduction::quadrant(x);
    wide::sin_of(quarter + 1, r) as f32
}

/// 2^n for n in -126..=127.
#[inline(always)]
fn power_of_two(n: i32) -> f32 {
    f32::from_bits(((n + 127) as u32) << 23)
}

/// e^x; infinite above 88.72, denormal below -87.33, 0 below -103.97.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    // Past these bounds the result is 0 or infinite anyway; NaN passes both tests.
    let x = if x < -105.0 { -105.0 } else { x };
    let x = if x > 90.0 { 90.0 } else { x };
    let n = x.mul_add(std::f32::consts::LOG2_E, ROUND) - ROUND;
    let r = n.mul_add(-LN_2[0], x);
    let r = n.mul_add(-LN_2[1], r);
    let p = polynomial(
        r,
        [
            1.0,
            1.0,
            0.499_999_94,
            0.166_665_21,
            0.041_668_39,
            0.008_368_724,
            0.001_381_458_4,
        ],
    );
    // 2^n in two factors: one alone would leave the exponent's range where the result does not.
    let n = n as i32;
    let half = n >> 1;
    p * power_of_two(half) * power_of_two(n - half)
}

/// The natural logarithm; NaN below zero, minus infinity at zero.
#[inline(always)]
pub fn log(x: f32) -> f32 {
    if x > f32::MAX || x.is_nan() {
        return x;
    }
    if x <= 0.0 {
        return if x == 0.0 {
            f32::NEG_INFINITY
        } else {
            f32::NAN
        };
    }
    let denormal = x < f32::MIN_POSITIVE;
    let (x, shift) = if denormal {
        (x * 8_388_608.0, 23)
    } else {
        (x, 0)
    };
    // The mantissa in [√½, √2): the exponent counts from there.
    let bits = x
        .to_bits()
        .wrapping_sub(std::f32::consts::FRAC_1_SQRT_2.to_bits());
    let exponent = (bits as i32) >> 23;
    let m = f32::from_bits((bits & 0x007f_ffff) + std::f32::consts::FRAC_1_SQRT_2.to_bits());
    let e = (exponent - shift) as f32;
    let f = m - 1.0;
    let p = polynomial(
        f,
        [
            0.333_333_3,
            -0.250_008_2,
            0.200_012_27,
            -0.166_233_57,
            0.142_017_59,
            -0.131_601_83,
            0.127_615_75,
            -0.076_344_93,
        ],
    );
    let f2 = f * f;
    let tail = (f2 * f).mul_add(p, e * LN_2[1]);
    e.mul_add(LN_2[0], f2.mul_add(-0.5, tail) + f)
}

/// Hyperbolic tangent, a quotient of polynomials.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    // From 9.02 on the result rounds to 1; NaN passes both tests.
    let x = if x < -9.02 { -9.02 } else { x };
    let x = if x > 9.02 { 9.02 } else { x };
    let x2 = x * x;
    let p = polynomial(
        x2,
        [
            1.0,
            0.133_797_14,
            0.003_494_029_6,
            2.058_339_7e-5,
            1.331_895_3e-8,
        ],
    );
    let q = polynomial(
        x2,
        [
            1.0,
            0.467_130_3,
            0.025_871_055,
            0.000_328_308_47,
            7.761_971e-7,
        ],
    );
    x * p / q
}
