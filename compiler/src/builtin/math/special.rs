//! Functions that are no one's standard library: `sigmoid`, `softplus`, `erf`, `normal_from`.

use super::{primary, wide};

/// The logistic function 1 / (1 + e^-x), from e^-|x|, which does not overflow.
#[inline(always)]
pub fn sigmoid(x: f32) -> f32 {
    let e = primary::exp(-x.abs());
    (if x < 0.0 { e } else { 1.0 }) / (1.0 + e)
}

/// ln(1 + e^x), in the form that neither overflows nor cancels: max(x, 0) + ln(1 + e^-|x|).
#[inline(always)]
pub fn softplus(x: f32) -> f32 {
    let e = wide::exp(-f64::from(x.abs()));
    let tail = if e >= 1e-8 { wide::log(1.0 + e) } else { e };
    (f64::from(x).max(0.0) + tail) as f32
}

/// The error function 2/√π ∫₀ˣ e^(-t²) dt.
#[inline(always)]
pub fn erf(x: f32) -> f32 {
    let size = f64::from(x.abs());
    let value = if size < 1.0 {
        size * wide::polynomial(size * size, &SERIES) * std::f64::consts::FRAC_2_SQRT_PI
    } else if size < 4.0 {
        let t = 1.0 / (size + 2.0);
        1.0 - wide::exp(-size * size) * wide::polynomial(t, &SCALED_COMPLEMENT)
    } else if x.is_nan() {
        f64::NAN
    } else {
        1.0
    };
    value.copysign(f64::from(x)) as f32
}

/// √(-2 ln u) cos θ with u = (a + ½) / 2^32 in (0, 1] and θ = π b / 2^31 in [-π, π], `b` taken as signed
/// (G. E. P. Box and M. E. Muller, "A note on the generation of random normal deviates", 1958). All 32
/// bits of `a` count, so that the tails reach to 6.76, and u is never 0.
#[inline(always)]
pub fn normal_from(a: u32, b: u32) -> f32 {
    const UNIT: f32 = 1.0 / 4_294_967_296.0;
    let u = a as f32 * UNIT + 0.5 * UNIT;
    let angle = (b as i32) as f32 * (std::f32::consts::PI / 2_147_483_648.0);
    (-2.0 * primary::log(u)).sqrt() * primary::cos(angle)
}

/// The Taylor coefficients of √π/2 erf(x)/x in x².
const SERIES: [f64; 17] = [
    1.0,
    -1.0 / 3.0,
    1.0 / 10.0,
    -1.0 / 42.0,
    1.0 / 216.0,
    -1.0 / 1_320.0,
    1.0 / 9_360.0,
    -1.0 / 75_600.0,
    1.0 / 685_440.0,
    -1.0 / 6_894_720.0,
    1.0 / 76_204_800.0,
    -1.0 / 918_086_400.0,
    1.0 / 11_975_040_000.0,
    -1.0 / 168_129_561_600.0,
    1.0 / 2_528_170_444_800.0,
    -1.0 / 40_537_905_408_000.0,
    1.0 / 690_452_066_304_000.0,
];

/// A least-maximum fit of e^(x²) (1 - erf x) by a polynomial in 1/(x + 2) for x in [1, 4], good to 2e-12.
const SCALED_COMPLEMENT: [f64; 10] = [
    8.057_060_209_374_502e-06,
    0.563_746_522_260_539_5,
    1.139_040_253_535_677,
    1.826_117_123_579_584_6,
    4.149_934_603_054_779_5,
    -5.271_786_208_245_52,
    31.570_711_114_962_28,
    -88.916_121_494_972_24,
    101.681_334_432_737_96,
    -43.719_943_407_116_54,
];
