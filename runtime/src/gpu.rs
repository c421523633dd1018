//! The GPU backend: a session holds a device, a compiled kernel and buffers, and runs launches on them.

mod adapter;
mod buffers;
mod cache;
mod choose;
mod commands;
mod device;
mod flight;
mod kernel;
mod order;
mod pace;
mod per_step;
mod plan;
mod processors;
mod readback;
mod reduce;
mod results;
mod staging;
mod stock;
mod upload;

pub use adapter::{Preload, adapters, preload};
pub(crate) use adapter::{best, best_gpu};
pub(crate) use wgpu::Adapter;

use crate::{
    adapter::AdapterSummary,
    backend::Deliver,
    batch::Batch,
    bind::Launch,
    clock::Stopwatch,
    control::{Keep, Tuning},
    error::Error,
    memory::Need,
};
use cache::Cache;
use device::OpenDevice;
use flight::Traffic;
use kernel::Kernel;
use pace::Pace;
use results::Layout;
use sim_compiler::{
    artifact::Artifact,
    schedule::{self, Choice, Chosen, Schedule},
};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};
use stock::Stock;

/// Results of fewer bytes are fetched sooner than they are reduced.
const REDUCED_BYTES: u64 = 4 << 20;
/// So many times less must come back.
const REDUCED_TIMES: u64 = 8;

/// A device with a kernel; serves any number of runs.
pub(crate) struct Session {
    artifact: Arc<Artifact>,
    /// Where pipelines are kept.
    directory: Option<PathBuf>,
    /// What names the adapter there.
    key: Option<String>,
    /// The kernels that have run, the one for the launch at hand first.
    kernels: Vec<Built>,
    /// Population and steps of the launch that it was chosen for.
    chosen_for: Option<(u32, u32)>,
    stock: Stock,
    /// The same for all kernels: another tuning is another session.
    tuning: Tuning,
    /// The last to be dropped: it closes the device, whose memory is given up before.
    open: OpenDevice,
}

/// A kernel for one schedule.
struct Built {
    schedule: Schedule,
    choices: Vec<Choice>,
    /// Agents of a workgroup.
    agents: u32,
    kernel: Kernel,
    /// A pipeline that is to be kept on disk; written after the first run, which need not wait for it.
    cache: Option<Cache>,
    pace: Pace,
}

impl Session {
    /// Opens the adapter and builds the kernel for a launch, with a cache of pipelines in a directory if there
    /// is one.
    pub(crate) fn open(
        adapter: &Adapter,
        artifact: Arc<Artifact>,
        tuning: Tuning,
        cache: Option<&Path>,
        launch: &Launch,
    ) -> Result<Session, Error> {
        let open = OpenDevice::open(adapter)?;
        let key = wgpu::util::pipeline_cache_key(&adapter.get_info());
        let mut session = Session {
            artifact,
            open,
            directory: cache.map(Path::to_owned),
            key,
            kernels: Vec::new(),
            chosen_for: None,
            stock: Stock::default(),
            tuning,
        };
        session.choose(launch)?;
        Ok(session)
    }

    /// Brings the kernel for a launch to the front, and builds it if need be.
    fn choose(&mut self, launch: &Launch) -> Result<(), Error> {
        let size = (launch.population, launch.steps);
        if self.chosen_for == Some(size) {
            return Ok(());
        }
        let started = Stopwatch::start();
        let (open, artifact) = (&self.open, &self.artifact);
        let target = choose::target(open, &artifact.manifest, launch);
        let Chosen {
            schedule,
            mut kernel,
        } = schedule::choose(artifact, &target, &choose::wishes(&self.tuning));
        kernel.choices.extend(choose::checks(&self.tuning));
        open.meter(|telemetry| telemetry.kernel_seconds = started.seconds());
        let known = |built: &Built| built.schedule == schedule;
        if let Some(at) = self.kernels.iter().position(known) {
            if at > 0 {
                self.kernels.swap(0, at);
                self.stock.clear_buffers();
            }
            self.kernels[0].choices = kernel.choices;
        } else {
            let built = self.build(schedule, kernel)?;
            self.kernels.insert(0, built);
            self.stock.clear_buffers();
        }
        self.chosen_for = Some(size);
        Ok(())
    }

    fn build(&self, schedule: Schedule, text: schedule::Kernel) -> Result<Built, Error> {
        let (open, manifest) = (&self.open, &self.artifact.manifest);
        let checks = self.tuning.checks;
        let cache = (self.directory.as_deref().zip(self.key.as_deref()))
            .and_then(|(directory, key)| Cache::open(open, directory, key, &text.wgsl, checks));
        let handle = cache.as_ref().map(Cache::handle);
        let kernel = Kernel::build(open, manifest, &text, checks, handle)?;
        Ok(Built {
            schedule,
            choices: text.choices,
            agents: text.workgroup_size / text.lanes,
            kernel,
            cache,
            pace: Pace::new(
                adapter::cuts_long_loops(open.adapter.kind),
                manifest.inner_rounds,
                self.tuning.steps_per_dispatch,
            ),
        })
    }

    /// What it runs on.
    pub(crate) fn adapter(&self) -> &AdapterSummary {
        &self.open.adapter
    }

    /// Are outputs that need not be kept reduced on the device, if they lie there all at once?
    pub(crate) fn reduces(&self, launch: &Launch, keep: Keep) -> bool {
        let manifest = &self.artifact.manifest;
        let (fields, agents) = (&manifest.outputs, launch.agents);
        let bytes = 4 * (1 + u64::from(manifest.output_words)) * u64::from(agents);
        let pays = self.open.adapter.kind.is_gpu()
            && bytes >= REDUCED_BYTES
            && bytes >= REDUCED_TIMES * reduce::bytes(fields);
        let limit = plan::most_agents(manifest, &self.open.limits, &self.open.adapter.name);
        let whole = limit
            .is_ok_and(|limit| agents <= self.stock.most(limit, self.tuning.max_agents_per_chunk));
        // States that are kept come back by the copy that brings the rest.
        whole
            && !keep.outputs
            && !keep.states
            && self.tuning.reduce.unwrap_or(pays)
            && reduce::is_possible(&self.open.limits, fields, agents)
    }

    /// Adds what runs allocate on the host: results that are fetched, what the model computes for inputs, and the
    /// buffers in between; on a software adapter also the device's own.
    pub(crate) fn add_need(&self, launch: &Launch, keep: Keep, runs: usize, need: &mut Need) {
        let manifest = &self.artifact.manifest;
        if !launch.absent.is_empty() {
            need.each("rows of inputs", manifest.input_words.into());
        }
        if self.reduces(launch, keep) {
            return;
        }
        need.results(manifest, keep, runs);
        let limit = plan::most_agents(manifest, &self.open.limits, &self.open.adapter.name);
        let Ok(limit) = limit else { return };
        let most = self.stock.most(limit, self.tuning.max_agents_per_chunk);
        let chunk = plan::chunk_agents(launch.agents, most, manifest.workgroup_size);
        let kept = Keep {
            outputs: true,
            ..keep
        };
        let mut staged = Layout::new(manifest, chunk).read(kept);
        if !self.open.adapter.kind.is_gpu() {
            staged += Layout::new(manifest, chunk).bytes();
            staged += 4 * u64::from(chunk) * u64::from(manifest.input_words);
            let tables: usize = launch.data.iter().map(|words| words.len()).sum();
            need.fixed("tables", 4 * tables as u64);
        }
        let chunks = launch.agents.div_ceil(chunk.max(1)) as usize * runs;
        need.fixed("buffers", staged * chunks.min(flight::IN_FLIGHT) as u64);
    }

    /// Runs a batch, and hands over each of its runs when it is done.
    pub(crate) fn run_batch(&mut self, batch: &Batch<'_>, each: Deliver<'_>) -> Result<(), Error> {
        let result = self.run_all(batch, each);
        match &result {
            Ok(()) => {
                if let Some(cache) = self.kernels[0].cache.take() {
                    cache.save(&self.open);
                }
            }
            // That of a run that failed is nobody's.
            Err(_) => drop(self.open.taken_telemetry()),
        }
        result
    }

    fn run_all(&mut self, batch: &Batch<'_>, each: Deliver<'_>) -> Result<(), Error> {
        let launch = (batch.complete_launch)(0)?;
        self.choose(&launch)?;
        let artifact = Arc::clone(&self.artifact);
        let most = self.tuning.max_agents_per_chunk;
        let reduces = self.reduces(&launch, batch.keep);
        Traffic::new(
            (&self.open, &artifact.manifest),
            &mut self.kernels[0],
            &mut self.stock,
            batch,
            (launch, most, reduces),
        )
        .run(each)
    }
}
