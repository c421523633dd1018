//! Elementary functions in `f64`, good to about 4e-10 of the result: rounding to `f32` is then nearly all the
//! error that is left. Least-maximum polynomials after an argument reduction, fitted by
//! `scripts/math/fit.py`; no fused operations, so that they cost the same where a processor has none.
//!
//! All are branch-free. Exponents go in and out of numbers by integer arithmetic on their bits, since many
//! processors lack vector conversions between `f64` and 64-bit integers.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_PI, LN_2, LOG2_E};

/// Adding and subtracting 1.5 · 2^52 rounds to the nearest integer, ties to even, for |x| < 2^51; the lowest
/// bits of the sum are the integer's.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// The bits of 1.
const ONE: u64 = 1.0_f64.to_bits();

/// The upper 33 bits of π/2, so that its product with a 20-bit count is exact.
const HALF_PI_HIGH: f64 = 1.570_796_326_734_125_6;
/// π/2 less [`HALF_PI_HIGH`].
const HALF_PI_LOW: f64 = 6.077_100_506_506_192e-11;

/// e^r for |r| <= ln 2 / 2.
pub(in crate::builtin) const EXP: [f64; 8] = [
    1.0,
    1.000_000_004_699_250_5,
    0.500_000_004_680_888_9,
    0.166_666_351_538_568_8,
    0.041_666_354_025_886_96,
    0.008_338_570_851_128_994,
    0.001_394_030_167_055_725_5,
    0.000_173_669_369_272_597_8,
];

/// 2^r for |r| <= 1/2.
pub(in crate::builtin) const EXP2: [f64; 8] = [
    1.0,
    0.693_147_183_817_217_6,
    0.240_226_509_208_047_94,
    0.055_504_003_719_397_274,
    0.009_618_056_939_162_088,
    0.001_334_193_831_594_588_8,
    0.000_154_605_499_562_044_44,
    1.335_062_073_183_889_1e-5,
];

/// sinh r / r by r², for |r| <= ln 2 / 2.
pub(in crate::builtin) const SINH: [f64; 4] = [
    1.0,
    0.166_666_667_540_352_25,
    0.008_333_289_096_819_475,
    0.000_199_048_745_407_829_4,
];

/// cosh r by r², for |r| <= ln 2 / 2.
pub(in crate::builtin) const COSH: [f64; 4] = [
    1.0,
    0.500_000_007_785_610_9,
    0.041_666_270_547_708_34,
    0.001_394_602_176_336_636,
];

/// ln((1 + s)/(1 - s)) / s by s², for what [`log_of_ratio`] takes.
pub(in crate::builtin) const LOG_OF_RATIO: [f64; 6] = [
    1.999_999_999_999_946_7,
    0.666_666_666_796_662,
    0.399_999_948_685_111_6,
    0.285_721_681_932_107_5,
    0.221_741_827_343_820_95,
    0.196_088_120_072_225_48,
];

/// The same for |s| <= 1/3.
pub(in crate::builtin) const LOG_1_PLUS: [f64; 7] = [
    2.000_000_000_005_027,
    0.666_666_662_272_880_9,
    0.400_000_625_472_864_1,
    0.285_681_023_192_950_3,
    0.223_058_950_980_029_9,
    0.171_162_177_780_459_17,
    0.218_801_766_186_197_32,
];

/// sin r / r by r², for |r| <= π/4.
pub(in crate::builtin) const SINE: [f64; 5] = [
    1.0,
    -0.166_666_666_407_905_12,
    0.008_333_329_303_976_447,
    -0.000_198_393_119_546_750_56,
    2.718_118_372_969_863_3e-6,
];

/// cos r by r², for |r| <= π/4.
pub(in crate::builtin) const COSINE: [f64; 5] = [
    1.0,
    -0.499_999_996_943_557_7,
    0.041_666_620_346_772_16,
    -0.001_388_668_131_189_747,
    2.438_353_287_151_302_8e-5,
];

/// arctan t / t by t², for t in [0, 1].
pub(in crate::builtin) const ATAN: [f64; 12] = [
    0.999_999_999_941_256_1,
    -0.333_333_315_716_856_3,
    0.199_999_121_342_182_8,
    -0.142_839_834_330_105_83,
    0.110_932_735_184_177_44,
    -0.089_804_311_226_481_64,
    0.072_463_691_433_015_08,
    -0.054_292_551_987_519_894,
    0.034_226_888_836_049_296,
    -0.016_125_194_311_109_353,
    0.004_856_825_894_575_664,
    -0.000_685_891_705_280_703_6,
];

/// arcsin w / w by w², for w in [0, 1/2].
pub(in crate::builtin) const ASIN: [f64; 8] = [
    1.0,
    0.166_666_671_801_948_9,
    0.074_999_489_029_992_83,
    0.044_659_970_640_791_46,
    0.030_112_544_247_249_306,
    0.024_604_597_975_391_766,
    0.007_509_804_331_200_138,
    0.034_645_959_285_312_715,
];

/// `c[0] + c[1] x + c[2] x² + …` by Horner's rule.
#[inline(always)]
pub(super) fn polynomial<const N: usize>(x: f64, c: [f64; N]) -> f64 {
    let mut sum = c[N - 1];
    let mut k = N - 1;
    while k > 0 {
        k -= 1;
        sum = sum * x + c[k];
    }
    sum
}

/// The nearest integer, and a number whose lowest bits are that integer's.
#[inline(always)]
fn nearest(x: f64) -> (f64, u64) {
    let sum = x + ROUND;
    (sum - ROUND, sum.to_bits())
}

/// `x` times 2^n, where the lowest 12 bits of `n` count and the result is a normal number.
#[inline(always)]
fn scale(x: f64, n: u64) -> f64 {
    f64::from_bits(x.to_bits().wrapping_add(n << 52))
}

/// e^x for |x| <= 700.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    let (n, bits) = nearest(x * LOG2_E);
    let e = polynomial(x - n * LN_2, EXP);
    scale(e, bits)
}

/// 2^x for |x| <= 1000. Exact for integers.
#[inline(always)]
pub fn exp2(x: f64) -> f64 {
    let (n, bits) = nearest(x);
    let e = polynomial(x - n, EXP2);
    scale(e, bits)
}

/// sinh x and cosh x for 0 <= x <= 700, by the addition theorems from the count of ln 2 nearest to x, whose
/// functions are sums of powers of 2. Small x keep their precision.
#[inline(always)]
pub fn sinh_cosh(x: f64) -> (f64, f64) {
    let (n, bits) = nearest(x * LOG2_E);
    let r = x - n * LN_2;
    let r2 = r * r;
    let sinh = r * polynomial(r2, SINH);
    let cosh = polynomial(r2, COSH);
    let half_up = scale(0.5, bits);
    let half_down = scale(0.5, bits.wrapping_neg());
    let (s, c) = (half_up - half_down, half_up + half_down);
    (s * cosh + c * sinh, c * cosh + s * sinh)
}

/// A positive, finite, normal number as 2^e m: e, and m in [√½, √2).
#[inline(always)]
pub fn split(x: f64) -> (f64, f64) {
    const ROOT_HALF: u64 = FRAC_1_SQRT_2.to_bits();
    const MANTISSA: u64 = (1 << 52) - 1;
    /// 2^52, whose last bit weighs 1.
    const UNITS: u64 = 0x4330_0000_0000_0000;
    let bits = x.to_bits().wrapping_add(ONE - ROOT_HALF);
    let e = f64::from_bits((bits >> 52) | UNITS) - (f64::from_bits(UNITS) + 1023.0);
    (e, f64::from_bits((bits & MANTISSA) + ROOT_HALF))
}

/// ln((1 + s)/(1 - s)) for |s| <= (√2 - 1)/(√2 + 1): the logarithm of a number m in [√½, √2) from
/// (m - 1)/(m + 1).
#[inline(always)]
pub fn log_of_ratio(s: f64) -> f64 {
    let p = polynomial(s * s, LOG_OF_RATIO);
    s * p
}

/// ln(1 + e) for e in [0, 1], small ones too.
#[inline(always)]
pub fn log_1_plus(e: f64) -> f64 {
    let s = e / (2.0 + e);
    let p = polynomial(s * s, LOG_1_PLUS);
    s * p
}

/// The natural logarithm of a positive, finite, normal number.
#[inline(always)]
pub fn log(x: f64) -> f64 {
    let (e, m) = split(x);
    e * LN_2 + log_of_ratio((m - 1.0) / (m + 1.0))
}

/// The binary logarithm of a positive, finite, normal number. Exact for powers of two.
#[inline(always)]
pub fn log2(x: f64) -> f64 {
    let (e, m) = split(x);
    e + log_of_ratio((m - 1.0) / (m + 1.0)) * LOG2_E
}

/// How many right angles are nearest to `x` (its lowest two bits count), and the rest in radians, for |x| up
/// to 10^6.
#[inline(always)]
pub fn quadrant(x: f64) -> (u32, f64) {
    let (n, bits) = nearest(x * FRAC_2_PI);
    (bits as u32, (x - n * HALF_PI_HIGH) - n * HALF_PI_LOW)
}

/// Sine for |r| <= π/4.
#[inline(always)]
pub fn sin_kernel(r: f64) -> f64 {
    let p = polynomial(r * r, SINE);
    r * p
}

/// Cosine for |r| <= π/4.
#[inline(always)]
pub fn cos_kernel(r: f64) -> f64 {
    polynomial(r * r, COSINE)
}

/// Arc tangent for t in [0, 1].
#[inline(always)]
pub fn atan_kernel(t: f64) -> f64 {
    let p = polynomial(t * t, ATAN);
    t * p
}

/// Arc sine for w in [0, 1/2].
#[inline(always)]
pub fn asin_kernel(w: f64) -> f64 {
    let p = polynomial(w * w, ASIN);
    w * p
}
