//! Special values: NaN, infinities, zeros of both signs, denormals, the largest floats, halfway cases; as in
//! IEEE 754-2019 §9.2 and annex F of C99 where they define the function.

use crate::builtin::math::{self, accuracy::ulps, arithmetic, bits, operator};
use std::f32::consts::{FRAC_PI_2, FRAC_PI_4, LN_2, PI};

const NAN: f32 = f32::NAN;
const INF: f32 = f32::INFINITY;
const MAX: f32 = f32::MAX;
/// The smallest denormal.
const TINY: f32 = f32::from_bits(1);
/// An ordinary result, which the bounds of the errors cover.
const ANY: f32 = 12_345.0;

/// The arguments that head the columns of the tables.
const COLUMNS: [f32; 11] = [NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, TINY, -TINY, MAX, -MAX];

/// A function's name, the function, and its results in the order of [`COLUMNS`].
type Row = (&'static str, fn(f32) -> f32, [f32; 11]);

/// The same bits, or both NaN.
fn same(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

fn check(rows: &[Row]) {
    for (name, function, results) in rows {
        for (x, expected) in COLUMNS.into_iter().zip(*results) {
            let got = function(x);
            assert!(
                expected == ANY || same(got, expected),
                "{name}({x:e}) is {got:e}, not {expected:e}"
            );
        }
    }
}

#[rustfmt::skip]
#[test]
fn trigonometry() {
    const Q: f32 = FRAC_PI_2;
    const E: f32 = FRAC_PI_4;
    check(&[
        //                        NaN  inf -inf    0   -0    1   -1  tiny -tiny  max -max
        ("sin", math::sin,       [NAN, NAN, NAN, 0.0, -0.0, ANY, ANY, TINY, -TINY, ANY, ANY]),
        ("cos", math::cos,       [NAN, NAN, NAN, 1.0,  1.0, ANY, ANY,  1.0,   1.0, ANY, ANY]),
        ("tan", math::tan,       [NAN, NAN, NAN, 0.0, -0.0, ANY, ANY, TINY, -TINY, ANY, ANY]),
        ("sin_fast", math::sin_fast, [NAN, ANY, ANY, 0.0, -0.0, ANY, ANY, TINY, -TINY, ANY, ANY]),
        ("cos_fast", math::cos_fast, [NAN, ANY, ANY, 1.0,  1.0, ANY, ANY,  1.0,   1.0, ANY, ANY]),
        ("tan_fast", math::tan_fast, [NAN, ANY, ANY, 0.0, -0.0, ANY, ANY, TINY, -TINY, ANY, ANY]),
        ("asin", math::asin,     [NAN, NAN, NAN, 0.0, -0.0,   Q,  -Q, TINY, -TINY, NAN, NAN]),
        ("acos", math::acos,     [NAN, NAN, NAN,   Q,    Q, 0.0,  PI,    Q,     Q, NAN, NAN]),
        ("atan", math::atan,     [NAN,   Q,  -Q, 0.0, -0.0,   E,  -E, TINY, -TINY,   Q,  -Q]),
        ("sinh", math::sinh,     [NAN, INF, -INF, 0.0, -0.0, ANY, ANY, TINY, -TINY, INF, -INF]),
        ("cosh", math::cosh,     [NAN, INF, INF, 1.0,  1.0, ANY, ANY,  1.0,   1.0, INF, INF]),
        ("tanh", math::tanh,     [NAN, 1.0, -1.0, 0.0, -0.0, ANY, ANY, TINY, -TINY, 1.0, -1.0]),
        ("asinh", math::asinh,   [NAN, INF, -INF, 0.0, -0.0, ANY, ANY, TINY, -TINY, ANY, ANY]),
        ("acosh", math::acosh,   [NAN, INF, NAN, NAN,  NAN, 0.0, NAN,  NAN,   NAN, ANY, NAN]),
        ("atanh", math::atanh,   [NAN, NAN, NAN, 0.0, -0.0, INF, -INF, TINY, -TINY, NAN, NAN]),
    ]);
}

#[rustfmt::skip]
#[test]
fn exponentials() {
    check(&[
        //                         NaN  inf  -inf     0    -0    1   -1  tiny -tiny  max -max
        ("exp", math::exp,        [NAN, INF,  0.0,  1.0,  1.0, ANY, ANY,  1.0,  1.0, INF, 0.0]),
        ("exp2", math::exp2,      [NAN, INF,  0.0,  1.0,  1.0, 2.0, 0.5,  1.0,  1.0, INF, 0.0]),
        ("log", math::log,        [NAN, INF,  NAN, -INF, -INF, 0.0, NAN,  ANY,  NAN, ANY, NAN]),
        ("log2", math::log2,      [NAN, INF,  NAN, -INF, -INF, 0.0, NAN, -149.0, NAN, 128.0, NAN]),
        ("sqrt", arithmetic::sqrt, [NAN, INF, NAN,  0.0, -0.0, 1.0, NAN,  ANY,  NAN, ANY, NAN]),
        ("inverseSqrt", arithmetic::inverse_sqrt,
                                  [NAN, 0.0,  NAN,  INF, -INF, 1.0, NAN,  ANY,  NAN, ANY, NAN]),
        ("sigmoid", math::sigmoid, [NAN, 1.0, 0.0,  0.5,  0.5, ANY, ANY,  0.5,  0.5, 1.0, 0.0]),
        ("softplus", math::softplus, [NAN, INF, 0.0, LN_2, LN_2, ANY, ANY, LN_2, LN_2, MAX, 0.0]),
        ("erfc", math::erfc,      [NAN, 0.0,  2.0,  1.0,  1.0, ANY, ANY,  1.0,   1.0, 0.0,  2.0]),
        ("normal_cdf", math::normal_cdf, [NAN, 1.0, 0.0, 0.5, 0.5, ANY, ANY, 0.5, 0.5, 1.0, 0.0]),
        ("normal_quantile", math::normal_quantile,
                                  [NAN, NAN,  NAN, -INF, -INF, INF, NAN, ANY,  NAN, NAN, NAN]),
        ("gamma", math::gamma,    [NAN, INF,  NAN,  INF, -INF, 1.0, NAN, INF,  -INF, INF, NAN]),
        ("lgamma", math::lgamma,  [NAN, INF,  INF,  INF,  INF, 0.0, INF, ANY,  ANY, INF, INF]),
        ("erf", math::erf,        [NAN, 1.0, -1.0,  0.0, -0.0, ANY, ANY, TINY, -TINY, 1.0, -1.0]),
    ]);
}

#[rustfmt::skip]
#[test]
fn arithmetic() {
    check(&[
        //                                  NaN  inf  -inf   0    -0    1    -1  tiny -tiny  max -max
        ("abs", arithmetic::abs,           [NAN, INF,  INF, 0.0,  0.0, 1.0,  1.0, TINY,  TINY, MAX,  MAX]),
        ("ceil", arithmetic::ceil,         [NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0,  1.0,  -0.0, MAX, -MAX]),
        ("floor", arithmetic::floor,       [NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0,  0.0,  -1.0, MAX, -MAX]),
        ("round", arithmetic::round,       [NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0,  0.0,  -0.0, MAX, -MAX]),
        ("trunc", arithmetic::trunc,       [NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0,  0.0,  -0.0, MAX, -MAX]),
        ("fract", arithmetic::fract,       [NAN, NAN,  NAN, 0.0,  0.0, 0.0,  0.0, TINY,   1.0, 0.0,  0.0]),
        ("sign", arithmetic::sign,         [0.0, 1.0, -1.0, 0.0,  0.0, 1.0, -1.0,  1.0,  -1.0, 1.0, -1.0]),
        ("relu", arithmetic::relu,         [0.0, INF,  0.0, 0.0, -0.0, 1.0,  0.0, TINY,   0.0, MAX,  0.0]),
        ("saturate", arithmetic::saturate, [0.0, 1.0,  0.0, 0.0, -0.0, 1.0,  0.0, TINY,   0.0, 1.0,  0.0]),
        ("degrees", arithmetic::degrees,   [NAN, INF, -INF, 0.0, -0.0, ANY,  ANY,  ANY,   ANY, INF, -INF]),
        ("radians", arithmetic::radians,   [NAN, INF, -INF, 0.0, -0.0, ANY,  ANY,  0.0,  -0.0, ANY,  ANY]),
    ]);
}

#[test]
fn pairs_of_floats() {
    use arithmetic::{max, min, step};
    let cases = [
        ("min(nan, 1)", min(NAN, 1.0), 1.0),
        ("min(1, nan)", min(1.0, NAN), 1.0),
        ("min(nan, nan)", min(NAN, NAN), NAN),
        ("min(0, -0)", min(0.0, -0.0), 0.0),
        ("min(-0, 0)", min(-0.0, 0.0), -0.0),
        ("min(-inf, nan)", min(-INF, NAN), -INF),
        ("max(nan, 1)", max(NAN, 1.0), 1.0),
        ("max(1, nan)", max(1.0, NAN), 1.0),
        ("max(0, -0)", max(0.0, -0.0), 0.0),
        ("max(-0, 0)", max(-0.0, 0.0), -0.0),
        ("max(max, inf)", max(MAX, INF), INF),
        ("clamp(nan, 1, 2)", arithmetic::clamp(NAN, 1.0, 2.0), 1.0),
        ("clamp(0, 2, 1)", arithmetic::clamp(0.0, 2.0, 1.0), 1.0),
        ("step(nan, 0)", step(NAN, 0.0), 1.0),
        ("step(0, -0)", step(0.0, -0.0), 1.0),
        ("step(0, -tiny)", step(0.0, -TINY), 0.0),
        (
            "smoothstep(1, 1, 0)",
            arithmetic::smoothstep(1.0, 1.0, 0.0),
            0.0,
        ),
        (
            "smoothstep(1, 1, 2)",
            arithmetic::smoothstep(1.0, 1.0, 2.0),
            1.0,
        ),
        (
            "smoothstep(1, 1, 1)",
            arithmetic::smoothstep(1.0, 1.0, 1.0),
            0.0,
        ),
        ("mix(inf, 1, 1)", arithmetic::mix(INF, 1.0, 1.0), NAN),
        ("fma(max, 2, -max)", arithmetic::fma(MAX, 2.0, -MAX), MAX),
        ("5.5 % 0", operator::remainder(5.5, 0.0), NAN),
        ("inf % 2", operator::remainder(INF, 2.0), NAN),
        ("1 % inf", operator::remainder(1.0, INF), NAN),
        ("-0 % 1", operator::remainder(-0.0, 1.0), 0.0),
        ("-5.5 % 2", operator::remainder(-5.5, 2.0), -1.5),
    ];
    for (name, got, expected) in cases {
        assert!(same(got, expected), "{name} is {got:e}, not {expected:e}");
    }
}

#[test]
fn halfway_cases_go_to_even() {
    let rounds = [
        (0.5, 0.0),
        (-0.5, -0.0),
        (1.5, 2.0),
        (2.5, 2.0),
        (-2.5, -2.0),
        (0.499_999_97, 0.0),
        (8_388_607.5, 8_388_608.0),
        (8_388_609.0, 8_388_609.0),
    ];
    for (x, expected) in rounds {
        assert!(same(arithmetic::round(x), expected), "round({x})");
    }
    assert_eq!(operator::i32_to_f32(16_777_217), 16_777_216.0);
    assert_eq!(operator::i32_to_f32(16_777_219), 16_777_220.0);
    assert_eq!(operator::u32_to_f32(u32::MAX), 4_294_967_296.0);
    assert_eq!(operator::u32_to_f32(4_294_967_167), 4_294_967_040.0);
    // Half of the smallest denormal, and one and a half of it.
    assert_eq!(math::exp2(-150.0), 0.0);
    assert_eq!(arithmetic::ldexp(1.0, -150), 0.0);
    assert_eq!(arithmetic::ldexp(3.0, -150), 2.0 * TINY);
}

#[test]
fn denormals_and_powers_of_two_are_exact() {
    for n in -149..128 {
        let power = math::exp2(n as f32);
        assert_eq!(math::log2(power), n as f32);
        assert_eq!(math::pow(2.0, n as f32), power);
        assert_eq!(arithmetic::ldexp(1.0, n), power);
        assert_eq!(math::pow(power, 1.0), power);
    }
    assert_eq!(arithmetic::ldexp(TINY, 276), arithmetic::ldexp(1.0, 127));
    assert_eq!(arithmetic::ldexp(TINY, 277), INF);
    assert_eq!(arithmetic::ldexp(-MAX, i32::MAX), -INF);
    assert_eq!(arithmetic::ldexp(MAX, i32::MIN), 0.0);
    assert!(same(arithmetic::ldexp(-0.0, 5), -0.0));
    assert!(arithmetic::ldexp(NAN, 0).is_nan());
}

/// The float nearest to the truth, or one that misses it where the truth is ordinary and almost halfway.
fn is(got: f32, truth: f64) -> bool {
    let ordinary = truth.is_normal() && got.is_normal();
    same(got, truth as f32) || (ordinary && ulps(got, truth) < 0.51)
}

#[test]
fn powers_and_angles_of_special_values() {
    let sizes = [
        0.0,
        TINY,
        0.5,
        1.0 - f32::EPSILON / 2.0,
        1.0,
        1.0 + f32::EPSILON,
        2.0,
        2.5,
        3.0,
        8_388_609.0,
        8_388_607.5,
        16_777_215.0,
        16_777_216.0,
        16_777_218.0,
        MAX,
        INF,
        NAN,
    ];
    let values = || sizes.into_iter().flat_map(|x| [x, -x]);
    for (a, b) in values().flat_map(|a| values().map(move |b| (a, b))) {
        let (x, y) = (f64::from(a), f64::from(b));
        let power = math::pow(a, b);
        assert!(is(power, x.powf(y)), "pow({a}, {b}) is {power}");
        let angle = math::atan2(a, b);
        assert!(is(angle, x.atan2(y)), "atan2({a}, {b}) is {angle}");
    }
}

/// Integers of every size, and those about them.
fn integers() -> impl Iterator<Item = u32> + Clone {
    (0..32)
        .flat_map(|n| [-1, 0, 1].map(|k| (1_u32 << n).wrapping_add_signed(k)))
        .chain([u32::MAX, 3, 7, 10, 641, 6_700_417, 0x5555_5555, 0x8000_0001])
}

#[test]
fn integers_divide_like_the_processor() {
    let check = |a: u32, b: u32| {
        assert_eq!(operator::divide_u32(a, b), a.checked_div(b).unwrap_or(a));
        assert_eq!(operator::remainder_u32(a, b), a.checked_rem(b).unwrap_or(0));
        let (a, b) = (a as i32, b as i32);
        let (quotient, rest) = match b {
            0 => (a, 0),
            _ => (a.wrapping_div(b), a.wrapping_rem(b)),
        };
        assert_eq!(operator::divide_i32(a, b), quotient, "{a} / {b}");
        assert_eq!(operator::remainder_i32(a, b), rest, "{a} % {b}");
    };
    for (a, b) in integers().flat_map(|a| integers().map(move |b| (a, b))) {
        // Next to a multiple of the divisor the quotient is nearest to an integer.
        let multiple = a.wrapping_sub(a.checked_rem(b).unwrap_or(0));
        for a in [a, a.wrapping_neg(), multiple, multiple.wrapping_sub(1)] {
            check(a, b);
            check(a, b.wrapping_neg());
        }
    }
    for k in 0..1_000_000_u32 {
        check(
            k.wrapping_mul(0x9E37_79B9),
            k.wrapping_mul(0xC2B2_AE35) >> (k % 31),
        );
    }
}

#[test]
fn floats_truncate_and_saturate() {
    for k in (0..=u32::MAX).step_by(1_021) {
        let x = f32::from_bits(k);
        let capped = |last: f32| if x > last { last } else { x };
        assert_eq!(
            operator::f32_to_i32(x),
            capped(2_147_483_520.0) as i32,
            "{x}"
        );
        assert_eq!(
            operator::f32_to_u32(x),
            capped(4_294_967_040.0) as u32,
            "{x}"
        );
    }
    for bits in [0x7f80_0001, 0x7fff_ffff, 0xffc0_0001, 0xff80_0007] {
        let nan = f32::from_bits(bits);
        assert_eq!(
            (operator::f32_to_i32(nan), operator::f32_to_u32(nan)),
            (0, 0)
        );
        assert_eq!(operator::f32_to_bits(nan), 0x7fc0_0000);
        assert!(operator::f32_to_bool(nan));
    }
    assert_eq!(operator::f32_to_i32(-2_147_483_648.0), i32::MIN);
    assert_eq!(operator::f32_to_i32(-1e30), i32::MIN);
    assert_eq!(operator::f32_to_u32(-0.99), 0);
    assert_eq!(operator::f32_to_u32(2_147_483_648.0), 1 << 31);
    assert!(!operator::f32_to_bool(-0.0));
}

#[test]
fn bits_of_every_place() {
    for x in integers() {
        let highest = x.checked_ilog2().unwrap_or(u32::MAX);
        assert_eq!(bits::first_leading_bit(x), highest);
        let lowest = if x == 0 { u32::MAX } else { x.trailing_zeros() };
        assert_eq!(bits::first_trailing_bit(x), lowest);
        let signed = x as i32;
        let flipped = if signed < 0 { !x } else { x };
        assert_eq!(
            bits::first_leading_bit_i32(signed),
            flipped.checked_ilog2().map_or(-1, |place| place as i32)
        );
        for (offset, count) in (0..40).flat_map(|offset| (0..40).map(move |count| (offset, count)))
        {
            let place = offset.min(32);
            let mask = (1_u64 << count.min(32 - place)) - 1;
            let wide = u64::from(x);
            let field = ((wide >> place) & mask) as u32;
            assert_eq!(bits::extract_bits(x, offset, count), field);
            let inserted = (wide & !(mask << place)) | ((0x5a5a_5a5a & mask) << place);
            let got = bits::insert_bits(x, 0x5a5a_5a5a, offset, count);
            assert_eq!(
                got, inserted as u32,
                "insertBits({x:#x}, _, {offset}, {count})"
            );
        }
    }
}
