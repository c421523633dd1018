//! What a caller holds: a compiled model with the values of its launch, ready to run any number of times.

use crate::{
    batch::Variation,
    bind::{Array, Launch, Settings, bind, find_param, param_words, unknown},
    clock::Stopwatch,
    control::{Control, Tuning},
    cpu::vector::Isa,
    engine::{Engine, SMALL, Wanted},
    error::{Error, Role},
    gpu::Raw,
    launches::{Launches, Model},
    run::{Keep, Report, Run},
    turn::Turns,
};
use sim_compiler::{
    artifact::Artifact,
    manifest::{Field, Manifest},
};
use std::{
    cell::RefCell,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

/// Where a model runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Backend {
    /// On a GPU where there is one, otherwise on the CPU; also there if the run takes less time than opening
    /// a GPU. Never on a software adapter.
    #[default]
    Auto,
    /// On the best adapter, a software one if there is no other.
    Gpu,
    /// On the processor's cores, with its vector instructions.
    Cpu,
    /// On the reference interpreter: slow, and the meaning of the language. It gives what `Cpu` gives, to
    /// the bit.
    Reference,
}

/// A compiled model with the values of its launch.
///
/// The builder methods take and give the simulation; `set_param`, `set_data` and `set_input` do the same in
/// place. [`Simulation::run`] borrows it: a second run uses the first one's device, kernel and buffers, and
/// runs from several threads follow one another. (A run that must not wait for another, since it is called while that
/// one hands over its results or on a thread of rayon's pool, opens a device of its own.)
///
/// Two runs with the same model, values, seed and backend give the same results to the bit.
#[derive(Debug)]
pub struct Simulation {
    artifact: Arc<Artifact>,
    compile_seconds: f64,
    settings: Settings,
    wanted: Wanted,
    instruction_set: Option<Isa>,
    keep: Keep,
    turns: Turns,
    warm: Mutex<Warm>,
}

/// What is kept from run to run.
#[derive(Default)]
struct Warm {
    launch: Option<Arc<Launch>>,
    /// The same with the inputs that the model computes.
    complete: Option<Arc<Launch>>,
    engine: Option<(Engine, String)>,
    /// The engine was chosen because the launch is small.
    for_small: bool,
}

impl std::fmt::Debug for Warm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Warm").finish_non_exhaustive()
    }
}

impl Simulation {
    /// Compiles a model.
    ///
    /// # Errors
    /// [`Error::Compile`] with the compiler's diagnostics.
    pub fn compile(source: &str) -> Result<Simulation, Error> {
        let started = Stopwatch::start();
        let artifact = sim_compiler::compile(source).map_err(|diagnostics| Error::Compile {
            diagnostics,
            source_text: source.to_owned(),
        })?;
        let mut simulation = Simulation::from_artifact(artifact);
        simulation.compile_seconds = started.seconds();
        Ok(simulation)
    }

    /// Takes a model that was compiled before.
    pub fn from_artifact(artifact: Artifact) -> Simulation {
        Simulation {
            artifact: Arc::new(artifact),
            compile_seconds: 0.0,
            settings: Settings::default(),
            wanted: Wanted::default(),
            instruction_set: None,
            keep: Keep::ALL,
            turns: Turns::default(),
            warm: Mutex::default(),
        }
    }

    /// How many agents run; otherwise as many as the model says.
    #[must_use]
    pub fn agents(mut self, agents: u32) -> Simulation {
        self.settings.agents = Some(agents);
        self.changed()
    }

    /// The number of the first agent: the run is that of agents `first .. first + agents` of a larger
    /// population, which have the same draws and results as in a run of all. Otherwise 0.
    #[must_use]
    pub fn first_agent(mut self, first: u32) -> Simulation {
        self.settings.first_agent = first;
        self.changed()
    }

    /// What the model calls `agents`; otherwise `first_agent + agents`. Give it when a population is run in
    /// parts and the model reads `agents`.
    #[must_use]
    pub fn population(mut self, population: u32) -> Simulation {
        self.settings.population = Some(population);
        self.changed()
    }

    /// How many steps the run has; otherwise as many as the model says. With 0 agents are born and finish.
    #[must_use]
    pub fn steps(mut self, steps: u32) -> Simulation {
        self.settings.steps = Some(steps);
        self.changed()
    }

    /// The seed of every draw; otherwise 0.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Simulation {
        self.settings.seed = seed;
        self.changed()
    }

    /// Sets a param: a number, or the elements of an array row by row.
    ///
    /// # Errors
    /// [`Error::UnknownName`], and what is wrong with the value.
    pub fn param(mut self, name: &str, value: impl Into<Array>) -> Result<Simulation, Error> {
        self.set_param(name, value)?;
        Ok(self)
    }

    /// Sets a table, row by row. The number of rows of an open table follows from the number of values.
    ///
    /// # Errors
    /// [`Error::UnknownName`], and what is wrong with the values.
    pub fn data(mut self, name: &str, values: impl Into<Array>) -> Result<Simulation, Error> {
        self.set_data(name, values)?;
        Ok(self)
    }

    /// Sets an input: one row per agent of this run, in order; or one number for all of them. The number of
    /// rows is checked when the run starts.
    ///
    /// # Errors
    /// [`Error::UnknownName`], and what is wrong with the values.
    pub fn input(mut self, name: &str, values: impl Into<Array>) -> Result<Simulation, Error> {
        self.set_input(name, values)?;
        Ok(self)
    }

    /// Where to run.
    #[must_use]
    pub fn backend(mut self, backend: Backend) -> Simulation {
        self.wanted.backend = backend;
        self.cooled()
    }

    /// Runs on the best adapter whose name contains `name` (in any case), as [`crate::adapters`] lists
    /// them; a software adapter too.
    #[must_use]
    pub fn adapter(mut self, name: &str) -> Simulation {
        self.wanted.adapter = Some(name.to_owned());
        self.wanted.backend = Backend::Gpu;
        self.cooled()
    }

    /// The vector instructions of [`Backend::Cpu`]; otherwise the best that the processor has. They change
    /// no result.
    #[must_use]
    pub fn instruction_set(mut self, isa: Isa) -> Simulation {
        self.instruction_set = Some(isa);
        self.cooled()
    }

    /// Bounds for the GPU backend; they change no result.
    #[must_use]
    pub fn tuning(mut self, tuning: Tuning) -> Simulation {
        self.wanted.tuning = tuning;
        self.cooled()
    }

    /// Whether the final states are read back; otherwise they are. Leaving them on the device saves time.
    #[must_use]
    pub fn keep_states(mut self, keep: bool) -> Simulation {
        self.keep.states = keep;
        self
    }

    /// Whether the outputs and step counts of each agent are kept; otherwise they are. Without them a run has their
    /// [`Run::statistics`], [`Run::agent_steps`] and [`Run::stopped_agents`]. If the states are not kept either, a GPU
    /// computes these where the results lie, when fetching the results would take longer.
    #[must_use]
    pub fn keep_outputs(mut self, keep: bool) -> Simulation {
        self.keep.outputs = keep;
        self
    }

    /// A directory where pipelines that a driver compiled are kept, so that the next process need not wait for
    /// them; otherwise none are. It is made when it is needed. What cannot be read or written there is
    /// compiled again.
    #[must_use]
    pub fn pipeline_cache(mut self, directory: Option<PathBuf>) -> Simulation {
        self.wanted.pipeline_cache = directory;
        self
    }

    /// [`Simulation::param`] in place.
    ///
    /// # Errors
    /// The same; the simulation stays as it was.
    pub fn set_param(&mut self, name: &str, value: impl Into<Array>) -> Result<(), Error> {
        let param = find_param(&self.artifact.manifest, name)?;
        let value = value.into();
        param_words(param, Some(&value))?;
        self.settings.params.insert(name.to_owned(), value);
        self.forget_launch();
        Ok(())
    }

    /// [`Simulation::data`] in place.
    ///
    /// # Errors
    /// The same; the simulation stays as it was.
    pub fn set_data(&mut self, name: &str, values: impl Into<Array>) -> Result<(), Error> {
        let tables = &self.artifact.manifest.data;
        let fields = tables.iter().map(|table| &table.field);
        let values = checked(Role::Data, name, fields, values.into())?;
        self.settings.data.insert(name.to_owned(), values);
        self.forget_launch();
        Ok(())
    }

    /// [`Simulation::input`] in place.
    ///
    /// # Errors
    /// The same; the simulation stays as it was.
    pub fn set_input(&mut self, name: &str, values: impl Into<Array>) -> Result<(), Error> {
        let inputs = &self.artifact.manifest.inputs;
        let fields = inputs.iter().map(|input| &input.field);
        let values = checked(Role::Input, name, fields, values.into())?;
        self.settings.inputs.insert(name.to_owned(), values);
        self.forget_launch();
        Ok(())
    }

    /// Names, types, shapes, defaults and documentation of everything that goes in or comes out.
    pub fn manifest(&self) -> &Manifest {
        &self.artifact.manifest
    }

    /// The text of the kernel for a host that knows no more than the manifest.
    pub fn wgsl(&self) -> String {
        self.artifact.wgsl()
    }

    /// The seed that the next run draws with.
    pub fn current_seed(&self) -> u64 {
        self.settings.seed
    }

    /// Runs all agents to the end.
    ///
    /// # Errors
    /// Any [`Error`] but [`Error::Compile`].
    pub fn run(&self) -> Result<Run, Error> {
        self.run_with(&Control::default())
    }

    /// Runs all agents to the end, watched and cancelled from outside.
    ///
    /// # Errors
    /// Any [`Error`] but [`Error::Compile`].
    pub fn run_with(&self, control: &Control<'_>) -> Result<Run, Error> {
        let mut done = None;
        self.run_each(&[Variation::new()], control, |_, run| done = Some(run))?;
        done.ok_or(Error::Cancelled)
    }

    /// Runs the simulation once for each variation, and gives the runs in that order. See [`Simulation::run_each`].
    ///
    /// # Errors
    /// Any [`Error`] but [`Error::Compile`]; the runs that were done before it are lost.
    pub fn run_batch(&self, variations: &[Variation]) -> Result<Vec<Run>, Error> {
        let mut runs = Vec::with_capacity(variations.len());
        let held = variations.len();
        self.run_held(variations, held, &Control::default(), |_, run| {
            runs.push(run);
        })?;
        Ok(runs)
    }

    /// Runs the simulation once for each variation and hands over each run, with the number of its variation, in the
    /// order of the variations and as soon as it and those before it are done: for sweeps, calibration and searches. Each gives the bits that it would give alone on the same
    /// backend ([`Backend::Auto`] may take another for many runs than for one). What has no default must have been given
    /// to the simulation, too.
    ///
    /// On a GPU the next runs are computed while the host takes the results of the last; runs of a small population
    /// go side by side, many to a submission. So a batch is faster than its runs one by one, most of all where they
    /// are short. What its runs have in common is counted in the telemetry of the first that is handed over after it;
    /// their `gpu_seconds` are shares of what their submission took.
    ///
    /// # Errors
    /// Any [`Error`] but [`Error::Compile`]. Runs that were handed over before it stay right; where a variation's
    /// values are wrong, those are all that come before it.
    pub fn run_each(
        &self,
        variations: &[Variation],
        control: &Control<'_>,
        each: impl FnMut(usize, Run),
    ) -> Result<(), Error> {
        // One is taken while the next is on its way.
        self.run_held(variations, variations.len().min(2), control, each)
    }

    /// The same for a caller who holds so many runs at a time.
    fn run_held(
        &self,
        variations: &[Variation],
        held: usize,
        control: &Control<'_>,
        mut each: impl FnMut(usize, Run),
    ) -> Result<(), Error> {
        if variations.is_empty() {
            return Ok(());
        }
        let clock = Stopwatch::start();
        let Some(_turn) = self.turns.take() else {
            let mut own = Warm::default();
            return self.run_all(&mut own, (variations, held), control, clock, &mut each);
        };
        // A panic in another thread's run leaves nothing half-done here: its fields are set whole.
        let mut warm = self.warm.lock().unwrap_or_else(PoisonError::into_inner);
        self.run_all(&mut warm, (variations, held), control, clock, &mut each)
    }

    /// Runs a batch with what is kept from run to run, for a caller who holds so many runs at a time.
    fn run_all(
        &self,
        warm: &mut Warm,
        (variations, held): (&[Variation], usize),
        control: &Control<'_>,
        mut clock: Stopwatch,
        each: &mut dyn FnMut(usize, Run),
    ) -> Result<(), Error> {
        let base = self.bound(warm)?;
        let runs = variations.len();
        let launches = Launches {
            model: self.model(),
            settings: &self.settings,
            base: &base,
            variations,
            complete: RefCell::new(warm.complete.take()),
            first: RefCell::default(),
        };
        // What was chosen for one small run may not do for many. What failed is not put back: it may be broken.
        let chosen = warm.engine.take().filter(|_| !warm.for_small || runs == 1);
        let (mut engine, reason) = match chosen {
            Some(engine) => engine,
            None => {
                let started = self.wanted.start(&launches)?;
                warm.for_small = started.reason == SMALL;
                (started.engine, started.reason)
            }
        };
        let need = engine.need(&self.artifact.manifest, &base, (self.keep, held));
        if let Err(error) = need.check() {
            warm.engine = Some((engine, reason));
            return Err(error);
        }
        let backend = engine.device();
        let mut prepare_seconds = clock.seconds();
        let mut hand_over = |number: usize, mut raw: Raw| {
            raw.telemetry.total_seconds = clock.seconds();
            let report = Report {
                backend: backend.clone(),
                reason: reason.clone(),
                agents: base.agents,
                first_agent: base.first_agent,
                population: base.population,
                steps: base.steps,
                seed: variations[number].seed.unwrap_or(base.seed),
                compile_seconds: self.compile_seconds,
                prepare_seconds,
                run_seconds: raw.telemetry.total_seconds - prepare_seconds,
                dispatches: raw.dispatches,
                chunks: raw.chunks,
                reduced: raw.sums.is_some(),
                passes: raw.passes,
                telemetry: raw.telemetry,
                choices: std::mem::take(&mut raw.choices),
            };
            let (manifest, keeps) = (&self.artifact.manifest, self.keep.outputs);
            each(number, Run::of(manifest, raw, keeps, report));
            clock = Stopwatch::start();
            prepare_seconds = 0.0;
        };
        let result = engine.run(&launches, self.keep, *control, &mut hand_over);
        warm.complete = launches.complete.into_inner();
        if !result.as_ref().is_err_and(Error::is_of_device) {
            warm.engine = Some((engine, reason));
        }
        result
    }

    /// What the runs have in common.
    fn bound(&self, warm: &mut Warm) -> Result<Arc<Launch>, Error> {
        let launch = match warm.launch.take() {
            Some(launch) => launch,
            None => Arc::new(bind(&self.artifact, &self.settings)?),
        };
        warm.launch = Some(Arc::clone(&launch));
        Ok(launch)
    }

    fn model(&self) -> Model<'_> {
        Model {
            artifact: &self.artifact,
            isa: self.instruction_set,
        }
    }

    fn warm_mut(&mut self) -> &mut Warm {
        self.warm.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    fn forget_launch(&mut self) {
        let warm = self.warm_mut();
        warm.launch = None;
        warm.complete = None;
        if warm.for_small {
            warm.engine = None;
        }
    }

    fn changed(mut self) -> Simulation {
        self.forget_launch();
        self
    }

    fn cooled(mut self) -> Simulation {
        self.warm_mut().engine = None;
        self
    }
}

/// Values for one of `fields`, if the name and the type fit; the shape of inputs is known only at the run.
fn checked<'a>(
    role: Role,
    name: &str,
    fields: impl Iterator<Item = &'a Field> + Clone,
    values: Array,
) -> Result<Array, Error> {
    let Some(field) = fields.clone().find(|field| field.name == name) else {
        return Err(unknown(role, name, fields.map(|field| field.name.as_str())));
    };
    values.words_for(role, field)?;
    Ok(values)
}
