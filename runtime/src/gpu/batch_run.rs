//! A batch on the device, as a state machine. Its runs, split into chunks where they do not fit, are
//! submitted two submissions at a time, so that the device computes while the host reads the results of the
//! submission before. Short runs share a submission, in which they are computed side by side; long ones take
//! several. Nothing is submitted behind a submission that leaves steps to do, so runs complete in the order
//! of their numbers. Where the kernel can, as many short runs as fit share their dispatches, too: each is a
//! point of them.
//!
//! A driver calls [`BatchRun::submit_next`] until nothing more can be submitted, waits until
//! [`BatchRun::poll`] says that the oldest submission has completed, and calls [`BatchRun::complete`].
//! [`BatchRun::run`] is the driver: it blocks its thread, and in a browser it awaits the submission instead.

mod cut;
mod submit;

pub(super) use submit::points_together;

use super::{
    buffer_pool::BufferPool,
    buffer_set::BufferSet,
    device::OpenDevice,
    jobs::{Job, Jobs},
    kernel::Kernel,
    reduce::Reduction,
    results::Fault,
    submission::{RUNNING, Submitted},
};
use crate::{
    batch::{Batch, Deliver},
    bind::Launch,
    clock,
    cut::OnDevice,
    error::Error,
    results::RawResults,
    telemetry::Telemetry,
};
use sim_compiler::{manifest::Manifest, value::WORD_BYTES};
use std::{collections::VecDeque, ops::Range, sync::Arc, time::Duration};

/// Most submissions on the device at a time.
pub(super) const IN_FLIGHT: usize = 2;

/// What a batch runs with.
pub(super) struct Resources<'a> {
    pub(super) open: &'a OpenDevice,
    pub(super) manifest: &'a Manifest,
    pub(super) kernel: &'a mut Kernel,
    pub(super) pool: &'a mut BufferPool,
    /// Most agents of a chunk, by the limits of the device.
    pub(super) most_agents: u32,
    /// Whether results are reduced on the device, where a chunk is a whole run.
    pub(super) reduces: bool,
}

/// A submission that has not completed.
struct Submission {
    buffers: BufferSet,
    /// Its jobs, one per run of the buffers.
    jobs: Vec<Job>,
    /// The steps of each dispatch of a job, one after the other.
    ranges: Vec<Range<u32>>,
    /// The step after which nothing is left to do.
    until: u32,
    /// How often the dispatches are repeated.
    repeats: u32,
    /// Dispatches of each job.
    dispatches: u64,
    /// The reductions of the results, for runs whose outputs are not read back.
    reductions: Vec<Reduction>,
    submitted: Submitted,
    /// The states that it leaves on the device.
    left: Option<OnDevice>,
    /// When it was submitted.
    since: Duration,
}

impl Submission {
    fn agents(&self) -> u32 {
        agents(&self.jobs)
    }

    /// The steps that it computes.
    fn steps(&self) -> Range<u32> {
        whole(&self.ranges)
    }

    /// Whether no steps are left after it.
    fn is_last(&self) -> bool {
        self.steps().end == self.until
    }

    /// The number of agents times the number of steps.
    fn agent_steps(&self, steps: &Range<u32>) -> u64 {
        u64::from(self.agents()) * steps.len() as u64
    }
}

/// The steps of ranges, of which there is at least one.
fn whole(ranges: &[Range<u32>]) -> Range<u32> {
    ranges[0].start..ranges[ranges.len() - 1].end
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
    /// The results of runs that have started, in the order of their numbers, after those that are delivered.
    started: VecDeque<RawResults>,
    delivered: usize,
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
            started: VecDeque::new(),
            delivered: 0,
            in_flight: VecDeque::with_capacity(IN_FLIGHT),
            done: 0,
            last_completion: clock::now(),
        })
    }

    /// Runs the batch to its end and delivers its runs. Blocks this thread, except in a browser.
    pub(super) async fn run(mut self, deliver: Deliver<'_>) -> Result<(), Error> {
        loop {
            while self.submit_next()? {}
            if self.is_finished() {
                return self.jobs.into_result();
            }
            self.wait().await?;
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
        let oldest = self.in_flight.front();
        Ok(oldest.is_some_and(|it| it.submitted.is_done()))
    }

    /// Waits until the oldest submission has completed, and for the errors of all that was done.
    ///
    /// # Errors
    /// As of [`BatchRun::poll`].
    #[cfg(target_family = "wasm")]
    async fn wait(&self) -> Result<(), Error> {
        self.batch.control.check()?;
        if let Some(oldest) = self.in_flight.front() {
            oldest.submitted.done(&self.resources.open).await;
        }
        self.resources.open.settle().await
    }

    /// Blocks until the oldest submission has completed.
    ///
    /// # Errors
    /// As of [`BatchRun::poll`].
    #[cfg(not(target_family = "wasm"))]
    async fn wait(&self) -> Result<(), Error> {
        self.batch.control.check()?;
        let Some(oldest) = self.in_flight.front() else {
            return Ok(());
        };
        let since = oldest.since.max(self.last_completion);
        let pace = &self.resources.kernel.pace;
        let count = oldest.steps().len() as u32;
        let expected = pace.expected(oldest.agents(), count) * oldest.repeats;
        // The host's clock counts its own sleep: an estimate from it that is too long would never shrink.
        let due = match oldest.buffers.staging.has_clock() {
            true => since + expected,
            false => since + expected / 2,
        };
        let (open, submitted) = (self.resources.open, &oldest.submitted);
        open.wait(RUNNING, submitted.index.clone(), due, || {
            submitted.is_done()
        })
    }

    /// Takes the results of the oldest submission, which has completed, and delivers the runs that are
    /// complete with it. If its runs have more steps, submits these. If the driver cut a loop short, all runs
    /// that are not delivered start again.
    pub(super) fn complete(&mut self, deliver: Deliver<'_>) -> Result<(), Error> {
        let Some(submission) = self.in_flight.pop_front() else {
            return Ok(());
        };
        let now = clock::now();
        let host = now - submission.since.max(self.last_completion);
        self.last_completion = now;
        let open = self.resources.open;
        let staging = &submission.buffers.staging;
        let (taken, device) = staging.read(open, &submission.submitted, |words, seconds| {
            let seconds = seconds.map(|seconds| seconds / f64::from(submission.repeats));
            self.count(&submission, seconds);
            (self.take_results(&submission, words), seconds)
        })?;
        let steps = submission.steps();
        let pace = &mut self.resources.kernel.pace;
        // Without timestamps, the host's time includes the latency of the submission.
        let host = (!staging.has_clock()).then_some(host.as_secs_f64());
        if let Some(seconds) = device.or(host) {
            pace.learn(submission.agents(), steps.len() as u32, seconds);
        }
        if let Err(error) = taken {
            let longest = submission.ranges.iter().map(Range::len).max();
            if !pace.shorten(longest.unwrap_or(0) as u32) {
                return Err(error);
            }
            let first = self.batch.part.steps().start;
            self.done -= submission.agent_steps(&(first..steps.start));
            // What is behind it was as long.
            self.in_flight.clear();
            self.jobs.rewind(&submission.jobs[0]);
            self.resources.pool.release(submission.buffers);
            return Ok(());
        }
        self.done += submission.agent_steps(&steps);
        self.report_progress();
        if !submission.is_last() {
            return self.submit(submission.buffers, submission.jobs, steps.end);
        }
        self.resources.pool.release(submission.buffers);
        for (number, job) in submission.jobs.iter().enumerate() {
            if number > 0 {
                self.batch.control.check()?;
            }
            self.deliver(job, deliver);
        }
        Ok(())
    }

    /// The results of the run of a job.
    fn raw(&mut self, job: &Job) -> &mut RawResults {
        &mut self.started[job.run - self.delivered]
    }

    /// Counts the dispatches of a submission for each of its jobs, and an equal share of its seconds if the
    /// caller asked for timing.
    fn count(&mut self, submission: &Submission, seconds: Option<f64>) {
        let asked = seconds.filter(|_| self.batch.control.timing.is_some());
        for job in &submission.jobs {
            let raw = self.raw(job);
            raw.dispatches += submission.dispatches;
            if let Some(seconds) = asked {
                let share = seconds / submission.jobs.len() as f64;
                *raw.telemetry.gpu_seconds.get_or_insert(0.0) += share;
            }
        }
    }

    fn report_progress(&self) {
        let launch = self.jobs.launch();
        let all = u64::from(launch.agents) * self.batch.part.steps().len() as u64;
        let all = all.saturating_mul(self.batch.runs as u64);
        self.batch.control.report(self.done, all);
    }

    /// Takes the results of a submission, if it computed the last steps, from what was read back: the results
    /// of each run, then the reductions.
    ///
    /// # Errors
    /// That of the first wrong step count.
    fn take_results(&mut self, submission: &Submission, words: &[u32]) -> Result<(), Error> {
        let Submission { buffers, jobs, .. } = submission;
        if !submission.is_last() {
            return Ok(());
        }
        if buffers.shape.is_cut {
            return self.take_cut(submission, words);
        }
        let (layout, keep) = (&buffers.read, buffers.shape.keep);
        let words_back = (layout.bytes_back(keep) / WORD_BYTES) as usize;
        let (groups, _) = buffers.sharing(jobs.len());
        let (results, mut words) = words.split_at(words_back * groups);
        for (number, job) in jobs.iter().enumerate() {
            let (manifest, batch) = (self.resources.manifest, self.batch);
            let (run, point) = buffers.place_of(number, jobs.len());
            let (own, place) = (
                &results[run * words_back..][..words_back],
                (job.chunk, point),
            );
            let copied = batch.with_target(manifest, &job.launch, self.raw(job), |to| {
                layout.copy_worlds(manifest, own, place, batch.part, to);
                match keep.outputs {
                    true => layout.copy_results(manifest, own, place, batch.part, to),
                    false => Ok(()),
                }
            });
            copied.map_err(|fault| self.error(fault, job))?;
        }
        for (reduction, job) in submission.reductions.iter().zip(jobs) {
            let sums = reduction
                .read(&mut words)
                .map_err(|fault| self.error(fault, job))?;
            self.raw(job).sums = Some(sums);
        }
        for (check, job) in buffers.checks(groups).zip(jobs) {
            check
                .read(&mut words)
                .map_err(|fault| self.error(fault, job))?;
        }
        Ok(())
    }

    fn error(&self, fault: Fault, job: &Job) -> Error {
        let first = u64::from(job.launch.first_agent) + u64::from(job.chunk.first);
        fault.error(
            &self.resources.open.adapter.name,
            first,
            self.batch.part.until,
        )
    }

    /// Counts a job as complete, and delivers its run if it is the last one of it: jobs complete in order.
    fn deliver(&mut self, job: &Job, deliver: Deliver<'_>) {
        self.raw(job).chunks += 1;
        let is_last = job.chunk.first + job.chunk.count == job.launch.agents;
        let Some(mut raw) = self.started.pop_front_if(|_| is_last) else {
            return;
        };
        raw.telemetry = Telemetry {
            gpu_seconds: raw.telemetry.gpu_seconds,
            ..self.resources.open.take_telemetry()
        };
        self.delivered += 1;
        deliver(job.run, raw);
    }
}
