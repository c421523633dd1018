//! Derivatives: of a loss over all agents, and of an output agent by agent.

use crate::{errors::run_error, launch::Launch};
use numpy::PyArray1;
use pyo3::{prelude::*, types::PyDict};
use sim_runtime::{
    AgentDerivatives, Control, Differentiated, Element, Error, GradientMode, LossGradient, Role,
    Simulation, Values,
};

/// What is differentiated, and how.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Asked {
    pub(crate) output: String,
    pub(crate) wrt: Vec<String>,
    pub(crate) mode: GradientMode,
}

/// The programs of the last derivatives, and the launch whose values they have.
pub(crate) struct Known {
    asked: Asked,
    launch: Launch,
    programs: Differentiated,
}

/// Computes with the programs for what is asked: the known ones, if they fit but for values.
///
/// # Errors
/// What cannot be differentiated, and any error of a run.
pub(crate) fn with_programs<T>(
    known: &mut Option<Known>,
    simulation: &Simulation,
    (asked, launch, seed): (&Asked, &Launch, u64),
    control: &Control<'_>,
    compute: impl FnOnce(&Differentiated, &Control<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let fitting = known
        .take()
        .filter(|known| known.asked == *asked && known.launch.differs_in_values_only(launch));
    let mut programs = match fitting {
        Some(mut known) => {
            for (name, (role, now)) in &launch.values {
                match role {
                    Role::Param => known.programs.set_param(name, now.clone())?,
                    _ => known.programs.set_input(name, now.clone())?,
                }
            }
            known.programs
        }
        None => {
            let wrt: Vec<&str> = asked.wrt.iter().map(String::as_str).collect();
            simulation.differentiate(&asked.output, &wrt, asked.mode)?
        }
    };
    programs.set_seed(seed);
    let found = compute(&programs, control)?;
    *known = Some(Known {
        asked: asked.clone(),
        launch: launch.clone(),
        programs,
    });
    Ok(found)
}

/// A mode by its name.
///
/// # Errors
/// `RunError`
pub(crate) fn mode(name: &str) -> PyResult<GradientMode> {
    match name {
        "auto" => Ok(GradientMode::Auto),
        "forward" => Ok(GradientMode::Forward),
        "reverse" => Ok(GradientMode::Reverse),
        other => Err(run_error(
            "option",
            &format!("there is no mode `{other}`"),
            Some("there are auto, forward, reverse"),
        )),
    }
}

fn word(mode: GradientMode) -> &'static str {
    match mode {
        GradientMode::Auto => "auto",
        GradientMode::Forward => "forward",
        GradientMode::Reverse => "reverse",
    }
}

/// For Python.
pub(crate) fn gradient<'py>(py: Python<'py>, of: &LossGradient) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("value", of.value)?;
    all.set_item("std_error", of.standard_error)?;
    let slopes = of.slopes.iter();
    let slopes = slopes.map(|slope| (slope.wrt.clone(), slope.value, slope.standard_error));
    all.set_item("slopes", slopes.collect::<Vec<_>>())?;
    all.set_item("agents", of.agents)?;
    all.set_item("steps", of.steps)?;
    all.set_item("mode", word(of.mode))?;
    all.set_item("programs", of.programs)?;
    Ok(all)
}

/// Floats as an array.
fn array(py: Python<'_>, values: Values) -> Bound<'_, PyAny> {
    match values {
        Values::F64(values) => PyArray1::from_vec(py, values).into_any(),
        // Derivatives are floats.
        other => PyArray1::from_vec(py, f32::vec(other).unwrap_or_default()).into_any(),
    }
}

/// For Python: the values, the names of the floats, and an array for each of them.
pub(crate) fn derivatives<'py>(
    py: Python<'py>,
    of: AgentDerivatives,
) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("values", array(py, of.values))?;
    all.set_item("wrt", of.wrt)?;
    let each = of.derivatives.into_iter();
    let each: Vec<_> = each.map(|values| array(py, values)).collect();
    all.set_item("derivatives", each)?;
    all.set_item("joint", of.joint)?;
    Ok(all)
}
