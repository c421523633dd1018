//! What a caller holds: a compiled model with the values of its launch, ready to run any number of times.

use crate::{
    bind::{Array, Launch, Settings, bind, param_words, unknown},
    clock::Stopwatch,
    control::{Control, Tuning},
    cpu::vector::{self, Isa, Program},
    error::{Error, Role},
    gpu::{self, Raw, Session},
    interpreter, memory,
    run::{Device, Keep, Report, Run},
    vectors,
};
use sim_compiler::{
    artifact::Artifact,
    manifest::{Field, Manifest},
};
use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    thread,
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

/// Why a short run does not look for a GPU.
const SMALL: &str = "the run is over before a GPU would be open";
/// About what opening a GPU takes: the instance, the device and the kernel's pipeline.
const GPU_SECONDS: f64 = 0.05;
/// About what an instruction takes for one agent on one core: 30 ns for a block of 512.
const LANE_SECONDS: f64 = 6e-11;

/// A compiled model with the values of its launch.
///
/// The builder methods take and give the simulation; `set_param`, `set_data` and `set_input` do the same in
/// place. [`Simulation::run`] borrows it: a second run uses the first one's device, kernel and buffers, and
/// runs from several threads follow one another.
///
/// Two runs with the same model, values, seed and backend give the same results to the bit.
#[derive(Debug)]
pub struct Simulation {
    artifact: Arc<Artifact>,
    compile_seconds: f64,
    settings: Settings,
    backend: Backend,
    adapter: Option<String>,
    instruction_set: Option<Isa>,
    tuning: Tuning,
    keep: Keep,
    pipeline_cache: Option<PathBuf>,
    warm: Mutex<Warm>,
}

/// What is kept from run to run.
#[derive(Default)]
struct Warm {
    launch: Option<Arc<Launch>>,
    engine: Option<(Engine, String)>,
    /// The engine was chosen because the launch is small.
    for_small: bool,
}

/// What runs the model, once that is decided.
enum Engine {
    Reference,
    Vector(Box<Program>),
    Gpu(Box<Session>),
}

/// An engine that is ready.
struct Started {
    engine: Engine,
    /// Why it was chosen.
    reason: String,
    /// The launch with every input there, if that was made meanwhile.
    launch: Option<Launch>,
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
            backend: Backend::Auto,
            adapter: None,
            instruction_set: None,
            tuning: Tuning::default(),
            keep: Keep {
                outputs: true,
                states: true,
            },
            pipeline_cache: None,
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
        self.backend = backend;
        self.cooled()
    }

    /// Runs on the best adapter whose name contains `name` (in any case), as [`crate::adapters`] lists
    /// them; a software adapter too.
    #[must_use]
    pub fn adapter(mut self, name: &str) -> Simulation {
        self.adapter = Some(name.to_owned());
        self.backend = Backend::Gpu;
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
        self.tuning = tuning;
        self.cooled()
    }

    /// Whether the final states are read back; otherwise they are. Leaving them on the device saves time.
    #[must_use]
    pub fn keep_states(mut self, keep: bool) -> Simulation {
        self.keep.states = keep;
        self
    }

    /// Whether the outputs and step counts of each agent are kept; otherwise they are. Without them the run has
    /// their [`Run::statistics`], [`Run::agent_steps`] and [`Run::stopped_agents`], which a GPU computes where the
    /// results lie if fetching them would take longer.
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
        self.pipeline_cache = directory;
        self
    }

    /// [`Simulation::param`] in place.
    ///
    /// # Errors
    /// The same; the simulation stays as it was.
    pub fn set_param(&mut self, name: &str, value: impl Into<Array>) -> Result<(), Error> {
        let params = &self.artifact.manifest.params;
        let Some(param) = params.iter().find(|param| param.field.name == name) else {
            return Err(unknown(
                Role::Param,
                name,
                params.iter().map(|param| param.field.name.as_str()),
            ));
        };
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

    /// The kernel's text.
    pub fn wgsl(&self) -> &str {
        &self.artifact.wgsl
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
        let called = Stopwatch::start();
        // A panic in another thread's run leaves nothing half-done here: both fields are set whole.
        let mut warm = self.warm.lock().unwrap_or_else(PoisonError::into_inner);
        let launch = match &warm.launch {
            Some(launch) => Arc::clone(launch),
            None => {
                let launch = Arc::new(bind(&self.artifact, &self.settings)?);
                warm.launch = Some(Arc::clone(&launch));
                launch
            }
        };
        memory::check(&self.artifact.manifest, launch.agents, self.keep)?;
        // The engine is put back only after a good run: one that failed may be broken.
        let (mut engine, reason) = match warm.engine.take() {
            Some(engine) => engine,
            None => {
                let started = self.start(&launch)?;
                warm.for_small = started.reason == SMALL;
                if let Some(launch) = started.launch {
                    warm.launch = Some(Arc::new(launch));
                }
                (started.engine, started.reason)
            }
        };
        let launch = warm.launch.clone().unwrap_or(launch);
        let launch = match &engine {
            Engine::Gpu(_) if !launch.absent.is_empty() => {
                let launch = Arc::new(self.with_all_inputs(&launch)?);
                warm.launch = Some(Arc::clone(&launch));
                launch
            }
            _ => launch,
        };
        self.check_outputs(&engine, &launch)?;
        let prepare_seconds = called.seconds();
        let started = Stopwatch::start();
        let raw = match &mut engine {
            Engine::Reference => {
                interpreter::run(&self.artifact, &launch, self.keep.states, *control)
            }
            Engine::Vector(program) => {
                vectors::run(program, &self.artifact, &launch, self.keep.states, *control)
            }
            Engine::Gpu(session) => session.run(&launch, self.keep, *control),
        };
        let raw = match raw {
            Err(Error::Cancelled) => {
                warm.engine = Some((engine, reason));
                return Err(Error::Cancelled);
            }
            other => other?,
        };
        let run_seconds = started.seconds();
        let report = self.report(&launch, &raw, &engine, &reason);
        let mut run = Run::of(&self.artifact.manifest, raw, self.keep.outputs, report);
        warm.engine = Some((engine, reason));
        run.report.prepare_seconds = prepare_seconds;
        run.report.run_seconds = run_seconds;
        run.report.telemetry.total_seconds = called.seconds();
        Ok(run)
    }

    /// Refuses a run whose outputs have to be in memory though they are not kept, and do not fit.
    fn check_outputs(&self, engine: &Engine, launch: &Launch) -> Result<(), Error> {
        let reduces = matches!(engine, Engine::Gpu(session) if session.reduces(launch, self.keep));
        if self.keep.outputs || reduces {
            return Ok(());
        }
        let all = Keep {
            outputs: true,
            ..self.keep
        };
        memory::check(&self.artifact.manifest, launch.agents, all)
    }

    /// How a run was done, but for the times that only its end knows.
    fn report(&self, launch: &Launch, raw: &Raw, engine: &Engine, reason: &str) -> Report {
        Report {
            backend: match engine {
                Engine::Reference => Device::Reference,
                Engine::Vector(program) => Device::Cpu(program.isa()),
                Engine::Gpu(session) => Device::Gpu(session.adapter().clone()),
            },
            reason: reason.to_owned(),
            agents: launch.agents,
            first_agent: launch.first_agent,
            population: launch.population,
            steps: launch.steps,
            seed: launch.seed,
            compile_seconds: self.compile_seconds,
            prepare_seconds: 0.0,
            run_seconds: 0.0,
            dispatches: raw.dispatches,
            chunks: raw.chunks,
            reduced: raw.sums.is_some(),
            telemetry: raw.telemetry,
            choices: raw.choices.clone(),
        }
    }

    /// Opens an adapter. Meanwhile another thread computes the inputs that the launch does not give.
    fn open(&self, adapter: &gpu::Adapter, launch: &Launch) -> Result<Started, Error> {
        let open = || {
            let artifact = Arc::clone(&self.artifact);
            Session::open(
                adapter,
                artifact,
                self.tuning,
                self.pipeline_cache.as_deref(),
                launch,
            )
        };
        let (session, launch) = if launch.absent.is_empty() {
            (open(), None)
        } else {
            thread::scope(|scope| {
                let inputs = scope.spawn(|| self.with_all_inputs(launch));
                let session = open();
                let launch = inputs.join();
                (session, Some(launch))
            })
        };
        let launch = match launch {
            Some(Ok(launch)) => Some(launch?),
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => None,
        };
        Ok(Started {
            engine: Engine::Gpu(Box::new(session?)),
            reason: String::new(),
            launch,
        })
    }

    /// Decides what runs the model, and why.
    fn start(&self, launch: &Launch) -> Result<Started, Error> {
        match self.backend {
            Backend::Reference => Ok(Started {
                engine: Engine::Reference,
                reason: "the reference interpreter was asked for".to_owned(),
                launch: None,
            }),
            Backend::Cpu => {
                let program = self.vector_program()?;
                Ok(on_cpu(program, "the CPU was asked for".to_owned()))
            }
            Backend::Gpu => {
                let reason = match &self.adapter {
                    Some(name) => format!("an adapter called `{name}` was asked for"),
                    None => "the best adapter was asked for".to_owned(),
                };
                let adapter = gpu::best(self.adapter.as_deref())?;
                let started = self.open(&adapter, launch)?;
                Ok(Started { reason, ..started })
            }
            Backend::Auto => {
                let program = self.vector_program()?;
                if self.is_small(&program, launch) {
                    return Ok(on_cpu(program, SMALL.to_owned()));
                }
                match gpu::best_gpu() {
                    Err(reason) => Ok(on_cpu(program, reason)),
                    Ok(adapter) => match self.open(&adapter, launch) {
                        Ok(started) => Ok(Started {
                            reason: "a GPU was found".to_owned(),
                            ..started
                        }),
                        Err(error @ (Error::DeviceRefused { .. } | Error::AdapterLimit { .. })) => {
                            Ok(on_cpu(program, error.to_string()))
                        }
                        Err(other) => Err(other),
                    },
                }
            }
        }
    }

    /// Will the CPU be done before a GPU is open?
    fn is_small(&self, program: &Result<Program, vector::TooLarge>, launch: &Launch) -> bool {
        let (Ok(program), Some(rounds)) = (program, self.artifact.manifest.inner_rounds) else {
            return false;
        };
        let agent_steps = f64::from(launch.agents) * f64::from(launch.steps.saturating_add(1));
        let instructions = program.lane_instructions() as f64 * rounds.max(1) as f64;
        agent_steps * instructions * LANE_SECONDS < GPU_SECONDS
    }

    fn vector_program(&self) -> Result<Result<Program, vector::TooLarge>, Error> {
        let isa = self.instruction_set.unwrap_or_else(Isa::best);
        if !isa.is_available() {
            return Err(Error::NoSuchInstructions { name: isa.name() });
        }
        let artifact = &self.artifact;
        Ok(vector::compile(
            &artifact.program,
            &artifact.manifest,
            artifact.options.generator,
            isa,
        ))
    }

    /// The launch with every row of inputs there.
    fn with_all_inputs(&self, launch: &Launch) -> Result<Launch, Error> {
        match self.vector_program()? {
            Ok(program) => vectors::with_all_inputs(&program, &self.artifact, launch),
            Err(_) => interpreter::with_all_inputs(&self.artifact, launch),
        }
    }

    fn warm_mut(&mut self) -> &mut Warm {
        self.warm.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    fn forget_launch(&mut self) {
        let warm = self.warm_mut();
        warm.launch = None;
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

/// The vector machine, or the reference interpreter for a model that is too large for it.
fn on_cpu(program: Result<Program, vector::TooLarge>, reason: String) -> Started {
    let (engine, reason) = match program {
        Ok(program) => (Engine::Vector(Box::new(program)), reason),
        Err(too_large) => (Engine::Reference, format!("{reason}; {too_large}")),
    };
    Started {
        engine,
        reason,
        launch: None,
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
