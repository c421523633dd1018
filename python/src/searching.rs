//! Searches whose candidates are evaluated elsewhere, and their fitness there.

use crate::{
    arrays::array,
    errors::{self, Source},
    interrupt::{self, Watched},
    launch::Call,
    model::Native,
    optimise::{self, SearchAsked},
    report,
    values::For,
};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::{prelude::*, types::PyDict};
use sim_runtime::{Column, Error, Searching, Trials, Values};
use std::sync::{Mutex, PoisonError};

/// Runs that are asked for: the generation, if they are of one, their agents, their seeds, whether each has a
/// genome of its own, and the inputs that are searched.
type Asked<'py> = (Option<u32>, u32, Vec<u64>, bool, Bound<'py, PyDict>);

/// A search whose caller evaluates the candidates.
#[pyclass(frozen, module = "simc._simc")]
pub(crate) struct NativeSearch {
    source: Source,
    searching: Mutex<Searching>,
}

#[pymethods]
impl NativeSearch {
    /// Begins a search, and runs nothing.
    #[new]
    fn new(
        py: Python<'_>,
        model: &Native,
        call: Call<'_>,
        seed: u64,
        asked: SearchAsked<'_>,
    ) -> PyResult<NativeSearch> {
        let (source, searching) = model.searching(py, &call, seed, asked)?;
        Ok(NativeSearch {
            source,
            searching: Mutex::new(searching),
        })
    }

    /// The inputs that are searched.
    fn inputs(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, |searching| {
            let inputs = searching.inputs();
            Ok(inputs.map(|field| field.name.clone()).collect())
        })
    }

    /// The runs whose fitness is wanted next; none at the end.
    fn ask<'py>(&self, py: Python<'py>) -> PyResult<Option<Asked<'py>>> {
        let Some(trials) = self.with(py, Searching::ask)? else {
            return Ok(None);
        };
        let inputs = PyDict::new(py);
        for column in trials.inputs {
            let name = column.field.name.clone();
            inputs.set_item(name, array(py, column)?)?;
        }
        let Trials {
            generation,
            agents,
            seeds,
            apart,
            ..
        } = trials;
        Ok(Some((generation, agents, seeds, apart, inputs)))
    }

    /// Takes the fitness of each agent in them, run by run.
    fn tell(&self, py: Python<'_>, values: PyReadonlyArray1<'_, f32>) -> PyResult<()> {
        // A copy: Python may write to the array once the interpreter lock is released.
        let values = values.as_slice()?.to_vec();
        self.with(py, |searching| searching.tell(&values).map(drop))
    }

    /// The result so far.
    fn found<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        optimise::found(py, self.with(py, |searching| searching.found())?)
    }
}

impl NativeSearch {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Searching) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let watched = Watched {
            handles_signals: false,
            is_short: true,
            progress: None,
        };
        let done = interrupt::run(py, &watched, |_| {
            let searching = self.searching.lock();
            work(&mut searching.unwrap_or_else(PoisonError::into_inner))
        })?;
        done.map_err(|error| errors::of(&self.source, &error))
    }
}

/// The fitness of each agent in some runs that a search of this model asks for, run by run, and the report of
/// the last of them. The call has the agents of a run; `trials` are seeds, whether each run has a genome of
/// its own, and the inputs that are searched.
#[pyfunction]
pub(crate) fn fitness<'py>(
    py: Python<'py>,
    model: &Native,
    call: Call<'py>,
    output: &str,
    trials: (Vec<u64>, bool, Bound<'py, PyDict>),
) -> PyResult<(Bound<'py, PyArray1<f32>>, Bound<'py, PyDict>)> {
    let (seeds, apart, given) = trials;
    let mut inputs = Vec::new();
    for (name, values) in &given {
        let (role, field) = model.border(&name.extract::<String>()?)?;
        let read = For {
            source: model.source(),
            role: *role,
            field,
        };
        let given = read.read(&values)?;
        let words = given.words().iter();
        inputs.push(Column {
            field: field.clone(),
            shape: (given.shape().unwrap_or_default().iter())
                .map(|&length| length as usize)
                .collect(),
            values: Values::F32(words.map(|&word| f32::from_bits(word)).collect()),
        });
    }
    let (values, last) = model.fitness(py, &call, output, |agents| Trials {
        generation: None,
        agents,
        seeds,
        apart,
        inputs,
    })?;
    Ok((
        PyArray1::from_vec(py, values),
        report::dictionary(py, &last)?,
    ))
}
