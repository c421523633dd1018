//! What is observed and recorded at the points of a sweep: the values of the population as they are, those of
//! worlds and agents as statistics over them.

use super::{
    measure::{Measure, Measures, Plan},
    points::Points,
    table::{Cells, Column, Table},
    tables::{identified, names, statistics, told_apart},
};
use crate::{
    problem,
    results::TableOf,
    table::{cell::number_of, spellings},
};
use sim_compiler::manifest::{self, Manifest, SeriesOf};
use sim_runtime::{Column as Values, Element, Series, Values as Numbers};
use std::collections::BTreeSet;

/// Most cells of the tables of series: about a gibibyte.
const MOST_CELLS: u64 = 1 << 27;

/// A series at a point.
pub(crate) struct Sampled {
    /// By sample: the number of steps before it.
    pub(crate) steps: Vec<u32>,
    values: Kept,
}

enum Kept {
    /// Of one run: the bits of the values of each sample.
    Words(Vec<u64>),
    /// Of several runs: means over them and standard errors, value by value of each sample.
    Means(Vec<[Option<f64>; 2]>),
    /// Over agents or worlds, row by row of each sample.
    Measures(Vec<Measure>),
}

impl Sampled {
    /// Of the runs of a point.
    pub(super) fn of(runs: &[&Series], quantiles: &[f64]) -> Sampled {
        let first = runs[0];
        let samples = 0..first.steps.len();
        let values = match (first.of, runs) {
            (SeriesOf::Population, [one]) => {
                let values = &one.column.values;
                Kept::Words((0..values.len()).map(|at| values.bits(at)).collect())
            }
            (SeriesOf::Population, _) => {
                let places = 0..first.column.values.len();
                Kept::Means(places.map(|at| over_runs(runs, at)).collect())
            }
            (SeriesOf::Worlds | SeriesOf::Agents, _) => {
                let of_sample = |sample| Measure::all(&pooled(runs, sample), quantiles);
                Kept::Measures(samples.flat_map(of_sample).collect())
            }
        };
        Sampled {
            steps: first.steps.clone(),
            values,
        }
    }

    /// The value of a sample that is drawn: that which was observed, or a mean.
    pub(crate) fn mean(&self, field: &manifest::Field, sample: usize, row: usize) -> f64 {
        let width = self.width();
        let at = sample * width + row;
        let found = match &self.values {
            Kept::Words(words) => Some(number_of(field.scalar, words[at])),
            Kept::Means(means) => means[at][0],
            Kept::Measures(measures) => measures[at].of.mean,
        };
        found.unwrap_or(f64::NAN)
    }

    /// Values, or rows of statistics, of a sample.
    pub(crate) fn width(&self) -> usize {
        let count = match &self.values {
            Kept::Words(words) => words.len(),
            Kept::Means(means) => means.len(),
            Kept::Measures(measures) => measures.len(),
        };
        count / self.steps.len().max(1)
    }
}

/// The mean of a value over several runs, and its standard error; none where any run has NaN.
fn over_runs(runs: &[&Series], at: usize) -> [Option<f64>; 2] {
    let value = |run: &&Series| run.column.values.number(at);
    let count = runs.len() as f64;
    let mean = runs.iter().map(value).sum::<f64>() / count;
    let square = |run: &&Series| (value(run) - mean).powi(2);
    let variance = runs.iter().map(square).sum::<f64>() / (count - 1.0);
    let known = |value: f64| (!value.is_nan()).then_some(value);
    [known(mean), known((variance / count).sqrt())]
}

/// The values of all agents or worlds of all runs, of one sample.
fn pooled(runs: &[&Series], sample: usize) -> Values {
    fn part<T: Element>(runs: &[&Series], sample: usize) -> Vec<T> {
        let own = |run: &&Series| -> Vec<T> {
            let width = run.width();
            let values = T::slice(&run.column.values).unwrap_or_default();
            values[sample * width..(sample + 1) * width].to_vec()
        };
        runs.iter().flat_map(own).collect()
    }
    let first = &runs[0].column;
    let values = match &first.values {
        Numbers::F32(_) => Numbers::F32(part(runs, sample)),
        Numbers::F64(_) => Numbers::F64(part(runs, sample)),
        Numbers::I32(_) => Numbers::I32(part(runs, sample)),
        Numbers::U32(_) => Numbers::U32(part(runs, sample)),
        Numbers::Bool(_) => Numbers::Bool(part(runs, sample)),
    };
    let mut shape = first.shape[1..].to_vec();
    if let Some(rows) = shape.first_mut() {
        *rows *= runs.len();
    }
    Values {
        field: first.field.clone(),
        shape,
        values,
    }
}

const KINDS: [TableOf; 3] = [TableOf::Observe, TableOf::WorldObserve, TableOf::Record];

/// The tables of series that there will be, each with the number of its columns.
pub(crate) fn planned(manifest: &Manifest, axes: usize, plan: &Plan<'_>) -> Vec<(TableOf, usize)> {
    let width = |series: &manifest::Series| match (series.of, plan.repeats) {
        (SeriesOf::Population, 1) => series.field.values() as usize,
        (SeriesOf::Population, _) => 2 * series.field.values() as usize,
        (SeriesOf::Worlds | SeriesOf::Agents, _) => {
            names(&series.field).len() * (7 + plan.quantiles.len())
        }
    };
    let own = |of: TableOf| -> Option<usize> {
        let series = manifest.series.iter();
        let own = series.filter(|series| TableOf::of(series.of) == of);
        let widths: Vec<usize> = own.map(width).collect();
        (!widths.is_empty()).then(|| 2 + axes + widths.iter().sum::<usize>())
    };
    let all = KINDS.into_iter();
    all.filter_map(|of| Some((of, own(of)?))).collect()
}

/// Refuses tables that would not fit memory.
///
/// # Errors
/// How many cells they have.
pub(crate) fn refuse_large(
    manifest: &Manifest,
    tables: &[(TableOf, usize)],
    points: usize,
    steps: Option<u32>,
) -> Result<(), crate::failure::Failure> {
    let Some(steps) = steps else {
        return Ok(());
    };
    let rows = |of: TableOf| {
        let series = manifest.series.iter();
        let own = series.filter(|series| TableOf::of(series.of) == of);
        let samples = own.map(|it| manifest.samplings[it.sampling as usize].samples(steps));
        u64::from(samples.max().unwrap_or(0))
    };
    let cells = tables
        .iter()
        .map(|&(of, columns)| rows(of) * columns as u64 * points as u64)
        .sum::<u64>();
    if cells <= MOST_CELLS {
        return Ok(());
    }
    let [cells, most] = [cells, MOST_CELLS].map(crate::number::grouped);
    Err(problem::too_large_sweep(
        &format!(
            "the tables of what the points observe and record have {cells} values, and at most {most} are \
             held"
        ),
        "sample less often, by a larger `every`, or take fewer points or fewer steps",
    )
    .into())
}

/// The tables of series, each with a row per point that has results and per step with a sample.
pub(crate) fn tables(
    points: &Points<'_>,
    plan: &Plan<'_>,
    measures: &Measures,
    manifest: &Manifest,
) -> Vec<(TableOf, Table)> {
    if !plan.samples {
        return Vec::new();
    }
    let has = |of: &TableOf| manifest.series.iter().any(|it| TableOf::of(it.of) == *of);
    let all = KINDS.into_iter().filter(has);
    all.map(|of| (of, table(of, points, plan, measures, manifest)))
        .collect()
}

/// A row: the number of its point, and that of steps.
type Row = (u32, u32);

fn table(
    of: TableOf,
    points: &Points<'_>,
    plan: &Plan<'_>,
    measures: &Measures,
    manifest: &Manifest,
) -> Table {
    let own: Vec<usize> = (0..manifest.series.len())
        .filter(|&number| TableOf::of(manifest.series[number].of) == of)
        .collect();
    let mut rows: Vec<Row> = Vec::new();
    for (point, measured) in measures.points.iter().enumerate() {
        let Ok(measured) = measured else { continue };
        let steps = own
            .iter()
            .flat_map(|&number| &measured.series[number].steps);
        let steps: BTreeSet<u32> = steps.copied().collect();
        rows.extend(steps.into_iter().map(|step| (point as u32, step)));
    }
    let mut columns = identified(points, rows.iter().map(|&(point, _)| point));
    columns.push(Column {
        name: "step".to_owned(),
        cells: Cells::numbers(rows.iter().map(|&(_, step)| step)),
    });
    for number in own {
        let field = &manifest.series[number].field;
        let found = |row: usize| -> Option<(&Sampled, usize)> {
            let (point, step) = rows[row];
            let sampled = &measures.points[point as usize].as_ref().ok()?.series[number];
            let sample = sampled.steps.binary_search(&step).ok()?;
            Some((sampled, sample * sampled.width()))
        };
        match of {
            TableOf::Observe => observed(&mut columns, field, rows.len(), plan.repeats, &found),
            TableOf::Points
            | TableOf::Outputs
            | TableOf::Worlds
            | TableOf::WorldObserve
            | TableOf::Record => {
                for (at, name) in names(field).iter().enumerate() {
                    let measure = |row: usize| {
                        let (sampled, first) = found(row)?;
                        match &sampled.values {
                            Kept::Measures(measures) => measures.get(first + at),
                            Kept::Words(_) | Kept::Means(_) => None,
                        }
                    };
                    statistics(&mut columns, name, plan.quantiles, rows.len(), &measure);
                }
            }
        }
    }
    Table {
        rows: rows.len(),
        columns: told_apart(columns, points),
    }
}

/// The columns of what is observed of the population: its values, or means over several runs and their
/// standard errors.
fn observed<'a>(
    columns: &mut Vec<Column>,
    field: &manifest::Field,
    rows: usize,
    repeats: usize,
    found: &dyn Fn(usize) -> Option<(&'a Sampled, usize)>,
) {
    for (at, name) in spellings(field, 0).into_iter().enumerate() {
        let word = |row: usize| {
            let (sampled, first) = found(row)?;
            match &sampled.values {
                Kept::Words(words) => words.get(first + at).copied(),
                Kept::Means(_) | Kept::Measures(_) => None,
            }
        };
        let mean = |row: usize, which: usize| {
            let (sampled, first) = found(row)?;
            match &sampled.values {
                Kept::Means(means) => means.get(first + at)?[which],
                Kept::Words(_) | Kept::Measures(_) => None,
            }
        };
        if repeats == 1 {
            let cells = Cells::of(field, (0..rows).map(word));
            columns.push(Column { name, cells });
            continue;
        }
        for (which, what) in ["mean", "std_err"].into_iter().enumerate() {
            let cells = (0..rows).map(|row| mean(row, which)).collect();
            columns.push(Column {
                name: format!("{name}.{what}"),
                cells: Cells::Double(cells),
            });
        }
    }
}
