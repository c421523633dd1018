//! Many runs of a model with other params, and the statistics of each.

use crate::{
    errors::{Source, run_error},
    values::{For, Given},
};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::{prelude::*, types::PyDict};
use rayon::prelude::*;
use sim_runtime::{
    Array, Control, Error, Field, Manifest, Report, Role, Run, SeriesOf, Simulation, Statistics,
    Values, Variation,
};

/// Outputs of more bytes than this are reduced where they are computed, and not kept.
pub(crate) const MOST_KEPT: u64 = 4 << 20;
/// Bytes of outputs whose statistics are computed together, on all cores: as many as caches hold.
const TOGETHER: usize = 1 << 20;
/// Numbers of a row of statistics.
const NUMBERS: usize = 10;

/// Values of a param, one per point.
pub(crate) struct Axis {
    name: String,
    values: Given,
    width: usize,
    shape: Vec<u32>,
}

impl Axis {
    /// Reads the values of all points.
    ///
    /// # Errors
    /// Those of values, and another number of them.
    pub(crate) fn read(
        source: &Source,
        field: &Field,
        points: usize,
        values: &Bound<'_, PyAny>,
    ) -> PyResult<Axis> {
        let read = For {
            source,
            role: Role::Param,
            field,
        };
        let (values, width) = (read.read(values)?, field.values() as usize);
        if values.words().len() != points * width {
            let message = format!(
                "param `{}` needs {points} times {width} values, but was given {}",
                field.name,
                values.words().len()
            );
            return Err(run_error("E0704", &message, None));
        }
        Ok(Axis {
            name: field.name.clone(),
            values,
            width,
            shape: field.dims(),
        })
    }

    fn of(&self, point: usize) -> Array {
        let words = self.values.words();
        let own = &words[point * self.width..(point + 1) * self.width];
        Array::shaped(self.values.array.scalar(), own, self.shape.clone())
    }
}

/// The runs of a sweep.
pub(crate) fn variations(axes: &[Axis], seeds: &[u64]) -> Vec<Variation> {
    let of = |(point, &seed): (usize, &u64)| {
        let new = Variation::new().seed(seed);
        axes.iter().fold(new, |variation, axis| {
            variation.param(&axis.name, axis.of(point))
        })
    };
    seeds.iter().enumerate().map(of).collect()
}

/// What the runs of a sweep gave.
pub(crate) struct Found {
    names: Vec<String>,
    /// By output and run, the rows of statistics.
    statistics: Vec<Vec<Vec<Statistics>>>,
    /// What was observed: by run, one after the other.
    series: Vec<Observed>,
    /// Of the first run.
    report: Option<Report>,
    agent_steps: u64,
    kept: Vec<Run>,
    kept_bytes: usize,
}

struct Observed {
    name: String,
    of: &'static str,
    steps: Vec<u32>,
    /// Of one run.
    shape: Vec<usize>,
    values: Option<Values>,
}

impl Found {
    /// Runs all variations.
    ///
    /// # Errors
    /// Any error of a run.
    pub(crate) fn of(
        simulation: &Simulation,
        manifest: &Manifest,
        variations: &[Variation],
        control: &Control<'_>,
    ) -> Result<Found, Error> {
        let outputs = manifest
            .outputs
            .iter()
            .chain(&manifest.world_rows().outputs);
        let names: Vec<String> = outputs.map(|field| field.name.clone()).collect();
        let mut found = Found {
            statistics: names.iter().map(|_| Vec::new()).collect(),
            names,
            series: Vec::new(),
            report: None,
            agent_steps: 0,
            kept: Vec::new(),
            kept_bytes: 0,
        };
        simulation.run_each(variations, control, |_, run| found.take(run))?;
        found.reduce();
        Ok(found)
    }

    fn take(&mut self, run: Run) {
        self.agent_steps += run.agent_steps();
        if self.report.is_none() {
            self.report = Some(run.report().clone());
        }
        self.observe(&run);
        let bytes = |columns: &[sim_runtime::Column]| -> usize {
            columns.iter().map(|column| 4 * column.values.len()).sum()
        };
        self.kept_bytes += bytes(run.outputs()) + bytes(run.world_outputs());
        self.kept.push(run);
        if self.kept_bytes > TOGETHER {
            self.reduce();
        }
    }

    fn observe(&mut self, run: &Run) {
        let observed = run.series().iter();
        let observed = observed.filter(|series| !matches!(series.of, SeriesOf::Agents));
        for (at, series) in observed.enumerate() {
            if self.series.len() == at {
                self.series.push(Observed {
                    name: series.name().to_owned(),
                    of: match series.of {
                        SeriesOf::Worlds => "worlds",
                        SeriesOf::Population | SeriesOf::Agents => "population",
                    },
                    steps: series.steps.clone(),
                    shape: series.column.shape.clone(),
                    values: None,
                });
            }
            let own = &mut self.series[at].values;
            match (own, &series.column.values) {
                (Some(Values::F32(all)), Values::F32(new)) => all.extend(new),
                (Some(Values::I32(all)), Values::I32(new)) => all.extend(new),
                (Some(Values::U32(all)), Values::U32(new)) => all.extend(new),
                (Some(Values::Bool(all)), Values::Bool(new)) => all.extend(new),
                (own, new) => *own = Some(new.clone()),
            }
        }
    }

    /// Computes the statistics of the runs that are kept.
    fn reduce(&mut self) {
        let names = &self.names;
        let of = |run: &Run| -> Vec<Vec<Statistics>> {
            let statistics = |name: &String| run.statistics(name).unwrap_or_default();
            names.iter().map(statistics).collect()
        };
        let found: Vec<_> = self.kept.par_iter().map(of).collect();
        for run in found {
            for (all, own) in self.statistics.iter_mut().zip(run) {
                all.push(own);
            }
        }
        self.kept.clear();
        self.kept_bytes = 0;
    }

    /// For Python: the statistics by output, of shape `(points, rows, 10)`, and what was observed, with a
    /// first dimension for points; the report of the first run; the steps of all agents of all runs.
    pub(crate) fn for_python<'py>(self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let statistics = PyDict::new(py);
        for (name, all) in self.names.iter().zip(&self.statistics) {
            let rows = all.first().map_or(0, Vec::len);
            let numbers: Vec<f64> = all.iter().flatten().flat_map(numbers).collect();
            let shape = [all.len(), rows, NUMBERS];
            statistics.set_item(name, PyArray1::from_vec(py, numbers).reshape(shape)?)?;
        }
        let mut series = Vec::new();
        for observed in self.series {
            let values = observed.values.unwrap_or(Values::U32(Vec::new()));
            let one = observed.shape.iter().product::<usize>().max(1);
            let mut shape = vec![values.len() / one];
            shape.extend(&observed.shape);
            let array = crate::arrays::of_values(py, values, &shape)?;
            let steps = PyArray1::from_vec(py, observed.steps);
            series.push((observed.name, observed.of, steps, array));
        }
        let all = PyDict::new(py);
        all.set_item("statistics", statistics)?;
        all.set_item("series", series)?;
        all.set_item("agent_steps", self.agent_steps)?;
        let report = self
            .report
            .map(|report| crate::report::dictionary(py, &report));
        all.set_item("report", report.transpose()?)?;
        Ok(all)
    }
}

/// Count, NaNs, mean, deviation, standard error, minimum, quartiles and maximum; NaN for what there is not.
fn numbers(of: &Statistics) -> [f64; NUMBERS] {
    let [low, first, median, third, high] = of.five.unwrap_or([f64::NAN; 5]);
    let or_nan = |value: Option<f64>| value.unwrap_or(f64::NAN);
    [
        of.count as f64,
        of.nan as f64,
        or_nan(of.mean),
        or_nan(of.deviation),
        or_nan(of.standard_error()),
        low,
        first,
        median,
        third,
        high,
    ]
}
