//! The comparison of the best candidates in new draws.

use super::{
    evaluate::{Evaluator, check_count},
    trials::Trials,
};
use crate::error::Error;

/// The fitness of a few candidates in draws that no generation had, of which some rounds are done.
///
/// Candidates with draws of their own share the agents of a run, as equally as it goes.
pub(super) struct Comparison {
    genomes: Vec<f64>,
    round: u32,
    found: Vec<Compared>,
    is_over: bool,
}

impl Comparison {
    /// Of so many candidates.
    pub(super) fn new(genomes: Vec<f64>, count: usize) -> Comparison {
        Comparison {
            genomes,
            round: 0,
            found: vec![Compared::default(); count],
            is_over: count == 0,
        }
    }

    /// The next round, if there is one.
    pub(super) fn trials(&self, evaluator: &Evaluator) -> Option<Trials> {
        let trials = || evaluator.comparison(self.round, &self.genomes, self.found.len());
        (!self.is_over).then(trials)
    }

    /// Takes the fitness of all agents of a round.
    ///
    /// # Errors
    /// [`Error::SearchSetting`] for more or fewer of them.
    pub(super) fn take(
        &mut self,
        evaluator: &Evaluator,
        values: &[impl Copy + Into<f64>],
    ) -> Result<(), Error> {
        let count = self.found.len();
        let asked = if self.is_over {
            0
        } else {
            evaluator.values_of_round(count)
        };
        check_count(values, asked)?;
        for (at, value) in values.iter().enumerate() {
            self.found[evaluator.candidate(at, count)].add((*value).into());
        }
        self.round += 1;
        // A second round shows whether a candidate that has one agent differs from run to run.
        let is_exact = || !self.found.iter().any(Compared::is_noisy);
        let is_last = self.round >= evaluator.rounds(count);
        self.is_over = is_last || self.round > 1 && !evaluator.is_apart() && is_exact();
        Ok(())
    }

    /// What was found once all rounds are done, if it depends on draws.
    pub(super) fn found(&self) -> Option<&[Compared]> {
        let is_noisy = self.found.iter().any(Compared::is_noisy);
        (self.is_over && is_noisy).then_some(&self.found)
    }
}

/// The fitness of one candidate in several draws.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compared {
    count: f64,
    mean: f64,
    /// The sum of squared deviations: B. P. Welford, Technometrics 4 (1962).
    squares: f64,
    least: f64,
    largest: f64,
}

impl Default for Compared {
    fn default() -> Compared {
        Compared {
            count: 0.0,
            mean: 0.0,
            squares: 0.0,
            least: f64::INFINITY,
            largest: f64::NEG_INFINITY,
        }
    }
}

impl Compared {
    fn add(&mut self, value: f64) {
        self.count += 1.0;
        let before = value - self.mean;
        self.mean += before / self.count;
        self.squares += before * (value - self.mean);
        self.least = self.least.min(value);
        self.largest = self.largest.max(value);
    }

    /// Whether its fitness depends on draws.
    pub(super) fn is_noisy(&self) -> bool {
        self.least < self.largest
    }

    pub(super) fn mean(&self) -> f64 {
        self.mean
    }

    pub(super) fn standard_error(&self) -> f64 {
        (self.squares / (self.count - 1.0).max(1.0) / self.count).sqrt()
    }

    pub(super) fn count(&self) -> u64 {
        self.count as u64
    }
}
