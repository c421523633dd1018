//! Collects the results of runs. A run is complete when all its chunks are; runs are delivered in the order
//! of their numbers, although one may complete later than those after it.

use crate::{batch::Deliver, results::RawResults, telemetry::Telemetry};
use std::collections::VecDeque;

/// The runs that have started and are not delivered.
pub(super) struct Collector {
    /// In the order of their numbers, without gaps.
    started: VecDeque<StartedRun>,
    /// The number of the first of them.
    first: usize,
}

struct StartedRun {
    raw: RawResults,
    /// Agents whose results are missing.
    agents_left: u32,
}

impl Collector {
    pub(super) fn new() -> Collector {
        Collector {
            started: VecDeque::new(),
            first: 0,
        }
    }

    /// Adds the next run, with room for its results.
    pub(super) fn start(&mut self, raw: RawResults, agents: u32) {
        self.started.push_back(StartedRun {
            raw,
            agents_left: agents,
        });
    }

    fn run(&mut self, run: usize) -> Option<&mut StartedRun> {
        self.started.get_mut(run.checked_sub(self.first)?)
    }

    /// The results of a run that has started.
    pub(super) fn results(&mut self, run: usize) -> Option<&mut RawResults> {
        self.run(run).map(|started| &mut started.raw)
    }

    /// Marks `agents` agents of a run as complete, and delivers all runs that are next in order and complete.
    /// A run gets `telemetry` when its last agents complete.
    pub(super) fn complete(
        &mut self,
        run: usize,
        agents: u32,
        telemetry: impl FnOnce() -> Telemetry,
        deliver: Deliver<'_>,
    ) {
        let Some(StartedRun { raw, agents_left }) = self.run(run) else {
            return;
        };
        raw.chunks += 1;
        *agents_left -= agents;
        if *agents_left == 0 {
            raw.telemetry = Telemetry {
                gpu_seconds: raw.telemetry.gpu_seconds,
                ..telemetry()
            };
        }
        while let Some(run) = (self.started).pop_front_if(|run| run.agents_left == 0) {
            self.first += 1;
            deliver(self.first - 1, run.raw);
        }
    }

    /// Whether a complete run waits for one before it.
    pub(super) fn has_waiting(&self) -> bool {
        self.started.iter().any(|run| run.agents_left == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Keep;

    #[test]
    fn runs_wait_for_those_before_them() {
        let manifest = sim_compiler::compile("output x = 1.0")
            .expect("it compiles")
            .manifest;
        let mut collector = Collector::new();
        for _ in 0..6 {
            let raw = RawResults::empty(&manifest, 5, Keep::NOTHING).expect("there is memory");
            collector.start(raw, 5);
        }
        let mut delivered = Vec::new();
        for (run, expected) in [(1, 0), (2, 0), (0, 3), (3, 4), (5, 4), (4, 6)] {
            for agents in [2, 3] {
                let mut deliver = |number, _| delivered.push(number);
                collector.complete(run, agents, Telemetry::default, &mut deliver);
            }
            assert_eq!(delivered.len(), expected, "after {run}");
            assert_eq!(collector.has_waiting(), matches!(run, 1 | 2 | 5));
        }
        assert_eq!(delivered, [0, 1, 2, 3, 4, 5]);
    }
}
