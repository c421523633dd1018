//! What is said about the values of an output: moments, extremes and quartiles.
//!
//! NaNs are counted and left out of everything else. Sums are in `f64`. Quartiles are linear interpolations
//! between order statistics, type 7 of R. J. Hyndman and Y. Fan, "Sample Quantiles in Statistical Packages",
//! The American Statistician 50 (1996): of n sorted values, the quantile p lies at position (n - 1) p,
//! counted from 0. NumPy's and R's default is the same.

use crate::run::{Column, Values, agent_steps, stopped_agents};
use rayon::prelude::*;
use std::cmp::Ordering;

/// Up to so many values per agent have statistics of their own.
pub(crate) const MOST_ROWS: u32 = 16;

/// Of some values. Where there is no value, only `count` and `nan` mean anything.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statistics {
    /// Values that are numbers.
    pub count: u64,
    /// Values that are not.
    pub nan: u64,
    /// Their mean; none if there is no number.
    pub mean: Option<f64>,
    /// The sample standard deviation, with n - 1 below the sum; none if there are fewer than 2 numbers.
    pub deviation: Option<f64>,
    /// Minimum, lower quartile, median, upper quartile, maximum; none if there is no number.
    pub five: Option<[f64; 5]>,
}

/// What is known of outputs and step counts where those of each agent are not kept.
#[derive(Clone, Debug)]
pub(crate) struct Sums {
    /// For each output what [`Column::statistics`] would give.
    pub(crate) outputs: Vec<Vec<Statistics>>,
    /// Steps that all agents ran together.
    pub(crate) agent_steps: u64,
    /// Agents that stopped by themselves.
    pub(crate) stopped: u64,
}

impl Sums {
    /// By the host.
    pub(crate) fn of(outputs: &[Column], progress: &[u32]) -> Sums {
        Sums {
            outputs: outputs.par_iter().map(Column::statistics).collect(),
            agent_steps: agent_steps(progress),
            stopped: stopped_agents(progress),
        }
    }
}

/// Scalars that can be summarised.
trait Sample: Copy {
    fn number(self) -> f64;
    fn order(&self, other: &Self) -> Ordering;
}

impl Sample for f32 {
    fn number(self) -> f64 {
        self.into()
    }
    fn order(&self, other: &Self) -> Ordering {
        self.total_cmp(other)
    }
}

macro_rules! sample {
    ($($ty:ty),+) => {$(
        impl Sample for $ty {
            fn number(self) -> f64 {
                self.into()
            }
            fn order(&self, other: &Self) -> Ordering {
                self.cmp(other)
            }
        }
    )+};
}

sample!(i32, u32, bool);

impl Statistics {
    /// Of the values at `first`, `first + stride`, …
    pub fn of(values: &Values, first: usize, stride: usize) -> Statistics {
        match values {
            Values::F32(values) => summarise(values, first, stride),
            Values::I32(values) => summarise(values, first, stride),
            Values::U32(values) => summarise(values, first, stride),
            Values::Bool(values) => summarise(values, first, stride),
        }
    }
}

impl Column {
    /// Statistics of each element, over all agents: of each component of each element of an array, row by row. If
    /// an agent has more than 16 of them, one of all.
    pub fn statistics(&self) -> Vec<Statistics> {
        match self.field.words() as usize {
            width if width > MOST_ROWS as usize => vec![Statistics::of(&self.values, 0, 1)],
            width => (0..width)
                .map(|at| Statistics::of(&self.values, at, width))
                .collect(),
        }
    }
}

fn summarise<T: Sample>(values: &[T], first: usize, stride: usize) -> Statistics {
    let all = values.iter().skip(first).step_by(stride.max(1)).copied();
    let total = all.len();
    let mut numbers: Vec<T> = Vec::with_capacity(total);
    numbers.extend(all.filter(|value| !value.number().is_nan()));
    let count = numbers.len();
    let mean =
        (count > 0).then(|| numbers.iter().map(|value| value.number()).sum::<f64>() / count as f64);
    let deviation = mean.filter(|_| count > 1).map(|mean| {
        // The second sum is 0 but for rounding, and takes that rounding out of the first.
        let (squares, rest) = numbers.iter().fold((0.0, 0.0), |(squares, rest), value| {
            let distance = value.number() - mean;
            (squares + distance * distance, rest + distance)
        });
        let variance = (squares - rest * rest / count as f64) / (count - 1) as f64;
        if variance < 0.0 { 0.0 } else { variance.sqrt() }
    });
    let five = (count > 0).then(|| {
        let least = numbers
            .iter()
            .min_by(|a, b| a.order(b))
            .map_or(0.0, |v| v.number());
        let most = numbers
            .iter()
            .max_by(|a, b| a.order(b))
            .map_or(0.0, |v| v.number());
        let mut quartile = |p| quantile(&mut numbers, p);
        [least, quartile(0.25), quartile(0.5), quartile(0.75), most]
    });
    Statistics {
        count: count as u64,
        nan: (total - count) as u64,
        mean,
        deviation,
        five,
    }
}

/// The quantile `p` of at least one value, by selection: the time is linear.
fn quantile<T: Sample>(numbers: &mut [T], p: f64) -> f64 {
    let position = (numbers.len() - 1) as f64 * p;
    let below = position as usize;
    let (_, at, above) = numbers.select_nth_unstable_by(below, T::order);
    let at = at.number();
    let next = above
        .iter()
        .min_by(|a, b| a.order(b))
        .map_or(at, |value| value.number());
    between(at, next, position - below as f64)
}

/// The value at a fraction of the way from one order statistic to the next.
pub(crate) fn between(at: f64, next: f64, fraction: f64) -> f64 {
    // Between equal infinities the difference would be NaN.
    if fraction == 0.0 || next == at {
        at
    } else {
        at + fraction * (next - at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_samples_are_as_by_hand() {
        let values = Values::F32(vec![4.0, 1.0, 3.0, 2.0]);
        let found = Statistics::of(&values, 0, 1);
        assert_eq!((found.count, found.nan), (4, 0));
        assert_eq!(found.mean, Some(2.5));
        // Sum of squares 2.25 + 2.25 + 0.25 + 0.25 = 5, over 3.
        assert_eq!(found.deviation, Some((5.0_f64 / 3.0).sqrt()));
        assert_eq!(found.five, Some([1.0, 1.75, 2.5, 3.25, 4.0]));
    }

    #[test]
    fn quartiles_of_a_progression_are_exact() {
        // 0 … 1000 in a scrambled order: 7 is prime to 1001 = 7 · 11 · 13? It is not; 8 is.
        let values = Values::I32((0..1001).map(|i| (i * 8) % 1001).collect());
        let found = Statistics::of(&values, 0, 1);
        assert_eq!(found.mean, Some(500.0));
        assert_eq!(found.five, Some([0.0, 250.0, 500.0, 750.0, 1000.0]));
        // The variance of 0 … n - 1 with n - 1 below the sum is n (n + 1) / 12.
        let deviation = found.deviation.expect("there are many values");
        assert!((deviation - (1001.0_f64 * 1002.0 / 12.0).sqrt()).abs() < 1e-9);
    }

    #[test]
    fn a_large_mean_does_not_swallow_the_deviation() {
        let values = Values::U32((0..100_000).map(|i| 4_000_000_000 + i % 2).collect());
        let found = Statistics::of(&values, 0, 1);
        assert_eq!(found.mean, Some(4_000_000_000.5));
        let expected = (0.25 * 100_000.0 / 99_999.0_f64).sqrt();
        assert!((found.deviation.expect("many values") - expected).abs() < 1e-12);
    }

    #[test]
    fn nans_are_counted_and_left_out() {
        let values = Values::F32(vec![f32::NAN, 2.0, f32::NAN, 4.0]);
        let found = Statistics::of(&values, 0, 1);
        assert_eq!((found.count, found.nan), (2, 2));
        assert_eq!(found.mean, Some(3.0));
        assert_eq!(found.five, Some([2.0, 2.5, 3.0, 3.5, 4.0]));
        let none = Statistics::of(&Values::F32(vec![f32::NAN]), 0, 1);
        assert_eq!(
            (none.count, none.nan, none.mean, none.five),
            (0, 1, None, None)
        );
    }

    #[test]
    fn single_and_infinite_values_have_statistics() {
        let one = Statistics::of(&Values::Bool(vec![true]), 0, 1);
        assert_eq!((one.mean, one.deviation), (Some(1.0), None));
        let infinite = Statistics::of(&Values::F32(vec![f32::INFINITY; 3]), 0, 1);
        assert_eq!(infinite.mean, Some(f64::INFINITY));
        assert_eq!(infinite.five, Some([f64::INFINITY; 5]));
    }

    #[test]
    fn a_stride_takes_one_element_of_each_agent() {
        let values = Values::F32(vec![1.0, 10.0, 2.0, 20.0, 3.0, 30.0]);
        assert_eq!(
            Statistics::of(&values, 1, 2).five,
            Some([10.0, 15.0, 20.0, 25.0, 30.0])
        );
    }
}
