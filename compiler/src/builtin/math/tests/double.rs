//! The functions of `f64` at places where others lose digits. The values are mpmath's, of 40 digits, rounded.

use crate::builtin::math::double;

/// A function by name, an argument, and the value there.
type Known = (&'static str, fn(f64) -> f64, f64, f64);

const KNOWN: &[Known] = &[
    ("erf", double::erf, 0.1, 0.1124629160182849),
    ("erf", double::erf, 2.5, 0.999593047982555),
    ("erf", double::erf, -0.7, -0.6778011938374184),
    ("erfc", double::erfc, 0.1, 0.887537083981715),
    ("erfc", double::erfc, 5.0, 1.537459794428035e-12),
    ("erfc", double::erfc, 20.0, 5.395865611607901e-176),
    ("erfc", double::erfc, -2.0, 1.9953222650189528),
    ("normal_cdf", double::normal_cdf, 0.1, 0.539827837277029),
    (
        "normal_cdf",
        double::normal_cdf,
        -5.0,
        2.866515718791939e-07,
    ),
    (
        "normal_cdf",
        double::normal_cdf,
        -20.0,
        2.7536241186062337e-89,
    ),
    (
        "normal_cdf",
        double::normal_cdf,
        -37.0,
        5.725571222524577e-300,
    ),
    (
        "normal_quantile",
        double::normal_quantile,
        0.5001,
        0.00025066283008800747,
    ),
    (
        "normal_quantile",
        double::normal_quantile,
        0.3,
        -0.5244005127080408,
    ),
    (
        "normal_quantile",
        double::normal_quantile,
        1e-05,
        -4.264890793922825,
    ),
    (
        "normal_quantile",
        double::normal_quantile,
        1e-30,
        -11.464024688443615,
    ),
    (
        "normal_quantile",
        double::normal_quantile,
        1e-200,
        -30.20559417957964,
    ),
    (
        "normal_quantile",
        double::normal_quantile,
        0.9999999,
        5.199337582290661,
    ),
    ("gamma", double::gamma, 0.1, 9.51350769866873),
    ("gamma", double::gamma, 4.5, 11.631728396567448),
    ("gamma", double::gamma, -3.3, 0.43851739219876307),
    ("gamma", double::gamma, 100.5, 9.320963104082716e+156),
    ("lgamma", double::lgamma, 0.1, 2.252712651734206),
    ("lgamma", double::lgamma, 1.001, -0.0005763935982833062),
    ("lgamma", double::lgamma, 1000.5, 5908.674175848678),
    ("lgamma", double::lgamma, -0.5, 1.2655121234846454),
    ("lgamma", double::lgamma, -30.4, -74.83304458659782),
    ("softplus", double::softplus, -30.0, 9.357622968839737e-14),
    ("softplus", double::softplus, 0.1, 0.7443966600735709),
    ("softplus", double::softplus, 40.0, 40.0),
    ("sigmoid", double::sigmoid, -30.0, 9.357622968839299e-14),
    ("sigmoid", double::sigmoid, 5.0, 0.9933071490757152),
    ("tanh", double::tanh, 0.001, 0.0009999996666668),
    ("tanh", double::tanh, -2.0, -0.9640275800758169),
    ("asinh", double::asinh, 0.001, 0.0009999998333334083),
    ("asinh", double::asinh, 3.0, 1.8184464592320668),
    ("acosh", double::acosh, 1.001, 0.04471763360830685),
    ("acosh", double::acosh, 3.0, 1.762747174039086),
    ("atanh", double::atanh, 0.001, 0.0010000003333335333),
    ("atanh", double::atanh, 0.9, 1.4722194895832204),
    ("log", double::log, 1.001, 0.0009995003330834232),
    ("log", double::log, 1e-30, -69.07755278982137),
    ("exp", double::exp, -3.3, 0.036883167401240015),
    ("exp", double::exp, 50.5, 8.548134287298057e+21),
    ("sin", double::sin, 3.0, 0.1411200080598672),
    ("sin", double::sin, 1000000.0, -0.34999350217129294),
    ("cos", double::cos, 1.5, 0.0707372016677029),
    ("cos", double::cos, 1000000.0, 0.9367521275331447),
    ("tan", double::tan, 1.5, 14.101419947171719),
    (
        "inverse_sqrt",
        double::inverse_sqrt,
        3.0,
        0.5773502691896257,
    ),
];

#[test]
fn functions_of_f64_have_fourteen_digits() {
    for &(name, function, x, known) in KNOWN {
        let (found, error) = (function(x), (function(x) / known - 1.0).abs());
        assert!(
            error <= 1e-14,
            "{name}({x}) is {found}, not {known}: off by {error:e}"
        );
    }
}

/// The functions of [`double::primary`], where their reductions have most to do.
const PRIMARY: &[Known] = &[
    ("exp", double::exp, 0.1, 1.1051709180756477),
    ("exp", double::exp, -30.5, 5.675685232632723e-14),
    ("exp", double::exp, 700.25, 1.3022997366991783e+304),
    ("log", double::log, 0.1, -2.3025850929940455),
    ("log", double::log, 1.0001, 9.999500033329732e-05),
    ("log", double::log, 5e-310, -712.19194091572),
    ("log", double::log, 1e+300, 690.7755278982137),
    ("sin", double::sin, 0.1, 0.09983341664682815),
    ("sin", double::sin, 99999.5, 0.5104916150747798),
    ("sin", double::sin, -1000000.0, 0.34999350217129294),
    (
        "sin",
        double::sin,
        std::f64::consts::PI,
        1.2246467991473532e-16,
    ),
    ("cos", double::cos, 3.0, -0.9899924966004454),
    ("cos", double::cos, -99999.5, -0.8598827309222711),
    ("cos", double::cos, 1e+22, 0.523214785395139),
    (
        "cos",
        double::cos,
        std::f64::consts::FRAC_PI_2,
        6.123233995736766e-17,
    ),
    ("tanh", double::tanh, 0.1, 0.09966799462495582),
    ("tanh", double::tanh, -3.0, -0.9950547536867305),
    ("tanh", double::tanh, 1e-05, 9.999999999666668e-06),
    ("tanh", double::tanh, 20.0, 1.0),
];

#[test]
fn primary_functions_of_f64_have_all_digits_but_the_last() {
    for &(name, function, x, known) in PRIMARY {
        let (found, error) = (function(x), (function(x) / known - 1.0).abs());
        let most = if name == "tanh" { 6e-16 } else { 3e-16 };
        assert!(
            error <= most,
            "{name}({x}) is {found}, not {known}: off by {error:e}"
        );
    }
    let (least, infinity) = (5e-324, f64::INFINITY);
    assert_eq!(double::exp(-740.0), 4.2e-322);
    assert_eq!((double::exp(710.0), double::exp(-746.0)), (infinity, 0.0));
    assert_eq!(
        (double::log(0.0), double::log(infinity)),
        (-infinity, infinity)
    );
    assert_eq!(double::log(least), -744.4400719213812);
    assert!(double::log(-1.0).is_nan() && double::exp(f64::NAN).is_nan());
    assert!(double::sin(infinity).is_nan() && double::cos(f64::NAN).is_nan());
    for odd in [double::sin, double::tanh] {
        assert_eq!(odd(-0.0).to_bits(), (-0.0_f64).to_bits());
        assert_eq!(odd(-least), -least);
    }
}

#[test]
fn special_values_of_f64_are_those_of_f32() {
    assert_eq!(double::normal_quantile(0.0), f64::NEG_INFINITY);
    assert_eq!(double::normal_quantile(1.0), f64::INFINITY);
    assert_eq!(double::normal_quantile(0.5), 0.0);
    assert!(double::normal_quantile(-0.1).is_nan() && double::normal_quantile(f64::NAN).is_nan());
    assert_eq!(double::normal_cdf(f64::NEG_INFINITY), 0.0);
    assert_eq!(double::normal_cdf(f64::INFINITY), 1.0);
    assert!(double::normal_cdf(f64::NAN).is_nan());
    assert!(double::gamma(-3.0).is_nan());
    assert_eq!(double::lgamma(-3.0), f64::INFINITY);
    assert!(double::softplus(f64::NAN).is_nan() && double::sigmoid(f64::NAN).is_nan());
    assert_eq!(double::softplus(f64::INFINITY), f64::INFINITY);
    assert_eq!(
        (double::max(f64::NAN, 1.0), double::min(1.0, f64::NAN)),
        (1.0, 1.0)
    );
    assert_eq!(double::sign(f64::NAN), 0.0);
}
