//! The normal distribution: `erfc`, `normal_cdf`, `normal_quantile`, with all their digits in the tails. The
//! polynomials are fitted by `scripts/math/fit.py`.

use super::errors::{OneArgument, one};
use super::special::ERF_NEAR;
use super::wide;

/// How far they may be off.
pub(super) const ERRORS: &[OneArgument] = &[
    one("erfc", erfc, true_erfc, 0.51),
    one("normal_cdf", normal_cdf, true_cdf, 0.51),
    one("normal_quantile", normal_quantile, true_quantile, 0.54),
];

/// e^(x²) erfc x by 1/(x + 2), for x from 1/2 to 10.2.
pub(in crate::builtin) const ERFC_FAR: [f64; 12] = [
    4.594_250_933_246_964e-8,
    0.564_189_716_460_798_4,
    1.128_255_949_088_042_8,
    1.979_423_642_103_924_6,
    2.729_302_744_318_642,
    3.766_049_986_021_734,
    -8.802_783_326_461_048,
    37.963_947_601_268_02,
    -173.655_806_174_373_1,
    349.747_016_723_315_3,
    -333.640_776_638_863_1,
    127.307_693_851_839_15,
];

/// The quantile of 1/2 + q over q, by q², for |q| up to 0.3.
pub(in crate::builtin) const QUANTILE_NEAR: [f64; 10] = [
    2.506_628_274_592_905,
    2.624_935_073_404_733_6,
    5.772_504_183_791_16,
    15.671_645_304_615_826,
    46.755_800_502_859_074,
    160.910_249_562_464_23,
    233.202_494_754_723_52,
    5_444.556_864_628_025,
    -24_647.362_689_664_733,
    138_646.437_784_350_07,
];

/// s - z for the chance e^(-s²/2) of a normal number beyond z, by 1/s - 0.37: for 1/s from 0.2 to 0.5458.
pub(in crate::builtin) const QUANTILE_TAIL: [f64; 12] = [
    0.758_431_757_698_821_3,
    1.190_494_956_531_081_2,
    -0.997_383_766_244_38,
    1.147_790_019_288_314_6,
    -1.614_427_272_767_904_8,
    2.640_798_991_547_195,
    -4.831_738_948_026_866,
    9.350_183_524_683_16,
    -17.337_888_639_196_475,
    39.453_205_120_993_26,
    -138.781_855_385_524_8,
    269.549_408_377_558_85,
];

/// The same by 1/s - 0.13, for 1/s from 0.0693 to 0.2.
pub(in crate::builtin) const QUANTILE_FAR_TAIL: [f64; 10] = [
    0.390_151_335_570_025_74,
    2.052_808_804_457_168,
    -3.434_603_595_758_71,
    9.816_691_444_752_426,
    -38.395_674_857_016_154,
    176.509_839_217_096_98,
    -864.800_080_343_859_8,
    5_203.272_934_654_57,
    -41_283.463_480_096_57,
    190_703.488_585_245_7,
];

/// erfc z for z from -10.2 to 10.2, given z².
#[inline(always)]
fn complement(z: f64, square: f64) -> f64 {
    let size = z.abs();
    let near = 1.0 - z * wide::polynomial(square, ERF_NEAR);
    let far = wide::exp(-square) * wide::polynomial(1.0 / (size + 2.0), ERFC_FAR);
    let far = if z < 0.0 { 2.0 - far } else { far };
    if size < 0.5 { near } else { far }
}

/// 1 - erf x, with all digits where that is small.
#[inline(always)]
pub fn erfc(x: f32) -> f32 {
    // Beyond these bounds it is 2 and 0; NaN stays.
    let x = if x < -10.2 { -10.2 } else { x };
    let x = f64::from(if x > 10.2 { 10.2 } else { x });
    complement(x, x * x) as f32
}

/// The chance that a standard normal number is at most `x`, with all digits where that is small.
#[inline(always)]
pub fn normal_cdf(x: f32) -> f32 {
    let x = if x < -14.4 { -14.4 } else { x };
    let x = f64::from(if x > 14.4 { 14.4 } else { x });
    let z = -std::f64::consts::FRAC_1_SQRT_2 * x;
    (0.5 * complement(z, 0.5 * x * x)) as f32
}

/// The number that a standard normal number is at most with chance `p`: the inverse of [`normal_cdf`].
/// Infinite for 0 and 1, NaN outside.
#[inline(always)]
pub fn normal_quantile(p: f32) -> f32 {
    let wide_p = f64::from(p);
    let q = wide_p - 0.5;
    let near = q * wide::polynomial(q * q, QUANTILE_NEAR);
    // The rest of the chance, on the side that is smaller; exact. A stand-in for 0, and for what is outside.
    let rest = if q < 0.0 { wide_p } else { 1.0 - wide_p };
    let inside = if rest > 0.0 { rest } else { 0.25 };
    let s = (-2.0 * wide::log(inside)).sqrt();
    let t = 1.0 / s;
    let tail = wide::polynomial(t - 0.37, QUANTILE_TAIL);
    let far_tail = wide::polynomial(t - 0.13, QUANTILE_FAR_TAIL);
    let size = s - if t > 0.2 { tail } else { far_tail };
    let size = if rest > 0.0 { size } else { f64::INFINITY };
    let far = size.copysign(q);
    let value = if q.abs() <= 0.3 { near } else { far } as f32;
    if rest >= 0.0 { value } else { f32::NAN }
}

/// By the series of erf near 0, by Laplace's continued fraction in the tail.
fn true_erfc(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x < 0.0 {
        return 2.0 - true_erfc(-x);
    }
    if x < 2.0 {
        // 1 - erf x loses 2 digits at most of the 16.
        let (mut term, mut sum, mut n) = (x, x, 0.0);
        while term > sum * 1e-18 {
            n += 1.0;
            term *= 2.0 * x * x / (2.0 * n + 1.0);
            sum += term;
        }
        return 1.0 - sum * (-x * x).exp() * std::f64::consts::FRAC_2_SQRT_PI;
    }
    let below = (1..=80)
        .rev()
        .fold(x, |rest, k| x + 0.5 * f64::from(k) / rest);
    (-x * x).exp() / (below * std::f64::consts::PI.sqrt())
}

fn true_cdf(x: f64) -> f64 {
    0.5 * true_erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

/// By Newton's method for the logarithm of the smaller chance.
fn true_quantile(p: f64) -> f64 {
    let rest = if p < 0.5 { p } else { 1.0 - p };
    if rest == 0.0 {
        return f64::INFINITY.copysign(p - 0.5);
    }
    if rest < 0.0 || rest.is_nan() {
        return f64::NAN;
    }
    // From beyond it, whence the concave logarithm leads back without a leap.
    let mut z = if rest > 0.25 {
        0.0
    } else {
        (-2.0 * rest.ln()).sqrt()
    };
    for _ in 0..60 {
        let chance = true_cdf(-z);
        let density = (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
        // Near 1/2 the difference itself has all digits.
        let change = if rest > 0.25 {
            (chance - rest) / density
        } else {
            (chance / rest).ln() * chance / density
        };
        z += change;
        if change.abs() <= 1e-15 * z.abs() {
            break;
        }
    }
    z.copysign(p - 0.5)
}
