//! A compiled model, and its runs.

use crate::{
    errors::{self, Source, compile_error, run_error},
    interrupt::{self, Watched, refuse_fork},
    run::NativeRun,
    values::{For, Given},
};
use pyo3::{prelude::*, types::PyDict};
use sim_compiler::{
    ir::{self, Expr},
    random::Generator,
    warnings,
};
use sim_runtime::{
    Backend, Control, Error, Field, Manifest, Math, Options, Role, Run, Session, Simulation,
    Variation, compile_with,
};
use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// A run that is followed by one like it handles signals only after it, if it took less.
pub(crate) const SHORT: Duration = Duration::from_millis(5);

/// A compiled model.
#[pyclass(frozen, module = "simc._simc")]
pub(crate) struct Native {
    source: Source,
    manifest: Manifest,
    /// By name what a launch sets.
    borders: HashMap<String, (Role, Field)>,
    /// Whether the model reads the number of steps of the run.
    reads_steps: bool,
    state: Mutex<State>,
}

/// The simulation with the values of the last launch.
struct State {
    simulation: Simulation,
    /// The last launch, if its values were accepted.
    last: Option<Launch>,
    /// The settings that the simulation has.
    placed: Option<Settings>,
    /// Whether the last run took less than [`SHORT`].
    was_short: bool,
}

/// What a run is given.
#[derive(Clone, Debug)]
struct Launch {
    settings: Settings,
    values: BTreeMap<String, (Role, Given)>,
}

/// What a run is given beside values and the seed.
#[derive(Clone, Debug, Default, PartialEq)]
struct Settings {
    agents: Option<u32>,
    steps: Option<u32>,
    world: Option<u32>,
    first_agent: u32,
    population: Option<u32>,
    backend: Backend,
    adapter: Option<String>,
    keep_outputs: bool,
    keep_states: bool,
}

#[pymethods]
impl Native {
    /// Compiles a model.
    #[new]
    #[pyo3(signature = (name, text, generator, math, checks))]
    fn new(
        py: Python<'_>,
        name: String,
        text: String,
        generator: &str,
        math: &str,
        checks: bool,
    ) -> PyResult<Native> {
        let options = Options {
            generator: match generator {
                "keyed-hash" => Generator::KeyedHash,
                "philox4x32-10" => Generator::Philox4x32,
                other => {
                    let known = ["keyed-hash", "philox4x32-10"];
                    return Err(unknown_option("generator", other, &known));
                }
            },
            math: match math {
                "fast" => Math::Fast,
                "precise" => Math::Precise,
                other => return Err(unknown_option("math", other, &["fast", "precise"])),
            },
            checks,
            ..Options::default()
        };
        let source = Source { name, text };
        let artifact = py
            .detach(|| compile_with(&source.text, options))
            .map_err(|diagnostics| compile_error(py, &source, &diagnostics))?;
        let steps = Expr::Launch(ir::Launch::Steps);
        let reads_steps = artifact.program.exprs.contains(&steps);
        let simulation = Simulation::from_artifact(artifact);
        let manifest = simulation.manifest().clone();
        let borders = borders(&manifest);
        Ok(Native {
            source,
            manifest,
            borders,
            reads_steps,
            state: Mutex::new(State {
                simulation,
                last: None,
                placed: None,
                was_short: false,
            }),
        })
    }

    /// Names, types, shapes, defaults and documentation, as JSON.
    fn manifest(&self) -> String {
        self.manifest.json()
    }

    /// Whether the model reads the number of steps of the run.
    fn reads_steps(&self) -> bool {
        self.reads_steps
    }

    /// The warnings about the model, rendered, and as diagnostics.
    fn warnings<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(String, Bound<'py, pyo3::types::PyList>)> {
        let found = py.detach(|| warnings(&self.source.text));
        let text = errors::rendered(&self.source, &found);
        Ok((text, errors::listed(py, &self.source, &found)?))
    }

    /// Runs the model. `settings` has the fields of [`Settings`] by name.
    #[pyo3(signature = (settings, seed, values, handles_signals, progress))]
    fn run(
        &self,
        py: Python<'_>,
        settings: &Bound<'_, PyDict>,
        seed: u64,
        values: &Bound<'_, PyDict>,
        handles_signals: bool,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<NativeRun> {
        let launch = Launch {
            settings: Settings::of(settings)?,
            values: self.values(values)?,
        };
        let watched = Watched {
            handles_signals,
            is_short: self.is_short(&launch.settings),
            progress,
        };
        let run = interrupt::run(py, &watched, |control| {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.run(&launch, seed, control)
        })?;
        let run = run.map_err(|error| errors::of(&self.source, &error))?;
        NativeRun::of(py, run, &self.manifest.outputs)
    }
}

impl Native {
    /// A session with the values of a run, and the source that its errors show.
    pub(crate) fn session(
        &self,
        py: Python<'_>,
        settings: &Bound<'_, PyDict>,
        seed: u64,
        values: &Bound<'_, PyDict>,
    ) -> PyResult<(Source, Session)> {
        refuse_fork()?;
        let launch = Launch {
            settings: Settings::of(settings)?,
            values: self.values(values)?,
        };
        let session = py.detach(|| {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.prepare(&launch)?;
            state.simulation.set_seed(seed);
            state.simulation.session()
        });
        let session = session.map_err(|error| errors::of(&self.source, &error))?;
        Ok((self.source.clone(), session))
    }

    /// Whether the run before this one had the same settings and was short.
    fn is_short(&self, settings: &Settings) -> bool {
        let state = self.state.try_lock();
        state.is_ok_and(|state| {
            state.was_short
                && state
                    .last
                    .as_ref()
                    .is_some_and(|last| last.settings == *settings)
        })
    }

    fn values(&self, values: &Bound<'_, PyDict>) -> PyResult<BTreeMap<String, (Role, Given)>> {
        let mut all = BTreeMap::new();
        for (name, value) in values {
            let name: String = name.extract()?;
            let Some((role, field)) = self.borders.get(&name) else {
                let message = format!("the model has no param, data or input `{name}`");
                return Err(run_error("E0701", &message, None));
            };
            let read = For {
                source: &self.source,
                role: *role,
                field,
            };
            let given = read.read(&value)?;
            all.insert(name, (*role, given));
        }
        Ok(all)
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
    fn give(&self, simulation: &mut Simulation, last: Option<&Settings>) {
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
        let place = |of: &Settings| (of.backend, of.adapter.clone());
        // A backend that is set anew opens its device anew.
        if last.map(place) != Some(place(self)) {
            simulation.set_backend(self.backend);
            simulation.set_adapter(self.adapter.as_deref());
        }
    }
}

impl State {
    fn run(&mut self, launch: &Launch, seed: u64, control: &Control<'_>) -> Result<Run, Error> {
        let variation = match self.variation(launch) {
            Some(variation) => variation,
            None => {
                self.prepare(launch)?;
                Variation::new()
            }
        };
        let started = Instant::now();
        let mut done = None;
        let variations = [variation.seed(seed)];
        let result = (self.simulation).run_each(&variations, control, |_, run| done = Some(run));
        self.was_short = started.elapsed() < SHORT;
        if result.is_err() {
            // The next launch must not vary one that cannot be bound.
            self.last = None;
        }
        result?;
        done.ok_or(Error::Cancelled)
    }

    /// How a launch differs from the last one, if only in the values of params and inputs: what the last one
    /// computed is then used again.
    fn variation(&self, launch: &Launch) -> Option<Variation> {
        let last = self.last.as_ref()?;
        let same_names = last.values.keys().eq(launch.values.keys());
        if last.settings != launch.settings || !same_names {
            return None;
        }
        let mut variation = Variation::new();
        let both = last.values.values().zip(&launch.values);
        for ((_, before), (name, (role, now))) in both {
            if now.is_same(before) {
                continue;
            }
            variation = match role {
                Role::Param => variation.param(name, now.array.clone()),
                Role::Input => variation.input(name, now.array.clone()),
                _ => return None,
            };
        }
        Some(variation)
    }

    fn prepare(&mut self, launch: &Launch) -> Result<(), Error> {
        let last = self.placed.replace(launch.settings.clone());
        self.last = None;
        (launch.settings).give(&mut self.simulation, last.as_ref());
        for (name, (role, given)) in &launch.values {
            let array = given.array.clone();
            match role {
                Role::Param => self.simulation.set_param(name, array)?,
                Role::Data => self.simulation.set_data(name, array)?,
                _ => self.simulation.set_input(name, array)?,
            }
        }
        self.last = Some(launch.clone());
        Ok(())
    }
}

pub(crate) fn borders(manifest: &Manifest) -> HashMap<String, (Role, Field)> {
    let params = manifest
        .params
        .iter()
        .map(|param| (Role::Param, &param.field));
    let data = manifest.data.iter().map(|data| (Role::Data, &data.field));
    let worlds = manifest.world_rows().inputs.iter();
    let inputs = manifest.inputs.iter().chain(worlds);
    let inputs = inputs.map(|input| (Role::Input, &input.field));
    let all = params.chain(data).chain(inputs);
    all.map(|(role, field)| (field.name.clone(), (role, field.clone())))
        .collect()
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

fn unknown_option(what: &str, given: &str, known: &[&str]) -> PyErr {
    run_error(
        "option",
        &format!("there is no {what} `{given}`"),
        Some(&format!("there are {}", known.join(", "))),
    )
}
