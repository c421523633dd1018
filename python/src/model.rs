//! A compiled model, and its runs.

use crate::{
    derive::{self, Asked},
    errors::{self, Source, compile_error},
    interrupt::{self, Watched},
    launch::{Borders, Call, Launch, Settings, unknown_option},
    optimise::{self, FitAsked, SearchAsked, loss_of},
    run::NativeRun,
    sweep::{self, Axis, MOST_KEPT, NativeSweep},
    values::are_same,
};
use pyo3::{prelude::*, types::PyDict};
use sim_compiler::{
    ir::{self, Expr},
    random::Generator,
    warnings,
};
use sim_runtime::{
    Array, Control, Differentiated, Error, Field, Manifest, Math, Options, RealType, Report, Role,
    Run, Scalar, Searching, Session, Simulation, Trials, Variation, compile_with,
};
use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// A run that is followed by one like it handles signals only after it, if it took less.
pub(crate) const SHORT: Duration = Duration::from_millis(5);

/// A compiled model.
#[pyclass(frozen, module = "simc._simc")]
pub(crate) struct Native {
    source: Source,
    pub(crate) manifest: Manifest,
    borders: Borders,
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
    /// What computes the last derivatives.
    programs: Option<derive::Known>,
}

#[pymethods]
impl Native {
    /// Compiles a model.
    #[new]
    #[pyo3(signature = (name, text, generator, math, real, checks))]
    fn new(
        py: Python<'_>,
        name: String,
        text: String,
        generator: &str,
        math: &str,
        real: &str,
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
            real: match real {
                "f32" => RealType::F32,
                "f64" => RealType::F64,
                other => return Err(unknown_option("type of floats", other, &["f32", "f64"])),
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
        let simulation = Simulation::from_artifact(artifact)
            .calibration(simc::stored_calibration())
            .pipeline_cache(simc::cache_directory());
        let manifest = simulation.manifest().clone();
        let borders = Borders::of(&manifest);
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
                programs: None,
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

    /// Runs the model.
    fn run(&self, py: Python<'_>, call: Call<'_>, seed: u64) -> PyResult<NativeRun> {
        let launch = self.borders.launch(&self.source, &call)?;
        let is_short = self.is_short(&launch.settings);
        let run = self.with_state(py, &call, is_short, |state, control| {
            state.run(&launch, seed, control)
        })?;
        NativeRun::of(py, run, &self.manifest.outputs)
    }

    /// Runs the model once per seed. Of `points`, each param has as many values.
    fn sweep(
        &self,
        py: Python<'_>,
        call: Call<'_>,
        seeds: Vec<u64>,
        points: &Bound<'_, PyDict>,
    ) -> PyResult<NativeSweep> {
        let (launch, variations) = self.swept(&call, &seeds, points)?;
        self.with_state(py, &call, false, |state, control| {
            state.prepare(&launch, seeds[0])?;
            NativeSweep::of(&state.simulation, &self.manifest, &variations, control)
        })
    }

    /// The seconds of the runs of a sweep from Rust, without statistics: what a benchmark compares with.
    fn time_sweep(
        &self,
        py: Python<'_>,
        call: Call<'_>,
        seeds: Vec<u64>,
        points: &Bound<'_, PyDict>,
    ) -> PyResult<f64> {
        let (launch, variations) = self.swept(&call, &seeds, points)?;
        self.with_state(py, &call, true, |state, _| {
            state.prepare(&launch, seeds[0])?;
            let started = Instant::now();
            (state.simulation).run_each(&variations, &Control::default(), |_, _| {})?;
            Ok(started.elapsed().as_secs_f64())
        })
    }

    /// A loss, and its derivatives by all floats of these params and inputs.
    fn gradient<'py>(
        &self,
        py: Python<'py>,
        call: Call<'py>,
        seed: u64,
        of: &str,
        wrt: Vec<String>,
        mode: &str,
    ) -> PyResult<Bound<'py, PyDict>> {
        let loss = loss_of(of)?;
        let asked = Asked {
            output: loss.output,
            wrt,
            mode: derive::mode(mode)?,
        };
        let launch = self.borders.launch(&self.source, &call)?;
        let gradient = self.with_state(py, &call, false, |state, control| {
            state.differentiated(&asked, &launch, seed, control, |programs, control| {
                programs.gradient(loss.fold, control)
            })
        })?;
        derive::gradient(py, &gradient)
    }

    /// An output of each agent, and its derivatives by all floats of these params and inputs.
    fn derivatives<'py>(
        &self,
        py: Python<'py>,
        call: Call<'py>,
        seed: u64,
        of: String,
        wrt: Vec<String>,
        mode: &str,
    ) -> PyResult<Bound<'py, PyDict>> {
        let asked = Asked {
            output: of,
            wrt,
            mode: derive::mode(mode)?,
        };
        let launch = self.borders.launch(&self.source, &call)?;
        let found = self.with_state(py, &call, false, |state, control| {
            state.differentiated(&asked, &launch, seed, control, Differentiated::derivatives)
        })?;
        derive::derivatives(py, found)
    }

    /// Searches the params at which a loss or residuals are least.
    fn fit<'py>(
        &self,
        py: Python<'py>,
        call: Call<'py>,
        seed: u64,
        asked: FitAsked,
    ) -> PyResult<Bound<'py, PyDict>> {
        let fit = asked.fit()?;
        let launch = self.borders.launch(&self.source, &call)?;
        let (found, history) = self.with_state(py, &call, false, |state, control| {
            state.prepare(&launch, seed)?;
            let mut history = Vec::new();
            let watch: sim_runtime::Watch<'_> = &mut |at| history.push(at.clone());
            let found = state.simulation.fit(&fit, control, watch)?;
            Ok((found, history))
        })?;
        optimise::fitted(py, &found, &history)
    }

    /// Searches the inputs with which a fitness is best.
    fn search<'py>(
        &self,
        py: Python<'py>,
        call: Call<'py>,
        seed: u64,
        asked: SearchAsked<'py>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let search = asked.search()?;
        let launch = self.borders.launch(&self.source, &call)?;
        let found = self.with_state(py, &call, false, |state, control| {
            state.prepare(&launch, seed)?;
            state.simulation.search(&search, control, &mut |_| {})
        })?;
        optimise::found(py, found)
    }
}

impl Native {
    /// A session that begins with the values of a call, and the source that its errors show.
    pub(crate) fn session(
        &self,
        py: Python<'_>,
        call: &Call<'_>,
        seed: u64,
    ) -> PyResult<(Source, Session)> {
        let launch = self.borders.launch(&self.source, call)?;
        let session = self.with_state(py, call, true, |state, _| {
            state.prepare(&launch, seed)?;
            state.simulation.session()
        })?;
        Ok((self.source.clone(), session))
    }

    /// A search that has not begun to run, and the source that its errors show.
    pub(crate) fn searching(
        &self,
        py: Python<'_>,
        call: &Call<'_>,
        seed: u64,
        asked: SearchAsked<'_>,
    ) -> PyResult<(Source, Searching)> {
        let search = asked.search()?;
        let launch = self.borders.launch(&self.source, call)?;
        let searching = self.with_state(py, call, false, |state, _| {
            state.prepare(&launch, seed)?;
            state.simulation.begin_search(&search)
        })?;
        Ok((self.source.clone(), searching))
    }

    /// The fitness of each agent in runs that a search asks for, and the report of the last one.
    pub(crate) fn fitness(
        &self,
        py: Python<'_>,
        call: &Call<'_>,
        output: &str,
        trials: impl FnOnce(u32) -> Trials,
    ) -> PyResult<(Vec<f32>, Report)> {
        let launch = self.borders.launch(&self.source, call)?;
        let agents = launch.settings.agents.or(self.manifest.agents);
        let trials = trials(agents.unwrap_or(0));
        self.with_state(py, call, false, |state, control| {
            state.fitness(&launch, output, &trials, control)
        })
    }

    /// What stands by a name.
    pub(crate) fn border(&self, name: &str) -> PyResult<&(Role, Field)> {
        self.borders.get(name)
    }

    /// What errors show.
    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// Works with the simulation, while Ctrl-C is heeded.
    fn with_state<T: Send>(
        &self,
        py: Python<'_>,
        call: &Call<'_>,
        is_short: bool,
        work: impl FnOnce(&mut State, &Control<'_>) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let watched = Watched {
            handles_signals: call.2,
            is_short,
            progress: call.3.as_ref(),
        };
        let done = interrupt::run(py, &watched, |control| {
            let state = self.state.lock();
            work(&mut state.unwrap_or_else(PoisonError::into_inner), control)
        })?;
        done.map_err(|error| errors::of(&self.source, &error))
    }

    /// The launch of a sweep, and how its runs differ.
    fn swept(
        &self,
        call: &Call<'_>,
        seeds: &[u64],
        points: &Bound<'_, PyDict>,
    ) -> PyResult<(Launch, Vec<Variation>)> {
        let mut launch = self.borders.launch(&self.source, call)?;
        let mut axes = Vec::new();
        for (name, values) in points {
            let name: String = name.extract()?;
            let (_, field) = self.borders.get(&name)?;
            axes.push(Axis::read(&self.source, field, seeds.len(), &values)?);
        }
        let agents = launch.settings.agents.or(self.manifest.agents).unwrap_or(0);
        let words = self.manifest.output_words;
        launch.settings.keep_outputs = u64::from(agents) * u64::from(words) * 4 <= MOST_KEPT;
        launch.settings.keep_states = false;
        let variations = sweep::variations(&axes, seeds);
        Ok((launch, variations))
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
}

impl State {
    fn run(&mut self, launch: &Launch, seed: u64, control: &Control<'_>) -> Result<Run, Error> {
        let variation = match self.variation(launch) {
            Some(variation) => variation,
            None => {
                self.prepare(launch, seed)?;
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
            if are_same(now, before) {
                continue;
            }
            variation = match role {
                Role::Param => variation.param(name, now.clone()),
                Role::Input => variation.input(name, now.clone()),
                _ => return None,
            };
        }
        Some(variation)
    }

    /// Computes with the programs of some derivatives.
    fn differentiated<T>(
        &mut self,
        asked: &Asked,
        launch: &Launch,
        seed: u64,
        control: &Control<'_>,
        compute: impl FnOnce(&Differentiated, &Control<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.prepare(launch, seed)?;
        let of = (asked, launch, seed);
        derive::with_programs(&mut self.programs, &self.simulation, of, control, compute)
    }

    fn fitness(
        &mut self,
        launch: &Launch,
        output: &str,
        trials: &Trials,
        control: &Control<'_>,
    ) -> Result<(Vec<f32>, Report), Error> {
        self.prepare(launch, 0)?;
        // The next launch must not vary this one, which has other inputs than it says.
        self.last = None;
        for column in &trials.inputs {
            // A launch wants a value for each input, also where every run replaces it.
            let mut shape = vec![trials.agents];
            shape.extend(column.field.dims());
            let zeros = vec![0; shape.iter().map(|&length| length as usize).product()];
            let zeros = Array::shaped(Scalar::F32, zeros, shape);
            self.simulation.set_input(&column.field.name, zeros)?;
        }
        let mut values = Vec::with_capacity(trials.values());
        let (mut last, mut failed) = (None, None);
        trials.run(&self.simulation, control, |run| {
            match run.output::<f32>(output) {
                Ok(own) => values.extend_from_slice(own),
                Err(error) => failed = Some(error),
            }
            last = Some(run.report().clone());
        })?;
        match failed {
            Some(error) => Err(error),
            None => Ok((values, last.ok_or(Error::Cancelled)?)),
        }
    }

    /// Gives the simulation all values of a launch.
    fn prepare(&mut self, launch: &Launch, seed: u64) -> Result<(), Error> {
        let last = self.placed.replace(launch.settings.clone());
        self.last = None;
        (launch.settings).give(&mut self.simulation, last.as_ref());
        self.simulation.set_seed(seed);
        for (name, (role, given)) in &launch.values {
            let array = given.clone();
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
