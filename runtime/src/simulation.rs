//! The public entry point: a compiled model with the values of its launch, which can be run any number of
//! times.

mod batches;
mod execute;
mod floats;
mod gradient;
mod inputs;
mod parts;
mod session;
mod watch;

use crate::{
    array::Array,
    backend::Backend,
    bind::{Settings, all_inputs, find_param, param_words},
    calibration::Calibration,
    clock::Stopwatch,
    control::{Control, Keep},
    cpu::vector::Isa,
    devices::Devices,
    error::{Error, Role},
    exclusive::Exclusive,
    field::unknown_of,
    launches::InputCache,
    run::Run,
    select::BackendOptions,
    variation::Variation,
};
pub use batches::AgentBatches;
use execute::Reusable;
pub use floats::Float;
pub use gradient::{
    AgentDerivatives, Agreement, CheckedComponent, Differentiated, Fold, GradientCheck,
    GradientMode, Loss, LossGradient, Slope,
};
pub use session::Session;
use sim_compiler::{
    Options,
    artifact::Artifact,
    kernel::schedule::Tuning,
    manifest::{Field, Manifest},
};
use std::{
    borrow::Cow,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

/// A compiled model with the values of its launch.
///
/// The builder methods consume and return the simulation; those whose names begin with `set_` change it in
/// place, without compiling the model again. [`Simulation::run`] borrows it. A second run reuses the device,
/// kernel and buffers of the first.
/// Runs from several threads are serialised. A run opens a device of its own where waiting could deadlock: if
/// it is started by a callback of another run, or on a thread of rayon's pool.
///
/// Two runs with the same model, values, seed and backend give the same bits.
#[derive(Debug)]
pub struct Simulation {
    artifact: Arc<Artifact>,
    /// Its manifest without what callers do not see, if there is anything.
    visible: Option<Manifest>,
    compile_seconds: f64,
    settings: Settings,
    options: BackendOptions,
    instruction_set: Option<Isa>,
    keep: Keep,
    exclusive: Exclusive,
    reusable: Mutex<Reusable>,
    input_cache: InputCache,
}

impl Simulation {
    /// Compiles a model.
    ///
    /// # Errors
    /// [`Error::Compile`] with the compiler's diagnostics.
    pub fn compile(source: &str) -> Result<Simulation, Error> {
        Simulation::compile_with(source, Options::default())
    }

    /// Compiles a model with options: another random generator, precise mathematical functions, checks, or
    /// floats of `f64`. With these all its outputs and states are of [`Values::F64`](crate::Values), and what
    /// is given as `f64` is not rounded.
    ///
    /// ```
    /// use sim_runtime::{Options, RealType, Simulation};
    ///
    /// let options = Options { real: RealType::F64, ..Options::default() };
    /// let model = Simulation::compile_with("agents 1 param a = 0.1 output b = 3.0 * a", options)?;
    /// assert_eq!(model.run()?.output::<f64>("b")?, [3.0 * 0.1]);
    /// # Ok::<(), sim_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Compile`] with the compiler's diagnostics.
    pub fn compile_with(source: &str, options: Options) -> Result<Simulation, Error> {
        let started = Stopwatch::start();
        let compiled = sim_compiler::compile_with(source, options);
        let artifact = compiled.map_err(|diagnostics| Error::Compile {
            diagnostics,
            source_text: source.to_owned(),
        })?;
        let mut simulation = Simulation::from_artifact(artifact);
        simulation.compile_seconds = started.seconds();
        Ok(simulation)
    }

    /// Uses a model that was compiled before.
    pub fn from_artifact(artifact: Artifact) -> Simulation {
        let visible = match artifact.visible_manifest() {
            Cow::Borrowed(_) => None,
            Cow::Owned(manifest) => Some(manifest),
        };
        Simulation::of(Arc::new(artifact), visible)
    }

    fn of(artifact: Arc<Artifact>, visible: Option<Manifest>) -> Simulation {
        let keep = Keep {
            steps: artifact.program.can_stop(),
            ..Keep::ALL
        };
        Simulation {
            artifact,
            visible,
            compile_seconds: 0.0,
            settings: Settings::default(),
            options: BackendOptions::default(),
            instruction_set: None,
            keep,
            exclusive: Exclusive::default(),
            reusable: Mutex::default(),
            input_cache: InputCache::default(),
        }
    }

    /// Sets the number of agents. Default: the model's `agents`.
    #[must_use]
    pub fn agents(mut self, agents: u32) -> Simulation {
        self.set_agents(agents);
        self
    }

    /// Sets the number of the first agent: agents `first .. first + agents` of a larger population are run.
    /// They have the same draws and results as in a run of the whole population. Default: 0.
    #[must_use]
    pub fn first_agent(mut self, first: u32) -> Simulation {
        self.set_first_agent(first);
        self
    }

    /// Sets the value of `agents` in the model. Needed if a population is run in parts and the model reads
    /// `agents`. Default: `first_agent + agents`.
    #[must_use]
    pub fn population(mut self, population: u32) -> Simulation {
        self.set_population(population);
        self
    }

    /// Sets the number of steps. With 0, only initial values and outputs are computed. Default: the model's
    /// `steps`.
    #[must_use]
    pub fn steps(mut self, steps: u32) -> Simulation {
        self.set_steps(steps);
        self
    }

    /// Sets the number of agents in a world. Default: the model's `world`.
    #[must_use]
    pub fn world(mut self, members: u32) -> Simulation {
        self.set_world(members);
        self
    }

    /// Sets the seed of every draw. Default: 0.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Simulation {
        self.set_seed(seed);
        self
    }

    /// Sets a param: a number, or the elements of an array in row-major order.
    ///
    /// # Errors
    /// [`Error::UnknownName`], or the error of a value of the wrong type, shape or range.
    pub fn param(mut self, name: &str, value: impl Into<Array>) -> Result<Simulation, Error> {
        self.set_param(name, value)?;
        Ok(self)
    }

    /// Sets a data table, in row-major order. The number of rows of an open table follows from the number of
    /// values.
    ///
    /// # Errors
    /// [`Error::UnknownName`], or the error of values of the wrong type.
    pub fn data(mut self, name: &str, values: impl Into<Array>) -> Result<Simulation, Error> {
        self.set_data(name, values)?;
        Ok(self)
    }

    /// Sets an input: one row per agent (or world) of this run, in order, or one number for all of them. The
    /// number of rows is checked when the run starts.
    ///
    /// # Errors
    /// [`Error::UnknownName`], or the error of values of the wrong type.
    pub fn input(mut self, name: &str, values: impl Into<Array>) -> Result<Simulation, Error> {
        self.set_input(name, values)?;
        Ok(self)
    }

    /// Sets where to run. Default: [`Backend::Auto`].
    #[must_use]
    pub fn backend(mut self, backend: Backend) -> Simulation {
        self.set_backend(backend);
        self
    }

    /// Runs on the first adapter of [`crate::adapters`] whose name is `name`, or else contains it
    /// (case-insensitive). It may be a software adapter.
    #[must_use]
    pub fn adapter(mut self, name: &str) -> Simulation {
        self.set_adapter(Some(name));
        self
    }

    /// Runs on several devices of this host at once, in place of one backend: see [`Devices`].
    ///
    /// ```no_run
    /// use sim_runtime::{Devices, Simulation};
    ///
    /// let source = "agents 1_000_000 steps 100 state x = normal() step { x += normal() } output x";
    /// let run = Simulation::compile(source)?.devices(Devices::All).run()?;
    /// for share in &run.report().devices {
    ///     println!("{}: {} agents in {} s", share.name, share.agents, share.seconds);
    /// }
    /// # Ok::<(), sim_runtime::Error>(())
    /// ```
    #[must_use]
    pub fn devices(mut self, devices: Devices) -> Simulation {
        self.set_devices(Some(devices));
        self
    }

    /// Sets the vector instructions of [`Backend::Cpu`]. They change no result. Default: the best that the
    /// processor has.
    #[must_use]
    pub fn instruction_set(mut self, isa: Isa) -> Simulation {
        self.instruction_set = Some(isa);
        self.forget_backend();
        self
    }

    /// Overrides choices of the backends. See [`Tuning`] for those that can change results.
    #[must_use]
    pub fn tuning(mut self, tuning: Tuning) -> Simulation {
        self.set_tuning(tuning);
        self
    }

    /// Whether to read back the final states. `false` saves time. Default: `true`.
    #[must_use]
    pub fn keep_states(mut self, keep: bool) -> Simulation {
        self.set_keep_states(keep);
        self
    }

    /// Whether to keep the outputs and step counts of each agent. Without them a run still has
    /// [`Run::statistics`], [`Run::agent_steps`] and [`Run::stopped_agents`]. If states are not kept either,
    /// the GPU backend reduces large results on the device instead of reading them back. Default: `true`.
    #[must_use]
    pub fn keep_outputs(mut self, keep: bool) -> Simulation {
        self.set_keep_outputs(keep);
        self
    }

    /// Sets the speeds by which [`Backend::Auto`] decides. Default: estimates for no machine in particular.
    #[must_use]
    pub fn calibration(mut self, calibration: Calibration) -> Simulation {
        self.options.calibration = calibration;
        self.forget_backend();
        self
    }

    /// Sets a directory for a cache of the pipelines that drivers compile, which later processes reuse. It is
    /// created when needed. A cache that cannot be read or written is ignored. Default: no cache.
    #[must_use]
    pub fn pipeline_cache(mut self, directory: Option<PathBuf>) -> Simulation {
        self.options.pipeline_cache = directory;
        self
    }

    /// [`Simulation::agents`] in place.
    pub fn set_agents(&mut self, agents: u32) {
        self.settings.agents = Some(agents);
        self.forget_launch();
    }

    /// [`Simulation::first_agent`] in place.
    pub fn set_first_agent(&mut self, first: u32) {
        self.settings.first_agent = first;
        self.forget_launch();
    }

    /// [`Simulation::population`] in place.
    pub fn set_population(&mut self, population: u32) {
        self.settings.population = Some(population);
        self.forget_launch();
    }

    /// [`Simulation::steps`] in place.
    pub fn set_steps(&mut self, steps: u32) {
        self.settings.steps = Some(steps);
        self.forget_launch();
    }

    /// [`Simulation::world`] in place.
    pub fn set_world(&mut self, members: u32) {
        self.settings.world = Some(members);
        self.forget_launch();
        self.forget_backend();
    }

    /// [`Simulation::seed`] in place.
    pub fn set_seed(&mut self, seed: u64) {
        self.settings.seed = seed;
        self.forget_launch();
    }

    /// [`Simulation::backend`] in place.
    pub fn set_backend(&mut self, backend: Backend) {
        self.options.backend = backend;
        self.options.devices = None;
        self.forget_backend();
    }

    /// [`Simulation::adapter`] in place; `None` forgets the name and leaves the backend.
    pub fn set_adapter(&mut self, name: Option<&str>) {
        self.options.adapter = name.map(str::to_owned);
        match name {
            Some(_) => self.set_backend(Backend::Gpu),
            None => self.forget_backend(),
        }
    }

    /// [`Simulation::devices`] in place; `None` returns to the backend and the adapter.
    pub fn set_devices(&mut self, devices: Option<Devices>) {
        self.options.devices = devices;
        self.forget_backend();
    }

    /// [`Simulation::tuning`] in place.
    pub fn set_tuning(&mut self, tuning: Tuning) {
        self.options.tuning = tuning;
        self.forget_backend();
    }

    /// [`Simulation::keep_states`] in place.
    pub fn set_keep_states(&mut self, keep: bool) {
        self.keep.states = keep;
    }

    /// [`Simulation::keep_outputs`] in place.
    pub fn set_keep_outputs(&mut self, keep: bool) {
        self.keep.outputs = keep;
    }

    /// [`Simulation::param`] in place.
    ///
    /// # Errors
    /// The same; the simulation is then unchanged.
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
    /// The same; the simulation is then unchanged.
    pub fn set_data(&mut self, name: &str, values: impl Into<Array>) -> Result<(), Error> {
        let tables = &self.artifact.manifest.data;
        let fields = tables.iter().map(|table| &table.field);
        let values = checked(
            &self.artifact.manifest,
            Role::Data,
            name,
            fields,
            values.into(),
        )?;
        self.settings.data.insert(name.to_owned(), values);
        self.forget_launch();
        Ok(())
    }

    /// [`Simulation::input`] in place.
    ///
    /// # Errors
    /// The same; the simulation is then unchanged.
    pub fn set_input(&mut self, name: &str, values: impl Into<Array>) -> Result<(), Error> {
        let fields = all_inputs(&self.artifact.manifest).map(|input| &input.field);
        let values = checked(
            &self.artifact.manifest,
            Role::Input,
            name,
            fields,
            values.into(),
        )?;
        self.settings.inputs.insert(name.to_owned(), values);
        self.forget_launch();
        Ok(())
    }

    /// Forgets the counts, the seed, and all params, tables and inputs that were set.
    pub fn forget_settings(&mut self) {
        let had_world = self.settings.world.is_some();
        self.settings = Settings::default();
        self.forget_launch();
        if had_world {
            self.forget_backend();
        }
    }

    /// Names, types, shapes, defaults and documentation of the model's params, tables, inputs, states and
    /// outputs.
    pub fn manifest(&self) -> &Manifest {
        self.visible.as_ref().unwrap_or(&self.artifact.manifest)
    }

    /// The compiled model.
    pub(crate) fn artifact(&self) -> &Artifact {
        &self.artifact
    }

    /// The kernel's WGSL text for hosts that rely on the manifest alone.
    pub fn wgsl(&self) -> String {
        self.artifact.wgsl()
    }

    /// The bits of a param's value in the next run, row by row: what was set, or its default.
    ///
    /// # Errors
    /// [`Error::UnknownName`], and [`Error::Missing`] if it has neither.
    pub fn param_words(&self, name: &str) -> Result<Vec<u32>, Error> {
        let param = find_param(&self.artifact.manifest, name)?;
        let given = self.settings.params.get(name);
        Ok(param_words(param, given)?.to_vec())
    }

    /// Where the next run is asked to run.
    pub fn current_backend(&self) -> Backend {
        self.options.backend
    }

    /// What the caller decides of the kernel.
    pub fn current_tuning(&self) -> &Tuning {
        &self.options.tuning
    }

    /// The seed of the next run.
    pub fn current_seed(&self) -> u64 {
        self.settings.seed
    }

    /// Runs all agents to the last step.
    ///
    /// # Errors
    /// Any [`Error`] but [`Error::Compile`].
    pub fn run(&self) -> Result<Run, Error> {
        self.run_with(&Control::default())
    }

    /// [`Simulation::run`] with progress, cancellation and timing.
    ///
    /// # Errors
    /// Any [`Error`] but [`Error::Compile`].
    pub fn run_with(&self, control: &Control<'_>) -> Result<Run, Error> {
        let mut done = None;
        self.run_each(&[Variation::new()], control, |_, run| done = Some(run))?;
        done.ok_or(Error::Cancelled)
    }

    /// [`Simulation::run_with`] as a future, for browsers: it waits for a GPU instead of blocking the thread.
    /// On other targets and on the CPU it never waits, and runs when it is polled first. In a browser a run
    /// that is started while another one waits opens a device of its own.
    ///
    /// # Errors
    /// Any [`Error`] but [`Error::Compile`].
    pub async fn run_async(&self, control: &Control<'_>) -> Result<Run, Error> {
        self.run_one(control).await
    }

    /// Runs the simulation once for each variation and returns the runs in that order. See
    /// [`Simulation::run_each`].
    ///
    /// # Errors
    /// Any [`Error`] but [`Error::Compile`]; the runs completed before it are lost.
    pub fn run_batch(&self, variations: &[Variation]) -> Result<Vec<Run>, Error> {
        let mut runs = Vec::with_capacity(variations.len());
        let held = variations.len();
        self.run_held(variations, held, &Control::default(), |_, run| {
            runs.push(run);
        })?;
        Ok(runs)
    }

    /// Runs the simulation once for each variation: for sweeps, calibration and searches. Calls `each` with
    /// the number of a variation and its run, in the order of the variations, as soon as the run and those
    /// before it are complete. Each run gives the same bits as it would alone on the same backend.
    /// ([`Backend::Auto`] may choose another backend for many runs than for one.) Params and inputs without a
    /// default must be set on the simulation even if every variation sets them.
    ///
    /// On a GPU the next runs are computed while `each` is called, and runs of small populations share a
    /// submission. So a batch is faster than its runs one by one, above all if they are short. What several
    /// runs have in common is counted in the telemetry of the first of them that completes; their
    /// `gpu_seconds` are equal shares of the submission's.
    ///
    /// # Errors
    /// Any [`Error`] but [`Error::Compile`]. Runs that `each` got before the error are valid; if the values
    /// of a variation are wrong, these are all runs before it.
    pub fn run_each(
        &self,
        variations: &[Variation],
        control: &Control<'_>,
        each: impl FnMut(usize, Run),
    ) -> Result<(), Error> {
        // `each` has one run while the next one is computed.
        self.run_held(variations, variations.len().min(2), control, each)
    }

    fn reusable_mut(&mut self) -> &mut Reusable {
        (self.reusable.get_mut()).unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes over the values and options of a simulation whose model has the same params and inputs. A
    /// backend that an earlier run left stays, and must be for these options.
    fn set_as(&mut self, other: &Simulation) {
        self.settings = other.settings.clone();
        self.options = other.options.clone();
        self.instruction_set = other.instruction_set;
        self.forget_launch();
    }

    fn forget_launch(&mut self) {
        let reusable = self.reusable_mut();
        reusable.launch = None;
        reusable.identity = None;
        reusable.complete = None;
    }

    fn forget_backend(&mut self) {
        self.reusable_mut().selected = None;
    }
}

/// Checks the name and the type of values for one of `fields`. The shape of inputs is known only when a run
/// starts.
fn checked<'a>(
    manifest: &Manifest,
    role: Role,
    name: &str,
    fields: impl Iterator<Item = &'a Field> + Clone,
    values: Array,
) -> Result<Array, Error> {
    let Some(field) = fields.clone().find(|field| field.name == name) else {
        let names = fields.map(|field| field.name.as_str());
        return Err(unknown_of(manifest, role, name, names));
    };
    values.words_for(role, field)?;
    Ok(values)
}
