//! Functions that are no one's standard library: `sigmoid`, `softplus`, `erf`, `normal_from`. The polynomials
//! are fitted by `scripts/math/fit.py`.

use super::arithmetic::{Fused, Single};
use super::errors::{OneArgument, one};
use super::{primary, wide};

/// How far they may be off.
pub(super) const ERRORS: &[OneArgument] = &[
    one("erf", erf, true_erf, 0.51),
    one("sigmoid", sigmoid, |x| 1.0 / (1.0 + (-x).exp()), 3.0),
    one(
        "softplus",
        softplus,
        |x| x.max(0.0) + (-x.abs()).exp().ln_1p(),
        0.51,
    ),
];

/// erf x / x by x², below 1.
pub(in crate::builtin) const ERF_NEAR: [f64; 8] = [
    1.128_379_167_058_030_5,
    -0.376_126_384_345_857_8,
    0.112_837_819_732_337_6,
    -0.026_865_400_012_617_398,
    0.005_220_946_024_194_722,
    -0.000_848_285_944_570_977_9,
    0.000_112_574_178_533_161_71,
    -9.643_774_893_854_778e-6,
];

/// e^(x²) (1 - erf x) by 1/(x + 2), above 1.
pub(in crate::builtin) const ERF_FAR: [f64; 7] = [
    0.002_093_905_313_620_556_2,
    0.513_726_213_458_159,
    1.636_492_289_722_029_8,
    -0.743_255_920_288_702_8,
    10.776_217_981_309_058,
    -8.197_294_476_599_01,
    0.464_456_109_175_106_7,
];

/// The logistic function 1 / (1 + e^-x), from e^-|x|, which does not overflow.
#[inline(always)]
pub fn sigmoid(x: f32) -> f32 {
    sigmoid_by::<Single>(x)
}

/// [`sigmoid`] with its fused operations.
#[inline(always)]
pub fn sigmoid_by<F: Fused>(x: f32) -> f32 {
    let e = primary::exp_of_negative::<F>(-x.abs());
    let num = if x < 0.0 { e } else { 1.0 };
    num / (1.0 + e)
}

/// ln(1 + e^x), in the form that neither overflows nor cancels: max(x, 0) + ln(1 + e^-|x|).
#[inline(always)]
pub fn softplus(x: f32) -> f32 {
    let size = x.abs();
    let size = if size > 150.0 { 150.0 } else { size };
    let tail = wide::log_1_plus(wide::exp(-f64::from(size)));
    // NaN is in the tail.
    let base = if x > 0.0 { x } else { 0.0 };
    (f64::from(base) + tail) as f32
}

/// The error function 2/√π ∫₀ˣ e^(-t²) dt: below 1 a polynomial for erf x / x, above one for
/// e^(x²) (1 - erf x).
#[inline(always)]
pub fn erf(x: f32) -> f32 {
    // From 4 on the result rounds to 1; NaN stays.
    let size = x.abs();
    let near = size < 1.0;
    let size = f64::from(if size > 4.0 { 4.0 } else { size });
    let square = size * size;
    let inner = size * wide::polynomial(square, ERF_NEAR);
    let scaled_complement = wide::polynomial(1.0 / (size + 2.0), ERF_FAR);
    let outer = 1.0 - wide::exp(-square) * scaled_complement;
    let value = if near { inner } else { outer };
    (value as f32).copysign(x)
}

/// √(-2 ln u) cos θ with u = (a + ½) / 2^32 in (0, 1] and θ = π b / 2^31 in [-π, π], `b` taken as signed
/// (G. E. P. Box and M. E. Muller, "A note on the generation of random normal deviates", 1958). All 32
/// bits of `a` count, so that the tails reach to 6.76, and u is never 0.
#[inline(always)]
pub fn normal_from(a: u32, b: u32) -> f32 {
    normal_from_by::<Single>(a, b)
}

/// [`normal_from`] with its fused operations.
#[inline(always)]
pub fn normal_from_by<F: Fused>(a: u32, b: u32) -> f32 {
    const UNIT: f32 = 1.0 / 4_294_967_296.0;
    let u = a as f32 * UNIT + 0.5 * UNIT;
    let angle = (b as i32) as f32 * (std::f32::consts::PI / 2_147_483_648.0);
    (-2.0 * primary::log_normal::<F>(u)).sqrt() * primary::cos_fast_by::<F>(angle)
}

/// -ln u with u = (word + ½) / 2^32: from 2^-33 to 22.87. Where u is above 1 - 2^-6, which no `f32` holds to
/// all places, by the series for 1 - u.
#[inline(always)]
pub fn exponential_from(word: u32) -> f32 {
    exponential_from_by::<Single>(word)
}

/// [`exponential_from`] with its fused operations.
#[inline(always)]
pub fn exponential_from_by<F: Fused>(word: u32) -> f32 {
    const UNIT: f32 = 1.0 / 4_294_967_296.0;
    let u = word as f32 * UNIT + 0.5 * UNIT;
    let v = !word as f32 * UNIT + 0.5 * UNIT;
    let series = v + v * v * (0.5 + v * (1.0 / 3.0 + v * 0.25));
    let log = -primary::log_normal::<F>(u);
    if word >= 0xfc00_0000 { series } else { log }
}

/// The error function by its series of positive terms.
fn true_erf(x: f64) -> f64 {
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
