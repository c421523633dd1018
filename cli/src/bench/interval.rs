//! Medians with confidence intervals from order statistics, which need no assumption about how times scatter.

use serde::Serialize;

/// A median and its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Interval {
    /// The median of the sample.
    pub(crate) median: f64,
    /// The lower end of an interval that holds the true median with at least 95 %; none for fewer than 6
    /// values, of which even the smallest and the largest say less.
    pub(crate) low: Option<f64>,
    /// The upper end.
    pub(crate) high: Option<f64>,
}

impl Interval {
    /// Of at least one value.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Option<Interval> {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        if n == 0 {
            return None;
        }
        let rank = rank(n);
        Some(Interval {
            median: (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0,
            low: rank.map(|rank| sorted[rank]),
            high: rank.map(|rank| sorted[n - 1 - rank]),
        })
    }
}

/// How many values may lie outside of the interval at each end. The true median lies below the value of rank
/// `r`, counted from 0, if at most `r` of the `n` values lie below it: with the probability that a fair coin
/// shows at most `r` heads in `n` throws.
fn rank(n: usize) -> Option<usize> {
    let mut chance = 0.5_f64.powi(n as i32);
    let mut below = 0.0;
    let mut best = None;
    for rank in 0..n / 2 {
        below += chance;
        if 2.0 * below > 0.05 {
            break;
        }
        best = Some(rank);
        chance *= (n - rank) as f64 / (rank + 1) as f64;
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_those_of_the_tables() {
        // Ranks counted from 1 in tables for 95 %: n = 6: 1 and 6; 10: 2 and 9; 20: 6 and 15; 100: 40 and 61.
        assert_eq!(rank(5), None);
        assert_eq!(rank(6), Some(0));
        assert_eq!(rank(9), Some(1));
        assert_eq!(rank(10), Some(1));
        assert_eq!(rank(20), Some(5));
        assert_eq!(rank(100), Some(39));
    }

    #[test]
    fn medians_and_their_intervals() {
        let of = |values: &[f64]| Interval::of(values.iter().copied());
        assert_eq!(of(&[]), None);
        let three = of(&[3.0, 1.0, 2.0]).expect("there are values");
        assert_eq!((three.median, three.low, three.high), (2.0, None, None));
        let ten: Vec<f64> = (1..=10).rev().map(f64::from).collect();
        let ten = of(&ten).expect("there are values");
        assert_eq!((ten.median, ten.low, ten.high), (5.5, Some(2.0), Some(9.0)));
    }
}
