//! Functions, arguments and error measures for fast and precise mathematics.

use sim_compiler::{
    Math, Options,
    builtin::{BuiltinId, Meaning, Precise, Slot, math::accuracy::ulps},
    compile_with,
};
use sim_runtime::{Backend, Error, Simulation};
use std::borrow::Cow;

/// A function of floats, or of words.
#[derive(Clone, Debug)]
pub struct Case {
    /// A call, of `x` and `y`, or of `a` and `b`, which are words.
    pub call: Cow<'static, str>,
    /// The largest error that the precise form may have against the CPU's, in units in the last place. That
    /// of `tanh` is what the CPU's own algorithm loses, where roundings fall in another way.
    pub bound: f64,
    /// The range of arguments that a model is likely to have.
    pub range: (f32, f32),
}

const fn case(call: &'static str, bound: f64, range: (f32, f32)) -> Case {
    Case {
        call: Cow::Borrowed(call),
        bound,
        range,
    }
}

/// All that has a precise form: the cases below, and what else the table of builtins gives one.
pub fn cases() -> Vec<Case> {
    let mut cases = CASES.to_vec();
    for row in BuiltinId::all().map(BuiltinId::row) {
        let Meaning::Pure(pure) = row.meaning else {
            continue;
        };
        let known = CASES
            .iter()
            .any(|case| case.call.split('(').next() == Some(row.name));
        if known || !matches!(pure.precise, Precise::Form(_)) {
            continue;
        }
        let names = match pure.params.contains(&Slot::U32) {
            true => ["a", "b"],
            false => ["x", "y"],
        };
        let call = format!("{}({})", row.name, names[..row.params.len()].join(", "));
        cases.push(Case {
            call: Cow::Owned(call),
            ..case("", 4.0, (-4.0, 4.0))
        });
    }
    cases
}

/// Bounds and ranges, in the order of the documentation's table.
const CASES: [Case; 28] = [
    case("sin(x)", 4.0, (-10.0, 10.0)),
    case("cos(x)", 4.0, (-10.0, 10.0)),
    case("tan(x)", 5.0, (-10.0, 10.0)),
    case("exp(x)", 4.0, (-10.0, 10.0)),
    case("exp2(x)", 4.0, (-10.0, 10.0)),
    case("log(x)", 4.0, (0.01, 100.0)),
    case("log2(x)", 4.0, (0.01, 100.0)),
    case("pow(x, y)", 5.0, (0.01, 10.0)),
    case("sqrt(x)", 4.0, (0.01, 100.0)),
    case("inverseSqrt(x)", 4.0, (0.01, 100.0)),
    case("x / y", 4.0, (0.01, 100.0)),
    case("tanh(x)", 8.0, (-4.0, 4.0)),
    case("sinh(x)", 4.0, (-4.0, 4.0)),
    case("cosh(x)", 4.0, (-4.0, 4.0)),
    case("asinh(x)", 4.0, (-10.0, 10.0)),
    case("acosh(x)", 4.0, (1.0, 10.0)),
    case("atanh(x)", 4.0, (-0.99, 0.99)),
    case("asin(x)", 4.0, (-1.0, 1.0)),
    case("acos(x)", 4.0, (-1.0, 1.0)),
    case("atan(x)", 4.0, (-10.0, 10.0)),
    case("atan2(x, y)", 4.0, (-10.0, 10.0)),
    case("sigmoid(x)", 4.0, (-10.0, 10.0)),
    case("softplus(x)", 4.0, (-10.0, 10.0)),
    case("erf(x)", 4.0, (-4.0, 4.0)),
    case("erfc(x)", 8.0, (-4.0, 9.0)),
    case("normal_cdf(x)", 8.0, (-13.0, 8.0)),
    case("normal_quantile(x)", 6.0, (0.0, 1.0)),
    case("normal_from(a, b)", 4.0, (0.0, 1.0)),
];

/// Results and their arguments.
pub struct Arguments {
    x: Vec<f32>,
    y: Vec<f32>,
    a: Vec<u32>,
    b: Vec<u32>,
}

/// A pseudorandom permutation of all words.
fn scattered(k: u32) -> u32 {
    let k = (k ^ (k >> 16)).wrapping_mul(0x7feb_352d);
    let k = (k ^ (k >> 15)).wrapping_mul(0x846c_a68b);
    k ^ (k >> 16)
}

/// Uniform in [low, high).
fn between(k: u32, low: f32, high: f32) -> f32 {
    low + (high - low) * (scattered(k) >> 8) as f32 / 16_777_216.0
}

/// Corners and their neighbours, mantissas of all binades of both signs, the surroundings of multiples of π/2
/// of all sizes, and the ranges where functions do what they are known for.
pub fn arguments() -> Arguments {
    let mut x = vec![0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
    for corner in [
        f32::MIN_POSITIVE,
        0.25,
        0.346_573_6,
        0.5,
        std::f32::consts::FRAC_1_SQRT_2,
        std::f32::consts::FRAC_PI_4,
        1.0,
        std::f32::consts::SQRT_2,
        2.0,
        3.0,
        4.0,
        9.02,
        16.0,
        88.722_84,
        87.336_54,
        126.0,
        128.0,
        16_777_216.0,
        100_000.0,
        1e10,
        f32::MAX,
    ] {
        for step in -20..=20 {
            let bits = corner
                .to_bits()
                .saturating_add_signed(step)
                .min(f32::MAX.to_bits());
            x.extend([f32::from_bits(bits), -f32::from_bits(bits)]);
        }
    }
    for k in 0..100_000_u32 {
        // Exponents in turn, none of zeros, denormals, infinities and NaN.
        let exponent = 1 + k % 254;
        x.push(f32::from_bits(
            (scattered(k) & 0x807f_ffff) | (exponent << 23),
        ));
    }
    for k in 0..20_000_u32 {
        let count = match k % 2 {
            0 => f64::from(k / 2),
            _ => f64::from(scattered(k)) * 2.0_f64.powi((k % 90) as i32),
        };
        let near = (count * std::f64::consts::FRAC_PI_2) as f32;
        x.push(f32::from_bits(
            near.to_bits().saturating_add_signed((k % 7) as i32 - 3),
        ));
    }
    // The float that is nearest to a multiple of π/2 for its size.
    x.push(f32::from_bits(0x6f79_be45));
    for k in 0..60_000_u32 {
        let (low, high) = match k % 5 {
            0 => (0.5, 2.0),
            1 => (0.9, 1.1),
            2 => (-100.0, 100.0),
            _ => CASES[scattered(k) as usize % CASES.len()].range,
        };
        x.push(between(k, low, high));
    }
    let y = (0..x.len() as u32)
        .map(|k| second(x[k as usize], k))
        .collect();
    let words = |seed: u32| (0..x.len() as u32).map(|k| scattered(k ^ seed)).collect();
    let (a, b) = (words(0x5bd1_e995), words(0x1b87_3593));
    Arguments { x, y, a, b }
}

/// What goes with the first argument: any float, one of its size, an exponent whose power is a float, or a
/// small whole number.
fn second(x: f32, k: u32) -> f32 {
    let any = scattered(k ^ 0x9e37_79b9);
    match any % 5 {
        0 => f32::from_bits(any.rotate_left(9)),
        1 => x * between(k, -4.0, 4.0),
        2 | 3 => between(k, -150.0, 150.0) / x.abs().log2(),
        _ => between(k, -40.0, 40.0).round(),
    }
}

/// The errors of results against the CPU's.
#[derive(Clone, Copy, Debug, Default)]
pub struct Found {
    /// The largest error in units in the last place, where all arguments and the result are 0 or normal.
    pub worst: f64,
    /// The same where the arguments are in the case's range.
    pub usual: f64,
    /// The arguments of the worst, as bits.
    pub at: [u32; 2],
    /// The number of infinities and NaNs that differ from the CPU's.
    pub lost: usize,
    /// The number of results.
    pub count: usize,
}

/// Runs a call on the GPU and on the CPU.
pub fn compare(case: &Case, math: Math, arguments: &Arguments) -> Result<Found, Error> {
    let words = case.call.contains("(a");
    let inputs = if words {
        "input a: u32\ninput b: u32"
    } else {
        "input x: f32\ninput y: f32"
    };
    let source = format!("{inputs}\noutput z = {}\n", case.call);
    let results = |backend| -> Result<Vec<f32>, Error> {
        let mut simulation = simulation(&source, math)
            .backend(backend)
            .agents(arguments.x.len() as u32)
            .steps(0);
        if words {
            simulation.set_input("a", arguments.a.clone())?;
            simulation.set_input("b", arguments.b.clone())?;
        } else {
            simulation.set_input("x", arguments.x.clone())?;
            simulation.set_input("y", arguments.y.clone())?;
        }
        let run = simulation.run()?;
        Ok(run
            .output::<f32>("z")
            .expect("an output of floats")
            .to_vec())
    };
    let (truth, got) = (results(Backend::Cpu)?, results(Backend::Gpu)?);
    let mut found = Found::default();
    for (k, (&truth, &got)) in truth.iter().zip(&got).enumerate() {
        let at = match words {
            true => [arguments.a[k], arguments.b[k]],
            false => [arguments.x[k].to_bits(), arguments.y[k].to_bits()],
        };
        let denormal = |bits: u32| f32::from_bits(bits).is_subnormal();
        if truth.is_subnormal() || (!words && at.into_iter().any(denormal)) {
            continue;
        }
        found.count += 1;
        let error = apart(truth, got);
        let (low, high) = case.range;
        let inside = |bits: u32| (low..=high).contains(&f32::from_bits(bits));
        let first_alone = !case.call.contains(" y");
        if words || (inside(at[0]) && (first_alone || inside(at[1]))) {
            found.usual = found.usual.max(error);
        }
        if error.is_infinite() || error.is_nan() {
            found.lost += 1;
        } else if error > found.worst {
            found = Found {
                worst: error,
                at,
                ..found
            };
        }
    }
    Ok(found)
}

/// A model with one kind of mathematics.
///
/// # Panics
/// If it does not compile.
pub fn simulation(source: &str, math: Math) -> Simulation {
    let options = Options {
        math,
        ..Options::default()
    };
    let artifact = compile_with(source, options);
    Simulation::from_artifact(artifact.unwrap_or_else(|found| panic!("{found:#?}\n{source}")))
}

/// In units in the last place; infinities count as the next float after the largest, had the format one.
fn apart(truth: f32, got: f32) -> f64 {
    let next = 2.0_f64.powi(128);
    let wide = match truth.is_infinite() {
        true => next.copysign(f64::from(truth)),
        false => f64::from(truth),
    };
    ulps(got, wide)
}
