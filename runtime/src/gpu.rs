//! The GPU backend: a session holds a device, a compiled kernel and buffers, and runs launches on them.

mod adapter;
mod buffers;
mod cache;
mod choose;
mod device;
mod kernel;
mod pace;
mod per_step;
mod plan;
mod processors;
mod readback;
mod staging;

pub(crate) use crate::run::Raw;
pub use adapter::{Preload, adapters, preload};
pub(crate) use adapter::{best, best_gpu};
pub(crate) use wgpu::Adapter;

use crate::{
    adapter::AdapterSummary,
    bind::{Launch, zeroed},
    clock::Stopwatch,
    control::{Control, Tuning},
    error::Error,
    telemetry::Telemetry,
};
use buffers::Buffers;
use cache::Cache;
use device::{OpenDevice, Task};
use kernel::Kernel;
use pace::Pace;
use rayon::prelude::*;
use sim_compiler::{
    artifact::Artifact,
    manifest::{CUT_SHORT, Field, Manifest, STOPPED},
    schedule::{self, Choice, Chosen, Schedule},
};
use staging::{Mapping, Words};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

/// Agents whose step counts one task checks.
const CHECKED: usize = 1 << 16;

/// A device with a kernel; serves any number of runs.
pub(crate) struct Session {
    artifact: Arc<Artifact>,
    open: OpenDevice,
    /// Where pipelines are kept.
    directory: Option<PathBuf>,
    /// What names the adapter there.
    key: Option<String>,
    /// The kernels that have run, the one for the launch at hand first.
    kernels: Vec<Built>,
    /// Population and steps of the launch that it was chosen for.
    chosen_for: Option<(u32, u32)>,
    buffers: Option<Buffers>,
    /// The same for all kernels: another tuning is another session.
    tuning: Tuning,
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

/// How the attempt to run a chunk ended.
enum Attempt {
    /// Every agent ran all its steps.
    Done,
    /// An agent's loops were cut short.
    Cut(Error),
}

/// What the dispatches of one chunk share.
struct Chunk {
    /// First agent, counted within the run.
    first: u32,
    /// Agents.
    count: u32,
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
            buffers: None,
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
                self.buffers = None;
            }
            self.kernels[0].choices = kernel.choices;
        } else {
            let built = self.build(schedule, kernel)?;
            self.kernels.insert(0, built);
            self.buffers = None;
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

    /// Runs all agents and reads the results back.
    pub(crate) fn run(
        &mut self,
        launch: &Arc<Launch>,
        keep_states: bool,
        control: Control<'_>,
    ) -> Result<Raw, Error> {
        let result = self.run_all(launch, keep_states, control);
        if let (Ok(_), Some(cache)) = (&result, self.kernels[0].cache.take()) {
            cache.save(&self.open);
        }
        // Those of a run that failed are nobody's.
        let telemetry = self.open.taken_telemetry();
        result.map(|raw| Raw { telemetry, ..raw })
    }

    fn run_all(
        &mut self,
        launch: &Arc<Launch>,
        keep_states: bool,
        control: Control<'_>,
    ) -> Result<Raw, Error> {
        self.choose(launch)?;
        let artifact = Arc::clone(&self.artifact);
        let manifest = &artifact.manifest;
        let agents = launch.agents as usize;
        let rows = |fields: &[Field]| -> Result<Vec<Vec<u32>>, Error> {
            fields
                .iter()
                .map(|field| zeroed(agents * field.words() as usize))
                .collect()
        };
        let mut raw = Raw {
            outputs: rows(&manifest.outputs)?,
            states: keep_states.then(|| rows(&manifest.states)).transpose()?,
            progress: zeroed(agents)?,
            dispatches: 0,
            chunks: 0,
            telemetry: Telemetry::default(),
            choices: self.kernels[0].choices.clone(),
        };
        let mut buffers = self.allocate(manifest, launch, keep_states)?;
        let size = buffers.agents;
        let mut first = 0;
        while first < launch.agents {
            let chunk = Chunk {
                first,
                count: size.min(launch.agents - first),
            };
            self.run_chunk(&mut buffers, launch, &chunk, control, &mut raw)?;
            raw.chunks += 1;
            first += chunk.count;
        }
        self.buffers = Some(buffers);
        Ok(raw)
    }

    /// Buffers for the largest chunk that limits and memory allow.
    fn allocate(
        &mut self,
        manifest: &Manifest,
        launch: &Launch,
        keep_states: bool,
    ) -> Result<Buffers, Error> {
        let most = plan::most_agents(manifest, &self.open.limits, &self.open.adapter.name)?;
        let mut most = most.min(self.tuning.max_agents_per_chunk.unwrap_or(u32::MAX).max(1));
        loop {
            let agents = plan::chunk_agents(launch.agents, most, manifest.workgroup_size);
            let size = (agents, keep_states);
            match self.buffers.take() {
                Some(buffers) if buffers.serve(launch, size) => return Ok(buffers),
                Some(_) | None => {}
            }
            match Buffers::create(&self.open, &self.kernels[0].kernel, manifest, launch, size) {
                Err(Error::GpuMemory { .. }) if agents > plan::SMALLEST_CHUNK => most = agents / 2,
                other => return other,
            }
        }
    }

    /// Runs one chunk, starting over with shorter dispatches while a driver cuts loops short.
    fn run_chunk(
        &mut self,
        buffers: &mut Buffers,
        launch: &Arc<Launch>,
        chunk: &Chunk,
        control: Control<'_>,
        raw: &mut Raw,
    ) -> Result<(), Error> {
        let words = self.artifact.manifest.input_words;
        loop {
            buffers.load(&self.open, launch, words, chunk.first, chunk.count)?;
            match self.attempt(buffers, launch, chunk, control, raw)? {
                Attempt::Done => return Ok(()),
                Attempt::Cut(error) => {
                    if !self.kernels[0].pace.shorten(launch.steps) {
                        return Err(error);
                    }
                }
            }
        }
    }

    /// Runs all steps of a chunk and reads its results, if they are right.
    fn attempt(
        &mut self,
        buffers: &mut Buffers,
        launch: &Launch,
        chunk: &Chunk,
        control: Control<'_>,
        raw: &mut Raw,
    ) -> Result<Attempt, Error> {
        let total = u64::from(launch.agents) * u64::from(launch.steps);
        let before = u64::from(chunk.first) * u64::from(launch.steps);
        let mut step = 0;
        loop {
            control.check()?;
            let dispatches = self.next_dispatches(buffers, chunk.count, step, launch.steps);
            let end = dispatches.last().map_or(launch.steps, |&(_, end)| end);
            let keep_states = raw.states.is_some();
            let started = Instant::now();
            let mapping = self.submit(buffers, launch, chunk, &dispatches, keep_states)?;
            let seconds = started.elapsed().as_secs_f64();
            raw.dispatches += dispatches.len() as u64;
            let last = end == launch.steps;
            let (attempt, gpu) = self.read(buffers, launch, chunk, (last, mapping), raw)?;
            // Where the device has no clock, the host's counts the way there and back too.
            let seconds = gpu.unwrap_or(seconds);
            self.kernels[0].pace.learn(chunk.count, end - step, seconds);
            control.report(before + u64::from(chunk.count) * u64::from(end), total);
            step = end;
            if let Some(attempt) = attempt {
                return Ok(attempt);
            }
        }
    }

    /// The step ranges of the next submission, from `step`.
    fn next_dispatches(
        &self,
        buffers: &Buffers,
        agents: u32,
        step: u32,
        steps: u32,
    ) -> Vec<(u32, u32)> {
        let cap = self.kernels[0].pace.cap();
        let mut span = self.kernels[0]
            .pace
            .steps(agents, steps - step)
            .min(steps - step);
        if span > cap && span < steps - step {
            // Whole dispatches only: a short one at the end of each submission is a wasted start.
            span -= span % cap;
        }
        let end = step + span;
        let mut ranges = Vec::new();
        let mut first = step;
        while ranges.is_empty() || (first < end && ranges.len() < buffers.slots as usize) {
            let last = end.min(first.saturating_add(cap));
            ranges.push((first, last));
            first = last;
        }
        ranges
    }

    /// Runs the dispatches in one compute pass and waits for them; after the last step the results are
    /// copied to where the host can read them, in the same submission.
    fn submit(
        &self,
        buffers: &mut Buffers,
        launch: &Launch,
        chunk: &Chunk,
        dispatches: &[(u32, u32)],
        keep_states: bool,
    ) -> Result<Option<Mapping>, Error> {
        let open = &self.open;
        let offsets =
            buffers.write_headers(open, launch, (chunk.first, chunk.count), dispatches)?;
        let (x, y) = plan::workgroups(
            chunk.count,
            self.kernels[0].agents,
            open.limits.max_compute_workgroups_per_dimension,
        );
        let (first, end) = match dispatches {
            [(first, _), .., (_, end)] | [(first, end)] => (*first, *end),
            [] => (0, 0),
        };
        let results = staging::results(buffers, keep_states).filter(|_| end == launch.steps);
        let (submission, mapping) = open.guarded(Task::new("running the kernel"), || {
            let mut encoder = open
                .device
                .create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("sim") });
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some("sim"),
                timestamp_writes: buffers.staging.timestamps(),
            });
            if let (Some(preparing), Some(per_step), [first, ..]) = (
                &self.kernels[0].kernel.preparing,
                &buffers.per_step,
                offsets.as_slice(),
            ) {
                per_step.fill(&mut pass, preparing, &open.limits, launch.steps, *first);
            }
            pass.set_pipeline(&self.kernels[0].kernel.pipeline);
            for offset in offsets {
                pass.set_bind_group(0, &buffers.bind_group, &[offset]);
                pass.dispatch_workgroups(x, y, 1);
            }
            drop(pass);
            let mapping = buffers.staging.fill(&mut encoder, results, chunk.count);
            (open.queue.submit([encoder.finish()]), mapping)
        })?;
        open.meter(|telemetry| telemetry.submissions += 1);
        let expected = self.kernels[0].pace.expected(chunk.count, end - first);
        open.wait(Task::new("running the kernel"), submission, expected)?;
        Ok(mapping)
    }

    /// What a submission gave: after the last step the results of a chunk, if its step counts are right; and
    /// the seconds by the device's clock, if it has one.
    fn read(
        &self,
        buffers: &Buffers,
        launch: &Launch,
        chunk: &Chunk,
        (last, mapping): (bool, Option<Mapping>),
        raw: &mut Raw,
    ) -> Result<(Option<Attempt>, Option<f64>), Error> {
        let Some(mapping) = mapping else {
            return Ok((None, None));
        };
        buffers.staging.read(&self.open, &mapping, |words| {
            last.then(|| self.take(launch, chunk, Words::new(words), raw))
        })
    }

    /// Checks the step counts and, if they are right, takes the results of a chunk.
    fn take(&self, launch: &Launch, chunk: &Chunk, mut words: Words<'_>, raw: &mut Raw) -> Attempt {
        let count = chunk.count as usize;
        let first = chunk.first as usize;
        let steps = &mut raw.progress[first..first + count];
        steps.copy_from_slice(words.take(count));
        if let Some(error) = self.fault(launch, chunk, steps) {
            return Attempt::Cut(error);
        }
        let manifest = &self.artifact.manifest;
        let mut take = |width: u32, fields: &[Field], rows: &mut [Vec<u32>]| {
            let words = words.take(width as usize * count);
            for (field, rows) in fields.iter().zip(rows) {
                let width = field.words() as usize;
                let rows = &mut rows[first * width..][..count * width];
                readback::transpose(field, words, count, rows);
            }
        };
        take(manifest.output_words, &manifest.outputs, &mut raw.outputs);
        if let Some(rows) = &mut raw.states {
            take(manifest.state_words, &manifest.states, rows);
        }
        Attempt::Done
    }

    /// The error of the first agent whose step count is wrong.
    fn fault(&self, launch: &Launch, chunk: &Chunk, progress: &[u32]) -> Option<Error> {
        let wrong = |&word: &u32| {
            let steps = word & (CUT_SHORT - 1);
            let stopped = word & STOPPED != 0;
            // No `||`: without branches the loop over all agents is one of vector instructions.
            (word & CUT_SHORT != 0) | (steps > launch.steps) | (!stopped & (steps != launch.steps))
        };
        let any = |words: &[u32]| words.iter().fold(false, |any, word| any | wrong(word));
        let fine = match progress.len() {
            0..=CHECKED => !any(progress),
            _ => !progress.par_chunks(CHECKED).any(any),
        };
        if fine {
            return None;
        }
        let position = progress.iter().position(wrong)?;
        let agent = u64::from(launch.first_agent) + u64::from(chunk.first) + position as u64;
        let adapter = self.open.adapter.name.clone();
        let word = progress[position];
        Some(if word & CUT_SHORT != 0 {
            Error::LoopCutShort { adapter, agent }
        } else {
            Error::WrongStepCount {
                adapter,
                agent,
                expected: launch.steps,
                found: word & (CUT_SHORT - 1),
            }
        })
    }
}
