//! What was recorded and observed, in the summary: for each value of a sample the first, the last, the least
//! and the greatest.

use super::{Number, significant};
use crate::{
    columns::{self, Flush},
    number::grouped,
    table::spellings,
};
use serde::Serialize;
use sim_compiler::manifest::SeriesOf;
use sim_runtime::{Series, Values};

/// Most values per sample that have rows of their own.
const MOST_ROWS: usize = 16;

/// A series.
#[derive(Debug, Serialize)]
pub(super) struct SeriesRows {
    name: String,
    kind: &'static str,
    samples: usize,
    /// Steps before the first sample, 0, to those before the second.
    every: u32,
    /// Values of a sample: of all agents or worlds.
    width: usize,
    rows: Vec<Row>,
    /// Of what was observed of the population: the steps before each sample, and its values.
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<Vec<u32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Vec<Vec<Number>>>,
}

/// One value of a sample, or the mean of all agents or worlds.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    /// Are `first` and `last` means?
    of_means: bool,
    first: Number,
    last: Number,
    least: Number,
    greatest: Number,
}

impl SeriesRows {
    /// The rows of a series.
    pub(super) fn of(series: &Series) -> SeriesRows {
        let field = &series.column.field;
        let width = field.values() as usize;
        let per_sample = series.width();
        let of_population = series.of == SeriesOf::Population;
        let names = match width <= MOST_ROWS {
            true => spellings(field, 0),
            false => vec![format!("{} (all {width} values)", field.name)],
        };
        let (elements, stride) = match width <= MOST_ROWS {
            true => (width, width),
            false => (1, 1),
        };
        let row = |(element, name): (usize, String)| {
            let sample = |number: usize| -> Vec<f64> {
                let places = number * per_sample..(number + 1) * per_sample;
                let values = places.skip(element % elements).step_by(stride);
                values.map(|at| value(&series.column.values, at)).collect()
            };
            let samples = series.steps.len();
            let numbers = (0..samples)
                .flat_map(sample)
                .filter(|value| !value.is_nan());
            let (least, greatest) = numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |found, x| {
                (found.0.min(x), found.1.max(x))
            });
            let nothing = least > greatest;
            let or_nan = |value: f64| Number(if nothing { f64::NAN } else { value });
            Row {
                name,
                of_means: per_sample > elements,
                first: Number(mean(&sample(0))),
                last: Number(mean(&sample(samples - 1))),
                least: or_nan(least),
                greatest: or_nan(greatest),
            }
        };
        let values = |number: usize| -> Vec<Number> {
            let places = number * per_sample..(number + 1) * per_sample;
            places
                .map(|at| Number(value(&series.column.values, at)))
                .collect()
        };
        SeriesRows {
            name: field.name.clone(),
            kind: kind(series.of),
            samples: series.steps.len(),
            every: series.steps.get(1).copied().unwrap_or_default(),
            width: per_sample,
            rows: names.into_iter().enumerate().map(row).collect(),
            steps: of_population.then(|| series.steps.clone()),
            values: of_population.then(|| (0..series.steps.len()).map(values).collect()),
        }
    }
}

/// What stands before the name in the model.
fn kind(of: SeriesOf) -> &'static str {
    match of {
        SeriesOf::Agents => "record",
        SeriesOf::Worlds => "world observe",
        SeriesOf::Population => "observe",
    }
}

fn value(values: &Values, at: usize) -> f64 {
    values.number(at)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The rows of all series for people; empty without any.
pub(super) fn table(all: &[SeriesRows]) -> String {
    if all.is_empty() {
        return String::new();
    }
    const HEAD: [&str; 6] = ["series", "samples", "first", "last", "least", "greatest"];
    let mut lines = vec![HEAD.map(str::to_owned).to_vec()];
    for series in all {
        for row in &series.rows {
            let mean = if row.of_means {
                " (means, extremes)"
            } else {
                ""
            };
            let number = |Number(value): Number| significant(value, 7);
            lines.push(vec![
                format!("{} {}{mean}", series.kind, row.name),
                grouped(series.samples as u64),
                number(row.first),
                number(row.last),
                number(row.least),
                number(row.greatest),
            ]);
        }
    }
    columns::table(&lines, Flush::Right)
}
