//! Hyperbolic functions and their inverses, through `f64`, in forms that keep the precision of small
//! arguments.

use super::errors::{OneArgument, one};
use super::wide;
use std::f64::consts::LN_2;

/// How far they may be off.
pub(super) const ERRORS: &[OneArgument] = &[
    one("acosh", acosh, f64::acosh, 0.51),
    one("asinh", asinh, f64::asinh, 0.51),
    one("atanh", atanh, f64::atanh, 0.51),
    one("cosh", cosh, f64::cosh, 0.51),
    one("sinh", sinh, f64::sinh, 0.51),
];

/// |x|, at most a bound past which `sinh` and `cosh` are infinite; NaN stays.
#[inline(always)]
fn bounded(x: f32) -> f64 {
    let size = x.abs();
    f64::from(if size > 100.0 { 100.0 } else { size })
}

/// Hyperbolic sine.
#[inline(always)]
pub fn sinh(x: f32) -> f32 {
    (wide::sinh_cosh(bounded(x)).0 as f32).copysign(x)
}

/// Hyperbolic cosine.
#[inline(always)]
pub fn cosh(x: f32) -> f32 {
    wide::sinh_cosh(bounded(x)).1 as f32
}

/// ln v for v >= 1, given (v - 1)/(v + 1) as `num` / `den` in a form that keeps the precision of v near 1.
#[inline(always)]
fn log_near_1(v: f64, num: f64, den: f64) -> f64 {
    let (e, m) = wide::split(v);
    let num = if e == 0.0 { num } else { m - 1.0 };
    let den = if e == 0.0 { den } else { m + 1.0 };
    e * LN_2 + wide::log_of_ratio(num / den)
}

/// Inverse hyperbolic sine.
#[inline(always)]
pub fn asinh(x: f32) -> f32 {
    let size = f64::from(x.abs());
    let root = (size * size + 1.0).sqrt();
    let value = log_near_1(size + root, size, root + 1.0) as f32;
    let value = value.copysign(x);
    if x.abs() < f32::INFINITY { value } else { x }
}

/// Inverse hyperbolic cosine, at least 0; NaN below 1.
#[inline(always)]
pub fn acosh(x: f32) -> f32 {
    let wide = f64::from(x);
    let value = wide::log(wide + ((wide - 1.0) * (wide + 1.0)).sqrt()) as f32;
    let value = if x < f32::INFINITY { value } else { x };
    if x >= 1.0 { value } else { f32::NAN }
}

/// Inverse hyperbolic tangent; infinite at ±1, NaN beyond.
#[inline(always)]
pub fn atanh(x: f32) -> f32 {
    let size = f64::from(x.abs());
    let value = (0.5 * log_near_1((1.0 + size) / (1.0 - size), size, 1.0)) as f32;
    let edge = if x.abs() == 1.0 {
        f32::INFINITY
    } else {
        f32::NAN
    };
    let value = if x.abs() < 1.0 { value } else { edge };
    value.copysign(x)
}
