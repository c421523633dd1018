//! A batch on the device, as a state machine. Its runs, split into chunks where they do not fit, are
//! submitted two submissions at a time, so that the device computes while the host reads the results of the
//! submission before. Short runs share a submission, in which they are computed side by side.
//!
//! A driver calls [`BatchRun::submit_next`] until nothing more can be submitted, waits until
//! [`BatchRun::poll`] says that the oldest submission has completed, and calls [`BatchRun::complete`].
//! [`BatchRun::run`] is the driver that blocks its thread; one for an async executor would await the callback
//! of the submission instead.

mod collector;
mod jobs;
mod submit;

use super::{
    buffer_pool::{BufferPool, PooledBuffers},
    cached_kernel::CachedKernel,
    commands::{CommandKey, RUNNING, Submitted},
    device::OpenDevice,
    reduce::Reduction,
    results::{Fault, HEADER_BYTES},
};
use crate::{
    batch::{Batch, Deliver},
    bind::Launch,
    clock,
    error::Error,
};
use collector::Collector;
use jobs::{Job, Jobs};
use sim_compiler::manifest::Manifest;
use std::{collections::VecDeque, ops::Range, sync::Arc, time::Duration};

/// Most submissions on the device at a time.
pub(super) const IN_FLIGHT: usize = 2;

/// What a batch runs with.
pub(super) struct Resources<'a> {
    pub(super) open: &'a OpenDevice,
    pub(super) manifest: &'a Manifest,
    pub(super) kernel: &'a mut CachedKernel,
    pub(super) pool: &'a mut BufferPool,
    /// The caller's bound of the agents of a chunk.
    pub(super) most_agents: Option<u32>,
    /// Whether results are reduced on the device, where a chunk is a whole run.
    pub(super) reduces: bool,
}

/// A submission that has not completed.
struct Submission {
    buffers: PooledBuffers,
    /// Its jobs, one per run of the buffers.
    jobs: Vec<Job>,
    /// The steps that it computes.
    steps: Range<u32>,
    /// Dispatches, repetitions included.
    dispatches: u64,
    /// Steps of the longest dispatch.
    longest: u32,
    key: CommandKey,
    /// The reductions of the results, for runs whose outputs are not read back.
    reductions: Vec<Reduction>,
    submitted: Submitted,
    /// When it was submitted.
    since: Duration,
}

impl Submission {
    fn agents(&self) -> u32 {
        agents(&self.jobs)
    }
}

/// The agents of jobs.
fn agents(jobs: &[Job]) -> u32 {
    jobs.iter().map(|job| job.chunk.count).sum()
}

/// A batch that is being run.
pub(super) struct BatchRun<'a> {
    resources: Resources<'a>,
    batch: &'a Batch<'a>,
    jobs: Jobs<'a>,
    collector: Collector,
    in_flight: VecDeque<Submission>,
    /// Agent-steps that are complete.
    done: u64,
    /// When the last submission completed.
    last_completion: Duration,
}

impl<'a> BatchRun<'a> {
    /// Starts a batch whose first launch is given.
    pub(super) fn new(
        resources: Resources<'a>,
        batch: &'a Batch<'a>,
        launch: Arc<Launch>,
    ) -> Result<BatchRun<'a>, Error> {
        resources.pool.set_tables(resources.open, &launch)?;
        Ok(BatchRun {
            resources,
            batch,
            jobs: Jobs::new(batch, launch),
            collector: Collector::new(),
            in_flight: VecDeque::with_capacity(IN_FLIGHT),
            done: 0,
            last_completion: clock::now(),
        })
    }

    /// Runs the batch to its end and delivers its runs. Blocks this thread.
    pub(super) fn run(mut self, deliver: Deliver<'_>) -> Result<(), Error> {
        loop {
            while self.submit_next()? {}
            if self.is_finished() {
                return self.jobs.into_result();
            }
            self.wait()?;
            self.complete(deliver)?;
        }
    }

    /// Whether all submissions have completed. After [`BatchRun::submit_next`] returned `false`, the batch is
    /// over.
    pub(super) fn is_finished(&self) -> bool {
        self.in_flight.is_empty()
    }

    /// Whether the oldest submission has completed. Never blocks.
    ///
    /// # Errors
    /// [`Error::Cancelled`], and those of the device.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "for drivers that must not block")
    )]
    pub(super) fn poll(&mut self) -> Result<bool, Error> {
        self.batch.control.check()?;
        self.resources.open.poll(RUNNING)?;
        let oldest = self.in_flight.front_mut();
        Ok(oldest.is_some_and(|it| it.submitted.mapping.is_done()))
    }

    /// Blocks until the oldest submission has completed.
    ///
    /// # Errors
    /// As of [`BatchRun::poll`].
    fn wait(&mut self) -> Result<(), Error> {
        self.batch.control.check()?;
        let Some(oldest) = self.in_flight.front_mut() else {
            return Ok(());
        };
        let since = oldest.since.max(self.last_completion);
        let steps = oldest.steps.end - oldest.steps.start;
        let pace = &self.resources.kernel.pace;
        let expected = pace.expected(oldest.agents(), steps) * oldest.key.timing.repeats;
        // The host's clock counts its own sleep: an estimate from it that is too long would never shrink.
        let due = match oldest.buffers.set.staging.timestamps.is_some() {
            true => since + expected,
            false => since + expected / 2,
        };
        let Submitted { index, mapping } = &mut oldest.submitted;
        let open = self.resources.open;
        open.wait(RUNNING, index.clone(), due, || mapping.is_done())
    }

    /// Takes the results of the oldest submission, which has completed, and delivers the runs that are
    /// complete with it. If its runs have more steps, or must start again because the driver cut a loop
    /// short, submits them again.
    pub(super) fn complete(&mut self, deliver: Deliver<'_>) -> Result<(), Error> {
        let Some(submission) = self.in_flight.pop_front() else {
            return Ok(());
        };
        let now = clock::now();
        let host = now - submission.since.max(self.last_completion);
        self.last_completion = now;
        let agents = submission.agents();
        let Submission {
            buffers,
            jobs,
            steps,
            dispatches,
            longest,
            key,
            reductions,
            submitted,
            ..
        } = submission;
        let open = self.resources.open;
        let is_last = steps.end == self.launch_steps(&jobs);
        let staging = &buffers.set.staging;
        let (fault, device) = staging.read(open, submitted.mapping, |words, seconds| {
            let seconds = seconds.map(|seconds| seconds / f64::from(key.timing.repeats));
            self.count(&jobs, dispatches, seconds);
            let fault = match (is_last, reductions.is_empty()) {
                (false, _) => None,
                (true, true) => self.copy_results(&buffers, &jobs, words),
                (true, false) => self.read_reductions(&jobs, &reductions, words),
            };
            (fault, seconds)
        })?;
        // Without timestamps, the host's time includes the latency of the submission.
        let host = staging.timestamps.is_none().then_some(host.as_secs_f64());
        let pace = &mut self.resources.kernel.pace;
        if let Some(seconds) = device.or(host) {
            pace.learn(agents, steps.end - steps.start, seconds);
        }
        if let Some(error) = fault {
            self.done -= u64::from(agents) * u64::from(steps.start);
            return match pace.shorten(longest) {
                true => self.start_again(buffers, jobs),
                false => Err(error),
            };
        }
        self.done += u64::from(agents) * u64::from(steps.end - steps.start);
        self.report_progress();
        if !is_last {
            return self.submit(buffers, jobs, steps.end);
        }
        self.resources.pool.release(buffers);
        for Job { run, chunk, .. } in jobs {
            let telemetry = || open.take_telemetry();
            (self.collector).complete(run, chunk.count, telemetry, deliver);
        }
        Ok(())
    }

    /// Counts the dispatches of a submission for each of its jobs, and an equal share of its seconds if the
    /// caller asked for timing.
    fn count(&mut self, jobs: &[Job], dispatches: u64, seconds: Option<f64>) {
        let asked = seconds.filter(|_| self.batch.control.timing.is_some());
        for job in jobs {
            if let Some(raw) = self.collector.results(job.run) {
                raw.dispatches += dispatches;
                if let Some(seconds) = asked {
                    let share = seconds / jobs.len() as f64;
                    *raw.telemetry.gpu_seconds.get_or_insert(0.0) += share;
                }
            }
        }
    }

    fn report_progress(&self) {
        let launch = self.jobs.launch();
        let all = u64::from(launch.agents) * u64::from(launch.steps);
        let all = all.saturating_mul(self.batch.runs as u64);
        self.batch.control.report(self.done, all);
    }

    /// Submits jobs again from their first step on.
    fn start_again(&mut self, mut buffers: PooledBuffers, jobs: Vec<Job>) -> Result<(), Error> {
        for (run, job) in buffers.set.runs.iter_mut().zip(&jobs) {
            run.upload(self.resources.open, &job.launch, job.chunk)?;
        }
        self.submit(buffers, jobs, 0)
    }

    /// Copies the results of a submission; returns the error of the first wrong step count.
    fn copy_results(
        &mut self,
        buffers: &PooledBuffers,
        jobs: &[Job],
        mut words: &[u32],
    ) -> Option<Error> {
        let keep = buffers.set.shape.keep;
        for (buffers, job) in buffers.set.runs.iter().zip(jobs) {
            let layout = &buffers.results.layout;
            let (own, others) = words.split_at(layout.bytes_back(keep) as usize / 4);
            words = others;
            let (manifest, steps) = (self.resources.manifest, job.launch.steps);
            let raw = self.collector.results(job.run)?;
            let copied = layout.copy_results(manifest, own, job.chunk, steps, raw);
            if let Err(fault) = copied {
                return Some(self.error(fault, job));
            }
        }
        None
    }

    /// Reads the reductions of a submission; returns the error of the first wrong step count.
    fn read_reductions(
        &mut self,
        jobs: &[Job],
        reductions: &[Reduction],
        words: &[u32],
    ) -> Option<Error> {
        let headers = jobs.len() * HEADER_BYTES as usize / 4;
        let mut words = &words[headers..];
        for (job, reduction) in jobs.iter().zip(reductions) {
            let reduced = reduction.read(&mut words);
            if let Some(fault) = reduced.wrong {
                return Some(self.error(fault, job));
            }
            self.collector.results(job.run)?.sums = Some(reduced.sums);
        }
        None
    }

    fn error(&self, fault: Fault, job: &Job) -> Error {
        let first = u64::from(job.launch.first_agent) + u64::from(job.chunk.first);
        fault.error(&self.resources.open.adapter.name, first, job.launch.steps)
    }

    /// The steps of the runs of a submission, which are the same for all.
    fn launch_steps(&self, jobs: &[Job]) -> u32 {
        let launch = jobs.first().map_or(self.jobs.launch(), |job| &job.launch);
        launch.steps
    }
}
