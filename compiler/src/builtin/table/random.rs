//! Random draws, and the pure functions that make numbers of random words.

use super::BLANK;
use crate::builtin::{
    Builtin, Class, Cost, Double, Draw, Meaning, Precise, Pure, Slot, Tolerance, Wgsl,
    eval::ill_typed,
    math::{self, double},
};
use crate::random;
use crate::value::Value;

ids! {
    NORMAL, RANDOM, EXPONENTIAL_FROM, NORMAL_FROM, UNIT,
}

/// The rows, by name.
pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        name: "bernoulli",
        params: &["p"],
        meaning: Meaning::Draw(Draw::Bernoulli),
        doc: "True with chance `p`, from 0 to 1, to 2^-64.",
        example: "bernoulli(1.0)",
    },
    Builtin {
        name: "beta",
        params: &["a", "b"],
        meaning: Meaning::Draw(Draw::Beta),
        doc: "A beta number in [0, 1] with the shapes `a` and `b`, and mean `a / (a + b)`.",
        example: "abs(beta(2.0, 3.0) - 0.5) <= 0.5",
    },
    Builtin {
        name: "binomial",
        params: &["n", "p"],
        meaning: Meaning::Draw(Draw::Binomial),
        doc: "How many of `n` trials of chance `p` succeed; `i32`.",
        example: "binomial(10, 1.0) == 10",
    },
    Builtin {
        name: "categorical",
        params: &["weights"],
        meaning: Meaning::Draw(Draw::Categorical),
        doc: "An index into an array of weights, each as likely as its share of their sum; `i32`.",
        example: "categorical([0.0, 1.0, 0.0]) == 1",
    },
    Builtin {
        name: "cauchy",
        params: &["location", "scale"],
        meaning: Meaning::Draw(Draw::Cauchy),
        doc: "A Cauchy number: median `location`, quartiles `scale` from it, and no mean.",
        example: "cauchy(3.0, 0.0) == 3.0",
    },
    Builtin {
        name: "chi_squared",
        params: &["freedom"],
        meaning: Meaning::Draw(Draw::ChiSquared),
        doc: "A chi-squared number with that many degrees of freedom, which is its mean.",
        example: "chi_squared(3.0) > 0.0",
    },
    Builtin {
        name: "exponential",
        params: &["rate"],
        meaning: Meaning::Draw(Draw::Exponential),
        doc: "An exponential number with mean `1 / rate`, above 0.",
        example: "exponential(2.0) > 0.0",
    },
    Builtin {
        name: "exponential_from",
        params: &["word"],
        meaning: Meaning::Pure(Pure {
            class: Class::Integer,
            params: &[Slot::U32],
            result: Slot::F32,
            eval: exponential_from,
            double: Double::Of(|a| Value::F32(double::exponential_from(word(a[0])))),
            wgsl: Wgsl::helper("exponential_from_word", EXPONENTIAL_FROM_WORD, &[]),
            precise: Precise::Form("precise_exponential_from"),
            cost: Cost::of(27).special(1).float(10).integer(3),
            derivative: &["0.0"],
            tolerance: Tolerance::within(1e-12, 1e-4),
            ..BLANK
        }),
        doc: "The exponential number of rate 1 that a random word stands for: -log((`word` + 1/2) / 2^32).",
        example: "exponential_from(0x7fffffffu) == exponential_from(0x80000000u)",
    },
    Builtin {
        name: "gamma",
        params: &["shape", "scale"],
        meaning: Meaning::Draw(Draw::Gamma),
        doc: "A gamma number with mean `shape * scale` and variance `shape * scale * scale`.",
        example: "gamma(2.0, 0.5) > 0.0",
    },
    Builtin {
        name: "geometric",
        params: &["p"],
        meaning: Meaning::Draw(Draw::Geometric),
        doc: "How many trials of chance `p` it takes to the first success, from 1 on; `i32`.",
        example: "geometric(1.0) == 1",
    },
    Builtin {
        name: "laplace",
        params: &["location", "scale"],
        meaning: Meaning::Draw(Draw::Laplace),
        doc: "A Laplace number: an exponential one of mean `scale` from `location`, on either side.",
        example: "laplace(3.0, 0.0) == 3.0",
    },
    Builtin {
        name: "lognormal",
        params: &["mu", "sigma"],
        meaning: Meaning::Draw(Draw::LogNormal),
        doc: "The exponential of a normal number of mean `mu` and standard deviation `sigma`.",
        example: "lognormal(0.0, 0.0) == 1.0",
    },
    Builtin {
        name: "normal",
        params: &["mean", "deviation", "a", "b"],
        meaning: Meaning::Draw(Draw::Normal),
        doc: "A normal number; without arguments of mean 0 and standard deviation 1; with `a` and `b` one \
            between these ends, which may be infinite.",
        example: "abs(normal()) < 7.0",
    },
    Builtin {
        name: "normal_from",
        params: &["a", "b"],
        meaning: Meaning::Pure(Pure {
            class: Class::Integer,
            params: &[Slot::U32, Slot::U32],
            result: Slot::F32,
            eval: normal_from,
            double: Double::Of(|a| Value::F32(double::normal_from(word(a[0]), word(a[1])))),
            wgsl: Wgsl::helper("normal_from_words", NORMAL_FROM_WORDS, &[]),
            precise: Precise::Form("precise_normal_from"),
            cost: Cost::of(26).special(3).float(6).integer(4),
            derivative: &["0.0", "0.0"],
            tolerance: Tolerance::within(1e-3, 1e-5),
            ..BLANK
        }),
        doc: "The standard normal number that two random words stand for, after Box and Muller: `a` gives \
            the radius, `b` the angle.",
        example: "normal_from(0xffffffffu, 7u) == 0.0",
    },
    Builtin {
        name: "poisson",
        params: &["mean"],
        meaning: Meaning::Draw(Draw::Poisson),
        doc: "A Poisson number with that mean, from 0 to 2^30; `i32`.",
        example: "poisson(4.0) >= 0",
    },
    Builtin {
        name: "randint",
        params: &["a", "b"],
        meaning: Meaning::Draw(Draw::RandInt),
        doc: "A whole number from `a` to `b - 1`, each as likely; `i32`.",
        example: "randint(3, 4) == 3",
    },
    Builtin {
        name: "random",
        params: &[],
        meaning: Meaning::Draw(Draw::Random),
        doc: "A number in [0, 1), a multiple of 2^-24.",
        example: "random() < 1.0",
    },
    Builtin {
        name: "student_t",
        params: &["freedom"],
        meaning: Meaning::Draw(Draw::StudentT),
        doc: "A number of Student's t distribution with that many degrees of freedom.",
        example: "abs(student_t(4.0)) < 1.0e30",
    },
    Builtin {
        name: "uniform",
        params: &["a", "b"],
        meaning: Meaning::Draw(Draw::Uniform),
        doc: "A number in [`a`, `b`).",
        example: "uniform(2.0, 3.0) < 3.0",
    },
    Builtin {
        name: "unit",
        params: &["word"],
        meaning: Meaning::Pure(Pure {
            class: Class::Integer,
            params: &[Slot::U32],
            result: Slot::F32,
            eval: unit,
            double: Double::Of(|a| Value::F32(double::unit(word(a[0])))),
            wgsl: Wgsl::helper("unit_from_word", UNIT_FROM_WORD, &[]),
            precise: Precise::Same,
            cost: Cost::of(8).float(1).integer(2),
            derivative: &["0.0"],
            ..BLANK
        }),
        doc: "The number in [0, 1) that a random word stands for: its upper 24 bits, in units of 2^-24.",
        example: "unit(0x80000000u) == 0.5",
    },
];

const UNIT_FROM_WORD: &str = "\
fn unit_from_word(word: u32) -> f32 {
    return f32(word >> 8u) * 5.9604644775390625e-8;
}";

/// A logarithm near 0 would have few places: there the series for one minus the uniform number stands.
const EXPONENTIAL_FROM_WORD: &str = "\
fn exponential_from_word(word: u32) -> f32 {
    let u = f32(word) * 2.3283064365386963e-10 + 1.1641532182693481e-10;
    let v = f32(~word) * 2.3283064365386963e-10 + 1.1641532182693481e-10;
    let series = v + v * v * (0.5 + v * (0.33333334 + v * 0.25));
    return select(-log(u), series, word >= 0xfc000000u);
}";

/// The bound keeps the root from a negative number where a driver's `log` of almost 1 is above 0.
const NORMAL_FROM_WORDS: &str = "\
fn normal_from_words(a: u32, b: u32) -> f32 {
    let u = f32(a) * 2.3283064365386963e-10 + 1.1641532182693481e-10;
    let angle = f32(bitcast<i32>(b)) * 1.4629180792671596e-9;
    return sqrt(max(-2.0 * log(u), 0.0)) * cos(angle);
}";

fn word<R>(a: Value<R>) -> u32 {
    match a {
        Value::U32(x) => x,
        Value::I32(_)
        | Value::F32(_)
        | Value::Bool(_)
        | Value::Vec2(_)
        | Value::Vec3(_)
        | Value::Vec4(_) => ill_typed("random word"),
    }
}

fn unit(a: &[Value]) -> Value {
    Value::F32(random::unit(word(a[0])))
}

fn exponential_from(a: &[Value]) -> Value {
    Value::F32(math::exponential_from(word(a[0])))
}

fn normal_from(a: &[Value]) -> Value {
    Value::F32(math::normal_from(word(a[0]), word(a[1])))
}
