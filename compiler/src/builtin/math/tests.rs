//! Every function against its truth in `f64`, over bit patterns spread evenly over all floats. The special
//! values are in `special`.

mod double;
mod special;

use super::accuracy::{of_one_argument, of_two_arguments, ulps};
use super::*;
use crate::builtin::{BuiltinId, Meaning, Precise, Slot};

/// Steps between tested bit patterns; `SIM_MATH_STRIDE=1` tests every float (hours).
fn stride() -> usize {
    std::env::var("SIM_MATH_STRIDE").map_or(3_581, |text| {
        text.parse().expect("SIM_MATH_STRIDE is a number")
    })
}

#[test]
fn functions_of_one_argument_keep_their_bounds() {
    for case in of_one_argument() {
        let (mut worst, mut at) = (0.0, 0.0);
        for bits in (0..=u32::MAX).step_by(stride()) {
            let x = f32::from_bits(bits);
            let error = ulps((case.function)(x), (case.truth)(f64::from(x)));
            if error > worst {
                (worst, at) = (error, x);
            }
        }
        println!("{}: {worst:.3} ulp at {at:e}", case.name);
        assert!(
            worst <= case.bound,
            "{} is {worst} ulp off at {at:e}",
            case.name
        );
    }
}

/// What needs a precise form has an error to be bounded.
#[test]
fn functions_with_a_precise_form_have_a_bound() {
    let mut bounded = of_one_argument().map(|case| case.name).collect::<Vec<_>>();
    bounded.extend(of_two_arguments().map(|case| case.name));
    for name in &bounded {
        assert!(BuiltinId::find(name).is_some(), "no builtin `{name}`");
    }
    for row in BuiltinId::all().map(BuiltinId::row) {
        let Meaning::Pure(pure) = row.meaning else {
            continue;
        };
        // Those of random words have tests of their own.
        let of_floats = !pure.params.contains(&Slot::U32);
        if of_floats && matches!(pure.precise, Precise::Form(_)) {
            let known = bounded.contains(&row.name);
            assert!(known, "no `ERRORS` in `builtin/math` bound `{}`", row.name);
        }
    }
}

/// Bit patterns in a scattered order, for functions of two arguments; of every two pairs one is such that
/// powers seldom overflow.
fn pairs() -> impl Iterator<Item = (f32, f32)> {
    (0..1_000_000_u32).flat_map(|k| {
        let (a, b) = (k.wrapping_mul(0x9E37_79B9), k.wrapping_mul(0xC2B2_AE35));
        let (a, b) = (f32::from_bits(a), f32::from_bits(b.rotate_left(7)));
        [(a, b), (1.0 + a.fract(), 150.0 * b.fract())]
    })
}

#[test]
fn functions_of_two_arguments_keep_their_bounds() {
    for case in of_two_arguments() {
        let (mut worst, mut at) = (0.0, (0.0, 0.0));
        for (a, b) in pairs() {
            let truth = (case.truth)(f64::from(a), f64::from(b));
            let error = ulps((case.function)(a, b), truth);
            if error > worst {
                (worst, at) = (error, (a, b));
            }
        }
        println!("{}: {worst:.3} ulp at {at:?}", case.name);
        assert!(
            worst <= case.bound,
            "{} is {worst} ulp off at {at:?}",
            case.name
        );
    }
}

/// The chance formula as in `special`, in `f64`.
#[test]
fn normal_numbers_are_those_of_box_and_muller() {
    for (a, b) in pairs().map(|(a, b)| (a.to_bits(), b.to_bits())) {
        let u = (f64::from(a) + 0.5) / 4_294_967_296.0;
        let angle = f64::from(b as i32) * (std::f64::consts::PI / 2_147_483_648.0);
        let truth = (-2.0 * u.ln()).sqrt() * angle.cos();
        let got = f64::from(normal_from(a, b));
        // Rounding u to 24 bits near 1 moves the radius by 2^-25 / radius.
        assert!(
            (got - truth).abs() < 4e-4,
            "normal_from({a}, {b}) = {got}, not {truth}"
        );
        assert!(got.abs() <= 6.77);
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
