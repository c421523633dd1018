//! How many steps a dispatch and a submission take.
//!
//! Two things bound them. A software adapter may end loops silently after 65,535 rounds per dispatch, all
//! loops taken together, so that its dispatches stay below. And no submission should take long: a watchdog
//! kills the device after a second or two, and a run can be cancelled only between submissions. The first
//! submission of a kernel is a guess; later ones are sized by the time that the last one took.

use std::time::Duration;

/// Rounds of loops that a dispatch on a software adapter may have: 65,535 less a margin.
const SOFTWARE_ROUNDS: u64 = 60_000;
/// Steps per dispatch on a software adapter if the model's inner loops depend on values of the run.
const SOFTWARE_GUESS: u32 = 64;
/// What a submission should take.
const TARGET: Duration = Duration::from_millis(150);
/// What is not short: beside it, what reading the device's clock takes is nothing.
const LONG: Duration = Duration::from_millis(1);
/// Rounds (of any loop, of all agents) in the first submission: 40 microseconds on a large GPU, a
/// fraction of a second on the slowest.
const FIRST_ROUNDS_GPU: u64 = 1 << 28;
/// The same for software.
const FIRST_ROUNDS_SOFTWARE: u64 = 1 << 23;
/// Fewer agents than this take as long as this many: a GPU is not full.
const FULL_GPU: u64 = 16_384;
/// Assumed rounds of inner loops where the manifest knows none.
const UNKNOWN_INNER: u64 = 64;
/// A submission is at most so many times as large as the last: a measured time is no promise.
const GROWTH: u64 = 8;

/// The pace of one kernel on one device; outlives a run, so that the next run begins where it ended.
#[derive(Clone, Debug)]
pub(crate) struct Pace {
    /// Most steps of a dispatch.
    cap: u32,
    /// Steps times agents of the last submission, and its seconds.
    last: Option<(u64, f64)>,
    first_rounds: u64,
    least_agents: u64,
    rounds_per_step: u64,
}

impl Pace {
    /// For a kernel with so many rounds of inner loops per step, and the caller's own bound.
    pub(crate) fn new(software: bool, inner_rounds: Option<u64>, tuned: Option<u32>) -> Pace {
        let rounds_per_step = inner_rounds.unwrap_or(UNKNOWN_INNER).saturating_add(1);
        let cap = match (software, inner_rounds) {
            (false, _) => u32::MAX,
            (true, None) => SOFTWARE_GUESS,
            // `init` and `finish` may have as many rounds as a step, in the same dispatch as the steps.
            (true, Some(_)) => (SOFTWARE_ROUNDS / rounds_per_step).saturating_sub(2).max(1) as u32,
        };
        Pace {
            cap: cap.min(tuned.unwrap_or(u32::MAX)).max(1),
            last: None,
            first_rounds: if software {
                FIRST_ROUNDS_SOFTWARE
            } else {
                FIRST_ROUNDS_GPU
            },
            least_agents: if software { 1 } else { FULL_GPU },
            rounds_per_step,
        }
    }

    /// A loop was cut short in a dispatch of so many steps: use a quarter. False if a dispatch cannot be shorter.
    pub(crate) fn shorten(&mut self, steps: u32) -> bool {
        self.cap = self.cap.min((steps / 4).max(1));
        steps > 1
    }

    /// Steps of the next submission, at least 1, at most `remaining`.
    pub(crate) fn steps(&self, agents: u32, remaining: u32) -> u32 {
        let agents = u64::from(agents).max(self.least_agents);
        let work = match self.last {
            None => self.first_rounds / self.rounds_per_step,
            Some((work, seconds)) => {
                let scale = TARGET.as_secs_f64() / seconds.max(1e-6);
                (work as f64 * scale.min(GROWTH as f64)) as u64
            }
        };
        (work / agents).clamp(1, u64::from(remaining).max(1)) as u32
    }

    /// The ranges of steps of the next dispatches, of the steps from the first of `steps` to the second: at least one
    /// dispatch, at most `most`.
    pub(crate) fn ranges(&self, agents: u32, steps: (u32, u32), most: usize) -> Vec<(u32, u32)> {
        let (step, steps) = steps;
        let mut span = self.steps(agents, steps - step).min(steps - step);
        if span > self.cap && span < steps - step {
            // Whole dispatches only: a short one at the end of each submission is a wasted start.
            span -= span % self.cap;
        }
        let end = step + span;
        let mut ranges = Vec::new();
        let mut first = step;
        while ranges.is_empty() || (first < end && ranges.len() < most) {
            let last = end.min(first.saturating_add(self.cap));
            ranges.push((first, last));
            first = last;
        }
        ranges
    }

    /// What so many steps should take, by the last submission.
    pub(crate) fn expected(&self, agents: u32, steps: u32) -> Duration {
        let agents = u64::from(agents).max(self.least_agents);
        let work = agents.saturating_mul(u64::from(steps.max(1))) as f64;
        self.last.map_or(Duration::ZERO, |(known, seconds)| {
            Duration::try_from_secs_f64(seconds * work / known as f64).unwrap_or(TARGET)
        })
    }

    /// Must the device's clock time so many steps, for the next submissions to be sized by? Reading it takes time,
    /// which short submissions feel; those change nothing about the next.
    pub(crate) fn needs_clock(&self, agents: u32, steps: u32) -> bool {
        self.last.is_none() || self.expected(agents, steps) >= LONG
    }

    /// Takes note of a submission's time.
    pub(crate) fn learn(&mut self, agents: u32, steps: u32, seconds: f64) {
        let agents = u64::from(agents).max(self.least_agents);
        // Birth and end count as a step where there is none.
        let work = agents.saturating_mul(u64::from(steps.max(1)));
        // A short remainder says little about the rate: fixed costs rule it.
        let informative = self
            .last
            .is_none_or(|(known, _)| work >= known / 4 || seconds > TARGET.as_secs_f64() / 4.0);
        if informative && work > 0 {
            self.last = Some((work, seconds));
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
            assert!(cap == 1 || (cap + 2) * (1 + inner) <= SOFTWARE_ROUNDS);
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
    fn short_submissions_need_no_clock_once_one_was_timed() {
        let mut pace = Pace::new(false, Some(0), None);
        assert!(pace.needs_clock(1000, 10));
        pace.learn(1 << 20, 100, 1e-4);
        assert!(!pace.needs_clock(1 << 20, 900));
        assert!(pace.needs_clock(1 << 20, 1001));
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
