//! The gamma function and the logarithm of its size. From the numbers of 1 to 2, where a polynomial fitted by
//! `scripts/math/fit.py` has 16 digits, both go by `Γ(x + 1) = x Γ(x)`, whose factors are exact: so a
//! logarithm keeps its digits near its zeros. Far from 0 it goes by Stirling's series, on the left by way of
//! `Γ(x) Γ(-x) = -π / (x sin πx)`.

use super::arithmetic::floor;
use super::errors::{OneArgument, one};
use super::wide;
use std::{
    f64::consts::{FRAC_PI_2, PI},
    sync::LazyLock,
};

/// How far they may be off.
pub(super) const ERRORS: &[OneArgument] = &[
    one("gamma", gamma, true_gamma, 0.51),
    one("lgamma", lgamma, true_lgamma, 0.51),
];

/// Γ(1 + t) for t in [0, 1].
const GAMMA: [f64; 22] = [
    1.0,
    -0.577_215_664_901_518_2,
    0.989_055_995_325_022_4,
    -0.907_479_075_870_704_2,
    0.981_728_079_147_845_8,
    -0.981_994_898_582_223_6,
    0.993_146_600_291_885_2,
    -0.995_975_470_290_449_6,
    0.997_902_574_947_753_7,
    -0.997_829_532_004_259_2,
    0.994_026_026_394_066_1,
    -0.979_739_425_440_982_7,
    0.941_031_788_302_905_9,
    -0.858_621_007_037_963_1,
    0.719_188_399_114_921,
    -0.531_848_936_288_793,
    0.333_294_108_213_393_06,
    -0.169_424_324_367_532_63,
    0.066_352_009_891_125_07,
    -0.018_641_526_083_302_28,
    0.003_326_467_127_141_025,
    -0.000_282_187_888_330_905_2,
];

/// The numbers from which on Γ is too large for a float, and before which it is too small.
const LAST: f32 = 36.0;
const FIRST: f32 = -44.0;

/// Where the logarithm begins and ends to go by Γ.
const NEAR: [f32; 2] = [-12.0, 13.0];

/// Half the logarithm of 2π.
const LOG_ROOT_TWO_PI: f64 = 0.918_938_533_204_672_8;

/// Γ(x) for x from `1 - FACTORS` to `FACTORS`; infinite at 0 and before it at whole numbers.
#[inline(always)]
fn by_factors<const FACTORS: usize>(x: f32) -> f64 {
    let (floor, x) = (f64::from(floor(x)), f64::from(x));
    let mut above = wide::polynomial(x - floor, GAMMA);
    let mut below = if floor <= 0.0 { x } else { 1.0 };
    for k in 1..FACTORS {
        let k = k as f64;
        above *= if k < floor { x - k } else { 1.0 };
        below *= if k <= -floor { x + k } else { 1.0 };
    }
    above / below
}

/// The gamma function: (x - 1)! of whole numbers. NaN at whole numbers before 0.
#[inline(always)]
pub fn gamma(x: f32) -> f32 {
    let is_pole = x < 0.0 && floor(x) == x;
    let inside = if x > LAST { LAST } else { x };
    let inside = if inside < FIRST { FIRST - 0.5 } else { inside };
    let value = by_factors::<46>(inside) as f32;
    if is_pole { f32::NAN } else { value }
}

/// ln Γ(x) for x >= 12.
#[inline(always)]
fn stirling(x: f64) -> f64 {
    let u = 1.0 / x;
    let series = u * wide::polynomial(u * u, [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0]);
    (x - 0.5) * wide::log(x) - x + LOG_ROOT_TWO_PI + series
}

/// ln |sin πr| for r in [-1/2, 1/2] and not 0.
#[inline(always)]
fn log_of_sine(r: f64) -> f64 {
    let a = FRAC_PI_2 * r;
    let sine = 2.0 * wide::sin_kernel(a) * wide::cos_kernel(a);
    wide::log(sine.abs())
}

/// The natural logarithm of the size of the gamma function. Infinite where that is.
#[inline(always)]
pub fn lgamma(x: f32) -> f32 {
    let is_pole = x <= 0.0 && floor(x) == x;
    let near = if x > NEAR[1] { NEAR[1] } else { x };
    let near = if near < NEAR[0] || is_pole { 1.0 } else { near };
    let near = wide::log(by_factors::<14>(near).abs());
    let size = x.abs();
    let size = if size > f32::MAX { f32::MAX } else { size };
    let size = f64::from(if size < 12.0 { 12.0 } else { size });
    let far = stirling(size);
    let rest = f64::from(x - floor(x));
    let rest = if rest > 0.5 { 1.0 - rest } else { rest };
    let rest = if rest > 0.0 { rest } else { 0.5 };
    let left = wide::log(PI / size) - log_of_sine(rest) - far;
    let value = if x > NEAR[1] { far } else { near };
    let value = if x < NEAR[0] { left } else { value } as f32;
    let value = if is_pole { f32::INFINITY } else { value };
    if x.is_nan() { x } else { value }
}

/// ζ(k) - 1 for k from 2: the terms from 2 to 60, and Euler and Maclaurin's formula for those beyond.
static RESTS_OF_ZETA: LazyLock<[f64; 58]> = LazyLock::new(|| {
    std::array::from_fn(|at| {
        let k = at as i32 + 2;
        let terms: f64 = (2..60).rev().map(|n| f64::from(n).powi(-k)).sum();
        let (n, s) = (60.0_f64, f64::from(k));
        let third = s * (s + 1.0) * (s + 2.0);
        let fifth = third * (s + 3.0) * (s + 4.0);
        let slopes = s / (12.0 * n) - third / (720.0 * n.powi(3)) + fifth / (30240.0 * n.powi(5));
        terms + n.powi(-k) * (n / (s - 1.0) + 0.5 + slopes)
    })
});

/// ln Γ(2 + z) for |z| <= 1/2, by the series of ζ(k) - 1.
fn log_about_2(z: f64) -> f64 {
    const REST_OF_EULER: f64 = 0.422_784_335_098_467_13;
    let terms = RESTS_OF_ZETA.iter().enumerate().rev();
    let series = terms.fold(0.0, |sum, (at, rest)| rest / (at + 2) as f64 - z * sum);
    z * (REST_OF_EULER + z * series)
}

/// ln |Γ(x)| and the sign of Γ(x), by the series about 2 and the factors from there to `x`.
fn true_log_and_sign(x: f64) -> (f64, f64) {
    if x >= 20.0 {
        let u = 1.0 / x;
        let series = [
            1.0 / 12.0,
            -1.0 / 360.0,
            1.0 / 1260.0,
            -1.0 / 1680.0,
            1.0 / 1188.0,
        ];
        let series = u * wide::polynomial(u * u, series);
        return ((x - 0.5) * x.ln() - x + LOG_ROOT_TWO_PI + series, 1.0);
    }
    if x < -20.0 {
        let sine = (PI * (x - x.round())).sin();
        let odd = (x.floor() / 2.0).fract() != 0.0;
        let size = (PI / (x * sine).abs()).ln() - true_log_and_sign(-x).0;
        return (size, if odd { -1.0 } else { 1.0 });
    }
    let (mut product, mut at) = (1.0, x);
    if (0.5..1.5).contains(&x) {
        return (log_about_2(x - 1.0) - (x - 1.0).ln_1p(), 1.0);
    }
    while at > 2.5 {
        at -= 1.0;
        product *= at;
    }
    let mut divisor = 1.0;
    while at < 1.5 {
        divisor *= at;
        at += 1.0;
    }
    let near = log_about_2(at - 2.0);
    if x > 1.5 {
        return (near + f64::ln(product), 1.0);
    }
    let value: f64 = near.exp() / divisor;
    let more = value.abs() - 1.0;
    let is_near_1 = more.abs() < 0.5;
    let log = if is_near_1 {
        more.ln_1p()
    } else {
        value.abs().ln()
    };
    (log, value.signum())
}

fn true_lgamma(x: f64) -> f64 {
    if x.is_infinite() || (x <= 0.0 && x.floor() == x) {
        return f64::INFINITY;
    }
    if x.is_nan() {
        x
    } else {
        true_log_and_sign(x).0
    }
}

fn true_gamma(x: f64) -> f64 {
    if x == 0.0 {
        return f64::INFINITY.copysign(x);
    }
    if x.is_nan() || (x < 0.0 && x.floor() == x) {
        return f64::NAN;
    }
    if x == f64::INFINITY {
        return x;
    }
    let (size, sign) = true_log_and_sign(x);
    sign * size.exp()
}
