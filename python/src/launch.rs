//! What a run is given: settings and values, from Python.

use crate::{
    errors::{Source, run_error},
    values::{For, are_same},
};
use pyo3::{prelude::*, types::PyDict};
use sim_runtime::{Array, Backend, Devices, Field, Manifest, Role, Simulation};
use std::collections::{BTreeMap, HashMap};

/// A call from Python: settings by name, values by name, whether this is the main thread, and what progress
/// is reported to.
#[derive(FromPyObject)]
pub(crate) struct Call<'py>(
    pub(crate) Bound<'py, PyDict>,
    pub(crate) Bound<'py, PyDict>,
    pub(crate) bool,
    pub(crate) Option<Bound<'py, PyAny>>,
);

/// What a run is given.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    pub(crate) settings: Settings,
    pub(crate) values: BTreeMap<String, (Role, Array)>,
}

/// What a run is given beside values and the seed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Settings {
    pub(crate) agents: Option<u32>,
    pub(crate) steps: Option<u32>,
    pub(crate) world: Option<u32>,
    pub(crate) first_agent: u32,
    pub(crate) population: Option<u32>,
    pub(crate) backend: Backend,
    pub(crate) adapter: Option<String>,
    /// Several devices, in place of a backend and an adapter.
    pub(crate) devices: Option<Devices>,
    pub(crate) keep_outputs: bool,
    pub(crate) keep_states: bool,
}

/// What launches of a model set, by name.
#[derive(Debug)]
pub(crate) struct Borders {
    all: HashMap<String, (Role, Field)>,
}

impl Borders {
    /// Those of a model.
    pub(crate) fn of(manifest: &Manifest) -> Borders {
        let params = (manifest.params.iter()).map(|param| (Role::Param, &param.field));
        let data = (manifest.data.iter()).map(|data| (Role::Data, &data.field));
        let worlds = manifest.world_rows().inputs.iter();
        let inputs = manifest.inputs.iter().chain(worlds);
        let inputs = inputs.map(|input| (Role::Input, &input.field));
        let all = params.chain(data).chain(inputs);
        let all = all.map(|(role, field)| (field.name.clone(), (role, field.clone())));
        Borders { all: all.collect() }
    }

    /// What stands by a name.
    ///
    /// # Errors
    /// `RunError` for an unknown name.
    pub(crate) fn get(&self, name: &str) -> PyResult<&(Role, Field)> {
        self.all.get(name).ok_or_else(|| {
            let message = format!("the model has no param, data or input `{name}`");
            run_error("E0701", &message, None)
        })
    }

    /// Reads what a call gives.
    ///
    /// # Errors
    /// `RunError` for settings and values that are none.
    pub(crate) fn launch(&self, source: &Source, call: &Call<'_>) -> PyResult<Launch> {
        let mut values = BTreeMap::new();
        for (name, value) in &call.1 {
            let name: String = name.extract()?;
            let (role, field) = self.get(&name)?;
            let (role, read) = (
                *role,
                For {
                    source,
                    role: *role,
                    field,
                },
            );
            let given = read.read(&value)?;
            values.insert(name, (role, given));
        }
        Ok(Launch {
            settings: Settings::of(&call.0)?,
            values,
        })
    }
}

impl Launch {
    /// Whether another launch differs only in the values of params and inputs.
    pub(crate) fn differs_in_values_only(&self, other: &Launch) -> bool {
        let both = || self.values.values().zip(other.values.values());
        self.settings == other.settings
            && self.values.keys().eq(other.values.keys())
            && both().all(|((role, before), (_, now))| {
                !matches!(role, Role::Data) || are_same(now, before)
            })
    }
}

impl Settings {
    fn of(settings: &Bound<'_, PyDict>) -> PyResult<Settings> {
        let mut of = Settings {
            keep_outputs: true,
            keep_states: true,
            ..Settings::default()
        };
        for (name, value) in settings {
            let name: String = name.extract()?;
            match name.as_str() {
                "agents" => of.agents = value.extract()?,
                "steps" => of.steps = value.extract()?,
                "world" => of.world = value.extract()?,
                "first_agent" => of.first_agent = value.extract()?,
                "population" => of.population = value.extract()?,
                "adapter" => of.adapter = value.extract()?,
                "devices" => of.devices = Some(devices(&value.extract::<String>()?)?),
                "keep_outputs" => of.keep_outputs = value.extract()?,
                "keep_states" => of.keep_states = value.extract()?,
                "backend" => of.backend = backend(&value.extract::<String>()?)?,
                other => {
                    let known = ["agents", "steps", "backend"];
                    return Err(unknown_option("setting", other, &known));
                }
            }
        }
        Ok(of)
    }

    /// Gives them to a simulation that has those of `last`.
    pub(crate) fn give(&self, simulation: &mut Simulation, last: Option<&Settings>) {
        simulation.forget_settings();
        simulation.set_keep_outputs(self.keep_outputs);
        simulation.set_keep_states(self.keep_states);
        simulation.set_first_agent(self.first_agent);
        if let Some(agents) = self.agents {
            simulation.set_agents(agents);
        }
        if let Some(steps) = self.steps {
            simulation.set_steps(steps);
        }
        if let Some(members) = self.world {
            simulation.set_world(members);
        }
        if let Some(population) = self.population {
            simulation.set_population(population);
        }
        let place = |of: &Settings| (of.backend, of.adapter.clone(), of.devices.clone());
        // A backend that is set anew opens its device anew.
        if last.map(place) != Some(place(self)) {
            simulation.set_backend(self.backend);
            simulation.set_adapter(self.adapter.as_deref());
            simulation.set_devices(self.devices.clone());
        }
    }
}

fn backend(name: &str) -> PyResult<Backend> {
    Ok(match name {
        "auto" => Backend::Auto,
        "gpu" => Backend::Gpu,
        "cpu" => Backend::Cpu,
        "reference" => Backend::Reference,
        other => {
            let known = ["auto", "gpu", "cpu", "reference"];
            return Err(unknown_option("backend", other, &known));
        }
    })
}

fn devices(text: &str) -> PyResult<Devices> {
    text.parse().map_err(|why: String| {
        let message = format!("`devices` is `{text}`: {why}");
        let help = "give \"all\", a number of devices, or a list such as [0, 1]";
        run_error("option", &message, Some(help))
    })
}

/// The error of a word that is none of those that are known.
pub(crate) fn unknown_option(what: &str, given: &str, known: &[&str]) -> PyErr {
    run_error(
        "option",
        &format!("there is no {what} `{given}`"),
        Some(&format!("there are {}", known.join(", "))),
    )
}
