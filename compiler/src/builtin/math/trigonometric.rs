//! `tan` and the inverses, through `f64`.

use super::{reduction, wide};
use std::f64::consts::{FRAC_PI_2, PI};

/// Tangent of an angle in radians; NaN for infinities.
#[inline(always)]
pub fn tan(x: f32) -> f32 {
    let (quarter, r) = reduction::quadrant(x);
    (wide::sin_of(quarter, r) / wide::sin_of(quarter + 1, r)) as f32
}

/// Arc sine in [-π/2, π/2]; NaN outside [-1, 1].
#[inline(always)]
pub fn asin(x: f32) -> f32 {
    let x = f64::from(x);
    // The quotient is infinite at ±1, whose arc tangent is right; NaN outside.
    let slope = x / ((1.0 - x) * (1.0 + x)).sqrt();
    if slope.is_nan() {
        f32::NAN
    } else {
        wide::atan(slope) as f32
    }
}

/// Arc cosine in [0, π]; NaN outside [-1, 1].
#[inline(always)]
pub fn acos(x: f32) -> f32 {
    let x = f64::from(x);
    let half = ((1.0 - x) / (1.0 + x)).sqrt();
    if half.is_nan() {
        f32::NAN
    } else {
        (2.0 * wide::atan(half)) as f32
    }
}

/// Arc tangent in [-π/2, π/2].
#[inline(always)]
pub fn atan(x: f32) -> f32 {
    if x.is_nan() {
        x
    } else {
        wide::atan(f64::from(x)) as f32
    }
}

/// The angle of the point (x, y) in [-π, π], with IEEE 754's rules for zeros and infinities.
#[inline(always)]
pub fn atan2(y: f32, x: f32) -> f32 {
    if x.is_nan() || y.is_nan() {
        return f32::NAN;
    }
    // Between 0 and π/2, of the point's mirror image in the first quadrant.
    let first = if y == 0.0 {
        0.0
    } else if x.is_infinite() && y.is_infinite() {
        std::f64::consts::FRAC_PI_4
    } else if x == 0.0 {
        FRAC_PI_2
    } else {
        wide::atan(f64::from(y).abs() / f64::from(x).abs())
    };
    let angle = if x.is_sign_negative() {
        PI - first
    } else {
        first
    };
    (if y.is_sign_negative() { -angle } else { angle }) as f32
}
