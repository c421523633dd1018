//! The GPU backend: a session holds a device, a compiled kernel and buffers, and runs launches on them.

mod adapter;
mod buffers;
mod device;
mod kernel;
mod pace;
mod per_step;
mod plan;
mod readback;
mod schedule;

pub(crate) use crate::run::Raw;
pub use adapter::adapters;
pub(crate) use adapter::{best, best_gpu};
pub(crate) use wgpu::Adapter;

use crate::{
    adapter::AdapterSummary,
    bind::{Launch, zeroed},
    control::{Control, Tuning},
    error::Error,
};
use buffers::{Buffers, Results};
use device::{OpenDevice, Task};
use kernel::Kernel;
use pace::Pace;
use schedule::Scheduler;
use sim_compiler::{
    artifact::Artifact,
    manifest::{CUT_SHORT, Field, Manifest, STOPPED},
    schedule::{Choice, Schedule},
};
use std::{sync::Arc, time::Instant};

/// A device with a kernel; serves any number of runs.
pub(crate) struct Session {
    artifact: Arc<Artifact>,
    open: OpenDevice,
    scheduler: Scheduler,
    /// That of the kernel, and why.
    schedule: (Schedule, Vec<Choice>),
    kernel: Kernel,
    buffers: Option<Buffers>,
    pace: Pace,
    tuning: Tuning,
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
    /// Opens the adapter and builds the kernel for a launch.
    pub(crate) fn open(
        adapter: &Adapter,
        artifact: Arc<Artifact>,
        tuning: Tuning,
        launch: &Launch,
    ) -> Result<Session, Error> {
        let open = OpenDevice::open(adapter)?;
        let cuts_loops = adapter::cuts_long_loops(open.adapter.kind);
        let mut scheduler = Scheduler::new(tuning, cuts_loops, &open.limits, &artifact);
        let (schedule, choice) = scheduler.choose(&artifact, launch);
        let text = scheduler.kernel(&artifact, &schedule);
        let kernel = Kernel::build(&open, &artifact.manifest, &text)?;
        let pace = Pace::new(
            cuts_loops,
            artifact.manifest.inner_rounds,
            tuning.steps_per_dispatch,
        );
        Ok(Session {
            artifact,
            open,
            scheduler,
            schedule: (schedule, explained(choice, text.choices)),
            kernel,
            buffers: None,
            pace,
            tuning,
        })
    }

    /// What it runs on.
    pub(crate) fn adapter(&self) -> &AdapterSummary {
        &self.open.adapter
    }

    /// What was chosen for the kernel, and why.
    pub(crate) fn choices(&self) -> &[Choice] {
        &self.schedule.1
    }

    /// Builds another kernel if the launch wants another schedule.
    fn reschedule(&mut self, launch: &Launch) -> Result<(), Error> {
        let (schedule, choice) = self.scheduler.choose(&self.artifact, launch);
        if schedule != self.schedule.0 {
            let text = self.scheduler.kernel(&self.artifact, &schedule);
            self.buffers = None;
            self.kernel = Kernel::build(&self.open, &self.artifact.manifest, &text)?;
            self.schedule = (schedule, explained(choice, text.choices));
        }
        Ok(())
    }

    /// Runs all agents and reads the results back.
    pub(crate) fn run(
        &mut self,
        launch: &Arc<Launch>,
        keep_states: bool,
        control: Control<'_>,
    ) -> Result<Raw, Error> {
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
        };
        self.reschedule(launch)?;
        let mut buffers = self.allocate(manifest, launch)?;
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
    fn allocate(&mut self, manifest: &Manifest, launch: &Launch) -> Result<Buffers, Error> {
        let most = plan::most_agents(manifest, &self.open.limits, &self.open.adapter.name)?;
        let mut most = most.min(self.tuning.max_agents_per_chunk.unwrap_or(u32::MAX).max(1));
        loop {
            let agents = plan::chunk_agents(launch.agents, most, manifest.workgroup_size);
            match self.buffers.take() {
                Some(buffers) if buffers.serve(launch, agents) => return Ok(buffers),
                Some(_) | None => {}
            }
            match Buffers::create(&self.open, &self.kernel, manifest, launch, agents) {
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
                    if !self.pace.shorten(launch.steps) {
                        return Err(error);
                    }
                }
            }
        }
    }

    /// Runs all steps of a chunk and reads its results, if they are right.
    fn attempt(
        &mut self,
        buffers: &Buffers,
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
            let started = Instant::now();
            self.submit(buffers, launch, chunk, &dispatches, raw.states.is_some())?;
            let seconds = started.elapsed().as_secs_f64();
            self.pace.learn(chunk.count, end - step, seconds);
            raw.dispatches += dispatches.len() as u64;
            control.report(before + u64::from(chunk.count) * u64::from(end), total);
            step = end;
            if step >= launch.steps {
                break;
            }
        }
        self.read(buffers, launch, chunk, raw)
    }

    /// The step ranges of the next submission, from `step`.
    fn next_dispatches(
        &self,
        buffers: &Buffers,
        agents: u32,
        step: u32,
        steps: u32,
    ) -> Vec<(u32, u32)> {
        let cap = self.pace.cap();
        let mut span = self.pace.steps(agents, steps - step).min(steps - step);
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
    /// copied to where the host can read them.
    fn submit(
        &self,
        buffers: &Buffers,
        launch: &Launch,
        chunk: &Chunk,
        dispatches: &[(u32, u32)],
        keep_states: bool,
    ) -> Result<(), Error> {
        let open = &self.open;
        let offsets =
            buffers.write_headers(open, launch, (chunk.first, chunk.count), dispatches)?;
        let (x, y) = plan::workgroups(
            chunk.count,
            self.artifact.manifest.workgroup_size,
            open.limits.max_compute_workgroups_per_dimension,
        );
        let last = dispatches
            .last()
            .is_some_and(|&(_, end)| end == launch.steps);
        let submission = open.guarded(Task::new("running the kernel"), || {
            let mut encoder = open
                .device
                .create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("sim") });
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some("sim"),
                timestamp_writes: None,
            });
            if let (Some(preparing), Some(per_step), [first, ..]) = (
                &self.kernel.preparing,
                &buffers.per_step,
                offsets.as_slice(),
            ) {
                per_step.fill(&mut pass, preparing, &open.limits, launch.steps, *first);
            }
            pass.set_pipeline(&self.kernel.pipeline);
            for offset in offsets {
                pass.set_bind_group(0, &buffers.bind_group, &[offset]);
                pass.dispatch_workgroups(x, y, 1);
            }
            drop(pass);
            if last {
                for results in buffers.results(keep_states) {
                    let bytes = readback::used_bytes(results, chunk.count);
                    encoder.copy_buffer_to_buffer(&results.device, 0, &results.staging, 0, bytes);
                }
            }
            open.queue.submit([encoder.finish()])
        })?;
        open.wait(Task::new("running the kernel"), submission)
    }

    /// Checks the step counts and, if they are right, takes the results of a chunk.
    fn read(
        &self,
        buffers: &Buffers,
        launch: &Launch,
        chunk: &Chunk,
        raw: &mut Raw,
    ) -> Result<Attempt, Error> {
        let open = &self.open;
        let manifest = &self.artifact.manifest;
        let wanted = |results: &Results| readback::map(open, results, chunk.count);
        let progress = wanted(&buffers.progress)?;
        let outputs = buffers.outputs.as_ref().map(&wanted).transpose()?;
        let keep = raw.states.is_some();
        let states = buffers.states.as_ref().filter(|_| keep);
        let mapped_states = states.map(&wanted).transpose()?;
        let flush = open.guarded(Task::new("reading the results"), || open.queue.submit([]))?;
        open.wait(Task::new("reading the results"), flush)?;
        let place = chunk.first as usize..(chunk.first + chunk.count) as usize;
        let steps = &mut raw.progress[place];
        readback::with_mapped(open, &buffers.progress, chunk.count, &progress, |words| {
            steps.copy_from_slice(words);
        })?;
        let fault = self.fault(launch, chunk, steps);
        let take = |results: &Results, mapped, fields: &[Field], rows: &mut [Vec<u32>]| {
            readback::with_mapped(open, results, chunk.count, mapped, |words| {
                if fault.is_some() {
                    return;
                }
                for (field, rows) in fields.iter().zip(rows) {
                    let width = field.words() as usize;
                    let first = chunk.first as usize * width;
                    let rows = &mut rows[first..first + chunk.count as usize * width];
                    readback::transpose(field, words, chunk.count as usize, rows);
                }
            })
        };
        if let (Some(results), Some(mapped)) = (&buffers.outputs, &outputs) {
            take(results, mapped, &manifest.outputs, &mut raw.outputs)?;
        }
        if let (Some(results), Some(mapped), Some(rows)) = (states, &mapped_states, &mut raw.states)
        {
            take(results, mapped, &manifest.states, rows)?;
        }
        Ok(fault.map_or(Attempt::Done, Attempt::Cut))
    }

    /// The error of the first agent whose step count is wrong.
    fn fault(&self, launch: &Launch, chunk: &Chunk, progress: &[u32]) -> Option<Error> {
        let wrong = |&word: &u32| {
            let steps = word & (CUT_SHORT - 1);
            let stopped = word & STOPPED != 0;
            word & CUT_SHORT != 0 || steps > launch.steps || (!stopped && steps != launch.steps)
        };
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

fn explained(choice: Choice, mut others: Vec<Choice>) -> Vec<Choice> {
    others.push(choice);
    others
}
