//! Collects the results of runs: a run is complete when all its chunks are, and runs are delivered in the order of their
//! numbers, although one may complete later than those after it.

use crate::{
    backend::Deliver, gpu::batch_run::jobs::Job, results::RawResults, telemetry::Telemetry,
};
use std::collections::BTreeMap;

/// The runs that have started and are not delivered.
pub(super) struct Collector {
    started: BTreeMap<usize, StartedRun>,
    in_order: InOrder<RawResults>,
}

struct StartedRun {
    raw: RawResults,
    /// Agents whose results are missing.
    agents_left: u32,
}

impl Collector {
    pub(super) fn new() -> Collector {
        Collector {
            started: BTreeMap::new(),
            in_order: InOrder::new(),
        }
    }

    /// Adds a run with room for its results.
    pub(super) fn start(&mut self, run: usize, raw: RawResults, agents: u32) {
        let started = StartedRun {
            raw,
            agents_left: agents,
        };
        self.started.insert(run, started);
    }

    /// The results of a run that has started.
    pub(super) fn results(&mut self, run: usize) -> Option<&mut RawResults> {
        self.started.get_mut(&run).map(|started| &mut started.raw)
    }

    /// Counts the dispatches of a submission, and an equal share of its seconds, for each of its jobs.
    pub(super) fn count(&mut self, jobs: &[Job], dispatches: u64, seconds: Option<f64>) {
        let share = seconds.map(|seconds| seconds / jobs.len() as f64);
        for job in jobs {
            if let Some(raw) = self.results(job.run) {
                raw.dispatches += dispatches;
                if let Some(seconds) = share {
                    *raw.telemetry.gpu_seconds.get_or_insert(0.0) += seconds;
                }
            }
        }
    }

    /// Marks a chunk as complete, and delivers its run if it was the last one. The run then takes `telemetry`.
    pub(super) fn complete(
        &mut self,
        job: &Job,
        telemetry: impl FnOnce() -> Telemetry,
        deliver: Deliver<'_>,
    ) {
        let Some(started) = self.started.get_mut(&job.run) else {
            return;
        };
        started.raw.chunks += 1;
        started.agents_left -= job.chunk.count;
        if started.agents_left > 0 {
            return;
        }
        if let Some(StartedRun { mut raw, .. }) = self.started.remove(&job.run) {
            raw.telemetry = Telemetry {
                gpu_seconds: raw.telemetry.gpu_seconds,
                ..telemetry()
            };
            self.in_order.insert(job.run, raw, deliver);
        }
    }

    /// Whether a complete run waits for one before it.
    pub(super) fn has_waiting(&self) -> bool {
        self.in_order.has_waiting()
    }
}

/// Delivers values in the order of their numbers.
#[derive(Debug)]
struct InOrder<T> {
    /// The next number to deliver.
    next: usize,
    /// Values with later numbers.
    waiting: BTreeMap<usize, T>,
}

impl<T> InOrder<T> {
    /// Starts with number 0.
    fn new() -> InOrder<T> {
        InOrder {
            next: 0,
            waiting: BTreeMap::new(),
        }
    }

    /// Adds a value, and delivers all values that are next in order.
    fn insert(&mut self, number: usize, value: T, deliver: &mut dyn FnMut(usize, T)) {
        self.waiting.insert(number, value);
        while let Some(value) = self.waiting.remove(&self.next) {
            self.next += 1;
            deliver(self.next - 1, value);
        }
    }

    /// Whether a value waits for one before it.
    fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_wait_for_those_before_them() {
        let mut order = InOrder::new();
        let mut delivered = Vec::new();
        for (number, expected) in [(1, 0), (2, 0), (0, 3), (3, 4), (5, 4), (4, 6)] {
            let mut deliver = |number: usize, value: usize| delivered.push((number, value));
            order.insert(number, 10 * number, &mut deliver);
            assert_eq!(delivered.len(), expected, "after {number}");
            assert_eq!(order.has_waiting(), matches!(number, 1 | 2 | 5));
        }
        let expected: Vec<(usize, usize)> = (0..6).map(|number| (number, 10 * number)).collect();
        assert_eq!(delivered, expected);
    }
}
