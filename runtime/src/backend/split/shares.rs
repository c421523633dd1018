//! How much each of several devices gets to do; pure arithmetic.

use crate::bind::Launch;
use sim_compiler::manifest::UNIT;

/// What is given to a device whose speed is only guessed, as a part of what would be fair.
const TRIAL: f64 = 0.25;
/// Rests that are smaller parts of the whole go to whoever comes first.
const REST: f64 = 1.0 / 32.0;
/// Times that differ less are equal.
const BALANCED: f64 = 1.1;
/// Speeds of devices of one kind that differ less are equal: times scatter, and a device whose share moves
/// gets its inputs anew.
const ALIKE: f64 = 1.5;
/// Runs that take less say nothing about speeds.
const SHORT: f64 = 2e-3;

/// Agents that stay together: worlds, and the units that are combined first where a population is observed.
pub(super) fn granule(launch: &Launch) -> u32 {
    match launch.members {
        1 => UNIT,
        members => members,
    }
}

/// How fast devices are relative to each other; those that failed have 0.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Weights {
    of: Vec<f64>,
    /// By device: whether its weight was measured, or is that of another of its kind.
    known: Vec<bool>,
    /// Whether weights are speeds, rather than guesses.
    measured: bool,
}

impl Weights {
    /// From what was measured and what is guessed; `None` for a device that failed. Devices that are `alike`
    /// and not measured are equal.
    pub(super) fn new(
        speeds: impl Iterator<Item = Option<(Option<f64>, f64)>>,
        alike: bool,
    ) -> Weights {
        let speeds: Vec<_> = speeds.collect();
        // What a guess is in the unit of what was measured.
        let (mut measured, mut guessed) = (0.0, 0.0);
        for (speed, guess) in speeds.iter().flatten() {
            if let Some(speed) = speed {
                measured += speed;
                guessed += guess;
            }
        }
        let scale = if guessed > 0.0 {
            measured / guessed
        } else {
            1.0
        };
        let of = |it: &Option<(Option<f64>, f64)>| match it {
            Some((speed, guess)) => speed.unwrap_or(guess * scale),
            None => 0.0,
        };
        let known =
            |it: &Option<(Option<f64>, f64)>| alike || it.is_none_or(|(speed, _)| speed.is_some());
        Weights {
            measured: guessed > 0.0,
            of: speeds.iter().map(of).collect(),
            known: speeds.iter().map(known).collect(),
        }
    }

    /// A device was measured: its speed, in any unit that is that of all others measured here.
    pub(super) fn measure(&mut self, device: usize, speed: f64) {
        if !self.measured {
            self.measured = true;
            let scale = speed / self.of[device];
            self.of.iter_mut().for_each(|weight| *weight *= scale);
        }
        self.of[device] = speed;
        self.known[device] = true;
    }

    /// A device failed.
    pub(super) fn fail(&mut self, device: usize) {
        self.of[device] = 0.0;
        self.known[device] = true;
    }

    pub(super) fn has(&self, device: usize) -> bool {
        self.of[device] > 0.0
    }

    fn all_known(&self) -> bool {
        self.known.iter().all(|&known| known)
    }

    /// The first shares of `all` rows, in whole granules, one after the other from 0 on: where each ends.
    /// Rows behind the last end are given out later, once speeds are known.
    pub(super) fn first(&self, all: u32, granule: u32) -> Vec<u32> {
        let sum: f64 = self.of.iter().sum();
        let granules = f64::from(all.div_ceil(granule));
        let part = if self.all_known() { 1.0 } else { TRIAL };
        let mut before = 0.0;
        let end = |weight: &f64| {
            before += weight;
            let granules = (granules * part * before / sum).round() as u32;
            granules.saturating_mul(granule).min(all)
        };
        self.of.iter().map(end).collect()
    }

    /// How many of the `open` rows out of `all` a device that is idle takes, if the others have `rest` rows
    /// to do that they took before: as many as let all end at the same time.
    pub(super) fn next(
        &self,
        device: usize,
        (open, all): (u32, u32),
        rest: &[f64],
        granule: u32,
    ) -> u32 {
        let sum: f64 = self.of.iter().sum();
        let others = rest.iter().enumerate().filter(|(at, _)| *at != device);
        let left = f64::from(open) + others.map(|(_, rest)| rest).sum::<f64>();
        let fair = left * self.of[device] / sum;
        let fair = if self.all_known() { fair } else { fair * TRIAL };
        let granules = (fair / f64::from(granule)).round().max(1.0) as u32;
        let take = granules.saturating_mul(granule).min(open);
        match f64::from(open - take) < REST * f64::from(all) {
            true => open,
            false => take,
        }
    }
}

/// The speeds of devices, from those known before and the agent-steps and seconds of each.
pub(super) fn learn(old: &[Option<f64>], done: &[(f64, f64)], alike: bool) -> Vec<Option<f64>> {
    let timed = || done.iter().filter(|(steps, _)| *steps > 0.0);
    let seconds = || timed().map(|(_, seconds)| *seconds);
    let (least, most) = (
        seconds().fold(f64::INFINITY, f64::min),
        seconds().fold(0.0, f64::max),
    );
    if most < SHORT {
        return old.to_vec();
    }
    let speeds = || timed().map(|(steps, seconds)| steps / seconds.max(1e-9));
    let slowest = speeds().fold(f64::INFINITY, f64::min);
    if alike && speeds().fold(0.0, f64::max) < ALIKE * slowest {
        // Whatever made them differ before is over.
        return vec![None; old.len()];
    }
    let is_known = alike || old.iter().all(Option::is_some);
    if is_known && most < BALANCED * least {
        return old.to_vec();
    }
    let mean = speeds().sum::<f64>() / timed().count().max(1) as f64;
    let learnt = |(old, (steps, seconds)): (&Option<f64>, &(f64, f64))| {
        let now = (*steps > 0.0).then(|| steps / seconds.max(1e-9));
        // Half of what was known stays, since times scatter; the first run of equal devices warms them up.
        let before = old.or(alike.then_some(mean));
        match (before, now) {
            (Some(before), Some(now)) => Some((before + now) / 2.0),
            (before, now) => now.or(before),
        }
    };
    old.iter().zip(done).map(learnt).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(speeds: &[Option<(Option<f64>, f64)>], alike: bool) -> Weights {
        Weights::new(speeds.iter().copied(), alike)
    }

    #[test]
    fn equal_devices_begin_with_equal_shares_of_whole_granules() {
        let three = weights(&[Some((None, 64.0)); 3], true);
        assert_eq!(three.first(1000, 10), [330, 670, 1000]);
        assert_eq!(three.first(1001, 10), [340, 670, 1001]);
        assert_eq!(three.first(5, 10), [0, 10, 10].map(|end: u32| end.min(5)));
        assert_eq!(three.first(1, 128), [0, 1, 1]);
        let without = weights(&[Some((None, 1.0)), None, Some((None, 1.0))], true);
        assert_eq!(without.first(1000, 10), [500, 500, 1000]);
    }

    #[test]
    fn measured_speeds_decide() {
        let two = weights(&[Some((Some(3e9), 64.0)), Some((Some(1e9), 2.0))], false);
        assert_eq!(two.first(1000, 10), [750, 1000]);
    }

    #[test]
    fn guesses_are_tried_with_a_part() {
        let mut two = weights(&[Some((None, 64.0)), Some((None, 2.0))], false);
        let ends = two.first(66_000, 1);
        assert_eq!(ends, [16_000, 16_500]);
        two.measure(0, 1000.0);
        // The other is still guessed, at 1/32 of it, and has 500 rows to do.
        let next = two.next(0, (49_500, 66_000), &[0.0, 500.0], 1);
        assert_eq!(next, (50_000.0_f64 * 32.0 / 33.0 * 0.25).round() as u32);
        two.measure(1, 250.0);
        let next = two.next(0, (30_000, 66_000), &[0.0, 0.0], 1);
        assert_eq!(next, 24_000);
        assert_eq!(two.next(1, (6_000, 66_000), &[24_000.0, 0.0], 1), 6_000);
    }

    #[test]
    fn small_rests_are_not_split_and_failures_get_nothing() {
        let mut two = weights(&[Some((None, 1.0)); 2], true);
        assert_eq!(two.next(0, (100, 100_000), &[0.0, 0.0], 10), 100);
        assert_eq!(two.next(0, (50_000, 100_000), &[0.0, 0.0], 10), 25_000);
        two.fail(1);
        assert!(two.has(0) && !two.has(1));
        assert_eq!(two.next(0, (50_000, 100_000), &[0.0, 0.0], 10), 50_000);
    }

    #[test]
    fn speeds_are_learnt_from_runs_that_say_something() {
        let none = [None, None];
        assert_eq!(
            learn(&none, &[(1e9, 1e-3), (1e9, 5e-4)], true),
            none,
            "too short"
        );
        assert_eq!(
            learn(&none, &[(1e9, 1.0), (1e9, 1.05)], true),
            none,
            "equal"
        );
        let unequal = learn(&none, &[(1e9, 1.0), (1e9, 2.0)], true);
        assert_eq!(unequal, [Some(8.75e8), Some(6.25e8)]);
        let again = learn(&unequal, &[(5.8e8, 0.58), (4.2e8, 0.42)], true);
        assert_eq!(again, none, "they are equally fast again");
        let unlike = learn(&none, &[(4e9, 1.0), (1e9, 1.05)], false);
        assert!(unlike[0] > Some(3.9e9) && unlike[1] < Some(1e9));
        assert_eq!(learn(&unlike, &[(4e9, 1.0), (1e9, 1.05)], false), unlike);
        let alone = learn(&unlike, &[(4e9, 1.0), (0.0, 0.0)], false);
        assert_eq!(alone, unlike);
    }
}
