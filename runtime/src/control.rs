//! How a caller watches, cancels and tunes a run.

use crate::error::Error;
use sim_compiler::schedule::Load;
use std::sync::atomic::{AtomicBool, Ordering};

/// Watches and cancels a run from outside.
#[derive(Clone, Copy, Default)]
pub struct Control<'a> {
    /// Set it to true, from any thread, and the run ends with [`Error::Cancelled`] within a fraction of a
    /// second.
    pub cancel: Option<&'a AtomicBool>,
    /// Called from time to time with the agent-steps done so far and those of the whole run. A run that
    /// starts over with shorter dispatches goes back in between.
    pub progress: Option<&'a (dyn Fn(u64, u64) + Sync)>,
    /// Has the device's own clock time all of the run, where it has one, for
    /// [`Telemetry::gpu_seconds`](crate::Telemetry::gpu_seconds). On an H200 that makes a run some 15 microseconds
    /// longer. (The first submission and those of a millisecond or more are timed anyway, to size the next.)
    pub clock: bool,
    /// With `clock`: has the device compute the run so many times, one after the other in one submission, and divides
    /// what the clock counted. On an H200 a kernel that only stores a number takes 4.7 microseconds alone and 2.0
    /// after another, which is much beside runs of 10. The results are those of the last time. Fewer times where
    /// it is not known yet that it takes less than 50 milliseconds, and once where a submission takes several
    /// dispatches or the runs of a batch share it; [`Report::dispatches`](crate::Report::dispatches) says how often.
    /// 0 is 1.
    pub repeats: u32,
}

impl Control<'_> {
    /// Ends the run if it was cancelled.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self.cancel {
            Some(cancel) if cancel.load(Ordering::Relaxed) => Err(Error::Cancelled),
            Some(_) | None => Ok(()),
        }
    }

    /// Calls `run` with a control for run `number` of `runs` runs of the same size. Its progress is reported as a part
    /// of all of them.
    pub(crate) fn part<T>(
        &self,
        number: usize,
        runs: usize,
        run: impl FnOnce(Control<'_>) -> T,
    ) -> T {
        let progress = |done: u64, total: u64| {
            let before = total.saturating_mul(number as u64);
            self.report(
                before.saturating_add(done),
                total.saturating_mul(runs as u64),
            );
        };
        run(Control {
            cancel: self.cancel,
            progress: self
                .progress
                .map(|_| &progress as &(dyn Fn(u64, u64) + Sync)),
            clock: self.clock,
            repeats: self.repeats,
        })
    }

    /// Tells the caller how far the run is.
    pub(crate) fn report(&self, done: u64, total: u64) {
        if let Some(progress) = self.progress {
            progress(done, total);
        }
    }
}

/// What a run keeps of each agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Keep {
    /// Outputs and step counts.
    pub(crate) outputs: bool,
    pub(crate) states: bool,
}

impl Keep {
    /// Outputs, step counts and states.
    pub(crate) const ALL: Keep = Keep {
        outputs: true,
        states: true,
    };
    /// Statistics only.
    pub(crate) const NOTHING: Keep = Keep {
        outputs: false,
        states: false,
    };
}

/// Choices that the GPU backend otherwise makes by itself. They change the time that a run takes, and none but
/// `lanes`, `shuffles`, `reassociate` and, with that, `load` its results, apart from the last bits where a driver
/// contracts `a * b + c` in one kernel and not in another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tuning {
    /// Most agents in one part of the population, at least 1.
    pub max_agents_per_chunk: Option<u32>,
    /// Most steps that one start of the kernel runs, at least 1.
    pub steps_per_dispatch: Option<u32>,
    /// Lanes that share one agent, 1 to 128, as far as the model allows. Sums of floats are then taken in another
    /// order; all else stays the same to the bit.
    pub lanes: Option<u32>,
    /// Whether lanes tell one another values by shuffles, where the device has subgroups; else they do it through
    /// workgroup memory, as those of more than a subgroup must.
    pub shuffles: Option<bool>,
    /// Whether what all agents share in a step is computed once, before they run, where there is such work.
    pub prepare: Option<bool>,
    /// Whether sums of floats are taken in another order and pairs of divisions share a reciprocal, where that is
    /// faster; never under the precise mathematics.
    pub reassociate: Option<bool>,
    /// Whether workgroup memory is reserved, so that a driver's compiler spends registers on speed: pays where few
    /// agents run, and costs where there are many.
    pub reserve: Option<bool>,
    /// How busy the run is taken to keep the device: whether its steps are made for latency or for throughput.
    pub load: Option<Load>,
    /// How often the step stands in the text of a round of the time loop, at least 1.
    pub unroll_steps: Option<u32>,
    /// Whether the statistics of a run that keeps neither outputs nor states are computed without holding them all: by
    /// the device where they lie, or by the CPU block by block, which takes several passes. Otherwise a GPU does so for
    /// results of 4 MiB and more, the CPU beyond 256 MiB, and no software adapter. Results that are not on the device
    /// at once are fetched all the same.
    pub reduce: Option<bool>,
    /// Has the shader compiler add its own checks to the kernel: of indices, of integer divisors, and of the rounds
    /// of every loop. Kernels guard what needs it in their text, so the checks find nothing, and they cost: loops over
    /// local arrays were measured to take up to 31 times as long. They are there to tell a fault of our compiler
    /// from one of a driver: a fault that they leave as it is does not come from a missing guard.
    pub checks: bool,
}
