//! How a caller watches, cancels and tunes a run.

use crate::error::Error;
use sim_compiler::schedule::Load;
use std::sync::atomic::{AtomicBool, Ordering};

/// Progress, cancellation and timing of a run.
#[derive(Clone, Copy, Default)]
pub struct Control<'a> {
    /// A flag that any thread can set to end the run with [`Error::Cancelled`] within a fraction of a second.
    pub cancel: Option<&'a AtomicBool>,
    /// Called now and then with the completed agent-steps and the total of the run. The first number decreases if a
    /// GPU run starts again with shorter dispatches.
    pub progress: Option<&'a (dyn Fn(u64, u64) + Sync)>,
    /// Times the run by the device's clock, for [`Telemetry::gpu_seconds`](crate::Telemetry::gpu_seconds).
    pub timing: Option<Timing>,
}

/// Timing by timestamps of the device, for benchmarks. It adds some 15 microseconds to a run on an H200. (Without it,
/// only the first submission and those of a millisecond or more have timestamps, to size the next ones.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// How often the device computes the run, one time after the other in one submission. The time that is reported is
    /// that of one; the results are those of the last.
    ///
    /// A start on an idle device takes longer: on an H200 a kernel that only stores a number takes 4.7 microseconds
    /// alone and 2.0 after another one. The run is computed less often if it is not known to take less than 50
    /// milliseconds, and once if a submission has several dispatches or several runs of a batch;
    /// [`Report::dispatches`](crate::Report::dispatches) has the actual number. 0 is 1.
    pub repeats: u32,
}

impl Timing {
    /// Times the run as it is.
    pub const ONCE: Timing = Timing { repeats: 1 };
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
            timing: self.timing,
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
