//! `sin cos exp log tanh` of `f64` without branches, calls or fused operations: loops over them become vector
//! instructions, and they give the same bits on every processor. Each is good to one unit of its last digit,
//! and `tanh` to three.
//!
//! The polynomials of sine, cosine and logarithm, and how these put their parts together, are those of
//! FreeBSD's msun (`k_sin.c`, `k_cos.c`, `e_log.c`).

use crate::builtin::math::primary::LARGE;

/// Adding and subtracting 1.5 · 2^52 rounds to the nearest integer, ties to even, for |x| < 2^51; the lowest
/// bits of the sum are the integer's.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// The sign bit.
const SIGN: u64 = 1 << 63;

/// π/2 as a sum: the first three have 33 bits each.
const HALF_PI: [f64; 4] = [
    1.570_796_326_734_125_6,
    6.077_100_506_303_966e-11,
    2.022_266_248_711_166_5e-21,
    8.478_427_660_368_9e-32,
];

/// ln 2 as a sum: the first has 32 bits.
const LN_2: [f64; 2] = [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10];

/// The bits of √½, where mantissas begin whose logarithm is taken.
const ROOT_HALF: u64 = std::f64::consts::FRAC_1_SQRT_2.to_bits();

/// The exponent's bits of 1.
const ONE: u64 = 1.0_f64.to_bits();

/// The bits of 2^52, in whose lowest bits a whole number stands.
const WHOLE: u64 = 4_503_599_627_370_496.0_f64.to_bits();

/// (sin r - r) / r³ by r², for |r| <= π/4.
const SINE: [f64; 6] = [
    -0.166_666_666_666_666_32,
    0.008_333_333_333_322_49,
    -0.000_198_412_698_298_579_5,
    2.755_731_370_707_006_8e-6,
    -2.505_076_025_340_686_3e-8,
    1.589_690_995_211_55e-10,
];

/// The same for |r| <= π/2: to 4e-17 of sin r, by interpolation at Chebyshev's points.
const LONG_SINE: [f64; 8] = [
    -0.166_666_666_666_666_66,
    0.008_333_333_333_333_316,
    -0.000_198_412_698_412_549_55,
    2.755_731_921_915_843e-6,
    -2.505_210_761_638_459_5e-8,
    1.605_897_727_281_550_6e-10,
    -7.643_969_031_052_769e-13,
    2.731_428_986_122_616e-15,
];

/// (cos r - 1 + r²/2) / r⁴ by r², for |r| <= π/4.
const COSINE: [f64; 6] = [
    0.041_666_666_666_666_6,
    -0.001_388_888_888_887_411,
    2.480_158_728_947_673e-5,
    -2.755_731_435_139_066_3e-7,
    2.087_572_321_298_175e-9,
    -1.135_964_755_778_819_5e-11,
];

/// (e^r - 1 - r) / r² for |r| <= ln 2 / 2: to 2e-17 of e^r, by interpolation at Chebyshev's points.
const EXP: [f64; 10] = [
    0.500_000_000_000_000_1,
    0.166_666_666_666_666_69,
    0.041_666_666_666_624_13,
    0.008_333_333_333_330_062,
    0.001_388_888_891_721_371_7,
    0.000_198_412_698_630_536_18,
    2.480_152_129_595_437_6e-5,
    2.755_726_845_999_706_4e-6,
    2.762_008_844_540_974_6e-7,
    2.510_038_549_551_032e-8,
];

/// With f = m - 1 and s = f / (2 + f), ln m is f - s (f - R) where R / s² by s² has these coefficients.
const LOG: [f64; 7] = [
    0.666_666_666_666_673_5,
    0.399_999_999_994_094_2,
    0.285_714_287_436_623_9,
    0.222_221_984_321_497_84,
    0.181_835_721_616_180_5,
    0.153_138_376_992_093_73,
    0.147_981_986_051_165_86,
];

/// `c[0] + c[1] x + c[2] x² + …` by Horner's rule in x⁴, whose coefficients do not wait for one another: by
/// the rule in x, `exp` takes a quarter longer.
#[inline(always)]
fn polynomial<const N: usize>(x: f64, c: [f64; N]) -> f64 {
    let x2 = x * x;
    let part = |k: usize| match N - k {
        1 => c[k],
        2 => c[k] + c[k + 1] * x,
        3 => (c[k] + c[k + 1] * x) + c[k + 2] * x2,
        _ => (c[k] + c[k + 1] * x) + (c[k + 2] + c[k + 3] * x) * x2,
    };
    let mut k = (N - 1) / 4 * 4;
    let mut sum = part(k);
    while k > 0 {
        k -= 4;
        sum = part(k) + sum * (x2 * x2);
    }
    sum
}

/// As [`crate::builtin::math::needs_wide_reduction`].
#[inline(always)]
pub fn needs_wide_reduction(x: f64) -> bool {
    x.abs() > f64::from(LARGE)
}

/// What `a - b` loses by rounding to `difference` (Knuth).
#[inline(always)]
fn lost(a: f64, b: f64, difference: f64) -> f64 {
    let of_b = difference - a;
    (a - (difference - of_b)) - (b + of_b)
}

/// The nearest multiple of π/2, as a count whose lowest bits matter, and what is left as a sum of two, for
/// |x| up to [`LARGE`].
#[inline(always)]
fn reduce(x: f64) -> (u64, [f64; 2]) {
    let sum = x * std::f64::consts::FRAC_2_PI + ROUND;
    let n = sum - ROUND;
    let first = x - n * HALF_PI[0];
    let second = first - n * HALF_PI[1];
    let third = second - n * HALF_PI[2];
    let low = (lost(first, n * HALF_PI[1], second) + lost(second, n * HALF_PI[2], third))
        - n * HALF_PI[3];
    let r = third + low;
    (sum.to_bits(), [r, (third - r) + low])
}

/// Sine of the angle that is `quarter` right angles and the sum of `r` and `low` more, |r| <= π/4 and a
/// little more, with the sign bit of `flip` turned into it.
#[inline(always)]
fn sin_of(quarter: u64, [r, low]: [f64; 2], flip: u64) -> f64 {
    let r2 = r * r;
    let [first, rest @ ..] = SINE;
    let r3 = r2 * r;
    let sin = r - ((r2 * (0.5 * low - r3 * polynomial(r2, rest)) - low) - r3 * first);
    let half = 0.5 * r2;
    let near = 1.0 - half;
    let cos = near + (((1.0 - near) - half) + (r2 * (r2 * polynomial(r2, COSINE)) - r * low));
    let value = if quarter & 1 == 0 { sin } else { cos };
    f64::from_bits(value.to_bits() ^ (((quarter << 62) ^ flip) & SIGN))
}

/// Sine of an angle for |x| up to [`LARGE`].
#[inline(always)]
pub fn sin_fast(x: f64) -> f64 {
    // Of the magnitude: zeros keep their signs.
    let (quarter, r) = reduce(x.abs());
    sin_of(quarter, r, x.to_bits())
}

/// Cosine of an angle for |x| up to [`LARGE`].
#[inline(always)]
pub fn cos_fast(x: f64) -> f64 {
    let (quarter, r) = reduce(x);
    sin_of(quarter.wrapping_add(1), r, 0)
}

/// Sine of an angle in radians; NaN for infinities.
pub fn sin(x: f64) -> f64 {
    if needs_wide_reduction(x) {
        libm::sin(x)
    } else {
        sin_fast(x)
    }
}

/// Cosine of an angle in radians; NaN for infinities.
pub fn cos(x: f64) -> f64 {
    if needs_wide_reduction(x) {
        libm::cos(x)
    } else {
        cos_fast(x)
    }
}

/// Cosine of that many parts in 2^32 of a turn, whose reduction loses nothing: good to two units of its last
/// digit.
#[inline(always)]
pub(super) fn cos_of_turn(turn: u32) -> f64 {
    // The sine of a quarter turn more, and that without half a turn.
    let half = turn.wrapping_add(1 << 31) >> 31;
    let rest = turn.wrapping_add(1 << 30).wrapping_sub(half << 31) as i32;
    let r = f64::from(rest) * (std::f64::consts::PI / 2_147_483_648.0);
    let r2 = r * r;
    let sin = r + r2 * r * polynomial(r2, LONG_SINE);
    f64::from_bits(sin.to_bits() ^ (u64::from(half) << 63))
}

/// 2^(n - 1023) for n from 1 to 2046.
#[inline(always)]
fn power_of_two(n: u64) -> f64 {
    f64::from_bits(n << 52)
}

/// `x` as a whole multiple of ln 2 and what is left: the number plus 2^12, and e^rest - 1.
#[inline(always)]
fn exp_parts(x: f64) -> (u64, f64) {
    let sum = x * std::f64::consts::LOG2_E + ROUND;
    let n = sum - ROUND;
    let r = (x - n * LN_2[0]) - n * LN_2[1];
    // What is shifted must not be negative: vector units shift without signs.
    let number = sum
        .to_bits()
        .wrapping_sub(ROUND.to_bits())
        .wrapping_add(1 << 12);
    (number, r + r * r * polynomial(r, EXP))
}

/// e^x; infinite above 709.78, denormal below -708.39, 0 below -745.13.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    // Past these bounds the result is infinite or 0 anyway; NaN stays.
    let x = if x > 710.0 { 710.0 } else { x };
    let x = if x < -746.0 { -746.0 } else { x };
    let (number, rest) = exp_parts(x);
    // The power of two in two factors: one alone would leave the exponent's range where the result does not.
    let half = number >> 1;
    let other = number.wrapping_sub(half);
    let bias = 1023_u64.wrapping_sub(1 << 11);
    let factor = |part: u64| power_of_two(part.wrapping_add(bias));
    (1.0 + rest) * factor(half) * factor(other)
}

/// The natural logarithm; NaN below zero, minus infinity at zero.
#[inline(always)]
pub fn log(x: f64) -> f64 {
    // Denormals are scaled up by arithmetic, as in `f32`.
    let (factor, shift) = match x < f64::MIN_POSITIVE {
        true => (18_014_398_509_481_984.0, 54.0),
        false => (1.0, 0.0),
    };
    let value = log_scaled(x * factor, shift);
    let value = if x < f64::INFINITY { value } else { x };
    let corner = if x == 0.0 {
        f64::NEG_INFINITY
    } else {
        f64::NAN
    };
    if x > 0.0 { value } else { corner }
}

/// ln(x / 2^shift) for a positive, finite, normal number.
#[inline(always)]
pub(super) fn log_scaled(x: f64, shift: f64) -> f64 {
    // The mantissa in [√½, √2): the exponent counts from there.
    let bits = x.to_bits().wrapping_add(ONE - ROOT_HALF);
    let m = f64::from_bits((bits & ((1 << 52) - 1)).wrapping_add(ROOT_HALF));
    let e = f64::from_bits(bits >> 52 | WHOLE) - (f64::from_bits(WHOLE) + 1023.0) - shift;
    let f = m - 1.0;
    let half = 0.5 * f * f;
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let even = w * polynomial(w, [LOG[1], LOG[3], LOG[5]]);
    let odd = z * polynomial(w, [LOG[0], LOG[2], LOG[4], LOG[6]]);
    s * (half + (odd + even)) + e * LN_2[1] - half + f + e * LN_2[0]
}

/// Hyperbolic tangent, by e^2x - 1.
#[inline(always)]
pub fn tanh(x: f64) -> f64 {
    // From 22 on the result rounds to 1; NaN stays.
    let size = x.abs();
    let size = if size > 22.0 { 22.0 } else { size };
    let (number, rest) = exp_parts(2.0 * size);
    let power = power_of_two(number.wrapping_add(1023_u64.wrapping_sub(1 << 12)));
    let more = (power - 1.0) + power * rest;
    (more / (more + 2.0)).copysign(x)
}
