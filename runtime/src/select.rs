//! Chooses and opens the backend of a batch.

use crate::parallel;
use crate::{
    backend::{
        Backend,
        reference::ReferenceBackend,
        split::{Member, SplitBackend},
        vector::VectorBackend,
    },
    batch::Executor,
    calibration::Calibration,
    clock,
    cpu::vector::{LANES, Lane, NotCompiled, Program, Wide},
    devices::{DeviceName, Devices},
    error::{Error, ON_GPU},
    gpu,
    launches::Launches,
};
use sim_compiler::{RealType, kernel::schedule::Tuning};
use std::{path::PathBuf, sync::Arc, thread};

/// What the caller asks for.
#[derive(Clone, Debug, Default)]
pub(crate) struct BackendOptions {
    pub(crate) backend: Backend,
    /// Part of the adapter's name.
    pub(crate) adapter: Option<String>,
    /// Takes the place of backend and adapter.
    pub(crate) devices: Option<Devices>,
    pub(crate) tuning: Tuning,
    /// The directory of the pipeline cache.
    pub(crate) pipeline_cache: Option<PathBuf>,
    /// What [`Backend::Auto`] decides by.
    pub(crate) calibration: Calibration,
}

/// A backend that is ready, and why it was chosen.
pub(crate) struct Selected {
    pub(crate) backend: Box<dyn Executor>,
    pub(crate) reason: String,
    /// The run that it was chosen for because that is short: another one may suit a longer run.
    short_run: Option<RunSize>,
}

/// What decides whether a run is short, for one model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RunSize {
    agents: u32,
    steps: u32,
    members: u32,
    runs: usize,
}

impl RunSize {
    fn of(launches: &Launches<'_>) -> RunSize {
        let launch = launches.base;
        RunSize {
            agents: launch.agents,
            steps: launch.steps,
            members: launch.members,
            runs: launches.variations.len(),
        }
    }
}

impl Selected {
    fn new(backend: Box<dyn Executor>, reason: impl Into<String>) -> Selected {
        Selected {
            backend,
            reason: reason.into(),
            short_run: None,
        }
    }

    /// Whether it is also the backend for these runs: one that was chosen for a short run is for others of
    /// its size.
    pub(crate) fn suits(&self, launches: &Launches<'_>) -> bool {
        (self.short_run).is_none_or(|size| size == RunSize::of(launches))
    }
}

impl BackendOptions {
    /// Chooses the backend of a batch and opens it. Leaves the inputs that were computed meanwhile in
    /// `launches`.
    ///
    /// # Errors
    /// Those of the device, except where [`Backend::Auto`] can take the CPU instead.
    pub(crate) async fn select(&self, launches: &Launches<'_>) -> Result<Selected, Error> {
        // The condition also keeps what follows out of builds for browsers, which have no threads.
        if !cfg!(target_family = "wasm")
            && let Some(devices) = &self.devices
        {
            return self.open_devices(devices, launches).await;
        }
        let artifact = launches.model.artifact;
        let on_reference = |reason: &str| {
            let artifact = Arc::clone(artifact);
            Ok(Selected::new(
                Box::new(ReferenceBackend { artifact }),
                reason,
            ))
        };
        if artifact.options.real == RealType::F64 {
            if cfg!(sim_web) {
                return Err(Error::OnlySingle {
                    what: "a run in a browser",
                });
            }
            if self.backend == Backend::Gpu {
                return Err(Error::OnlySingle { what: ON_GPU });
            }
            if self.backend == Backend::Auto {
                return self.on_cpu(launches, "GPUs compute in `f32` only");
            }
        }
        match self.backend {
            Backend::Reference => on_reference("the reference interpreter was asked for"),
            Backend::Cpu => self.on_cpu(launches, "the CPU was asked for"),
            Backend::Gpu => {
                let reason = match &self.adapter {
                    Some(name) => format!("an adapter called `{name}` was asked for"),
                    None => "the best adapter was asked for".to_owned(),
                };
                let adapter = gpu::best(self.adapter.as_deref()).await?;
                Ok(Selected::new(self.open(&adapter, launches).await?, reason))
            }
            Backend::Auto => self.select_auto(launches).await,
        }
    }

    /// Opens devices that run together.
    async fn open_devices(
        &self,
        devices: &Devices,
        launches: &Launches<'_>,
    ) -> Result<Selected, Error> {
        let mut members = Vec::new();
        let named = match devices {
            Devices::Named(named) => named.as_slice(),
            Devices::All | Devices::Count(_) => {
                let count = match devices {
                    Devices::Count(count) => Some(*count),
                    Devices::All | Devices::Named(_) => None,
                };
                for (number, adapter) in gpu::alike(count).await?.iter().enumerate() {
                    let session = self.open(adapter, launches).await?;
                    members.push(Member::new(number.to_string(), session));
                }
                &[]
            }
        };
        for name in named {
            let executor = match name {
                DeviceName::Cpu => self.on_cpu(launches, "")?.backend,
                DeviceName::Number(number) => {
                    self.open(&gpu::numbered(*number).await?, launches).await?
                }
                DeviceName::Adapter(name) => {
                    self.open(&gpu::best(Some(name)).await?, launches).await?
                }
            };
            // A device that is named again is another one.
            let before = named
                .iter()
                .take(members.len())
                .filter(|it| *it == name)
                .count();
            let again = if before > 0 {
                format!("#{}", before + 1)
            } else {
                String::new()
            };
            members.push(Member::new(format!("{name}{again}"), executor));
        }
        let reason = format!("devices `{devices}` were asked for");
        let artifact = Arc::clone(launches.model.artifact);
        let backend = match members.len() {
            1 => members.remove(0).into_executor(),
            _ => Box::new(SplitBackend::new(artifact, members)),
        };
        Ok(Selected::new(backend, reason))
    }

    async fn select_auto(&self, launches: &Launches<'_>) -> Result<Selected, Error> {
        let program = launches.model.vector_program(launches.base.members)?;
        if self.is_short(&program, launches) {
            let reason = "the run takes less time than opening a GPU";
            return Ok(Selected {
                short_run: Some(RunSize::of(launches)),
                ..self.on_lanes(launches, program, reason)
            });
        }
        let adapter = match gpu::best_gpu().await {
            Ok(adapter) => adapter,
            Err(reason) => return Ok(self.on_lanes(launches, program, &reason)),
        };
        match self.open(&adapter, launches).await {
            Ok(session) => Ok(Selected::new(session, "a GPU was found")),
            Err(
                error @ (Error::DeviceRefused { .. }
                | Error::AdapterLimit { .. }
                | Error::NoPreparedKernel { .. }),
            ) => Ok(self.on_lanes(launches, program, &error.to_string())),
            Err(other) => Err(other),
        }
    }

    /// Opens a GPU, while another thread computes the inputs of the first run that the caller left out.
    async fn open(
        &self,
        adapter: &gpu::Adapter,
        launches: &Launches<'_>,
    ) -> Result<Box<dyn Executor>, Error> {
        let (model, base) = (launches.model, launches.base);
        let open = async || {
            let (artifact, cache) = (Arc::clone(model.artifact), self.pipeline_cache.as_deref());
            let several = launches.variations.len() > 1;
            gpu::Session::open(adapter, artifact, self.tuning, cache, base, several).await
        };
        // A thread of rayon's pool must not wait for one that asks rayon for work: the session computes the
        // inputs later in that case, on this thread.
        let in_pool = parallel::in_pool();
        if in_pool || cfg!(target_family = "wasm") || !launches.needs_inputs() {
            let session = open().await?;
            return Ok(session);
        }
        let (session, inputs) = thread::scope(|scope| {
            let inputs = scope.spawn(|| model.with_all_inputs(base));
            // On this target it never waits.
            (clock::at_once(open()), inputs.join())
        });
        let inputs = inputs.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let session = session.ok_or(Error::MustNotBlock)??;
        launches.set_complete(inputs?);
        Ok(session)
    }

    /// The vector machine, or the reference interpreter for a model that it does not run.
    ///
    /// # Errors
    /// [`Error::NoSuchInstructions`]
    fn on_cpu(&self, launches: &Launches<'_>, reason: &str) -> Result<Selected, Error> {
        let (model, members) = (launches.model, launches.base.members);
        Ok(match model.artifact.options.real {
            RealType::F32 => self.on_lanes::<u32>(launches, model.vector_program(members)?, reason),
            RealType::F64 => {
                self.on_lanes::<Wide>(launches, model.vector_program(members)?, reason)
            }
        })
    }

    /// The same with what the program was compiled to.
    fn on_lanes<L: Lane>(
        &self,
        launches: &Launches<'_>,
        program: Result<Program<L>, NotCompiled>,
        reason: &str,
    ) -> Selected {
        let artifact = Arc::clone(launches.model.artifact);
        match program {
            Ok(program) => {
                let reduce = self.tuning.reduce;
                let backend = VectorBackend {
                    program,
                    artifact,
                    reduce,
                    jit: self.tuning.jit,
                    work: 0,
                };
                Selected::new(Box::new(backend), reason)
            }
            Err(why) => {
                let backend = Box::new(ReferenceBackend { artifact });
                Selected::new(backend, format!("{reason}; {why}"))
            }
        }
    }

    /// Whether the CPU is estimated to be done before a GPU.
    fn is_short(&self, program: &Result<Program, NotCompiled>, launches: &Launches<'_>) -> bool {
        let (Ok(program), Some(iterations)) =
            (program, launches.model.artifact.manifest.inner_iterations)
        else {
            return false;
        };
        let (launch, runs) = (launches.base, launches.variations.len());
        let agent_steps = f64::from(launch.agents) * f64::from(launch.steps.saturating_add(1));
        let instructions = program.lane_instructions() as f64 * iterations.max(1) as f64;
        let blocks = u64::from(launch.agents).div_ceil(LANES as u64) * runs as u64;
        let work = agent_steps * runs as f64 * instructions;
        self.calibration.cpu_is_faster(work, blocks)
    }
}
