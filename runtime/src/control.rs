//! What a caller controls: progress, cancellation, timing and tuning.

use crate::error::Error;
use sim_compiler::kernel::schedule::Occupancy;
use std::sync::atomic::{AtomicBool, Ordering};

/// Progress, cancellation and timing of a run.
#[derive(Clone, Copy, Default)]
pub struct Control<'a> {
    /// A flag that any thread can set to end the run with [`Error::Cancelled`] within a fraction of a second.
    pub cancel: Option<&'a AtomicBool>,
    /// Called now and then with the completed agent-steps and the total of the run. The first number
    /// decreases if a GPU run starts again with shorter dispatches.
    pub progress: Option<&'a (dyn Fn(u64, u64) + Sync)>,
    /// Times the run by the device's clock, for [`Telemetry::gpu_seconds`](crate::Telemetry::gpu_seconds).
    pub timing: Option<Timing>,
}

/// Timing by timestamps of the device, for benchmarks. It adds some 15 microseconds to a run on an H200.
/// (Without it, only the first submission and those of a millisecond or more have timestamps, to size the
/// next ones.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// How often the device computes the run, one time after the other in one submission. The time that is
    /// reported is that of one; the results are those of the last.
    ///
    /// A start on an idle device takes longer: on an H200 a kernel that only stores a number takes 4.7
    /// microseconds alone and 2.0 after another one. The run is computed less often if it is not known to
    /// take less than 50 milliseconds, and once if a submission has several dispatches or several runs of a
    /// batch; [`Report::dispatches`](crate::Report::dispatches) has the actual number. 0 is 1.
    pub repeats: u32,
}

impl Timing {
    /// Times the run as it is.
    pub const ONCE: Timing = Timing { repeats: 1 };
}

impl Control<'_> {
    /// Checks for cancellation.
    ///
    /// # Errors
    /// [`Error::Cancelled`]
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self.cancel {
            Some(cancel) if cancel.load(Ordering::Relaxed) => Err(Error::Cancelled),
            Some(_) | None => Ok(()),
        }
    }

    /// Calls `run` with a control for run `number` of `runs` runs of the same size. Its progress is reported
    /// as a part of all of them.
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

    /// Reports progress to the caller.
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

/// Overrides of choices that the GPU backend makes. They change the time of a run. Only `lanes`, `shuffles`,
/// `relax` and, with that, `occupancy` change results, apart from the last bits where a driver contracts `a
/// * b + c` in one kernel and not in another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tuning {
    /// Most agents of a chunk, at least 1.
    pub max_agents_per_chunk: Option<u32>,
    /// Most steps of a dispatch, at least 1.
    pub steps_per_dispatch: Option<u32>,
    /// Invocations (lanes) per agent, 1 to 128, as far as the model allows. Sums of floats are then
    /// reordered; all other results keep their bits.
    pub lanes: Option<u32>,
    /// Whether the invocations of an agent exchange values by subgroup shuffles, if the device has them.
    /// Otherwise, and for more invocations than a subgroup has, they use workgroup memory.
    pub shuffles: Option<bool>,
    /// Whether to compute what all agents share in a step once, in a step table, if there is such work.
    pub step_table: Option<bool>,
    /// Whether to reorder sums of floats and to share reciprocals between divisions, where that is faster.
    /// Never with `--math precise`.
    pub relax: Option<bool>,
    /// Whether to reserve workgroup memory, which lowers occupancy so that the driver's compiler uses more
    /// registers. Faster for few agents, slower for many.
    pub reserve: Option<bool>,
    /// The assumed occupancy of the device, which decides whether steps are optimised for latency or for
    /// throughput.
    pub occupancy: Option<Occupancy>,
    /// How many steps an iteration of the time loop computes, at least 1.
    pub unroll_steps: Option<u32>,
    /// Whether to compute the statistics of a run that keeps neither outputs nor states without holding all
    /// outputs: on the device, or on the CPU block by block in several passes. Default: on a GPU for results
    /// of 4 MiB and more, on the CPU beyond 256 MiB, never on a software adapter. Ignored if the device does
    /// not hold all results at once.
    pub reduce: Option<bool>,
    /// Whether the shader compiler adds its runtime checks of indices, integer divisors and loop iterations.
    /// Kernels have guards where they are needed, so the checks never fire, and loops over local arrays took
    /// up to 31 times as long with them. They help to tell a bug of this compiler from one of a driver: a
    /// fault that persists with checks is not caused by a missing guard.
    pub checks: bool,
}
