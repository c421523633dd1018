//! What the functions are measured against: the truth of each in `f64`, the error in units in the last
//! place, and the bounds that the tests hold: each function's stand in the `ERRORS` of its own file.
//! `examples/accuracy.rs` makes the documentation's table of it.

pub use super::errors::{OneArgument, TwoArguments};
use super::{arithmetic, exponential, gamma, hyperbolic, normal, primary, special, trigonometric};

/// All functions of one float that have an error, from the lists beside them. The truths are the platform's
/// `f64` functions.
pub fn of_one_argument() -> impl Iterator<Item = &'static OneArgument> {
    let areas = [
        arithmetic::ERRORS,
        exponential::ERRORS,
        gamma::ERRORS,
        hyperbolic::ERRORS,
        normal::ERRORS,
        primary::ERRORS,
        special::ERRORS,
        trigonometric::ERRORS,
    ];
    areas.into_iter().flatten()
}

/// All functions of two floats that have an error.
pub fn of_two_arguments() -> impl Iterator<Item = &'static TwoArguments> {
    [exponential::ERRORS_OF_TWO, trigonometric::ERRORS_OF_TWO]
        .into_iter()
        .flatten()
}

/// How far `got` is from `truth` in units in the last place of a float of that size; 0 if both are NaN or
/// both overflow.
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
