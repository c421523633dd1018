//! `exp2`, `log2` and `pow`, through `f64`.

use super::errors::{OneArgument, TwoArguments, one, two};
use super::wide;

/// How far they may be off.
pub(super) const ERRORS: &[OneArgument] = &[
    one("exp2", exp2, f64::exp2, 0.51),
    one("log2", log2, f64::log2, 0.51),
];

/// The same of two floats.
pub(super) const ERRORS_OF_TWO: &[TwoArguments] = &[two("pow", pow, f64::powf, 0.51)];

/// 2^x.
#[inline(always)]
pub fn exp2(x: f32) -> f32 {
    wide::exp2(f64::from(bounded(x))) as f32
}

/// `x` between bounds past which 2^x is 0 or infinite; NaN stays.
#[inline(always)]
fn bounded(x: f32) -> f32 {
    let x = if x < -200.0 { -200.0 } else { x };
    if x > 200.0 { 200.0 } else { x }
}

/// The binary logarithm; NaN below zero, minus infinity at zero.
#[inline(always)]
pub fn log2(x: f32) -> f32 {
    super::primary::log_corners(x, wide::log2(f64::from(x)) as f32)
}

/// x to the power y, with the special values of IEEE 754-2019 §9.2.1 `pow`: a negative base has a result
/// for integer exponents, x^0 = 1^y = 1 even for NaN.
///
/// WGSL's own `pow` leaves negative bases undefined; this is the meaning on every backend.
#[inline(always)]
pub fn pow(x: f32, y: f32) -> f32 {
    let size = x.abs();
    // Exponent 0 of the base 0 gives NaN here, and 1 in the end.
    let log = wide::log2(f64::from(size));
    let log = if size < f32::INFINITY {
        log
    } else {
        f64::from(size)
    };
    let log = if size == 0.0 { f64::NEG_INFINITY } else { log };
    let power = f64::from(y) * log;
    let power = if power < -200.0 { -200.0 } else { power };
    let power = if power > 200.0 { 200.0 } else { power };
    let magnitude = wide::exp2(power) as f32;

    let whole = y.trunc() == y;
    // Floats from 2^24 on are even.
    let half = 0.5 * y;
    let odd = whole & (half.trunc() != half);
    let sign = if odd { x.to_bits() & (1 << 31) } else { 0 };
    let value = f32::from_bits(magnitude.to_bits() ^ sign);
    let value = if (x < 0.0) & (x > f32::NEG_INFINITY) & !whole {
        f32::NAN
    } else {
        value
    };
    // (-1)^±∞ is 1, though the product above is NaN.
    let one = (y == 0.0) | (x == 1.0) | ((x == -1.0) & (y.abs() == f32::INFINITY));
    if one { 1.0 } else { value }
}
