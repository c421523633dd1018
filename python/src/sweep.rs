//! Many runs of a model with other params, and the statistics of each.

use crate::{
    errors::{Source, run_error},
    values::For,
};
use numpy::{PyArray1, PyArray3, PyArrayMethods, PyUntypedArray};
use pyo3::{prelude::*, types::PyDict};
use rayon::prelude::*;
use sim_runtime::{
    Array, Column, Control, Error, Field, Manifest, Report, Role, Run, SeriesOf, Simulation,
    Statistics, Values, Variation,
};

/// Outputs of more bytes than this are reduced where they are computed, and not kept.
pub(crate) const MOST_KEPT: u64 = 4 << 20;
/// Bytes of outputs of all runs that are kept; of more, statistics alone are.
const MOST_KEPT_OF_ALL: usize = 64 << 20;
/// Numbers of a row of statistics.
const NUMBERS: usize = 10;

/// Values of a param, one per point.
pub(crate) struct Axis {
    name: String,
    values: Array,
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
        if values.len() != points * width {
            let message = format!(
                "param `{}` needs {points} times {width} values, but was given {}",
                field.name,
                values.len()
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
        let scalar = self.values.scalar();
        let width = self.width * scalar.words() as usize;
        let own = &self.values.words()[point * width..(point + 1) * width];
        Array::shaped(scalar, own, self.shape.clone())
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

/// What the runs of a sweep gave. Statistics are computed when they are asked for, as those of a run are.
#[pyclass(frozen)]
pub(crate) struct NativeSweep {
    outputs: Vec<Kept>,
    kept_bytes: usize,
    observed: Vec<Observed>,
    /// Of the first run.
    report: Option<Report>,
    /// The steps of all agents of all runs.
    #[pyo3(get)]
    agent_steps: u64,
}

/// An output of all runs.
struct Kept {
    field: Field,
    /// Of the first runs: their values are not kept.
    reduced: Vec<Vec<Statistics>>,
    /// Of the runs after them, one after the other.
    values: Option<Values>,
    /// Of one run.
    shape: Vec<usize>,
}

impl Kept {
    /// The statistics of the runs whose values are kept.
    fn statistics(&self) -> Vec<Vec<Statistics>> {
        let Some(values) = &self.values else {
            return Vec::new();
        };
        let each = self.shape.iter().product::<usize>().max(1);
        let of = |run: usize| {
            let run = run * each..(run + 1) * each;
            let column = Column {
                field: self.field.clone(),
                values: values.part(run),
                shape: self.shape.clone(),
            };
            column.statistics()
        };
        (0..values.len() / each).into_par_iter().map(of).collect()
    }

    /// Drops the values.
    fn reduce(&mut self) {
        self.reduced.extend(self.statistics());
        self.values = None;
    }
}

/// A series of all runs.
struct Observed {
    name: String,
    of: &'static str,
    steps: Vec<u32>,
    /// Of one run.
    shape: Vec<usize>,
    /// One run after the other.
    values: Option<Values>,
}

impl NativeSweep {
    /// Runs all variations.
    ///
    /// # Errors
    /// Any error of a run.
    pub(crate) fn of(
        simulation: &Simulation,
        manifest: &Manifest,
        variations: &[Variation],
        control: &Control<'_>,
    ) -> Result<NativeSweep, Error> {
        let fields = manifest.outputs.iter();
        let fields = fields.chain(&manifest.world_rows().outputs);
        let kept = |field: &Field| Kept {
            field: field.clone(),
            reduced: Vec::new(),
            values: None,
            shape: Vec::new(),
        };
        let mut found = NativeSweep {
            outputs: fields.map(kept).collect(),
            kept_bytes: 0,
            observed: Vec::new(),
            report: None,
            agent_steps: 0,
        };
        simulation.run_each(variations, control, |_, run| found.take(run))?;
        Ok(found)
    }

    fn take(&mut self, run: Run) {
        self.agent_steps += run.agent_steps();
        if self.report.is_none() {
            self.report = Some(run.report().clone());
        }
        self.observe(&run);
        for output in &mut self.outputs {
            let name = &output.field.name;
            let Ok(column) = run.column(name) else {
                // The run was reduced where it was computed.
                let statistics = run.statistics(name).unwrap_or_default();
                output.reduce();
                output.reduced.push(statistics);
                continue;
            };
            self.kept_bytes += 4 * column.values.len();
            append(&mut output.values, &column.values);
            output.shape.clone_from(&column.shape);
        }
        if self.kept_bytes > MOST_KEPT_OF_ALL {
            self.outputs.iter_mut().for_each(Kept::reduce);
            self.kept_bytes = 0;
        }
    }

    fn observe(&mut self, run: &Run) {
        let observed = run.series().iter();
        let observed = observed.filter(|series| !matches!(series.of, SeriesOf::Agents));
        for (at, series) in observed.enumerate() {
            if self.observed.len() == at {
                self.observed.push(Observed {
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
            append(&mut self.observed[at].values, &series.column.values);
        }
    }
}

#[pymethods]
impl NativeSweep {
    /// The names of outputs.
    #[getter]
    fn names(&self) -> Vec<String> {
        let names = self.outputs.iter().map(|output| output.field.name.clone());
        names.collect()
    }

    /// The statistics of an output, of shape `(points, rows, 10)`; `None` if there is no such output.
    fn statistics<'py>(
        &self,
        py: Python<'py>,
        name: &str,
    ) -> PyResult<Option<Bound<'py, PyArray3<f64>>>> {
        let mut outputs = self.outputs.iter();
        let Some(output) = outputs.find(|output| output.field.name == name) else {
            return Ok(None);
        };
        let kept = py.detach(|| output.statistics());
        let all = || output.reduced.iter().chain(&kept);
        let rows = all().next().map_or(0, Vec::len);
        let points = all().count();
        let numbers: Vec<f64> = all().flatten().flat_map(numbers).collect();
        let array = PyArray1::from_vec(py, numbers).reshape([points, rows, NUMBERS])?;
        Ok(Some(array))
    }

    /// By series: its name, of whom it is, its steps, and its values with a first dimension for points.
    fn series<'py>(&self, py: Python<'py>) -> PyResult<Vec<OfPython<'py>>> {
        let of = |observed: &Observed| {
            let values = observed.values.clone().unwrap_or(Values::U32(Vec::new()));
            let one = observed.shape.iter().product::<usize>().max(1);
            let mut shape = vec![values.len() / one];
            shape.extend(&observed.shape);
            let array = crate::arrays::of_values(py, values, &shape)?;
            let steps = PyArray1::from_vec(py, observed.steps.clone());
            Ok((observed.name.clone(), observed.of, steps, array))
        };
        self.observed.iter().map(of).collect()
    }

    /// The report of the first run.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let report = self.report.as_ref();
        report
            .map(|report| crate::report::dictionary(py, report))
            .transpose()
    }
}

/// A series as Python gets it.
type OfPython<'py> = (
    String,
    &'static str,
    Bound<'py, PyArray1<u32>>,
    Py<PyUntypedArray>,
);

/// Appends values of a type to those before them.
fn append(all: &mut Option<Values>, new: &Values) {
    match all {
        Some(all) => all.append(new),
        None => *all = Some(new.clone()),
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
