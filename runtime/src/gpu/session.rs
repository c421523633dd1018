//! A session: an open device with the kernels of one model. It chooses a kernel for each launch and runs
//! batches.

#[cfg(not(target_family = "wasm"))]
use super::breeding::{Breeder, Parts};
use super::{
    batch_run::{BatchRun, IN_FLIGHT, Resources, points_together},
    buffer_pool::BufferPool,
    buffer_set,
    cache::CacheLocation,
    choose, chunk,
    device::OpenDevice,
    kernel::Kernel,
    reduce,
    resident::Resident,
    results::Layout,
};
#[cfg(not(target_family = "wasm"))]
use crate::breeding::{Bred, Plan, Wanted};
use crate::{
    batch::{Batch, Deliver, Executor, Running},
    bind::Launch,
    clock::Stopwatch,
    control::Keep,
    cut::Saved,
    error::Error,
    memory::Need,
    run::Device,
};
use sim_compiler::{
    artifact::Artifact,
    emit::{self, Chosen},
    kernel::schedule::{Target, Tuning},
    value::WORD_BYTES,
};
use std::{path::Path, sync::Arc};

/// Results of fewer bytes are read back faster than they are reduced.
const REDUCED_BYTES: u64 = 4 << 20;
/// The least ratio of the bytes of results and of their reductions for which a reduction pays.
const REDUCED_RATIO: u64 = 8;

/// An open device with the kernels of one model.
pub(crate) struct Session {
    artifact: Arc<Artifact>,
    cache: Option<CacheLocation>,
    /// The kernels that were built; the first one is in use.
    kernels: Vec<Kernel>,
    /// The population, the steps and the size of a world of the launches that the first kernel was chosen
    /// for, and whether these share dispatches.
    chosen_for: Option<(u32, u32, u32, bool)>,
    pool: BufferPool,
    /// Compiled for the first search that needs it.
    #[cfg(not(target_family = "wasm"))]
    breeder: Option<Breeder>,
    /// Constant: another tuning needs another session.
    tuning: Tuning,
    /// Declared last, so that the device is closed after its memory is freed.
    open: OpenDevice,
}

impl Session {
    /// Opens the adapter and builds the kernel for a launch, or for `several` runs like it. `cache` is the
    /// directory of the pipeline cache.
    ///
    /// # Errors
    /// [`Error::DeviceRefused`], [`Error::AdapterLimit`], and those of the device.
    pub(crate) async fn open(
        adapter: &wgpu::Adapter,
        artifact: Arc<Artifact>,
        tuning: Tuning,
        cache: Option<&Path>,
        launch: &Launch,
        several: bool,
    ) -> Result<Box<Session>, Error> {
        let open = OpenDevice::open(adapter).await?;
        let key = wgpu::util::pipeline_cache_key(&adapter.get_info());
        let cache = cache.zip(key).map(|(directory, key)| CacheLocation {
            directory: directory.to_owned(),
            key,
        });
        buffer_set::most_agents(&open, &artifact.manifest, launch.steps)?;
        let asked = tuning.max_agents_per_chunk.unwrap_or(u32::MAX).max(1);
        let mut session = Box::new(Session {
            artifact,
            cache,
            kernels: Vec::new(),
            chosen_for: None,
            pool: BufferPool::new(asked),
            #[cfg(not(target_family = "wasm"))]
            breeder: None,
            tuning,
            open,
        });
        let points = several && session.can_share(launch);
        session.choose(launch, points)?;
        session.open.settle().await?;
        Ok(session)
    }

    /// Makes the kernel for a launch the first one; builds it if it does not exist. `points` asks for one
    /// that computes several runs in a dispatch.
    fn choose(&mut self, launch: &Launch, points: bool) -> Result<(), Error> {
        let size = (launch.population, launch.steps, launch.members, points);
        if self.chosen_for == Some(size) {
            return Ok(());
        }
        let started = Stopwatch::start();
        let (open, artifact) = (&self.open, &self.artifact);
        let target = choose::target(open, &artifact.manifest, launch, points);
        let Chosen {
            schedule,
            mut kernel,
        } = chosen(artifact, &target, &self.tuning)?;
        kernel.decisions.extend(choose::checks(&self.tuning));
        open.meter(|telemetry| telemetry.kernel_seconds = started.seconds());
        let decisions = std::mem::take(&mut kernel.decisions);
        let known = self.kernels.iter().position(|it| it.schedule == schedule);
        if known != Some(0) {
            self.pool.clear();
        }
        let at = match known {
            Some(at) => at,
            None => {
                let (manifest, cache) = (&artifact.manifest, self.cache.as_ref());
                let built = Kernel::build(open, manifest, schedule, kernel, &self.tuning, cache)?;
                self.kernels.push(built);
                self.kernels.len() - 1
            }
        };
        self.kernels.swap(0, at);
        let kernel = &mut self.kernels[0];
        kernel.decisions = decisions;
        let most = kernel.most_agents(&self.open).max(1);
        self.pool.most_agents = self.pool.most_agents.min(most);
        self.chosen_for = Some(size);
        Ok(())
    }

    /// Whether outputs that the caller does not keep are reduced on the device, if it holds all of them at
    /// once.
    fn reduces(&self, launch: &Launch, keep: Keep) -> bool {
        let manifest = &self.artifact.manifest;
        let (fields, agents) = (&manifest.outputs, launch.agents);
        let words = 1 + u64::from(manifest.output_words);
        let bytes = words * u64::from(agents) * WORD_BYTES;
        let pays = self.open.adapter.kind.is_gpu()
            && bytes >= REDUCED_BYTES
            && bytes >= REDUCED_RATIO * reduce::report_bytes(fields);
        // States are read back by the same copy as the outputs.
        agents <= self.most_agents(launch)
            && manifest.record_words(0) == 0
            && !keep.outputs
            && !keep.states
            && self.tuning.reduce.unwrap_or(pays)
            && reduce::is_possible(&self.open.limits, fields, agents)
    }

    /// The most agents of one chunk of a launch; 0 if there is no room for any.
    fn most_agents(&self, launch: &Launch) -> u32 {
        let most = buffer_set::most_agents(&self.open, &self.artifact.manifest, launch.steps);
        most.unwrap_or(0).min(self.pool.most_agents)
    }

    /// Whether several runs like this one fit a dispatch.
    fn can_share(&self, launch: &Launch) -> bool {
        let (open, manifest) = (&self.open, &self.artifact.manifest);
        points_together(open, manifest, launch, self.most_agents(launch)) > 1
    }

    /// Starts a batch, which the caller drives.
    fn start<'a>(&'a mut self, batch: &'a Batch<'a>) -> Result<BatchRun<'a>, Error> {
        let launch = (batch.complete_launch)(0)?;
        let reduces = self.reduces(&launch, batch.keep);
        let points = batch.runs > 1 && !reduces && self.can_share(&launch);
        self.choose(&launch, points)?;
        let kernel = self.kernels[0].name();
        // States that no kernel computed may go on in any.
        let differs = |from: &&Saved| !from.kernel.is_empty() && from.kernel != kernel;
        if let Some(from) = batch.part.from.filter(differs) {
            return Err(Error::SnapshotDevice {
                there: format!("kernel {}", from.kernel),
                here: format!("kernel {kernel}"),
            });
        }
        let manifest = &self.artifact.manifest;
        let most_agents = buffer_set::most_agents(&self.open, manifest, launch.steps)?;
        let resources = Resources {
            open: &self.open,
            manifest,
            most_agents,
            kernel: &mut self.kernels[0],
            pool: &mut self.pool,
            reduces,
        };
        BatchRun::new(resources, batch, launch)
    }
}

impl Executor for Session {
    fn device(&self) -> Device {
        Device::Gpu(self.open.adapter.clone())
    }

    /// Results, computed inputs and staging buffers; on a software adapter also the device's buffers.
    fn need(&self, launch: &Launch, keep: Keep, held: usize) -> Need {
        let manifest = &self.artifact.manifest;
        let mut need = Need::new(launch.agents);
        if !launch.absent.is_empty() {
            need.each("rows of inputs", manifest.input_words.into());
        }
        if self.reduces(launch, keep) {
            return need;
        }
        need.results(manifest, keep, held);
        need.series(manifest, launch.steps, launch.worlds(), held);
        let most = self.most_agents(launch);
        let (workgroup, members) = (manifest.workgroup_size, launch.members);
        let agents = chunk::chunk_agents(launch.agents, most, workgroup, members);
        let layout = Layout::new(manifest, agents, members, launch.steps);
        let mut staged = layout.bytes_back(keep.with_outputs());
        if !self.open.adapter.kind.is_gpu() {
            let scratch = self.kernels[0].scratch;
            staged += scratch.map_or(0, |scratch| scratch.bytes(agents, members));
            staged += layout.bytes();
            staged += self.kernels[0].spill_bytes(&self.open, agents, members);
            staged += u64::from(agents) * u64::from(manifest.input_words) * WORD_BYTES;
            let tables: usize = launch.data.iter().map(|words| words.len()).sum();
            need.fixed("tables", tables as u64 * WORD_BYTES);
        }
        let chunks = launch.agents.div_ceil(agents.max(1)) as usize * held;
        need.fixed("buffers", staged * chunks.min(IN_FLIGHT) as u64);
        need
    }

    fn run<'a>(&'a mut self, batch: &'a Batch<'a>, deliver: Deliver<'a>) -> Running<'a> {
        Box::pin(self.run_all(batch, deliver))
    }

    fn read<'a>(&'a mut self, saved: &'a mut Saved) -> Running<'a> {
        Box::pin(Resident::read(&self.open, &self.artifact.manifest, saved))
    }

    #[cfg(not(target_family = "wasm"))]
    fn can_breed(&self) -> bool {
        true
    }

    #[cfg(not(target_family = "wasm"))]
    fn breed(&mut self, plan: &Plan<'_>) -> Result<usize, Error> {
        if self.most_agents(plan.launch) < plan.launch.agents {
            return Ok(0);
        }
        self.choose(plan.launch, false)?;
        let breeder = match self.breeder.take() {
            Some(known) => known,
            None => Breeder::create(&self.open)?,
        };
        let parts = Parts {
            open: &self.open,
            manifest: &self.artifact.manifest,
            kernel: &self.kernels[0],
            pool: &mut self.pool,
        };
        let bred = self.breeder.insert(breeder).breed(parts, plan);
        // No later run must count what this one did.
        self.open.take_telemetry();
        match bred {
            // The populations of several generations need more of it than a run.
            Err(Error::GpuMemory { .. }) => Ok(0),
            bred => bred,
        }
    }

    #[cfg(not(target_family = "wasm"))]
    fn bred(&mut self) -> Result<Option<Bred>, Error> {
        let Some(breeder) = &mut self.breeder else {
            return Ok(None);
        };
        let bred = breeder.bred(&self.open);
        self.open.take_telemetry();
        bred
    }

    #[cfg(not(target_family = "wasm"))]
    fn bred_rows(&mut self, wanted: Wanted<'_>) -> Result<Option<Vec<u32>>, Error> {
        match &mut self.breeder {
            Some(breeder) => breeder.rows(&self.open, wanted),
            None => Ok(None),
        }
    }
}

impl Session {
    async fn run_all(&mut self, batch: &Batch<'_>, deliver: Deliver<'_>) -> Result<(), Error> {
        let result = match self.start(batch) {
            Ok(run) => run.run(deliver).await,
            Err(error) => Err(error),
        };
        match &result {
            Ok(()) => {
                if let Some(cache) = self.kernels[0].unsaved.take() {
                    cache.save(&self.open);
                }
            }
            // No later run must count what this one did.
            Err(_) => drop(self.open.take_telemetry()),
        }
        result
    }
}

/// The kernel for a launch on a device.
#[cfg(feature = "compile")]
fn chosen(artifact: &Artifact, target: &Target, tuning: &Tuning) -> Result<Chosen, Error> {
    Ok(emit::choose(artifact, target, tuning))
}

/// The kernel for a launch on a device, if it was made before.
#[cfg(not(feature = "compile"))]
fn chosen(artifact: &Artifact, target: &Target, _tuning: &Tuning) -> Result<Chosen, Error> {
    let members = target.members.unwrap_or(0);
    (emit::prepared(artifact, target).cloned()).ok_or(Error::NoPreparedKernel { members })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        bind::{Settings, bind},
        clock,
        control::Control,
        cut::Part,
        gpu::adapter,
    };

    const MODEL: &str = "agents 100\nsteps 10\nstate x = agent\nstep { x += 1 }\noutput x\n";

    /// The adapter, if there is any, the model, and a launch of it.
    fn ready() -> Option<(wgpu::Adapter, Arc<Artifact>, Arc<Launch>)> {
        let adapter = match clock::at_once(adapter::best(None)).expect("it blocks") {
            Ok(adapter) => adapter,
            Err(error) if std::env::var_os("SIM_REQUIRE_GPU").is_some() => panic!("{error}"),
            Err(_) => return None,
        };
        let artifact = Arc::new(sim_compiler::compile(MODEL).expect("it compiles"));
        let launch = Arc::new(bind(&artifact, &Settings::default()).expect("it binds"));
        Some((adapter, artifact, launch))
    }

    #[test]
    fn a_driver_that_never_blocks_completes_a_batch() {
        let Some((adapter, artifact, launch)) = ready() else {
            return;
        };
        let tuning = Tuning {
            max_agents_per_chunk: Some(64),
            steps_per_dispatch: Some(3),
            ..Tuning::default()
        };
        let opened = Session::open(&adapter, artifact, tuning, None, &launch, true);
        let opened = clock::at_once(opened).expect("it blocks");
        let mut session = opened.expect("it opens");
        let batch = Batch {
            runs: 3,
            launch: &|_| Ok(Arc::clone(&launch)),
            complete_launch: &|_| Ok(Arc::clone(&launch)),
            same_inputs: true,
            keep: Keep::ALL,
            part: Part::whole(launch.steps),
            control: Control::default(),
            target: None,
        };
        let mut run = session.start(&batch).expect("it starts");
        let mut delivered = Vec::new();
        loop {
            while run.submit_next().expect("it submits") {}
            if run.is_finished() {
                break;
            }
            while !run.poll().expect("it polls") {
                std::thread::yield_now();
            }
            let mut deliver = |number, raw: crate::results::RawResults| {
                delivered.push((number, raw.outputs[0][99]));
            };
            run.complete(&mut deliver).expect("it completes");
        }
        assert_eq!(delivered, [(0, 109), (1, 109), (2, 109)]);
    }

    #[test]
    fn states_on_a_device_are_lost_with_it() {
        let Some((adapter, artifact, launch)) = ready() else {
            return;
        };
        let open = || {
            let artifact = Arc::clone(&artifact);
            let opened = Session::open(&adapter, artifact, Tuning::default(), None, &launch, false);
            clock::at_once(opened)
                .expect("it blocks")
                .expect("it opens")
        };
        let part = |session: &mut Session, part: Part<'_>| {
            let batch = Batch {
                runs: 1,
                launch: &|_| Ok(Arc::clone(&launch)),
                complete_launch: &|_| Ok(Arc::clone(&launch)),
                same_inputs: true,
                keep: Keep::ALL,
                part,
                control: Control::default(),
                target: None,
            };
            let mut found = None;
            let mut deliver = |_, raw: crate::results::RawResults| found = raw.saved;
            let result = clock::at_once(session.run(&batch, &mut deliver)).expect("it blocks");
            result.map(|()| found)
        };
        let (mut first, mut second) = (open(), open());
        let leaves = Part {
            leaves: true,
            ..Part::whole(4)
        };
        let mut saved = part(&mut first, leaves)
            .expect("it runs")
            .expect("it is cut");
        assert!(saved.states.is_empty(), "nothing was read back");
        let lost = clock::at_once(second.read(&mut saved)).expect("it blocks");
        assert!(matches!(lost, Err(Error::SessionLost)), "{lost:?}");
        let lost = part(&mut second, Part::after(&saved, 5));
        assert!(matches!(lost, Err(Error::SessionLost)), "{lost:?}");
        let read = clock::at_once(first.read(&mut saved)).expect("it blocks");
        read.expect("it reads");
        assert_eq!(saved.states[0][99], 103);
        let next = part(&mut first, Part::after(&saved, 5))
            .expect("it runs")
            .expect("it is cut");
        assert_eq!(next.states[0][99], 104);
    }

    #[test]
    fn a_device_that_is_lost_in_a_run_hands_its_share_over() {
        use crate::backend::split::{Member, SplitBackend};
        let Some((adapter, artifact, _)) = ready() else {
            return;
        };
        let settings = Settings {
            agents: Some(5000),
            steps: Some(300),
            ..Settings::default()
        };
        let launch = Arc::new(bind(&artifact, &settings).expect("it binds"));
        let tuning = Tuning {
            // Many submissions, so that a device can be lost between two of them.
            max_agents_per_chunk: Some(256),
            ..Tuning::default()
        };
        let open = || {
            let opened =
                Session::open(&adapter, Arc::clone(&artifact), tuning, None, &launch, true);
            let opened = clock::at_once(opened).expect("it blocks");
            opened.expect("it opens")
        };
        for (lost, runs) in [(0, 1), (1, 1), (0, 30)] {
            let sessions = [open(), open()];
            let device = wgpu::Device::clone(&sessions[lost].open.device);
            let members = sessions.map(|it| Member::new("0".to_owned(), it));
            let mut several = SplitBackend::new(Arc::clone(&artifact), members.into());
            let progress = |_, _| device.destroy();
            let batch = Batch {
                runs,
                launch: &|_| Ok(Arc::clone(&launch)),
                complete_launch: &|_| Ok(Arc::clone(&launch)),
                same_inputs: true,
                keep: Keep::ALL,
                part: Part::whole(300),
                control: Control {
                    progress: Some(&progress),
                    ..Control::default()
                },
                target: None,
            };
            let mut delivered = Vec::new();
            let mut deliver = |_, raw| delivered.push(raw);
            let result = clock::at_once(several.run(&batch, &mut deliver)).expect("it blocks");
            result.expect("the other device takes over");
            assert_eq!(delivered.len(), runs);
            for raw in &delivered {
                assert!((0..5000).all(|agent| raw.outputs[0][agent] == agent as u32 + 300));
            }
            if runs == 1 {
                let failures = delivered[0].shares.iter().map(|it| it.failure.as_deref());
                let failures: Vec<_> = failures.collect();
                assert!(
                    failures[lost].is_some_and(|it| it.contains("lost")),
                    "{failures:?}"
                );
                assert_eq!(failures[1 - lost], None);
            }
        }
    }
}
