//! Hyperbolic functions and their inverses, through `f64`; near zero, where the closed forms cancel, by
//! their series.

use super::wide;

/// Hyperbolic sine.
#[inline(always)]
pub fn sinh(x: f32) -> f32 {
    let x = f64::from(x);
    if x.abs() < 0.125 {
        let x2 = x * x;
        let p = [1.0, 1.0 / 6.0, 1.0 / 120.0, 1.0 / 5_040.0, 1.0 / 362_880.0];
        return (x * wide::polynomial(x2, &p)) as f32;
    }
    let e = wide::exp(x);
    (0.5 * (e - 1.0 / e)) as f32
}

/// Hyperbolic cosine.
#[inline(always)]
pub fn cosh(x: f32) -> f32 {
    let e = wide::exp(f64::from(x));
    (0.5 * (e + 1.0 / e)) as f32
}

/// Inverse hyperbolic sine.
#[inline(always)]
pub fn asinh(x: f32) -> f32 {
    if !x.is_finite() {
        return x;
    }
    let size = f64::from(x.abs());
    let value = if size < 0.03125 {
        let p = [1.0, -1.0 / 6.0, 3.0 / 40.0, -15.0 / 336.0];
        size * wide::polynomial(size * size, &p)
    } else {
        wide::log(size + (size * size + 1.0).sqrt())
    };
    value.copysign(f64::from(x)) as f32
}

/// Inverse hyperbolic cosine, at least 0; NaN below 1.
#[inline(always)]
pub fn acosh(x: f32) -> f32 {
    if x > f32::MAX {
        return x;
    }
    if x >= 1.0 {
        let x = f64::from(x);
        wide::log(x + ((x - 1.0) * (x + 1.0)).sqrt()) as f32
    } else {
        f32::NAN
    }
}

/// Inverse hyperbolic tangent; infinite at ±1, NaN beyond.
#[inline(always)]
pub fn atanh(x: f32) -> f32 {
    let size = f64::from(x.abs());
    let value = if size < 0.03125 {
        let p = [1.0, 1.0 / 3.0, 1.0 / 5.0, 1.0 / 7.0, 1.0 / 9.0];
        size * wide::polynomial(size * size, &p)
    } else if size < 1.0 {
        0.5 * wide::log((1.0 + size) / (1.0 - size))
    } else if size == 1.0 {
        f64::INFINITY
    } else {
        f64::NAN
    };
    value.copysign(f64::from(x)) as f32
}
