//! What runs a model: how it is chosen, and how a batch is driven through it.

use crate::{
    batch::Batch,
    bind::Launch,
    control::{Control, Tuning},
    cpu::vector::{self, Program},
    error::Error,
    gpu::{self, Raw, Session},
    interpreter,
    launches::Launches,
    memory::Need,
    run::{Device, Keep},
    simulation::Backend,
    vectors,
};
use sim_compiler::manifest::Manifest;
use std::{path::PathBuf, sync::Arc, thread};

/// Why a short run does not look for a GPU.
pub(crate) const SMALL: &str = "the run is over before a GPU would be open";
/// About what opening a GPU takes: the instance, the device and the kernel's pipeline.
const GPU_SECONDS: f64 = 0.05;
/// About what an instruction takes for one agent on one core: 30 ns for a block of 512.
const LANE_SECONDS: f64 = 6e-11;

/// What the caller says of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    pub(crate) backend: Backend,
    pub(crate) adapter: Option<String>,
    pub(crate) tuning: Tuning,
    /// Where pipelines are kept.
    pub(crate) pipeline_cache: Option<PathBuf>,
}

/// What runs the model, once that is decided.
pub(crate) enum Engine {
    Reference,
    Vector {
        program: Box<Program>,
        /// See [`Tuning::reduce`].
        reduce: Option<bool>,
    },
    Gpu(Box<Session>),
}

/// An engine that is ready.
pub(crate) struct Started {
    pub(crate) engine: Engine,
    /// Why it was chosen.
    pub(crate) reason: String,
}

impl Engine {
    /// What it runs on.
    pub(crate) fn device(&self) -> Device {
        match self {
            Engine::Reference => Device::Reference,
            Engine::Vector { program, .. } => Device::Cpu(program.isa()),
            Engine::Gpu(session) => Device::Gpu(session.adapter().clone()),
        }
    }

    /// What runs allocate beside the inputs that they are given, of which the caller may hold so many.
    pub(crate) fn need(&self, manifest: &Manifest, launch: &Launch, held: (Keep, usize)) -> Need {
        let mut need = Need::new(launch.agents);
        match self {
            Engine::Reference => interpreter::need(manifest, held, &mut need),
            Engine::Vector { program, reduce } => {
                let (keep, runs) = held;
                let reduces = vectors::reduces(manifest, launch.agents, keep, *reduce);
                vectors::need((program, manifest), (keep, runs, reduces), &mut need);
            }
            Engine::Gpu(session) => session.need(launch, held, &mut need),
        }
        need
    }

    /// Runs a batch and hands over each of its runs.
    pub(crate) fn run(
        &mut self,
        launches: &Launches<'_>,
        keep: Keep,
        control: Control<'_>,
        hand_over: &mut dyn FnMut(usize, Raw),
    ) -> Result<(), Error> {
        let artifact = launches.model.artifact;
        let runs = launches.variations.len();
        let mut one_by_one = |run: &dyn Fn(&Launch, Control<'_>) -> Result<Raw, Error>| {
            for number in 0..runs {
                let launch = launches.bound(number)?;
                let raw = control.part((number, runs), |control| run(&launch, control))?;
                hand_over(number, raw);
            }
            Ok(())
        };
        match self {
            Engine::Reference => one_by_one(&|launch, control| {
                interpreter::run(artifact, launch, keep.states, control)
            }),
            Engine::Vector { program, reduce } => one_by_one(&|launch, control| {
                let manifest = &artifact.manifest;
                let reduces = vectors::reduces(manifest, launch.agents, keep, *reduce);
                vectors::run(program, artifact, launch, (keep, reduces), control)
            }),
            Engine::Gpu(session) => session.run(
                &Batch {
                    runs,
                    launch: &|number| launches.complete(number),
                    same_inputs: launches.have_same_inputs(),
                    keep,
                    control,
                },
                hand_over,
            ),
        }
    }
}

impl Wanted {
    /// Opens an adapter. Meanwhile another thread computes the inputs that the first run does not give.
    fn open(&self, adapter: &gpu::Adapter, launches: &Launches<'_>) -> Result<Engine, Error> {
        let keeps = launches.keeps_inputs(&launches.variations[0]);
        let launch = match keeps {
            true => Arc::clone(launches.base),
            false => launches.bound(0)?,
        };
        let open = || {
            let artifact = Arc::clone(launches.model.artifact);
            let cache = self.pipeline_cache.as_deref();
            Session::open(adapter, artifact, self.tuning, cache, &launch)
        };
        // A thread of rayon's must not wait for one that asks rayon for help: `complete` does the work then.
        if launch.absent.is_empty() || rayon::current_thread_index().is_some() {
            return Ok(Engine::Gpu(Box::new(open()?)));
        }
        let model = launches.model;
        let (session, inputs) = thread::scope(|scope| {
            let inputs = scope.spawn(|| model.with_all_inputs(&launch));
            (open(), inputs.join())
        });
        let complete = match inputs {
            Ok(launch) => Arc::new(launch?),
            Err(panic) => std::panic::resume_unwind(panic),
        };
        let place = match keeps {
            true => &launches.complete,
            false => &launches.first,
        };
        *place.borrow_mut() = Some(complete);
        Ok(Engine::Gpu(Box::new(session?)))
    }

    /// Decides what runs the model, and why.
    pub(crate) fn start(&self, launches: &Launches<'_>) -> Result<Started, Error> {
        match self.backend {
            Backend::Reference => Ok(Started {
                engine: Engine::Reference,
                reason: "the reference interpreter was asked for".to_owned(),
            }),
            Backend::Cpu => {
                let program = launches.model.vector_program()?;
                Ok(self.on_cpu(program, "the CPU was asked for".to_owned()))
            }
            Backend::Gpu => {
                let reason = match &self.adapter {
                    Some(name) => format!("an adapter called `{name}` was asked for"),
                    None => "the best adapter was asked for".to_owned(),
                };
                let adapter = gpu::best(self.adapter.as_deref())?;
                let engine = self.open(&adapter, launches)?;
                Ok(Started { engine, reason })
            }
            Backend::Auto => {
                let program = launches.model.vector_program()?;
                if Self::is_small(&program, launches) {
                    return Ok(self.on_cpu(program, SMALL.to_owned()));
                }
                match gpu::best_gpu() {
                    Err(reason) => Ok(self.on_cpu(program, reason)),
                    Ok(adapter) => match self.open(&adapter, launches) {
                        Ok(engine) => Ok(Started {
                            engine,
                            reason: "a GPU was found".to_owned(),
                        }),
                        Err(error @ (Error::DeviceRefused { .. } | Error::AdapterLimit { .. })) => {
                            Ok(self.on_cpu(program, error.to_string()))
                        }
                        Err(other) => Err(other),
                    },
                }
            }
        }
    }

    /// Will the CPU be done before a GPU is open?
    fn is_small(program: &Result<Program, vector::TooLarge>, launches: &Launches<'_>) -> bool {
        let (Ok(program), Some(rounds)) = (program, launches.model.artifact.manifest.inner_rounds)
        else {
            return false;
        };
        let launch = launches.base;
        let agent_steps = f64::from(launch.agents) * f64::from(launch.steps.saturating_add(1));
        let agent_steps = agent_steps * launches.variations.len() as f64;
        let instructions = program.lane_instructions() as f64 * rounds.max(1) as f64;
        agent_steps * instructions * LANE_SECONDS < GPU_SECONDS
    }

    /// The vector machine, or the reference interpreter for a model that is too large for it.
    fn on_cpu(&self, program: Result<Program, vector::TooLarge>, reason: String) -> Started {
        let reduce = self.tuning.reduce;
        let (engine, reason) = match program.map(Box::new) {
            Ok(program) => (Engine::Vector { program, reduce }, reason),
            Err(too_large) => (Engine::Reference, format!("{reason}; {too_large}")),
        };
        Started { engine, reason }
    }
}
