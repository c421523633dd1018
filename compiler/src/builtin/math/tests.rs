//! Every function against the standard library's `f64` functions, over bit patterns spread evenly over all
//! floats, and the special values written out.

use super::*;

/// Steps between tested bit patterns; `SIM_MATH_STRIDE=1` tests every float (hours).
fn stride() -> usize {
    std::env::var("SIM_MATH_STRIDE").map_or(3_581, |text| {
        text.parse().expect("SIM_MATH_STRIDE is a number")
    })
}

/// How far `got` is from `truth` in units in the last place of a float of that size; 0 where both are NaN
/// or overflow alike.
fn ulps(got: f32, truth: f64) -> f64 {
    if truth.is_nan() || got.is_nan() {
        return if truth.is_nan() && got.is_nan() {
            0.0
        } else {
            f64::INFINITY
        };
    }
    let exponent = (((truth.to_bits() >> 52) & 0x7ff) as i32 - 1023).clamp(-126, 127);
    let unit = f64::from_bits(((exponent - 23 + 1023) as u64) << 52);
    if got.is_infinite() {
        // The next float after the largest, had the format one.
        let next = 340_282_366_920_938_463_463_374_607_431_768_211_456.0_f64;
        let size = truth.abs().min(next);
        let same_sign = f64::from(got).signum() == truth.signum();
        return if same_sign {
            (next - size) / unit
        } else {
            f64::INFINITY
        };
    }
    (f64::from(got) - truth).abs() / unit
}

/// Sweeps `f` over all floats and asserts the bound that the head of `math` states.
fn sweep(name: &str, f: fn(f32) -> f32, truth: fn(f64) -> f64, bound: f64) {
    let mut worst = (0.0, 0.0);
    for bits in (0..=u32::MAX).step_by(stride()) {
        let x = f32::from_bits(bits);
        let error = ulps(f(x), truth(f64::from(x)));
        if error > worst.0 {
            worst = (error, x);
        }
    }
    println!("{name}: {:.3} ulp at {:e}", worst.0, worst.1);
    assert!(
        worst.0 <= bound,
        "{name} is {} ulp off at {:e}",
        worst.0,
        worst.1
    );
}

/// The error function by its series of positive terms, in `f64`.
fn erf_truth(x: f64) -> f64 {
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

#[test]
fn primary_functions_keep_their_bounds() {
    sweep("sin", sin, f64::sin, 1.6);
    sweep("cos", cos, f64::cos, 1.6);
    sweep("exp", exp, f64::exp, 1.1);
    sweep("log", log, f64::ln, 0.9);
    sweep("tanh", tanh, f64::tanh, 5.7);
}

#[test]
fn exponentials_keep_their_bounds() {
    sweep("exp2", exp2, f64::exp2, 0.51);
    sweep("log2", log2, f64::log2, 0.51);
    sweep("sigmoid", sigmoid, |x| 1.0 / (1.0 + (-x).exp()), 3.0);
    sweep(
        "softplus",
        softplus,
        |x| x.max(0.0) + (-x.abs()).exp().ln_1p(),
        0.6,
    );
    sweep("erf", erf, erf_truth, 0.51);
}

#[test]
fn trigonometry_keeps_its_bounds() {
    sweep("tan", tan, f64::tan, 0.51);
    sweep("asin", asin, f64::asin, 0.51);
    sweep("acos", acos, f64::acos, 0.51);
    sweep("atan", atan, f64::atan, 0.51);
}

#[test]
fn hyperbolics_keep_their_bounds() {
    sweep("sinh", sinh, f64::sinh, 0.51);
    sweep("cosh", cosh, f64::cosh, 0.51);
    sweep("asinh", asinh, f64::asinh, 0.51);
    sweep("acosh", acosh, f64::acosh, 0.51);
    sweep("atanh", atanh, f64::atanh, 0.51);
}

/// Bit patterns in a scattered order, for functions of two arguments.
fn pairs() -> impl Iterator<Item = (f32, f32)> {
    (0..1_000_000_u32).map(|k| {
        let (a, b) = (k.wrapping_mul(0x9E37_79B9), k.wrapping_mul(0xC2B2_AE35));
        (f32::from_bits(a), f32::from_bits(b.rotate_left(7)))
    })
}

#[test]
fn functions_of_two_arguments_keep_their_bounds() {
    let (mut worst_pow, mut worst_atan2) = (0.0_f64, 0.0_f64);
    for (a, b) in pairs() {
        let (x, y) = (f64::from(a), f64::from(b));
        worst_atan2 = worst_atan2.max(ulps(atan2(a, b), x.atan2(y)));
        worst_pow = worst_pow.max(ulps(pow(a, b), x.powf(y)));
        // Most pairs above overflow; these seldom do.
        let (base, exponent) = (1.0 + a.fract(), 150.0 * b.fract());
        if base.is_finite() && exponent.is_finite() {
            let truth = f64::from(base).powf(f64::from(exponent));
            worst_pow = worst_pow.max(ulps(pow(base, exponent), truth));
        }
    }
    println!("pow: {worst_pow:.4} ulp, atan2: {worst_atan2:.4} ulp");
    assert!(worst_pow <= 0.51, "pow is {worst_pow} ulp off");
    assert!(worst_atan2 <= 0.51, "atan2 is {worst_atan2} ulp off");
}

#[test]
fn special_values_are_ieee() {
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let values = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        2.0,
        -2.0,
        3.0,
        -3.0,
        2.5,
        -2.5,
        inf,
        -inf,
        nan,
        1e-45,
        -1e-45,
        3e38,
        -3e38,
        16_777_217.0,
        8_388_609.0,
        -8_388_609.0,
    ];
    for a in values {
        for b in values {
            let (x, y) = (f64::from(a), f64::from(b));
            let same = |got: f32, truth: f64| {
                let truth = truth as f32;
                got.to_bits() == truth.to_bits() || (got.is_nan() && truth.is_nan())
            };
            assert!(same(pow(a, b), x.powf(y)), "pow({a}, {b}) = {}", pow(a, b));
            assert!(
                same(atan2(a, b), x.atan2(y)),
                "atan2({a}, {b}) = {}",
                atan2(a, b)
            );
        }
    }
    assert_eq!(exp(-inf), 0.0);
    assert_eq!(exp(inf), inf);
    assert_eq!(exp(0.0), 1.0);
    assert_eq!(log(0.0), -inf);
    assert_eq!(log(-0.0), -inf);
    assert_eq!(log(1.0), 0.0);
    assert_eq!(log(inf), inf);
    assert!(log(-1e-45).is_nan() && log(nan).is_nan() && log(-inf).is_nan());
    assert_eq!((tanh(inf), tanh(-inf)), (1.0, -1.0));
    assert!(sin(inf).is_nan() && cos(-inf).is_nan() && tan(nan).is_nan());
    assert_eq!(log2(f32::from_bits(1)), -149.0);
    for n in -149..128 {
        assert_eq!(log2(exp2(n as f32)), n as f32);
    }
}

#[test]
fn large_angles_are_reduced_exactly() {
    // Values of sin and cos of 2^k for large k, from a computation with 300 digits.
    for (x, sine, cosine) in LARGE_ANGLES {
        assert!(ulps(sin(x), sine) <= 0.51, "sin({x:e}) = {}", sin(x));
        assert!(ulps(cos(x), cosine) <= 0.51, "cos({x:e}) = {}", cos(x));
        assert_eq!(sin(-x), -sin(x));
    }
}

/// Angles with their sine and cosine; the last is the float nearest to a multiple of π/2 for its size.
const LARGE_ANGLES: [(f32, f64, f64); 10] = [
    (
        f32::from_bits(0x48000000),
        -0.999_113_788_950_770_9,
        0.042_090_815_250_296_23,
    ),
    (
        f32::from_bits(0x4f000000),
        -0.971_310_175_792_939_2,
        0.237_816_194_572_803_37,
    ),
    (
        f32::from_bits(0x5f800000),
        0.023_598_509_904_439_558,
        -0.999_721_516_388_584_1,
    ),
    (
        f32::from_bits(0x71800000),
        -0.872_183_605_418_267_3,
        0.489_178_656_974_721_46,
    ),
    (
        f32::from_bits(0x7f000000),
        0.623_385_512_955_870_2,
        0.781_914_638_714_96,
    ),
    (
        f32::from_bits(0x47c35080),
        -0.821_617_964_837_152_4,
        -0.570_038_524_888_323_4,
    ),
    (
        f32::from_bits(0x7f7fffff),
        -0.521_876_523_333_658_5,
        0.853_021_039_830_304_2,
    ),
    (
        f32::from_bits(0x4ceb79a3),
        -0.960_412_727_668_887_7,
        -0.278_581_034_048_635_27,
    ),
    (
        f32::from_bits(0x5079be45),
        0.522_877_804_347_795_4,
        0.852_407_649_965_923_7,
    ),
    (
        f32::from_bits(0x6f79be45),
        1.0,
        -1.614_769_798_247_621_1e-09,
    ),
];
