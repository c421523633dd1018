//! `tan` and the inverses, through `f64`.

use super::errors::{OneArgument, TwoArguments, one, two};
use super::{primary, reduction, wide};
use std::f64::consts::{FRAC_PI_2, PI};

/// How far they may be off.
pub(super) const ERRORS: &[OneArgument] = &[
    one("acos", acos, f64::acos, 0.51),
    one("asin", asin, f64::asin, 0.51),
    one("atan", atan, f64::atan, 0.51),
    one("tan", tan, f64::tan, 0.51),
];

/// The same of two floats.
pub(super) const ERRORS_OF_TWO: &[TwoArguments] = &[two("atan2", atan2, f64::atan2, 0.51)];

/// Tangent of an angle in radians; NaN for infinities.
#[inline(always)]
pub fn tan(x: f32) -> f32 {
    if primary::needs_wide_reduction(x) {
        tan_large(x)
    } else {
        tan_fast(x)
    }
}

/// [`tan`] for |x| <= [`primary::LARGE`], branch-free.
#[inline(always)]
pub fn tan_fast(x: f32) -> f32 {
    let (quarter, r) = wide::quadrant(f64::from(x.abs()));
    let value = tan_of(quarter, r) as f32;
    f32::from_bits(value.to_bits() ^ (x.to_bits() & (1 << 31)))
}

#[cold]
#[inline(never)]
fn tan_large(x: f32) -> f32 {
    let (quarter, r) = reduction::large(x);
    tan_of(quarter, r) as f32
}

/// Tangent of `quarter` right angles and `r` more, |r| <= π/4.
#[inline(always)]
fn tan_of(quarter: u32, r: f64) -> f64 {
    let (sin, cos) = (wide::sin_kernel(r), wide::cos_kernel(r));
    let even = quarter & 1 == 0;
    let num = if even { sin } else { -cos };
    let den = if even { cos } else { sin };
    num / den
}

/// Arc sine in [-π/2, π/2]; NaN outside [-1, 1].
#[inline(always)]
pub fn asin(x: f32) -> f32 {
    let (outer, w) = half_angle(x);
    let angle = wide::asin_kernel(w);
    let angle = if outer {
        FRAC_PI_2 - 2.0 * angle
    } else {
        angle
    };
    (angle as f32).copysign(x)
}

/// Arc cosine in [0, π]; NaN outside [-1, 1].
#[inline(always)]
pub fn acos(x: f32) -> f32 {
    let (outer, w) = half_angle(x);
    let angle = wide::asin_kernel(w);
    // The angle of |x|, then its mirror image.
    let angle = if outer {
        2.0 * angle
    } else {
        FRAC_PI_2 - angle
    };
    let angle = if x < 0.0 { PI - angle } else { angle };
    angle as f32
}

/// Is |x| above 1/2? Then arcsin |x| = π/2 - 2 arcsin w, else arcsin w, with the w given, at most 1/2; NaN
/// for |x| > 1.
#[inline(always)]
fn half_angle(x: f32) -> (bool, f64) {
    let size = f64::from(x.abs());
    let outer = x.abs() > 0.5;
    let root = ((1.0 - size) * 0.5).sqrt();
    (outer, if outer { root } else { size })
}

/// Arc tangent in [-π/2, π/2].
#[inline(always)]
pub fn atan(x: f32) -> f32 {
    (first_quadrant(x.abs(), 1.0) as f32).copysign(x)
}

/// The angle of the point (x, y) in [-π, π], with IEEE 754's rules for zeros and infinities.
#[inline(always)]
pub fn atan2(y: f32, x: f32) -> f32 {
    let first = first_quadrant(y.abs(), x.abs());
    let angle = if x.is_sign_negative() {
        PI - first
    } else {
        first
    };
    (angle as f32).copysign(y)
}

/// The angle between 0 and π/2 of the point (x, y), neither of which is negative.
#[inline(always)]
fn first_quadrant(y: f32, x: f32) -> f64 {
    let steep = y > x;
    let num = if steep { x } else { y };
    let den = if steep { y } else { x };
    // 0/0 stands for 0, ∞/∞ for 1.
    let den = if den == 0.0 { 1.0 } else { den };
    let both = (num == f32::INFINITY) & (den == f32::INFINITY);
    let num = if both { 1.0 } else { num };
    let den = if both { 1.0 } else { den };
    let angle = wide::atan_kernel(f64::from(num) / f64::from(den));
    if steep { FRAC_PI_2 - angle } else { angle }
}
