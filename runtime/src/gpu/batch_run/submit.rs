//! Submitting: which jobs share a submission, in which buffers, and how many of their steps it computes.

use super::{BatchRun, IN_FLIGHT, Submission, agents, jobs::Job};
use crate::{
    clock::{self, Stopwatch},
    control::Keep,
    error::Error,
    gpu::{
        buffer_pool::PooledBuffers,
        buffer_set::{Shape, most_agents},
        chunk::{SMALLEST_CHUNK, chunk_agents},
        commands::{CommandKey, Commands, OneOffWork},
        reduce::Reduction,
        results::{HEADER_BYTES, Layout},
        timing::SubmissionTiming,
        uniforms::{Dispatch, UniformLayout},
    },
    results::RawResults,
};
use std::{ops::Range, time::Duration};

/// The time in which runs that share a submission should complete, so that a batch can be cancelled.
const SHARED_TIME: Duration = Duration::from_millis(50);
/// Most bytes of results that runs share a submission with.
const SHARED_BYTES: u64 = 64 << 20;

impl BatchRun<'_> {
    /// Submits the next jobs. `false` if all are submitted, or if submissions on the device must complete
    /// first.
    ///
    /// # Errors
    /// [`Error::Cancelled`], and those of the device.
    pub(in crate::gpu) fn submit_next(&mut self) -> Result<bool, Error> {
        let is_only = self.in_flight.is_empty();
        // Complete runs that wait for an earlier one take host memory, so nothing is added to them.
        let must_wait = self.collector.has_waiting() && !is_only;
        if self.in_flight.len() >= IN_FLIGHT || self.jobs.runs_left() == 0 || must_wait {
            return Ok(false);
        }
        let Some(mut buffers) = self.acquire_buffers(is_only)? else {
            return Ok(false);
        };
        let Shape { agents, keep, .. } = buffers.set.shape;
        let runs = self.runs_together(agents).min(buffers.set.runs.len());
        let mut jobs = Vec::with_capacity(runs);
        for buffers in &mut buffers.set.runs[..runs] {
            let Some(job) = self.jobs.next(agents) else {
                break;
            };
            self.start_run(&job, keep)?;
            buffers.upload(self.resources.open, &job.launch, job.chunk)?;
            jobs.push(job);
        }
        self.submit(buffers, jobs, 0)?;
        Ok(true)
    }

    /// Allocates the results of a run if the job is its first.
    fn start_run(&mut self, job: &Job, keep: Keep) -> Result<(), Error> {
        if job.chunk.first > 0 {
            return Ok(());
        }
        let agents = job.launch.agents;
        let raw = RawResults {
            chunks: 0,
            decisions: self.resources.kernel.decisions.clone(),
            ..RawResults::empty(self.resources.manifest, agents, keep)?
        };
        self.collector.start(raw, agents);
        Ok(())
    }

    /// Buffers for the largest chunk that limits and memory allow, or for several runs. `None` if memory is
    /// short and other submissions must complete first.
    fn acquire_buffers(&mut self, is_only: bool) -> Result<Option<PooledBuffers>, Error> {
        let (open, manifest) = (self.resources.open, self.resources.manifest);
        let limit = most_agents(manifest, &open.limits, &open.adapter.name)?;
        let mut most_runs = usize::MAX;
        loop {
            let pool = &mut *self.resources.pool;
            let most = pool.most_agents(limit, self.resources.most_agents);
            let agents = self.jobs.launch().agents;
            let agents = chunk_agents(agents, most, manifest.workgroup_size);
            let runs = self.runs_together(agents).min(most_runs);
            let shape = self.shape(runs, agents);
            let kernel = &self.resources.kernel.kernel;
            match (self.resources.pool).acquire(open, kernel, manifest, shape) {
                Err(Error::GpuMemory { .. }) if !is_only => return Ok(None),
                Err(Error::GpuMemory { .. }) if runs > 1 => most_runs = runs / 2,
                Err(Error::GpuMemory { .. }) if agents > SMALLEST_CHUNK => {
                    self.resources.pool.limit_agents(agents / 2);
                }
                other => return other.map(Some),
            }
        }
    }

    /// What buffers for `runs` chunks of `agents` agents must have room for.
    fn shape(&self, runs: usize, agents: u32) -> Shape {
        let launch = self.jobs.launch();
        let is_whole = agents == launch.agents;
        let has_inputs = self.resources.manifest.input_words > 0;
        let same_inputs = self.batch.same_inputs || self.batch.runs == 1;
        Shape {
            runs,
            agents,
            steps: launch.steps,
            keep: Keep {
                outputs: !(self.resources.reduces && is_whole),
                states: self.batch.keep.states,
            },
            shares_inputs: is_whole && has_inputs && same_inputs,
        }
    }

    /// How many of the runs that are left should share a submission, if a chunk has `agents` agents.
    fn runs_together(&self, agents: u32) -> usize {
        let left = self.jobs.runs_left();
        let launch = self.jobs.launch();
        let alone = self.resources.kernel.pace.expected(agents, launch.steps);
        if agents < launch.agents || left < 2 || alone.is_zero() {
            return 1;
        }
        let by_time = SHARED_TIME.as_secs_f64() / alone.as_secs_f64();
        let outputs = Keep {
            outputs: true,
            ..self.batch.keep
        };
        let (open, manifest) = (self.resources.open, self.resources.manifest);
        let bytes = Layout::new(manifest, agents).bytes_back(outputs);
        let by_memory = SHARED_BYTES / bytes.max(1);
        let by_uniforms = UniformLayout::new(open, manifest).blocks;
        // At most half of the runs, so that the other half can be in flight meanwhile.
        (left.div_ceil(2))
            .min(by_time as usize)
            .min(by_memory.min(by_uniforms) as usize)
            .max(1)
    }

    /// Submits steps of some jobs, from `first_step` on. After the last step the submission also copies the
    /// results to the staging buffer.
    pub(super) fn submit(
        &mut self,
        mut buffers: PooledBuffers,
        jobs: Vec<Job>,
        first_step: u32,
    ) -> Result<(), Error> {
        self.batch.control.check()?;
        let open = self.resources.open;
        let agents = agents(&jobs);
        let last_step = self.launch_steps(&jobs);
        let most = buffers.set.uniforms.layout.blocks as usize / jobs.len();
        let pace = &self.resources.kernel.pace;
        let ranges = pace.ranges(agents, first_step..last_step, most.max(1));
        let steps = first_step..ranges.last().map_or(last_step, |range| range.end);
        let is_last = steps.end == last_step;
        (buffers.set.uniforms).write(open, &dispatches(&jobs, &ranges))?;
        let reductions = self.reductions(&buffers, &jobs, is_last)?;
        let is_whole = first_step == 0 && is_last;
        let can_repeat = is_whole && ranges.len() * jobs.len() == 1;
        let key = CommandKey {
            runs: jobs.len(),
            agents: jobs[0].chunk.count,
            dispatches: ranges.len(),
            bytes_back: self.bytes_back(&buffers.set.shape, is_last),
            timing: self.timing(&buffers, agents, &steps, can_repeat),
        };
        let one_off = OneOffWork {
            step_tables: Some(last_step),
            reductions: &reductions,
        };
        let submitted = self.commands(&mut buffers, key, one_off)?.submit(open)?;
        let since = clock::now();
        if is_whole && reductions.is_empty() {
            let kernel = &*self.resources.kernel;
            let nothing = OneOffWork::default();
            let ahead = Commands::record(open, kernel, &buffers.set, key, nothing)?;
            buffers.keep_recorded(ahead);
        }
        let lengths = ranges.iter().map(|range| range.end - range.start);
        self.in_flight.push_back(Submission {
            buffers,
            jobs,
            steps,
            dispatches: ranges.len() as u64 * u64::from(key.timing.repeats),
            longest: lengths.max().unwrap_or(0),
            key,
            reductions,
            submitted,
            since,
        });
        Ok(())
    }

    /// The commands of a submission: those that were recorded during an earlier one, or new ones.
    fn commands(
        &self,
        buffers: &mut PooledBuffers,
        key: CommandKey,
        one_off: OneOffWork<'_>,
    ) -> Result<Commands, Error> {
        let recorded = buffers.take_recorded(&key);
        if let Some(commands) = recorded.filter(|_| one_off.reductions.is_empty()) {
            return Ok(commands);
        }
        let (open, kernel) = (self.resources.open, &*self.resources.kernel);
        let started = Stopwatch::start();
        let commands = Commands::record(open, kernel, &buffers.set, key, one_off)?;
        open.meter(|telemetry| telemetry.record_seconds += started.seconds());
        Ok(commands)
    }

    /// Bytes that a submission reads back of each run.
    fn bytes_back(&self, shape: &Shape, is_last: bool) -> u64 {
        match is_last {
            true => Layout::new(self.resources.manifest, shape.agents).bytes_back(shape.keep),
            false => HEADER_BYTES,
        }
    }

    /// The reductions of a submission: none unless it computes the last steps of runs whose outputs are not
    /// read back.
    fn reductions(
        &mut self,
        buffers: &PooledBuffers,
        jobs: &[Job],
        is_last: bool,
    ) -> Result<Vec<Reduction>, Error> {
        if !is_last || buffers.set.shape.keep.outputs {
            return Ok(Vec::new());
        }
        let (open, manifest) = (self.resources.open, self.resources.manifest);
        let chunks = jobs.iter().map(|job| job.chunk);
        let steps = self.launch_steps(jobs);
        (self.resources.pool).reductions(open, manifest, &buffers.set, chunks, steps)
    }

    /// How a submission is timed. One that `can_repeat` its only dispatch does so as often as the caller
    /// asks, if that is known to take no longer than runs that share a submission may.
    fn timing(
        &self,
        buffers: &PooledBuffers,
        agents: u32,
        steps: &Range<u32>,
        can_repeat: bool,
    ) -> SubmissionTiming {
        let pace = &self.resources.kernel.pace;
        let steps = steps.end - steps.start;
        let alone = pace.expected(agents, steps);
        let has_clock = buffers.set.staging.timestamps.is_some();
        let repeats = match self.batch.control.timing {
            Some(timing) if can_repeat && has_clock && !alone.is_zero() => {
                let most = SHARED_TIME.as_secs_f64() / alone.as_secs_f64();
                timing.repeats.min(most as u32).max(1)
            }
            Some(_) | None => 1,
        };
        SubmissionTiming {
            timestamps: self.batch.control.timing.is_some() || pace.needs_timestamps(agents, steps),
            repeats,
        }
    }
}

/// The dispatches for some ranges of steps: all jobs side by side in each range.
fn dispatches<'a>(jobs: &'a [Job], ranges: &[Range<u32>]) -> Vec<Dispatch<'a>> {
    let of = |steps: &Range<u32>| {
        let steps = steps.clone();
        jobs.iter().map(move |job| Dispatch {
            launch: &job.launch,
            chunk: job.chunk,
            steps: steps.clone(),
        })
    };
    ranges.iter().flat_map(of).collect()
}
