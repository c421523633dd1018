//! What the functions are measured against: the truth of each in `f64`, the error in units in the last
//! place, and the bounds that the tests hold. `examples/accuracy.rs` makes the documentation's table of it.

use super::{self as math, arithmetic};

/// A function of one float.
#[derive(Clone, Copy, Debug)]
pub struct OneArgument {
    /// Its name in the language.
    pub name: &'static str,
    /// The function.
    pub function: fn(f32) -> f32,
    /// The same in `f64`, good to a few units in the last place of an `f64`.
    pub truth: fn(f64) -> f64,
    /// The largest error allowed, in units in the last place.
    pub bound: f64,
}

/// A function of two floats.
#[derive(Clone, Copy, Debug)]
pub struct TwoArguments {
    /// Its name in the language.
    pub name: &'static str,
    /// The function.
    pub function: fn(f32, f32) -> f32,
    /// The same in `f64`, good to a few units in the last place of an `f64`.
    pub truth: fn(f64, f64) -> f64,
    /// The largest error allowed, in units in the last place.
    pub bound: f64,
}

const fn one(
    name: &'static str,
    function: fn(f32) -> f32,
    truth: fn(f64) -> f64,
    bound: f64,
) -> OneArgument {
    OneArgument {
        name,
        function,
        truth,
        bound,
    }
}

/// All functions of one float that have an error. The truths are the platform's `f64` functions.
pub const ONE_ARGUMENT: [OneArgument; 20] = [
    one("acos", math::acos, f64::acos, 0.51),
    one("acosh", math::acosh, f64::acosh, 0.51),
    one("asin", math::asin, f64::asin, 0.51),
    one("asinh", math::asinh, f64::asinh, 0.51),
    one("atan", math::atan, f64::atan, 0.51),
    one("atanh", math::atanh, f64::atanh, 0.51),
    one("cos", math::cos, f64::cos, 1.6),
    one("cosh", math::cosh, f64::cosh, 0.51),
    one("erf", math::erf, erf, 0.51),
    one("exp", math::exp, f64::exp, 1.1),
    one("exp2", math::exp2, f64::exp2, 0.51),
    one("inverseSqrt", arithmetic::inverse_sqrt, inverse_sqrt, 0.51),
    one("log", math::log, f64::ln, 0.9),
    one("log2", math::log2, f64::log2, 0.51),
    one("sigmoid", math::sigmoid, sigmoid, 3.0),
    one("sin", math::sin, f64::sin, 1.6),
    one("sinh", math::sinh, f64::sinh, 0.51),
    one("softplus", math::softplus, softplus, 0.51),
    one("tan", math::tan, f64::tan, 0.51),
    one("tanh", math::tanh, f64::tanh, 5.7),
];

/// All functions of two floats that have an error.
pub const TWO_ARGUMENTS: [TwoArguments; 2] = [
    TwoArguments {
        name: "atan2",
        function: math::atan2,
        truth: f64::atan2,
        bound: 0.51,
    },
    TwoArguments {
        name: "pow",
        function: math::pow,
        truth: f64::powf,
        bound: 0.51,
    },
];

/// How far `got` is from `truth` in units in the last place of a float of that size; 0 where both are NaN
/// or overflow alike.
pub fn ulps(got: f32, truth: f64) -> f64 {
    if truth.is_nan() || got.is_nan() {
        return if truth.is_nan() && got.is_nan() {
            0.0
        } else {
            f64::INFINITY
        };
    }
    let exponent = (((truth.to_bits() >> 52) & 0x7ff) as i32 - 1023).clamp(-126, 127);
    let unit = f64::from_bits(((exponent - 23 + 1023) as u64) << 52);
    if got.is_infinite() {
        // The next float after the largest, had the format one.
        let next = 340_282_366_920_938_463_463_374_607_431_768_211_456.0_f64;
        let size = truth.abs().min(next);
        let same_sign = f64::from(got).signum() == truth.signum();
        return if same_sign {
            (next - size) / unit
        } else {
            f64::INFINITY
        };
    }
    (f64::from(got) - truth).abs() / unit
}

fn inverse_sqrt(x: f64) -> f64 {
    1.0 / x.sqrt()
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// The error function by its series of positive terms.
fn erf(x: f64) -> f64 {
    if x.abs() > 6.0 || x.is_nan() {
        return if x.is_nan() { x } else { x.signum() };
    }
    let (mut term, mut sum, mut n) = (x, x, 0.0);
    while term.abs() > sum.abs() * 1e-18 {
        n += 1.0;
        term *= 2.0 * x * x / (2.0 * n + 1.0);
        sum += term;
    }
    sum * (-x * x).exp() * std::f64::consts::FRAC_2_SQRT_PI
}
