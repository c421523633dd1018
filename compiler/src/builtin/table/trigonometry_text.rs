//! The WGSL texts of trigonometric helpers. WGSL lets a driver's own inverse functions be wrong in the
//! fourth digit, undefined on the axes, or infinite for large arguments; these are good to about 3e-7.
//!
//! Where no arithmetic carries a NaN to the result, it is found by its bits: NVIDIA's driver makes a minimum
//! or maximum, which loses NaN, of selections by comparisons of floats. Outside a function's domain the
//! result is the root of a negative number.

pub(super) const ARC_COSINE: &str = "\
fn arc_cosine(x: f32) -> f32 {
    return angle_of(sqrt((1.0 - x) * (1.0 + x)), x);
}";

pub(super) const ARC_SINE: &str = "\
fn arc_sine(x: f32) -> f32 {
    return angle_of(x, sqrt((1.0 - x) * (1.0 + x)));
}";

pub(super) const ARC_TANGENT: &str = "\
fn arc_tangent(x: f32) -> f32 {
    return angle_of(x, 1.0);
}";

/// In the first half quadrant the arc tangent of a quotient below 1, by a fit good to 1.1e-7; the rest by
/// mirrors.
pub(super) const ANGLE_OF: &str = "\
fn angle_of(y: f32, x: f32) -> f32 {
    let wide = abs(x);
    let high = abs(y);
    let large = max(wide, high);
    let t = min(wide, high) / select(large, 1.0, large == 0.0);
    let t2 = t * t;
    let p = 0.999999882 + t2 * (-0.333318127 + t2 * (0.199669618 + t2 * (-0.140032902
        + t2 * (0.0986886546 + t2 * (-0.0588297531 + t2 * (0.0237805186 + t2 * -0.00455979199))))));
    let low_angle = t * p;
    let first = select(low_angle, 1.57079637 - low_angle, high > wide);
    let angle = select(first, 3.14159274 - first, bitcast<i32>(x) < 0);
    let known = max(bitcast<u32>(wide), bitcast<u32>(high)) <= 0x7f800000u;
    return select(x + y, select(angle, -angle, bitcast<i32>(y) < 0), known);
}";

/// Past 1e9 the square would overflow, and the root is the number itself.
pub(super) const AREA_COSINE: &str = "\
fn area_cosine(x: f32) -> f32 {
    let bounded = min(x, 1e9);
    let root = sqrt((bounded - 1.0) * (bounded + 1.0));
    let value = select(log(bounded + root), log(x) + 0.69314718, x > 1e9);
    return select(sqrt(x - 1.0), value, bitcast<u32>(x) - 0x3f800000u <= 0x40000000u);
}";

/// The logarithm of 1 + u loses the low digits of a small u: below 1/4 the series.
pub(super) const AREA_SINE: &str = "\
fn area_sine(x: f32) -> f32 {
    let size = abs(x);
    let bounded = min(size, 1e9);
    let x2 = bounded * bounded;
    let far = select(log(bounded + sqrt(x2 + 1.0)), log(size) + 0.69314718, size > 1e9);
    let near = size * (1.0 + x2 * (-0.166666667 + x2 * (0.075 + x2 * (-0.0446428571
        + x2 * 0.0303819444))));
    let value = select(far, near, size < 0.25);
    return select(x, select(value, -value, x < 0.0), bitcast<u32>(size) <= 0x7f800000u);
}";

pub(super) const AREA_TANGENT: &str = "\
fn area_tangent(x: f32) -> f32 {
    let x2 = x * x;
    let near = x * (1.0 + x2 * (0.333333333 + x2 * (0.2 + x2 * (0.142857143 + x2 * (0.111111111
        + x2 * 0.0909090909)))));
    let far = 0.5 * log((1.0 + x) / (1.0 - x));
    let value = select(far, near, abs(x) < 0.25);
    return select(sqrt(1.0 - abs(x)), value, bitcast<u32>(abs(x)) <= 0x3f800000u);
}";

/// The square of e^(x/2) overflows only where the result does; e^x would before.
pub(super) const HYPERBOLIC_COSINE: &str = "\
fn hyperbolic_cosine(x: f32) -> f32 {
    let e = exp(0.5 * min(abs(x), 170.0));
    let r = 1.0 / e;
    let value = (0.5 * e) * e + (0.5 * r) * r;
    return select(x, value, bitcast<u32>(abs(x)) <= 0x7f800000u);
}";

/// Likewise, and below 1/4, where the difference cancels, the series.
pub(super) const HYPERBOLIC_SINE: &str = "\
fn hyperbolic_sine(x: f32) -> f32 {
    let e = exp(0.5 * min(abs(x), 170.0));
    let r = 1.0 / e;
    let size = (0.5 * e) * e - (0.5 * r) * r;
    let x2 = x * x;
    let near = x * (1.0 + x2 * (0.166666667 + x2 * (0.00833333333 + x2 * 0.000198412698)));
    let value = select(select(size, -size, x < 0.0), near, abs(x) < 0.25);
    return select(x, value, bitcast<u32>(abs(x)) <= 0x7f800000u);
}";

/// Drivers make two divergent branches of the builtin, which costs a small network most of its time. Of the
/// magnitude `exp2` cannot overflow. Near 0 the error is absolute, 6e-8.
/// `kernel/relax/shared_reciprocals/expand.rs` has a form of its own for sums of weighted values.
pub(super) const HYPERBOLIC_TANGENT: &str = "\
fn hyperbolic_tangent(x: f32) -> f32 {
    let e = exp2(-2.885390082 * abs(x));
    let size = (1.0 - e) / (1.0 + e);
    return bitcast<f32>(bitcast<u32>(size) | (bitcast<u32>(x) & 0x80000000u));
}";
