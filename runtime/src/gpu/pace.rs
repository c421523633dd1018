//! How many steps a dispatch and a submission compute.
//!
//! There are two bounds. A software adapter may silently end loops after 65,535 iterations per dispatch,
//! counted over all loops, so its dispatches stay below that. And no submission should take long: a watchdog
//! resets the device after a second or two, and a run can be cancelled only between submissions. The size of
//! the first submission of a kernel is a guess; later ones follow from the time of the one before.

use std::{ops::Range, time::Duration};

/// Loop iterations of a dispatch on a software adapter: 65,535 less a margin.
const SOFTWARE_ITERATIONS: u64 = 60_000;
/// Steps per dispatch on a software adapter if the iterations of inner loops are not known statically.
const SOFTWARE_GUESS: u32 = 64;
/// The intended time of a submission.
const TARGET: Duration = Duration::from_millis(150);
/// The time from which on timestamps cost nothing in comparison.
const LONG: Duration = Duration::from_millis(1);
/// Iterations (of any loop, of all agents) in the first submission: 40 microseconds on a large GPU, a
/// fraction of a second on the slowest.
const FIRST_ITERATIONS_GPU: u64 = 1 << 28;
/// The same for software adapters.
const FIRST_ITERATIONS_SOFTWARE: u64 = 1 << 23;
/// The occupancy below which a GPU takes as long as for this number of agents.
const FULL_GPU: u64 = 16_384;
/// Assumed iterations of inner loops where the manifest has none.
const UNKNOWN_INNER: u64 = 64;
/// Largest ratio of the sizes of two submissions in a row, since a measured time may not scale.
const GROWTH: u64 = 8;

/// The pace of one kernel on one device. Outlives a run, so that the next run starts with what this one
/// measured.
#[derive(Clone, Debug)]
pub(crate) struct Pace {
    /// The most steps of a dispatch.
    cap: u32,
    last: Option<Measured>,
    first_iterations: u64,
    least_agents: u64,
    iterations_per_step: u64,
}

/// The time of a submission.
#[derive(Clone, Copy, Debug)]
struct Measured {
    agent_steps: u64,
    seconds: f64,
}

impl Pace {
    /// The pace of a kernel whose inner loops have this number of iterations per step, if it is known.
    /// `most_steps` is the caller's bound of the steps of a dispatch.
    pub(crate) fn new(software: bool, inner: Option<u64>, most_steps: Option<u32>) -> Pace {
        let iterations_per_step = inner.unwrap_or(UNKNOWN_INNER).saturating_add(1);
        let cap = match (software, inner) {
            (false, _) => u32::MAX,
            (true, None) => SOFTWARE_GUESS,
            // `init` and `finish` may have as many iterations as a step, in the same dispatch as the steps.
            (true, Some(_)) => (SOFTWARE_ITERATIONS / iterations_per_step)
                .saturating_sub(2)
                .max(1) as u32,
        };
        Pace {
            cap: cap.min(most_steps.unwrap_or(u32::MAX)).max(1),
            last: None,
            first_iterations: if software {
                FIRST_ITERATIONS_SOFTWARE
            } else {
                FIRST_ITERATIONS_GPU
            },
            least_agents: if software { 1 } else { FULL_GPU },
            iterations_per_step,
        }
    }

    /// Makes dispatches a quarter as long, after a loop was cut short in one of `steps` steps. `false` if a
    /// dispatch cannot be shorter.
    pub(crate) fn shorten(&mut self, steps: u32) -> bool {
        self.cap = self.cap.min((steps / 4).max(1));
        steps > 1
    }

    /// The steps of the next submission: at least 1, at most `remaining`.
    pub(crate) fn steps(&self, agents: u32, remaining: u32) -> u32 {
        let agents = u64::from(agents).max(self.least_agents);
        let work = match self.last {
            None => self.first_iterations / self.iterations_per_step,
            Some(last) => {
                let scale = TARGET.as_secs_f64() / last.seconds.max(1e-6);
                (last.agent_steps as f64 * scale.min(GROWTH as f64)) as u64
            }
        };
        (work / agents).clamp(1, u64::from(remaining).max(1)) as u32
    }

    /// The steps of each dispatch of the next submission, at least one dispatch and at most `most`, which
    /// start with the first of `steps`.
    pub(crate) fn ranges(&self, agents: u32, steps: Range<u32>, most: usize) -> Vec<Range<u32>> {
        let remaining = steps.end - steps.start;
        let mut span = self.steps(agents, remaining).min(remaining);
        if span > self.cap && span < remaining {
            // Whole dispatches only: a short one at the end of each submission would waste a start.
            span -= span % self.cap;
        }
        let end = steps.start + span;
        let mut ranges = Vec::new();
        let mut first = steps.start;
        while ranges.is_empty() || (first < end && ranges.len() < most) {
            let last = end.min(first.saturating_add(self.cap));
            ranges.push(first..last);
            first = last;
        }
        ranges
    }

    /// The steps of each dispatch of a whole run, however long it takes together.
    pub(crate) fn dispatches(&self, steps: u32) -> Vec<Range<u32>> {
        let first = (0..steps.max(1)).step_by(self.cap as usize);
        first
            .map(|first| first..steps.min(first.saturating_add(self.cap)))
            .collect()
    }

    /// The estimated time of `steps` steps, from the last submission; 0 before the first.
    pub(crate) fn expected(&self, agents: u32, steps: u32) -> Duration {
        let agents = u64::from(agents).max(self.least_agents);
        let work = agents.saturating_mul(u64::from(steps.max(1))) as f64;
        self.last.map_or(Duration::ZERO, |last| {
            let seconds = last.seconds * work / last.agent_steps as f64;
            Duration::try_from_secs_f64(seconds).unwrap_or(TARGET)
        })
    }

    /// Whether a submission of `steps` steps needs timestamps, to size the next ones. Timestamps add latency
    /// to short submissions, whose time says nothing new.
    pub(crate) fn needs_timestamps(&self, agents: u32, steps: u32) -> bool {
        self.last.is_none() || self.expected(agents, steps) >= LONG
    }

    /// Learns from the time of a submission.
    pub(crate) fn learn(&mut self, agents: u32, steps: u32, seconds: f64) {
        let agents = u64::from(agents).max(self.least_agents);
        // Without steps, `init` and `finish` count as one.
        let agent_steps = agents.saturating_mul(u64::from(steps.max(1)));
        // A short remainder says little about the rate: its fixed costs dominate.
        let informative = self.last.is_none_or(|last| {
            agent_steps >= last.agent_steps / 4 || seconds > TARGET.as_secs_f64() / 4.0
        });
        if informative && agent_steps > 0 {
            self.last = Some(Measured {
                agent_steps,
                seconds,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn software_dispatches_stay_below_the_loop_limit() {
        for inner in [0, 1, 43, 1000, 59_999, 1 << 40] {
            let cap = u64::from(Pace::new(true, Some(inner), None).cap);
            assert!(cap == 1 || (cap + 2) * (1 + inner) <= SOFTWARE_ITERATIONS);
        }
        assert_eq!(Pace::new(true, Some(43), None).cap, 1361);
        assert_eq!(Pace::new(true, None, None).cap, 64);
        assert_eq!(Pace::new(false, Some(43), None).cap, u32::MAX);
        assert_eq!(Pace::new(false, Some(43), Some(10)).cap, 10);
    }

    #[test]
    fn a_cut_loop_quarters_the_dispatch_down_to_one_step() {
        let mut pace = Pace::new(true, None, None);
        assert!(pace.shorten(64));
        assert_eq!(pace.cap, 16);
        assert!(pace.shorten(3), "3 steps were run in one dispatch");
        assert_eq!(pace.cap, 1);
        assert!(pace.shorten(16), "it had been sent before");
        assert_eq!(pace.cap, 1);
        assert!(!pace.shorten(1));
    }

    #[test]
    fn the_dispatches_of_a_run_are_its_steps() {
        let pace = Pace::new(false, Some(0), Some(4));
        assert_eq!(pace.dispatches(10), [0..4, 4..8, 8..10]);
        assert_eq!(pace.dispatches(4), [Range { start: 0, end: 4 }]);
        assert_eq!(pace.dispatches(0), [Range { start: 0, end: 0 }]);
    }

    #[test]
    fn submissions_grow_towards_the_target_and_no_faster() {
        let mut pace = Pace::new(false, Some(0), None);
        let first = pace.steps(1 << 20, 1_000_000);
        assert_eq!(first, 256);
        pace.learn(1 << 20, first, 0.001);
        assert_eq!(pace.steps(1 << 20, 1_000_000), 256 * 8);
        pace.learn(1 << 20, 2048, 0.3);
        assert_eq!(pace.steps(1 << 20, 1_000_000), 1024);
        assert_eq!(pace.steps(1 << 20, 10), 10);
        assert_eq!(pace.steps(i32::MAX as u32, 10), 1);
    }

    #[test]
    fn short_submissions_need_no_timestamps_once_one_was_timed() {
        let mut pace = Pace::new(false, Some(0), None);
        assert!(pace.needs_timestamps(1000, 10));
        pace.learn(1 << 20, 100, 1e-4);
        assert!(!pace.needs_timestamps(1 << 20, 900));
        assert!(pace.needs_timestamps(1 << 20, 1001));
    }

    #[test]
    fn a_warm_kernel_takes_all_steps_at_once_if_they_fit() {
        let run = |pace: &mut Pace, steps: u32| {
            let (mut step, mut submissions) = (0, 0);
            while step < steps {
                let span = pace.steps(1 << 20, steps - step).min(steps - step);
                // A millionth of a second a step.
                pace.learn(1 << 20, span, f64::from(span) * 1e-6);
                (step, submissions) = (step + span, submissions + 1);
            }
            submissions
        };
        let mut pace = Pace::new(false, Some(0), None);
        assert!(run(&mut pace, 40_000) > 2);
        assert_eq!(run(&mut pace, 40_000), 1);
        assert_eq!(pace.expected(1 << 20, 40_000), Duration::from_millis(40));
        assert!(
            run(&mut pace, 1_000_000) >= 6,
            "no submission is a second long"
        );
    }
}
