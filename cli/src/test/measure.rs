//! What a run gave, as a test asks for it: values of results, combined in double precision.

use sim_compiler::{
    ir::Owner,
    manifest::SeriesOf,
    testing::{Arithmetic, Fold, Measure, Of, Term},
};
use sim_runtime::{Run, Series, Values};

/// What a measure found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) value: f64,
    /// Of a mean over agents or worlds; none of fewer than two that are independent.
    pub(super) standard_error: Option<f64>,
}

/// The value of a term.
pub(super) fn term(run: &Run, term: &Term) -> Found {
    let plain = |value| Found {
        value,
        standard_error: None,
    };
    match term {
        Term::Number(value) => plain(*value),
        Term::Measure(measure) => found(run, measure),
        Term::Combined(op, sides) => {
            let [a, b] = sides.each_ref().map(|side| self::term(run, side).value);
            plain(match op {
                Arithmetic::Add => a + b,
                Arithmetic::Subtract => a - b,
                Arithmetic::Multiply => a * b,
                Arithmetic::Divide => a / b,
            })
        }
    }
}

fn found(run: &Run, measure: &Measure) -> Found {
    let values = values(run, measure);
    let value = folded(measure.fold, &values);
    let of_agents = matches!(
        measure.of,
        Of::Output(Owner::Agent) | Of::Series(SeriesOf::Agents, Some(_))
    );
    let samples = matches!(measure.of, Of::Series(SeriesOf::Population, _));
    // Agents of a world are not independent of one another; worlds are.
    let worlds = run.report().worlds as usize;
    let standard_error = match measure.fold {
        Fold::Mean if samples => None,
        Fold::Mean if of_agents && worlds < values.len() => {
            let each = values.chunks(values.len() / worlds.max(1));
            let means: Vec<f64> = each.map(|world| folded(Fold::Mean, world)).collect();
            error_of_mean(&means)
        }
        Fold::Mean => error_of_mean(&values),
        _ => None,
    };
    Found {
        value,
        standard_error,
    }
}

fn error_of_mean(values: &[f64]) -> Option<f64> {
    let deviation = folded(Fold::Sd, values);
    (values.len() > 1).then(|| deviation / (values.len() as f64).sqrt())
}

/// The values that a measure combines: one of each agent, world or sample.
fn values(run: &Run, measure: &Measure) -> Vec<f64> {
    let Measure { name, of, .. } = measure;
    let (values, start, width, count) = match of {
        Of::Output(_) => {
            let columns = run.outputs().iter().chain(run.world_outputs());
            let mut named = columns.filter(|column| column.field.name == *name);
            let column = named.next().expect("the checker knows the outputs");
            let count = column.shape[0];
            (&column.values, 0, width(&column.values, count), count)
        }
        Of::Series(of, at) => {
            let mut series = run.series().iter();
            let named = |series: &&Series| series.name() == name && series.of == *of;
            let series = series.find(named).expect("the checker knows the series");
            let samples = series.steps.len();
            let values = &series.column.values;
            let sample = width(values, samples);
            let rows = match of {
                SeriesOf::Population => 1,
                SeriesOf::Agents | SeriesOf::Worlds => series.column.shape[1],
            };
            match at {
                None => (values, 0, sample, samples),
                Some(step) => {
                    let place = series.steps.iter().position(|known| known == step);
                    let place = place.expect("the checker knows when samples are taken");
                    (values, place * sample, sample / rows.max(1), rows)
                }
            }
        }
    };
    let at = |row: usize| number(values, start + row * width + measure.element as usize);
    let tested = |value: f64| match measure.test {
        Some((comparison, other)) => f64::from(u8::from(comparison.holds(value, other))),
        None => value,
    };
    match measure.fold {
        Fold::One(row) => vec![tested(at(row as usize))],
        _ => (0..count).map(|row| tested(at(row))).collect(),
    }
}

fn width(values: &Values, rows: usize) -> usize {
    values.len() / rows.max(1)
}

fn number(values: &Values, at: usize) -> f64 {
    values.number(at)
}

fn folded(fold: Fold, values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let sum = || values.iter().sum::<f64>();
    let truth = |value: bool| f64::from(u8::from(value));
    // `f64::min` and `max` pass over NaN.
    let chosen = |choose: fn(f64, f64) -> f64| {
        let nan = values.iter().any(|value| value.is_nan());
        let best = values.iter().copied().reduce(choose);
        best.filter(|_| !nan).unwrap_or(f64::NAN)
    };
    match fold {
        Fold::Sum => sum(),
        Fold::Mean => sum() / count,
        Fold::Min => chosen(f64::min),
        Fold::Max => chosen(f64::max),
        Fold::Count => values.iter().filter(|value| **value != 0.0).count() as f64,
        Fold::Any => truth(values.iter().any(|value| *value != 0.0)),
        Fold::All => truth(values.iter().all(|value| *value != 0.0)),
        Fold::Var => {
            let mean = sum() / count;
            let squares = values.iter().map(|value| (value - mean) * (value - mean));
            squares.sum::<f64>() / (count - 1.0)
        }
        Fold::Sd => folded(Fold::Var, values).sqrt(),
        Fold::Quantile(fraction) => quantile(values, fraction),
        Fold::One(_) => values.first().copied().unwrap_or(f64::NAN),
    }
}

/// At place p (n - 1) of the sorted values, between two by linear interpolation.
fn quantile(values: &[f64], fraction: f64) -> f64 {
    if values.iter().any(|value| value.is_nan()) || values.is_empty() {
        return f64::NAN;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = fraction * (sorted.len() - 1) as f64;
    let below = sorted[place.floor() as usize];
    let above = sorted[place.ceil() as usize];
    match below == above {
        true => below,
        false => below + place.fract() * (above - below),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_of_a_few_values() {
        let values = [3.0, 1.0, 2.0, 6.0];
        let expected = [
            (Fold::Sum, 12.0),
            (Fold::Mean, 3.0),
            (Fold::Min, 1.0),
            (Fold::Max, 6.0),
            (Fold::Count, 4.0),
            (Fold::Any, 1.0),
            (Fold::All, 1.0),
            (Fold::Var, 14.0 / 3.0),
            (Fold::Quantile(0.0), 1.0),
            (Fold::Quantile(0.5), 2.5),
            (Fold::Quantile(1.0), 6.0),
        ];
        for (fold, value) in expected {
            assert_eq!(folded(fold, &values), value, "{fold:?}");
        }
    }

    #[test]
    fn a_nan_is_not_passed_over() {
        let values = [3.0, f64::NAN, 1.0];
        for fold in [
            Fold::Sum,
            Fold::Mean,
            Fold::Min,
            Fold::Max,
            Fold::Var,
            Fold::Sd,
            Fold::Quantile(0.5),
        ] {
            assert!(folded(fold, &values).is_nan(), "{fold:?}");
        }
    }
}
