//! The one comparison of runs: first their shapes, then their values.

use crate::{
    run::Run,
    values::{Column, Values},
};
use sim_compiler::manifest::Scalar;
use std::fmt;

/// How far the floats of two runs may be apart. Integers and truth values have the same bits always.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// The same bits; NaN of any payload is one value.
    Bits,
    /// The same, but zeros of either sign are equal: a GPU does not distinguish them.
    ZerosOfEitherSign,
    /// Apart by at most this part of the output's largest number: small outputs are held as tightly as large
    /// ones. Infinities and NaN are at the same places.
    OfLargest(f64),
    /// Apart by at most this part of the number itself.
    OfEach(f64),
    /// Apart by at most this.
    Absolute(f64),
}

/// Where two runs differ first.
#[derive(Clone, Debug, PartialEq)]
pub enum Difference {
    /// They have other columns: their names here and there.
    Columns {
        /// Outputs, states or agents.
        what: &'static str,
        /// Names and shapes.
        got: Vec<String>,
        /// The same of the run that it is compared with.
        expected: Vec<String>,
    },
    /// A value that was sampled as the run went on.
    Sample {
        /// What was recorded or observed.
        name: String,
        /// The sample, from 0.
        sample: usize,
        /// The place within the sample's values.
        at: usize,
        /// The value, and its bits.
        got: String,
        /// What it should be.
        expected: String,
    },
    /// A value.
    Value {
        /// The output or state, or `steps`.
        name: String,
        /// The place of the agent in the run, from 0.
        agent: usize,
        /// The place within the agent's values.
        at: usize,
        /// The value, and its bits.
        got: String,
        /// What it should be.
        expected: String,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Columns {
                what,
                got,
                expected,
            } => write!(
                f,
                "the {what} are [{}], expected [{}]",
                got.join(", "),
                expected.join(", ")
            ),
            Difference::Sample {
                name,
                sample,
                at,
                got,
                expected,
            } => write!(
                f,
                "sample {sample} of `{name}`, value {at}, is {got}, expected {expected}"
            ),
            Difference::Value {
                name,
                agent,
                at,
                got,
                expected,
            } => write!(
                f,
                "`{name}` of agent {agent}, value {at}, is {got}, expected {expected}"
            ),
        }
    }
}

/// Holds outputs, states, series and steps of a run against those of another.
///
/// # Errors
/// The first difference.
pub fn compare(got: &Run, expected: &Run, tolerance: Tolerance) -> Result<(), Difference> {
    outputs(got, expected, tolerance)?;
    columns("states", got.states(), expected.states(), tolerance)?;
    columns(
        "world states",
        got.world_states(),
        expected.world_states(),
        tolerance,
    )?;
    let ends = |run: &Run| -> Option<Vec<(u32, bool)>> {
        let (steps, stopped) = (run.steps().ok()?, run.stopped().ok()?);
        Some(steps.zip(stopped).collect())
    };
    let (got, expected) = match (ends(got), ends(expected)) {
        (Some(got), Some(expected)) if got.len() == expected.len() => (got, expected),
        // Runs that keep nothing have nothing to compare.
        (got, expected) => {
            let agents = |ends: Option<Vec<_>>| vec![format!("{:?}", ends.map(|it| it.len()))];
            return Err(Difference::Columns {
                what: "agents",
                got: agents(got),
                expected: agents(expected),
            });
        }
    };
    for (agent, (got, expected)) in got.into_iter().zip(expected).enumerate() {
        if got != expected {
            let shown = |(steps, stopped): (u32, bool)| format!("{steps}, stopped: {stopped}");
            return Err(Difference::Value {
                name: "steps".to_owned(),
                agent,
                at: 0,
                got: shown(got),
                expected: shown(expected),
            });
        }
    }
    Ok(())
}

/// What was recorded and observed. Runs of one model with as many samples took them after the same steps.
fn series(got: &Run, expected: &Run, tolerance: Tolerance) -> Result<(), Difference> {
    let [of_got, of_expected] =
        [got, expected].map(|run| run.series().iter().map(|series| &series.column));
    let difference = columns("series", of_got, of_expected, tolerance);
    difference.map_err(|difference| match difference {
        Difference::Value {
            name,
            agent: sample,
            at,
            got,
            expected,
        } => Difference::Sample {
            name,
            sample,
            at,
            got,
            expected,
        },
        other => other,
    })
}

/// Holds the outputs and the series of a run against those of another, where states may be kept in another
/// form.
///
/// # Errors
/// The first difference.
pub fn outputs(got: &Run, expected: &Run, tolerance: Tolerance) -> Result<(), Difference> {
    columns("outputs", got.outputs(), expected.outputs(), tolerance)?;
    columns(
        "world outputs",
        got.world_outputs(),
        expected.world_outputs(),
        tolerance,
    )?;
    series(got, expected, tolerance)
}

/// Holds names, types, shapes and lengths of a run's outputs against those of another, for tests that compare
/// the values in ways of their own.
///
/// # Errors
/// Both lists, if they differ.
pub fn layouts(got: &Run, expected: &Run) -> Result<(), Difference> {
    heads("outputs", got.outputs(), expected.outputs())?;
    heads(
        "world outputs",
        got.world_outputs(),
        expected.world_outputs(),
    )
}

/// The outputs of a run, for the agents and worlds that `expected` has: the first ones of the run. And those
/// of `expected`.
///
/// # Errors
/// Both lists, if names, types, shapes or lengths differ then.
pub fn first_agents(got: &Run, expected: &Run) -> Result<Vec<(Column, Column)>, Difference> {
    let (agents, worlds) = (expected.report().agents, expected.report().worlds);
    let of_agents = got
        .outputs()
        .iter()
        .map(|column| column.first_agents(agents as usize));
    let of_worlds = (got.world_outputs().iter()).map(|column| column.first_agents(worlds as usize));
    let got: Vec<Column> = of_agents.chain(of_worlds).collect();
    let expected = [expected.outputs(), expected.world_outputs()].concat();
    heads("outputs", &got, &expected)?;
    Ok(got.into_iter().zip(expected).collect())
}

/// Holds columns against others: names, types, shapes and lengths of all first.
fn columns<'a>(
    what: &'static str,
    got: impl IntoIterator<Item = &'a Column, IntoIter: Clone>,
    expected: impl IntoIterator<Item = &'a Column, IntoIter: Clone>,
    tolerance: Tolerance,
) -> Result<(), Difference> {
    let (got, expected) = (got.into_iter(), expected.into_iter());
    heads(what, got.clone(), expected.clone())?;
    let mut columns = got.zip(expected);
    let first = columns.find_map(|(got, expected)| differences(got, expected, tolerance).next());
    first.map_or(Ok(()), Err)
}

fn heads<'a>(
    what: &'static str,
    got: impl IntoIterator<Item = &'a Column>,
    expected: impl IntoIterator<Item = &'a Column>,
) -> Result<(), Difference> {
    let head = |column: &Column| {
        let (field, count) = (&column.field, column.values.len());
        let shape = &column.shape;
        format!("{}: {:?} {shape:?} of {count}", field.name, field.scalar)
    };
    let got: Vec<String> = got.into_iter().map(head).collect();
    let expected: Vec<String> = expected.into_iter().map(head).collect();
    match got == expected {
        true => Ok(()),
        false => Err(Difference::Columns {
            what,
            got,
            expected,
        }),
    }
}

/// The values of a column that differ from those of another one with the same name, type, shape and length,
/// in order.
pub fn differences<'a>(
    got: &'a Column,
    expected: &'a Column,
    tolerance: Tolerance,
) -> impl Iterator<Item = Difference> + 'a {
    let allowed = Allowed {
        tolerance,
        scale: match tolerance {
            Tolerance::OfLargest(_) => largest(&expected.values),
            Tolerance::Bits
            | Tolerance::ZerosOfEitherSign
            | Tolerance::OfEach(_)
            | Tolerance::Absolute(_) => 0.0,
        },
    };
    let same = move |at: usize| match (&got.values, &expected.values) {
        (Values::F32(_), Values::F32(_)) | (Values::F64(_), Values::F64(_)) => {
            let same = got.values.bits(at) == expected.values.bits(at);
            same || allowed.floats(got.values.number(at), expected.values.number(at))
        }
        (got, expected) => got.bits(at) == expected.bits(at),
    };
    let width = got.shape.iter().skip(1).product::<usize>().max(1);
    // Most columns that are compared are equal: that is found at the speed of memory.
    let count = match same_bits(&got.values, &expected.values) {
        true => 0,
        false => got.values.len(),
    };
    let different = (0..count).filter(move |&at| !same(at));
    different.map(move |at| Difference::Value {
        name: got.field.name.clone(),
        agent: at / width,
        at: at % width,
        got: shown(&got.values, at),
        expected: shown(&expected.values, at),
    })
}

/// Whether values have the same type, number and bits.
fn same_bits(got: &Values, expected: &Values) -> bool {
    match (got, expected) {
        (Values::F32(got), Values::F32(expected)) => {
            let [got, expected] =
                [got, expected].map(|values| bytemuck::cast_slice::<_, u32>(values));
            got == expected
        }
        (Values::F64(got), Values::F64(expected)) => {
            let [got, expected] =
                [got, expected].map(|values| bytemuck::cast_slice::<_, u64>(values));
            got == expected
        }
        (got, expected) => got == expected,
    }
}

/// What a tolerance means for an output.
struct Allowed {
    tolerance: Tolerance,
    /// The largest finite number of the output.
    scale: f64,
}

/// The size of the largest finite float; 0 without any.
pub fn largest(values: &Values) -> f64 {
    match values.scalar().is_float() {
        true => (0..values.len())
            .map(|at| values.number(at))
            .filter(|value| value.is_finite())
            .fold(0.0_f64, |most, value| most.max(value.abs())),
        false => 0.0,
    }
}

impl Allowed {
    fn floats(&self, got: f64, expected: f64) -> bool {
        let same = got.is_nan() && expected.is_nan();
        let within = |most: f64| {
            let finite = got.is_finite() && expected.is_finite();
            got == expected || (finite && (got - expected).abs() <= most)
        };
        same || match self.tolerance {
            Tolerance::Bits => false,
            Tolerance::ZerosOfEitherSign => got == 0.0 && expected == 0.0,
            Tolerance::OfLargest(part) => within(part * self.scale),
            Tolerance::OfEach(part) => within(part * expected.abs()),
            Tolerance::Absolute(most) => within(most),
        }
    }
}

/// A value and its bits.
fn shown(values: &Values, at: usize) -> String {
    match values {
        Values::F32(values) => format!("{:?} ({:#010x})", values[at], values[at].to_bits()),
        Values::F64(values) => format!("{:?} ({:#018x})", values[at], values[at].to_bits()),
        Values::I32(values) => values[at].to_string(),
        Values::U32(values) => values[at].to_string(),
        Values::Bool(values) => values[at].to_string(),
    }
}

/// The words of a column; NaN of any payload is one value.
pub fn words(column: &Column) -> Vec<u32> {
    if let Values::F64(values) = &column.values {
        let plain = |&value: &f64| if value.is_nan() { f64::NAN } else { value };
        return Values::F64(values.iter().map(plain).collect()).words();
    }
    let float = column.field.scalar == Scalar::F32;
    let plain = |word: u32| match float && f32::from_bits(word).is_nan() {
        true => f32::NAN.to_bits(),
        false => word,
    };
    column.values.words().into_iter().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_compiler::manifest::Field;

    fn column(name: &str, shape: &[usize], values: Values) -> Column {
        let scalar = match values {
            Values::F32(_) => Scalar::F32,
            Values::F64(_) => Scalar::F64,
            Values::I32(_) => Scalar::I32,
            Values::U32(_) => Scalar::U32,
            Values::Bool(_) => Scalar::Bool,
        };
        Column {
            field: Field {
                name: name.to_owned(),
                doc: String::new(),
                scalar,
                shape: shape[1..].iter().map(|&n| n as u32).collect(),
                components: 1,
                variants: Vec::new(),
                word: 0,
            },
            shape: shape.to_vec(),
            values,
        }
    }

    /// Two agents: a large output, a small one of two values each, and an integer.
    fn run() -> Vec<Column> {
        vec![
            column("large", &[2], Values::F32(vec![1e6, -3.0])),
            column(
                "small",
                &[2, 2],
                Values::F32(vec![1e-9, 2e-9, 0.0, f32::NAN]),
            ),
            column("count", &[2], Values::I32(vec![3, -4])),
        ]
    }

    fn held(got: &[Column], tolerance: Tolerance) -> Result<(), Difference> {
        columns("outputs", got, &run(), tolerance)
    }

    /// Changes one float.
    fn with(output: usize, at: usize, value: f32) -> Vec<Column> {
        let mut changed = run();
        let Values::F32(values) = &mut changed[output].values else {
            panic!("an output of floats")
        };
        values[at] = value;
        changed
    }

    const ALL: [Tolerance; 4] = [
        Tolerance::Bits,
        Tolerance::ZerosOfEitherSign,
        Tolerance::OfLargest(1e-3),
        Tolerance::OfEach(1e-3),
    ];

    #[test]
    fn a_run_is_like_itself() {
        for tolerance in ALL {
            assert_eq!(held(&run(), tolerance), Ok(()));
        }
        let payload = f32::from_bits(f32::NAN.to_bits() ^ 1);
        assert_eq!(held(&with(1, 3, payload), Tolerance::Bits), Ok(()));
    }

    #[test]
    fn missing_columns_and_other_names_types_and_lengths_are_differences() {
        let mut renamed = run();
        renamed[1].field.name = "tiny".to_owned();
        let mut swapped = run();
        swapped.swap(0, 1);
        let mut shorter = run();
        shorter[2].values = Values::I32(vec![3]);
        let mut typed = run();
        typed[2] = column("count", &[2], Values::U32(vec![3, -4_i32 as u32]));
        let mut shaped = run();
        shaped[1].shape = vec![4];
        let none = Vec::new();
        let fewer = run()[..2].to_vec();
        for wrong in [renamed, swapped, shorter, typed, shaped, fewer, none] {
            for tolerance in ALL {
                let difference = held(&wrong, tolerance).expect_err("it differs");
                assert!(
                    matches!(difference, Difference::Columns { .. }),
                    "{difference}"
                );
            }
        }
    }

    #[test]
    fn a_changed_word_is_found_with_its_agent() {
        let changed = with(1, 2, f32::from_bits(1));
        let difference = held(&changed, Tolerance::Bits).expect_err("a word differs");
        assert_eq!(
            difference.to_string(),
            "`small` of agent 1, value 0, is 1e-45 (0x00000001), expected 0.0 (0x00000000)"
        );
        let mut counted = run();
        counted[2].values = Values::I32(vec![3, -5]);
        for tolerance in ALL {
            let difference = held(&counted, tolerance).expect_err("an integer differs");
            assert_eq!(
                difference.to_string(),
                "`count` of agent 1, value 0, is -5, expected -4"
            );
        }
    }

    #[test]
    fn small_outputs_are_held_as_tightly_as_large_ones() {
        for tolerance in [Tolerance::OfLargest(1e-3), Tolerance::OfEach(1e-3)] {
            assert!(held(&with(1, 1, 2.02e-9), tolerance).is_err(), "1 % off");
            assert!(held(&with(0, 0, 1.01e6), tolerance).is_err(), "1 % off");
            assert_eq!(held(&with(1, 1, 2.001e-9), tolerance), Ok(()));
        }
        // A small number among larger ones.
        let moved = with(0, 1, -3.1);
        assert_eq!(held(&moved, Tolerance::OfLargest(1e-3)), Ok(()));
        assert!(held(&moved, Tolerance::OfEach(1e-3)).is_err());
    }

    #[test]
    fn numbers_that_are_none_stand_where_they_stand() {
        for tolerance in ALL {
            for value in [f32::NAN, f32::INFINITY] {
                assert!(held(&with(0, 0, value), tolerance).is_err(), "{value}");
            }
            assert!(held(&with(1, 3, 0.0), tolerance).is_err(), "a lost NaN");
        }
        let zero = with(1, 2, -0.0);
        assert!(held(&zero, Tolerance::Bits).is_err());
        assert_eq!(held(&zero, Tolerance::ZerosOfEitherSign), Ok(()));
    }
}
