//! On a GPU, results are NaN exactly where they are on the CPU. With `--math precise`, infinities and signed
//! zeros are equal, too.

use super::{
    expressions::{expressions, float, integer},
    model, run,
};
use sim_compiler::{
    Math,
    builtin::{BuiltinId, precise},
    manifest::Scalar,
};
use sim_runtime::Backend;
use sim_tests::{compare::layouts, launch::has_gpu};

/// Outputs per kernel: drivers take long to compile all expressions at once.
const OUTPUTS: usize = 16;
/// Products of four larger arguments are infinite, and reciprocals of much larger ones flushed to 0.
const LARGEST: f32 = 1e9;
/// And those of smaller ones.
const SMALLEST: f32 = 1e-9;

/// How a result differs from the CPU's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Difference {
    /// A number in place of NaN.
    NanLost,
    /// NaN in place of a number.
    NanMade,
    Infinity,
    Zero,
    /// The other zero.
    Sign,
}

fn difference(expected: f32, got: f32) -> Option<Difference> {
    // Devices flush these.
    let tiny = |x: f32| x != 0.0 && x.abs() < 2.0 * f32::MIN_POSITIVE;
    if expected.is_nan() != got.is_nan() {
        return Some(match expected.is_nan() {
            true => Difference::NanLost,
            false => Difference::NanMade,
        });
    }
    if expected.is_nan() || expected.to_bits() == got.to_bits() || tiny(expected) || tiny(got) {
        return None;
    }
    if (expected.is_infinite() || got.is_infinite()) && expected != got {
        return Some(Difference::Infinity);
    }
    match (expected == 0.0, got == 0.0) {
        (true, true) => Some(Difference::Sign),
        (true, false) | (false, true) => Some(Difference::Zero),
        (false, false) => None,
    }
}

/// Whether it is a call of a function with a precise form, and nothing else.
fn has_form(expression: &str) -> bool {
    let name = expression.split('(').next().unwrap_or_default();
    BuiltinId::find(name).is_some_and(|id| precise::form(id).is_some())
        && !expression.contains(['*', '+', '-', '/'])
}

/// The first inadmissible difference of an output, in words.
fn complaint(math: Math, expression: &str, agent: usize, a: f32, b: f32) -> Option<String> {
    let f = [0, 1, 2].map(|which| float(agent, which));
    if f.iter().any(|x| x.is_subnormal()) {
        return None;
    }
    let strict = math == Math::Precise && has_form(expression);
    let is_usual = |x: f32| x.is_nan() || x == 0.0 || (SMALLEST..=LARGEST).contains(&x.abs());
    let usual = f.into_iter().all(is_usual);
    let difference = difference(a, b)?;
    let counts = match difference {
        Difference::NanLost | Difference::NanMade => strict || usual,
        Difference::Infinity | Difference::Zero => strict,
        // A normal number of 0 may be either.
        Difference::Sign => strict && !expression.starts_with("normal_from"),
    };
    let u = [0, 1].map(|which| integer(agent, which));
    counts.then(|| {
        format!("{math:?}: {expression}: {difference:?}: {b:?}, not {a:?}, f {f:?} u {u:x?}")
    })
}

#[test]
fn special_values_are_those_of_the_cpu() {
    if !has_gpu() {
        return;
    }
    let mut wrong = Vec::new();
    for math in [Math::Precise, Math::Fast] {
        for chunk in expressions().chunks(OUTPUTS) {
            let source = model(chunk);
            let [expected, got] =
                [Backend::Cpu, Backend::Gpu].map(|backend| run(&source, backend, None, math));
            assert_eq!(layouts(&got, &expected), Ok(()));
            assert_eq!(expected.outputs().len(), chunk.len());
            let columns = expected.outputs().iter().zip(got.outputs());
            for ((expected, got), expression) in columns.zip(chunk) {
                if expected.field.scalar != Scalar::F32 {
                    continue;
                }
                let width = expected.field.words() as usize;
                let words = expected.values.words().into_iter().zip(got.values.words());
                let first = words.enumerate().find_map(|(at, (a, b))| {
                    let [a, b] = [a, b].map(f32::from_bits);
                    complaint(math, expression, at / width, a, b)
                });
                wrong.extend(first);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
