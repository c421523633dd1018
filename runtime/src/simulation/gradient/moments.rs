//! Mean and deviation of many numbers, in `f64` and in one order.

use rayon::prelude::*;

/// Numbers that one thread adds one after the other. The sums of these are added in their order, so that the
/// bits do not depend on the number of threads.
const CHUNK: usize = 4096;

/// Mean and deviation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Moments {
    /// How many numbers there are.
    count: usize,
    pub(super) mean: f64,
    /// The sum of the squares of the distances from the mean.
    squares: f64,
}

impl Moments {
    /// The sample standard deviation (divisor n - 1) over the root of n; `None` for fewer than 2 numbers.
    pub(super) fn standard_error(&self) -> Option<f64> {
        let count = self.count as f64;
        (self.count > 1).then(|| (self.squares / (count - 1.0) / count).sqrt())
    }
}

/// The moments of `count` numbers. Two passes: the deviation is not the difference of large sums.
pub(super) fn moments(count: usize, value: impl Fn(usize) -> f64 + Sync) -> Moments {
    let mean = sum(count, &value) / count as f64;
    let square = |at: usize| (value(at) - mean).powi(2);
    Moments {
        count,
        mean,
        squares: sum(count, &square),
    }
}

fn sum(count: usize, value: &(impl Fn(usize) -> f64 + Sync)) -> f64 {
    let chunk = |number: usize| {
        let places = number * CHUNK..count.min((number + 1) * CHUNK);
        places.map(value).sum::<f64>()
    };
    let chunks: Vec<f64> = (0..count.div_ceil(CHUNK))
        .into_par_iter()
        .map(chunk)
        .collect();
    chunks.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_a_progression() {
        // Of 0 to n - 1: the mean is (n - 1) / 2, the sample variance n (n + 1) / 12.
        let n = 10_001.0_f64;
        let found = moments(10_001, |at| at as f64 + 1e9);
        assert_eq!(found.mean, 1e9 + 5000.0);
        let exact = (n * (n + 1.0) / 12.0 / n).sqrt();
        let error = found.standard_error().expect("many numbers");
        assert!((error - exact).abs() < 1e-9 * exact, "{error} {exact}");
        assert_eq!(moments(1, |_| 3.0).standard_error(), None);
    }
}
