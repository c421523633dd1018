//! `exp2`, `log2` and `pow`, through `f64`.

use super::wide;

/// 2^x.
#[inline(always)]
pub fn exp2(x: f32) -> f32 {
    wide::exp2(f64::from(x)) as f32
}

/// The binary logarithm; NaN below zero, minus infinity at zero.
#[inline(always)]
pub fn log2(x: f32) -> f32 {
    if x > f32::MAX || x.is_nan() {
        x
    } else if x > 0.0 {
        wide::log2(f64::from(x)) as f32
    } else if x == 0.0 {
        f32::NEG_INFINITY
    } else {
        f32::NAN
    }
}

/// x to the power y, with the special values of IEEE 754-2019 §9.2.1 `pow`: a negative base has a result
/// for integer exponents, x^0 = 1^y = 1 even for NaN.
///
/// WGSL's own `pow` leaves negative bases undefined; this is the meaning on every backend.
#[inline(always)]
pub fn pow(x: f32, y: f32) -> f32 {
    if y == 0.0 || x == 1.0 {
        return 1.0;
    }
    if x.is_nan() || y.is_nan() {
        return f32::NAN;
    }
    let size = x.abs();
    let whole = y.trunc() == y;
    // Floats from 2^24 on are even.
    let odd = whole && y.abs() < 16_777_216.0 && (y as i32) & 1 == 1;
    let magnitude = if y.is_infinite() {
        if size == 1.0 {
            1.0
        } else if (size > 1.0) == (y > 0.0) {
            f32::INFINITY
        } else {
            0.0
        }
    } else if size == 0.0 || size.is_infinite() {
        if (size > 1.0) == (y > 0.0) {
            f32::INFINITY
        } else {
            0.0
        }
    } else if x < 0.0 && !whole {
        return f32::NAN;
    } else {
        wide::exp2(f64::from(y) * wide::log2(f64::from(size))) as f32
    };
    if odd && x.is_sign_negative() {
        -magnitude
    } else {
        magnitude
    }
}
