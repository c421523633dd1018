//! Submitting: which jobs share a submission, in which buffers, and how many of their steps it computes.

use super::{BatchRun, IN_FLIGHT, Submission, agents, whole};
use crate::{
    bind::Launch,
    clock,
    control::Keep,
    error::Error,
    gpu::{
        buffer_set::{BufferSet, RunBuffers, Shape, UniformBlocks},
        chunk::{SMALLEST_CHUNK, chunk_agents},
        device::OpenDevice,
        jobs::Job,
        reduce::{Reduction, Source},
        results::{HEADER_BYTES, Layout},
        step_check::StepCheck,
        submission::Commands,
    },
    results::RawResults,
};
use sim_compiler::{manifest::Manifest, value::WORD_BYTES};
use std::{iter, ops::Range, sync::Arc, time::Duration};

/// The time in which runs that share a submission should complete, so that a batch can be cancelled.
const SHARED_TIME: Duration = Duration::from_millis(50);
/// Most bytes of inputs and results of runs that share a submission.
const SHARED_BYTES: u64 = 64 << 20;
/// Step counts of so many bytes are checked on the device if they are not wanted: reading them back takes
/// longer than two dispatches.
const CHECKED_BYTES: u64 = 1 << 20;

/// How many runs like this one can share dispatches of at most so many agents, if the kernel can: as many as
/// have results that the host takes at once.
pub(in crate::gpu) fn points_together(
    open: &OpenDevice,
    manifest: &Manifest,
    launch: &Launch,
    most_agents: u32,
) -> usize {
    let layout = Layout::new(manifest, launch.agents, launch.members, launch.steps);
    let inputs = u64::from(launch.agents) * u64::from(manifest.input_words) * WORD_BYTES;
    let block = u64::from(manifest.uniform_words) * WORD_BYTES;
    let by_memory = SHARED_BYTES / (layout.bytes() + inputs + block);
    let by_agents = u64::from(most_agents / launch.agents);
    let by_groups = u64::from(open.limits.max_compute_workgroups_per_dimension);
    by_memory.min(by_agents).min(by_groups) as usize
}

impl BatchRun<'_> {
    /// Submits the next jobs. `false` if all are submitted, or if submissions on the device must complete
    /// first.
    ///
    /// # Errors
    /// [`Error::Cancelled`], and those of the device.
    pub(in crate::gpu) fn submit_next(&mut self) -> Result<bool, Error> {
        let has_steps_left = self.in_flight.back().is_some_and(|last| !last.is_last());
        let is_full = self.in_flight.len() >= IN_FLIGHT;
        if is_full || has_steps_left || self.jobs.runs_left() == 0 {
            return Ok(false);
        }
        let Some(mut buffers) = self.acquire_buffers()? else {
            return Ok(false);
        };
        let Shape {
            agents,
            keep,
            runs,
            points,
            ..
        } = buffers.shape;
        let runs = self.runs_together(agents).min(runs * points);
        let mut jobs = Vec::with_capacity(runs);
        while jobs.len() < runs
            && let Some(job) = self.jobs.next(agents)
        {
            jobs.push(job);
        }
        let started = jobs.clone();
        let open = self.resources.open;
        buffers.upload(open, &jobs)?;
        if let Some(from) = self.batch.part.from {
            for (run, job) in jobs.iter().enumerate() {
                buffers.resume(open, self.resources.manifest, run, job, from)?;
            }
        }
        self.submit(buffers, jobs, self.batch.part.steps().start)?;
        // While the device computes.
        for job in &started {
            self.start_run(job, keep)?;
        }
        Ok(true)
    }

    /// Allocates the results of a run, if the job is its first.
    fn start_run(&mut self, job: &Job, keep: Keep) -> Result<(), Error> {
        if job.run < self.delivered + self.started.len() {
            return Ok(());
        }
        let raw = RawResults {
            chunks: 0,
            decisions: self.resources.kernel.decisions.clone(),
            ..(self.batch).room(self.resources.manifest, &job.launch, keep)?
        };
        self.started.push_back(raw);
        Ok(())
    }

    /// Buffers for the largest chunk that limits and memory allow, or for several runs. `None` if memory is
    /// short and other submissions must complete first.
    fn acquire_buffers(&mut self) -> Result<Option<BufferSet>, Error> {
        let (open, manifest) = (self.resources.open, self.resources.manifest);
        let is_only = self.in_flight.is_empty();
        let mut most_runs = usize::MAX;
        loop {
            let most = self
                .resources
                .pool
                .most_agents
                .min(self.resources.most_agents);
            let Launch {
                agents, members, ..
            } = **self.jobs.launch();
            let agents = chunk_agents(agents, most, manifest.workgroup_size, members);
            let runs = self.runs_together(agents).min(most_runs);
            let shape = self.shape(runs, agents);
            let kernel = &*self.resources.kernel;
            let checker = match shape.checks {
                true => Some(self.resources.pool.step_checker(open)?),
                false => None,
            };
            match (self.resources.pool).acquire(open, kernel, manifest, shape, checker) {
                Err(Error::GpuMemory { .. }) if !is_only => return Ok(None),
                Err(Error::GpuMemory { .. }) if runs > 1 => most_runs = runs / 2,
                Err(Error::GpuMemory { .. }) if agents > SMALLEST_CHUNK => {
                    self.resources.pool.limit_agents(agents / 2);
                }
                other => return other.map(Some),
            }
        }
    }

    /// The sizes of buffers for `runs` chunks of `agents` agents.
    fn shape(&self, together: usize, agents: u32) -> Shape {
        let (runs, points) = match self.resources.kernel.points {
            Some(_) => (1, together),
            None => (together, 1),
        };
        let launch = self.jobs.launch();
        let is_whole = agents == launch.agents;
        let has_table = self.resources.kernel.prepare.is_some();
        let is_cut = self.batch.part.is_cut(launch.steps);
        let keep = Keep {
            outputs: !(self.resources.reduces && is_whole),
            ..self.batch.keep
        };
        Shape {
            runs,
            points,
            agents,
            members: launch.members,
            steps: match has_table || !self.resources.manifest.samplings.is_empty() {
                true => launch.steps,
                false => 0,
            },
            keep: match is_cut {
                true => Keep::ALL,
                false => keep,
            },
            checks: !is_cut && self.checks_steps(keep, points, agents),
            shares_inputs: is_whole && self.batch.same_inputs,
            is_cut,
        }
    }

    /// Whether the device checks step counts that nobody wants of each agent, instead of the host.
    fn checks_steps(&self, keep: Keep, points: usize, agents: u32) -> bool {
        let bytes = u64::from(agents) * WORD_BYTES;
        keep.outputs && !keep.steps && points == 1 && bytes >= CHECKED_BYTES
    }

    /// How many of the runs that are left should share a submission, if a chunk has `agents` agents.
    fn runs_together(&self, agents: u32) -> usize {
        let left = self.jobs.runs_left();
        let launch = self.jobs.launch();
        if self.resources.kernel.points.is_some() {
            let most = self
                .resources
                .most_agents
                .min(self.resources.pool.most_agents);
            return points_together(self.resources.open, self.resources.manifest, launch, most)
                .min(left);
        }
        let alone = self.resources.kernel.pace.expected(agents, launch.steps);
        if agents < launch.agents || left < 2 || alone.is_zero() {
            return 1;
        }
        let by_time = SHARED_TIME.as_secs_f64() / alone.as_secs_f64();
        let (open, manifest) = (self.resources.open, self.resources.manifest);
        let bytes = Layout::new(manifest, agents, launch.members, launch.steps)
            .bytes_back(self.batch.keep.with_outputs())
            + u64::from(agents) * u64::from(manifest.input_words) * WORD_BYTES
            + self
                .resources
                .kernel
                .spill_bytes(open, agents, launch.members);
        let by_memory = SHARED_BYTES / bytes.max(1);
        let by_uniforms = UniformBlocks::new(open, &*self.resources.kernel, manifest).count;
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
        mut buffers: BufferSet,
        jobs: Vec<Job>,
        first_step: u32,
    ) -> Result<(), Error> {
        self.batch.control.check()?;
        let (open, kernel) = (self.resources.open, &*self.resources.kernel);
        let (agents, all_steps) = (agents(&jobs), self.jobs.launch().steps);
        let part = self.batch.part;
        let (groups, _) = buffers.sharing(jobs.len());
        let most = buffers.blocks.count as usize / groups;
        let ranges = (kernel.pace).ranges(agents, first_step..part.until, most.max(1));
        let steps = whole(&ranges);
        let (is_first, is_last) = (first_step == part.steps().start, steps.end == part.until);
        let count = steps.len() as u32;
        let is_single = first_step == 0 && is_last && ranges.len() * jobs.len() == 1;
        let repeats = match is_single && buffers.staging.has_clock() {
            true => self.repeats(agents, count),
            false => 1,
        };
        let timed =
            self.batch.control.timing.is_some() || kernel.pace.needs_timestamps(agents, count);
        buffers.write_uniforms(open, &jobs, &ranges)?;
        let reductions = match is_last && !buffers.shape.keep.outputs {
            true => self.reductions(&buffers, &jobs)?,
            false => Vec::new(),
        };
        let kernel = &*self.resources.kernel;
        let tables = is_first.then(|| buffers.prepare(open, kernel, groups, all_steps));
        let size = (jobs[0].chunk.count, all_steps);
        let steps_of_jobs = buffers.main(open, kernel, jobs.len(), &ranges, size);
        let main: Vec<_> = (iter::repeat_n(steps_of_jobs, repeats as usize).flatten()).collect();
        let dispatches = (main.len() / groups) as u64;
        open.meter(|telemetry| telemetry.dispatches += main.len() as u64);
        let results = self.copies(&buffers, &jobs, is_last);
        let checks = match is_last {
            true => buffers.begin_checks(open, &jobs, part.until)?,
            false => Vec::new(),
        };
        let reports = reductions
            .iter()
            .map(|it| (&it.report, 0..it.report.size()));
        let commands = Commands {
            dispatches: tables.into_iter().flatten().chain(main).collect(),
            untimed: (reductions.iter().flat_map(Reduction::dispatches))
                .chain(checks.iter().flat_map(|check| check.dispatches()))
                .collect(),
            copies: (results.into_iter().chain(reports))
                .chain(checks.iter().map(|it| (&it.report, 0..StepCheck::BYTES)))
                .collect(),
            timed,
        };
        let submitted = buffers.staging.submit(open, &commands)?;
        let left = self.leave(is_last, &buffers, &jobs)?;
        self.in_flight.push_back(Submission {
            buffers,
            jobs,
            ranges,
            until: part.until,
            repeats,
            dispatches,
            reductions,
            submitted,
            left,
            since: clock::now(),
        });
        Ok(())
    }

    /// What is read back of the results of jobs: buffers and their bytes.
    fn copies<'b>(
        &self,
        buffers: &'b BufferSet,
        jobs: &[Job],
        is_last: bool,
    ) -> Vec<(&'b wgpu::Buffer, Range<u64>)> {
        let (groups, _) = buffers.sharing(jobs.len());
        match (is_last, buffers.shape.is_cut) {
            (true, true) => self.copies_of_cut(buffers, jobs),
            (true, false) => buffers.copies(groups),
            (false, _) => (buffers.runs[..groups].iter())
                .map(|run| (&run.results, 0..HEADER_BYTES))
                .collect(),
        }
    }

    /// The reductions of the results of jobs whose outputs are not read back.
    fn reductions(&mut self, buffers: &BufferSet, jobs: &[Job]) -> Result<Vec<Reduction>, Error> {
        let (open, manifest) = (self.resources.open, self.resources.manifest);
        let reducer = self.resources.pool.reducer(open)?;
        let reduction = |(run, job): (&RunBuffers, &Job)| {
            let source = Source {
                results: buffers.layout.entries(&run.results).collect(),
                fields: &manifest.outputs,
                agents: job.chunk.count,
                steps: job.launch.steps,
            };
            Reduction::create(open, Arc::clone(&reducer), &source)
        };
        buffers.runs.iter().zip(jobs).map(reduction).collect()
    }

    /// How often the only dispatch of a submission is computed: as often as the caller asks, if that is known
    /// to take no longer than runs that share a submission may.
    fn repeats(&self, agents: u32, steps: u32) -> u32 {
        let alone = self.resources.kernel.pace.expected(agents, steps);
        match self.batch.control.timing {
            Some(timing) if !alone.is_zero() => {
                let most = SHARED_TIME.as_secs_f64() / alone.as_secs_f64();
                timing.repeats.min(most as u32).max(1)
            }
            Some(_) | None => 1,
        }
    }
}
