//! The meaning of the builtins on `f64`, for runs of the interpreter in `f64`: to 1e-15 of the value, where
//! an `f32` has 6e-8. (`lgamma` near its zeros left of 0: to 1e-15.) The functions under them are those of
//! `primary`, and of the crate libm, which has no C code: the same bits on every processor.
//!
//! Each is the function of the same name in [`super`], of the same argument but more digits. Where that one
//! keeps to the range of an `f32`, this one goes on.

mod primary;

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, PI};

pub use libm::{
    acos, acosh, asin, asinh, atan, atan2, atanh, cosh, erf, erfc, exp2, fma, log2, sinh, tan,
    tgamma as gamma,
};
pub use primary::{cos, cos_fast, exp, log, needs_wide_reduction, sin, sin_fast, tanh};

/// As [`super::arithmetic::max`].
#[inline(always)]
pub fn max(a: f64, b: f64) -> f64 {
    if (b > a) | a.is_nan() { b } else { a }
}

/// As [`super::arithmetic::min`].
#[inline(always)]
pub fn min(a: f64, b: f64) -> f64 {
    if (b < a) | a.is_nan() { b } else { a }
}

/// As [`super::arithmetic::sign`].
#[inline(always)]
pub fn sign(x: f64) -> f64 {
    let positive = if x > 0.0 { 1.0 } else { 0.0 };
    if x < 0.0 { -1.0 } else { positive }
}

/// Radians to degrees.
#[inline(always)]
pub fn degrees(x: f64) -> f64 {
    x * (180.0 / PI)
}

/// Degrees to radians.
#[inline(always)]
pub fn radians(x: f64) -> f64 {
    x * (PI / 180.0)
}

/// `x - floor(x)`
#[inline(always)]
pub fn fract(x: f64) -> f64 {
    x - x.floor()
}

/// `1 / sqrt(x)`
#[inline(always)]
pub fn inverse_sqrt(x: f64) -> f64 {
    1.0 / x.sqrt()
}

/// `x` times 2 to the power `exponent`.
pub fn ldexp(x: f64, exponent: i32) -> f64 {
    libm::ldexp(x, exponent)
}

/// From `a` to `b`.
#[inline(always)]
pub fn mix(a: f64, b: f64, t: f64) -> f64 {
    a * (1.0 - t) + b * t
}

/// `max(x, 0.0)`
#[inline(always)]
pub fn relu(x: f64) -> f64 {
    max(x, 0.0)
}

/// To the nearest whole number; of two, the even one.
#[inline(always)]
pub fn round(x: f64) -> f64 {
    x.round_ties_even()
}

/// `x` kept between 0 and 1.
#[inline(always)]
pub fn saturate(x: f64) -> f64 {
    min(max(x, 0.0), 1.0)
}

/// 0 below `low`, 1 above `high`, and between them the smooth cubic.
#[inline(always)]
pub fn smoothstep(low: f64, high: f64, x: f64) -> f64 {
    let t = saturate((x - low) / (high - low));
    t * t * (3.0 - 2.0 * t)
}

/// 0 if `x` is below `edge`, else 1.
#[inline(always)]
pub fn step(edge: f64, x: f64) -> f64 {
    if x < edge { 0.0 } else { 1.0 }
}

/// `1 / (1 + e^-x)`
#[inline(always)]
pub fn sigmoid(x: f64) -> f64 {
    let e = exp(-x.abs());
    let numerator = if x < 0.0 { e } else { 1.0 };
    numerator / (1.0 + e)
}

/// `log(1 + e^x)`
pub fn softplus(x: f64) -> f64 {
    // NaN is in the second term.
    max(x, 0.0) + libm::log1p(exp(-x.abs()))
}

/// The chance that a standard normal number is at most `x`. What the argument of `erfc` loses by rounding is
/// made good by the slope there: in the tail, a part in 10^16 of it is one in 10^13 of the chance.
pub fn normal_cdf(x: f64) -> f64 {
    let z = -x * FRAC_1_SQRT_2;
    // 1/√2 has these digits behind those of the constant.
    const REST: f64 = -4.833_646_656_726_457e-17;
    let lost = fma(-x, FRAC_1_SQRT_2, -z) - x * REST;
    let correction = FRAC_2_SQRT_PI * exp(-z * z) * lost;
    let correction = if correction.is_finite() {
        correction
    } else {
        0.0
    };
    0.5 * (erfc(z) - correction)
}

/// The quantile for a chance between 1/4 and 3/4: of the distance from 1/2, which is exact, so that digits
/// next to the median are not lost. Halley's method.
fn central_quantile(p: f64) -> f64 {
    let distance = p - 0.5;
    let mut x: f64 = super::normal_quantile(p as f32).into();
    for _ in 0..3 {
        let density = exp(-0.5 * x * x) / (2.0 * PI).sqrt();
        let error = (0.5 * libm::erf(x * FRAC_1_SQRT_2) - distance) / density;
        x -= error / (1.0 + 0.5 * x * error);
    }
    x
}

/// The number that a standard normal number is at most with chance `p`; infinite for 0 and 1, NaN outside.
/// From the quantile of [`super::normal_quantile`], which has 7 digits, by two steps of Halley's method.
pub fn normal_quantile(p: f64) -> f64 {
    let rest = if p < 0.5 { p } else { 1.0 - p };
    if rest.is_nan() || rest < 0.0 {
        return f64::NAN;
    }
    if rest == 0.0 {
        return f64::INFINITY.copysign(p - 0.5);
    }
    if rest > 0.25 {
        return central_quantile(p);
    }
    let mut x = if rest < 1e-37 {
        // Beyond the first guess's range: the root of the logarithm, and its first correction.
        let size = (-2.0 * log(rest)).sqrt();
        -(size - (0.5 * (4.0 * PI * -log(rest)).ln()) / size)
    } else {
        super::normal_quantile(rest as f32).into()
    };
    for _ in 0..4 {
        // The logarithm of the chance is nearly a parabola, so that no step leaves its range.
        let chance = normal_cdf(x);
        let slope = exp(-0.5 * x * x) / (2.0 * PI).sqrt() / chance;
        let error = libm::log1p((chance - rest) / rest) / slope;
        x -= error / (1.0 + 0.5 * error * (x + slope));
    }
    if p < 0.5 { x } else { -x }
}

/// The logarithm of the size of the gamma function. Left of 0, where libm's loses digits near the zeros, by
/// Γ(x) itself.
pub fn lgamma(x: f64) -> f64 {
    if (-20.0..0.0).contains(&x) && x.floor() != x {
        let value = gamma(x).abs();
        let more = value - 1.0;
        return if more.abs() < 0.5 {
            libm::log1p(more)
        } else {
            log(value)
        };
    }
    libm::lgamma(x)
}

/// `a` to the power `b`, of a negative `a` as in [`super::pow`].
pub fn pow(a: f64, b: f64) -> f64 {
    libm::pow(a, b)
}

/// The number in [0, 1) that a random word stands for: the same 24 bits as in `f32`.
#[inline(always)]
pub fn unit(word: u32) -> f64 {
    crate::random::unit(word).into()
}

/// As [`super::normal_from`], without its roundings.
#[inline(always)]
pub fn normal_from(a: u32, b: u32) -> f64 {
    (2.0 * exponential_from(a)).sqrt() * primary::cos_of_turn(b)
}

/// As [`super::exponential_from`], without its roundings.
#[inline(always)]
pub fn exponential_from(word: u32) -> f64 {
    -primary::log_scaled((f64::from(word) + 0.5) / 4_294_967_296.0, 0.0)
}
