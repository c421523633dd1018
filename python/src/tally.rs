//! Moments of outputs that come in parts, as bytes that travel between processes.

use crate::{arrays::with_column, errors::run_error, model::Native};
use numpy::PyUntypedArray;
use pyo3::{exceptions::PyKeyError, prelude::*, types::PyBytes};
use sim_runtime::{Field, Tallies};

/// Count, NaNs, mean, standard deviation, and the extremes.
type Row = (u64, u64, Option<f64>, Option<f64>, Option<[f64; 2]>);

/// The exact sums of an output of some agents, or worlds.
#[pyfunction]
pub(crate) fn tally<'py>(
    py: Python<'py>,
    model: &Native,
    name: &str,
    values: &Bound<'py, PyUntypedArray>,
) -> PyResult<Bound<'py, PyBytes>> {
    let field = output(model, name)?;
    let mut tallies = Tallies::new(field);
    with_column(values, field, |column| tallies.add(column))?;
    Ok(PyBytes::new(py, &tallies.to_bytes()))
}

/// The moments of all values that these sums are of: a row per element of the output.
#[pyfunction]
pub(crate) fn moments(model: &Native, name: &str, sums: Vec<Vec<u8>>) -> PyResult<Vec<Row>> {
    let field = output(model, name)?;
    let mut all = Tallies::new(field);
    for bytes in &sums {
        let Some(part) = Tallies::from_bytes(field, bytes) else {
            let message = format!("these are no sums of output `{name}`");
            return Err(run_error("tally", &message, None));
        };
        all.merge(&part);
    }
    let row = |of: sim_runtime::Moments| (of.count, of.nan, of.mean, of.deviation, of.extremes);
    Ok(all.moments().into_iter().map(row).collect())
}

fn output<'a>(model: &'a Native, name: &str) -> PyResult<&'a Field> {
    let of_worlds = model.manifest.world.iter().flat_map(|it| &it.rows.outputs);
    let mut all = model.manifest.outputs.iter().chain(of_worlds);
    let found = all.find(|field| field.name == name);
    found.ok_or_else(|| PyKeyError::new_err(name.to_owned()))
}
