//! Statistics of `f64`. The exact sums that `f32` has would take a number of 4,000 bits here: sums are
//! compensated instead, and of values in memory taken in rising order, so that they do not depend on the
//! order of values. Those of batches do, in their last digits.

use super::{Moments, Statistics, between, select};

/// The numbers among some values, in rising order, and how many are none.
fn sorted(values: impl Iterator<Item = f64>) -> (Vec<f64>, u64) {
    let mut nan = 0;
    let mut numbers: Vec<f64> = values
        .filter(|value| {
            nan += u64::from(value.is_nan());
            !value.is_nan()
        })
        .collect();
    numbers.sort_unstable_by(f64::total_cmp);
    (numbers, nan)
}

/// A sum whose rounding errors are summed as well: A. Neumaier, "Rundungsfehleranalyse einiger Verfahren zur
/// Summation endlicher Summen", ZAMM 54 (1974).
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0);
    for value in values {
        let next = sum + value;
        lost += match sum.abs() >= value.abs() {
            true => (sum - next) + value,
            false => (value - next) + sum,
        };
        sum = next;
    }
    // Of infinities nothing is lost but the meaning of the difference.
    if sum.is_finite() { sum + lost } else { sum }
}

/// The value at a fraction of the sorted numbers, of which there are some.
fn quantile(numbers: &[f64], fraction: f64) -> f64 {
    let (below, rest) = select::position(numbers.len() as u64, fraction);
    let below = below as usize;
    let next = numbers[(below + 1).min(numbers.len() - 1)];
    between(numbers[below], next, rest)
}

/// The statistics of some values.
pub(super) fn statistics(values: impl Iterator<Item = f64>) -> Statistics {
    let (numbers, nan) = sorted(values);
    let count = numbers.len() as f64;
    let (Some(&least), Some(&most)) = (numbers.first(), numbers.last()) else {
        return Statistics {
            count: 0,
            nan,
            mean: None,
            deviation: None,
            five: None,
        };
    };
    let mean = sum(numbers.iter().copied()) / count;
    let deviation = (numbers.len() > 1).then(|| {
        let squares = sum(numbers.iter().map(|number| (number - mean).powi(2)));
        (squares / (count - 1.0)).sqrt()
    });
    let [lower, median, upper] = select::QUARTILES.map(|part| quantile(&numbers, part));
    Statistics {
        count: numbers.len() as u64,
        nan,
        mean: Some(mean),
        deviation,
        five: Some([least, lower, median, upper, most]),
    }
}

/// The quantiles of these probabilities; none without numbers.
pub(super) fn quantiles(values: impl Iterator<Item = f64>, probabilities: &[f64]) -> Vec<f64> {
    let (numbers, _) = sorted(values);
    match numbers.is_empty() {
        true => Vec::new(),
        false => (probabilities.iter())
            .map(|probability| quantile(&numbers, probability.clamp(0.0, 1.0)))
            .collect(),
    }
}

/// Moments and extremes of values that come in batches: B. P. Welford's recurrence (1962), and for two
/// batches that of T. F. Chan, G. H. Golub and R. J. LeVeque (1979).
#[derive(Clone, Copy, Debug)]
pub(super) struct DoubleTally {
    count: u64,
    nan: u64,
    mean: f64,
    squares: f64,
    least: f64,
    most: f64,
}

impl DoubleTally {
    /// Bytes of [`DoubleTally::to_bytes`].
    pub(super) const BYTES: usize = 48;

    pub(super) fn new() -> DoubleTally {
        DoubleTally {
            count: 0,
            nan: 0,
            mean: 0.0,
            squares: 0.0,
            least: f64::INFINITY,
            most: f64::NEG_INFINITY,
        }
    }

    pub(super) fn add(&mut self, value: f64) {
        if value.is_nan() {
            self.nan += 1;
            return;
        }
        self.count += 1;
        let apart = value - self.mean;
        self.mean += apart / self.count as f64;
        self.squares += apart * (value - self.mean);
        self.least = self.least.min(value);
        self.most = self.most.max(value);
    }

    pub(super) fn merge(&mut self, other: &DoubleTally) {
        self.nan += other.nan;
        if other.count == 0 {
            return;
        }
        let [own, others] = [self.count, other.count].map(|count| count as f64);
        let apart = other.mean - self.mean;
        self.mean += apart * (others / (own + others));
        self.squares += other.squares + apart * apart * (own * others / (own + others));
        self.count += other.count;
        self.least = self.least.min(other.least);
        self.most = self.most.max(other.most);
    }

    pub(super) fn moments(&self) -> Moments {
        let Self { count, nan, .. } = *self;
        let mut mean = (count > 0).then_some(self.mean);
        let mut deviation = (count > 1).then(|| (self.squares / (count - 1) as f64).sqrt());
        if count > 0 && !(self.least.is_finite() && self.most.is_finite()) {
            // Infinities dominate a sum; those of opposite signs give NaN.
            mean = Some(self.least + self.most);
            deviation = deviation.map(|_| f64::NAN);
        }
        Moments {
            count,
            nan,
            mean,
            deviation,
            extremes: (count > 0).then_some([self.least, self.most]),
        }
    }

    pub(super) fn to_bytes(self) -> [u8; Self::BYTES] {
        let floats = [self.mean, self.squares, self.least, self.most].map(f64::to_bits);
        let mut bytes = [0; Self::BYTES];
        let all = [self.count, self.nan].into_iter().chain(floats);
        for (to, from) in bytes.chunks_exact_mut(8).zip(all) {
            to.copy_from_slice(&from.to_le_bytes());
        }
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8; Self::BYTES]) -> DoubleTally {
        let long = |at: usize| u64::from_le_bytes(std::array::from_fn(|k| bytes[8 * at + k]));
        let [mean, squares, least, most] = [2, 3, 4, 5].map(|at| f64::from_bits(long(at)));
        DoubleTally {
            count: long(0),
            nan: long(1),
            mean,
            squares,
            least,
            most,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10^8 + k / 1000 for k = 0 to n - 1: what the deviation is known for, beside a large mean.
    #[test]
    fn batches_have_the_statistics_of_all() {
        let value = |k: u32| 1e8 + f64::from(k) / 1000.0;
        let n = 10_001;
        let all = statistics((0..n).map(value));
        let exact = (f64::from(n) * f64::from(n + 1) / 12.0).sqrt() / 1000.0;
        assert!((all.deviation.expect("many numbers") - exact).abs() < 1e-7);
        assert!((all.mean.expect("many numbers") - 1e8 - 5.0).abs() < 1e-7);
        assert_eq!(all.five.map(|five| five[2]), Some(1e8 + 5.0));
        let mut whole = DoubleTally::new();
        for batch in [0..1, 1..700, 700..n] {
            let mut tally = DoubleTally::new();
            batch.for_each(|k| tally.add(value(k)));
            whole.merge(&DoubleTally::from_bytes(&tally.to_bytes()));
        }
        let moments = whole.moments();
        // Each number adds a rounding of up to 1.5e-8, the spacing near 10^8: some 1.5e-6 after 10^4 of them.
        assert!((moments.mean.expect("many numbers") - 1e8 - 5.0).abs() < 1e-5);
        assert!((moments.deviation.expect("many numbers") - exact).abs() < 1e-5);
        assert_eq!(moments.extremes, Some([1e8, value(n - 1)]));
    }

    #[test]
    fn what_is_no_number_is_counted() {
        let found = statistics([f64::NAN, 1.0, f64::INFINITY].into_iter());
        assert_eq!((found.count, found.nan), (2, 1));
        assert_eq!(found.mean, Some(f64::INFINITY));
        assert!(found.deviation.is_some_and(f64::is_nan));
        assert!(quantiles([f64::NAN].into_iter(), &[0.5]).is_empty());
        assert_eq!(quantiles([3.0, 1.0, 2.0].into_iter(), &[0.25]), [1.5]);
    }
}
