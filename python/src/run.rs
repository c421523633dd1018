//! The results of a run, whose arrays Python owns.

use crate::{
    arrays::{array, with_column},
    interrupt::refuse_fork,
    report,
};
use numpy::{PyArray1, PyUntypedArray};
use pyo3::{
    exceptions::PyKeyError,
    prelude::*,
    types::{PyDict, PyList},
};
use sim_runtime::{Column, Field, Parts, Progress, Report, Run, Series, SeriesOf, Statistics};

/// Count, NaNs, mean, standard deviation, standard error, and minimum to maximum with the quartiles.
type Row = (
    u64,
    u64,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    Option<[f64; 5]>,
);

/// What is known of outputs that are not kept: statistics by name, and the steps and stops of all agents.
type Summed = (Vec<(String, Vec<Statistics>)>, u64, u64);

/// The results of a run.
#[pyclass(frozen, module = "simc._simc")]
pub(crate) struct NativeRun {
    /// Arrays by name.
    #[pyo3(get)]
    outputs: Py<PyDict>,
    #[pyo3(get)]
    states: Py<PyDict>,
    #[pyo3(get)]
    world_outputs: Py<PyDict>,
    #[pyo3(get)]
    world_states: Py<PyDict>,
    /// Name, whose values they are, steps, values.
    #[pyo3(get)]
    series: Py<PyList>,
    fields: Vec<Field>,
    /// If outputs are not kept.
    summed: Option<Summed>,
    progress: Vec<u32>,
    report: Report,
}

impl NativeRun {
    /// Takes over the results of a run of a model with these outputs of agents.
    pub(crate) fn of(py: Python<'_>, run: Run, of_agents: &[Field]) -> PyResult<NativeRun> {
        // Kept ones are counted when they are asked for.
        let (steps, stopped) = match run.steps() {
            Ok(_) => (0, 0),
            Err(_) => (run.agent_steps(), run.stopped_agents()),
        };
        let Parts {
            outputs,
            progress,
            statistics,
            states,
            world_outputs,
            world_states,
            series,
            report,
        } = run.into_parts();
        let all = outputs.iter().chain(&world_outputs);
        let fields: Vec<Field> = all.map(|column| column.field.clone()).collect();
        let summed = statistics.map(|all| {
            let names = of_agents.iter().map(|field| field.name.clone());
            (names.zip(all).collect(), steps, stopped)
        });
        Ok(NativeRun {
            outputs: by_name(py, outputs)?,
            states: by_name(py, states)?,
            world_outputs: by_name(py, world_outputs)?,
            world_states: by_name(py, world_states)?,
            series: listed(py, series)?,
            fields,
            summed,
            progress,
            report,
        })
    }

    fn with<R>(&self, py: Python<'_>, name: &str, read: impl FnOnce(&Column) -> R) -> PyResult<R> {
        refuse_fork()?;
        let find = |of: &Py<PyDict>| of.bind(py).get_item(name);
        let found = match find(&self.outputs)? {
            Some(found) => Some(found),
            None => find(&self.world_outputs)?,
        };
        let field = self.fields.iter().find(|field| field.name == name);
        let (Some(found), Some(field)) = (found, field) else {
            return Err(PyKeyError::new_err(name.to_owned()));
        };
        with_column(found.cast::<PyUntypedArray>()?, field, read)
    }
}

#[pymethods]
impl NativeRun {
    /// The statistics of an output: a row per element.
    fn statistics(&self, py: Python<'_>, name: &str) -> PyResult<Vec<Row>> {
        let summed = self.summed.as_ref().and_then(|(all, ..)| {
            let found = all.iter().find(|(known, _)| known == name);
            found.map(|(_, statistics)| statistics.clone())
        });
        let all = match summed {
            Some(statistics) => statistics,
            None => self.with(py, name, Column::statistics)?,
        };
        let row = |of: Statistics| {
            let error = of.standard_error();
            (of.count, of.nan, of.mean, of.deviation, error, of.five)
        };
        Ok(all.into_iter().map(row).collect())
    }

    /// The quantiles of an output: a list per element, empty without numbers.
    fn quantiles(
        &self,
        py: Python<'_>,
        name: &str,
        probabilities: Vec<f64>,
    ) -> PyResult<Vec<Vec<f64>>> {
        self.with(py, name, |column| column.quantiles(&probabilities))
    }

    /// The number of steps of each agent, if outputs are kept.
    fn steps<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        let steps = self.progress.iter().map(|&word| progress(word).steps);
        PyArray1::from_vec(py, steps.collect())
    }

    /// Whether each agent stopped, if outputs are kept.
    fn stopped<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        let stopped = self.progress.iter().map(|&word| progress(word).stopped);
        PyArray1::from_vec(py, stopped.collect())
    }

    /// Whether outputs are kept.
    fn keeps_outputs(&self) -> bool {
        self.summed.is_none()
    }

    /// The sum of the steps of all agents, and how many stopped.
    fn totals(&self) -> (u64, u64) {
        match &self.summed {
            Some((_, steps, stopped)) => (*steps, *stopped),
            None => (self.progress.iter()).fold((0, 0), |(steps, stopped), &word| {
                let progress = progress(word);
                (
                    steps + u64::from(progress.steps),
                    stopped + u64::from(progress.stopped),
                )
            }),
        }
    }

    /// How the run was done.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        report::dictionary(py, &self.report)
    }
}

fn progress(word: u32) -> Progress {
    Progress::from_word(word)
}

fn by_name(py: Python<'_>, columns: Vec<Column>) -> PyResult<Py<PyDict>> {
    let all = PyDict::new(py);
    for column in columns {
        let name = column.field.name.clone();
        all.set_item(name, array(py, column)?)?;
    }
    Ok(all.unbind())
}

fn listed(py: Python<'_>, series: Vec<Series>) -> PyResult<Py<PyList>> {
    let all = PyList::empty(py);
    for series in series {
        let of = match series.of {
            SeriesOf::Agents => "agents",
            SeriesOf::Worlds => "worlds",
            SeriesOf::Population => "population",
        };
        let name = series.column.field.name.clone();
        let steps = PyArray1::from_vec(py, series.steps);
        all.append((name, of, steps, array(py, series.column)?))?;
    }
    Ok(all.unbind())
}
