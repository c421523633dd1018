//! What a caller controls: progress, cancellation and timing.

use crate::error::Error;
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

/// Timing by timestamps of the device, for benchmarks. It makes a run longer, see `docs/performance.md`.
/// (Without it, only the first submission and those of a millisecond or more have timestamps, to size the
/// next ones.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// How often the device computes the run, one time after the other in one submission. The time that is
    /// reported is that of one; the results are those of the last.
    ///
    /// A kernel takes longer to start on an idle device than after another one. The run is computed less
    /// often if it is not known to take less than 50 milliseconds, and once if a submission has several
    /// dispatches or several runs of a batch; [`Report::dispatches`](crate::Report::dispatches) has the
    /// actual number. 0 is 1.
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
        let progress = |done: u64, each: u64| {
            let before = each.saturating_mul(number as u64);
            self.report(
                before.saturating_add(done),
                each.saturating_mul(runs as u64),
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
    /// Outputs, or else their statistics.
    pub(crate) outputs: bool,
    pub(crate) states: bool,
    /// Step counts, where outputs are kept. Without them all agents have run all steps.
    pub(crate) steps: bool,
}

impl Keep {
    /// The same with outputs.
    pub(crate) fn with_outputs(self) -> Keep {
        Keep {
            outputs: true,
            ..self
        }
    }

    /// Outputs, step counts and states.
    pub(crate) const ALL: Keep = Keep {
        outputs: true,
        states: true,
        steps: true,
    };
    /// Statistics only.
    pub(crate) const NOTHING: Keep = Keep {
        outputs: false,
        states: false,
        steps: true,
    };
}
