//! Mean and deviation of many numbers, in `f64` and in one order.

use crate::{parallel::*, values::Values};

/// Numbers of a column that one thread adds one after the other. The sums of these are added in their order,
/// so that the bits do not depend on the number of threads.
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

/// The moments of each column of rows of `width` floats, where the means of `group` rows are the numbers.
/// Where a value is not finite, neither is the mean. Two passes: the deviation is not the difference of large
/// sums.
///
/// # Panics
/// If the values are no floats.
pub(super) fn moments(values: &Values, width: usize, group: usize) -> Vec<Moments> {
    match values {
        Values::F32(values) => moments_of(values, width, group),
        Values::F64(values) => moments_of(values, width, group),
        other => panic!("derivatives are floats, and no {}", other.scalar().name()),
    }
}

fn moments_of<T: Copy + Into<f64> + Sync>(
    values: &[T],
    width: usize,
    group: usize,
) -> Vec<Moments> {
    let count = values.len() / (width * group);
    let rows = Rows {
        values,
        width,
        group,
    };
    let sums = rows.sums(|_, value| value);
    let means: Vec<f64> = sums.iter().map(|sum| sum / count as f64).collect();
    let squares = rows.sums(|column, value| (value - means[column]).powi(2));
    let columns = means.iter().zip(squares);
    columns
        .map(|(&mean, squares)| Moments {
            count,
            mean,
            squares,
        })
        .collect()
}

/// The rows of a table, of which groups are averaged.
struct Rows<'a, T> {
    values: &'a [T],
    width: usize,
    group: usize,
}

impl<T: Copy + Into<f64> + Sync> Rows<'_, T> {
    /// The sum of a term of each number, by column.
    fn sums(&self, term: impl Fn(usize, f64) -> f64 + Sync) -> Vec<f64> {
        let chunks = self.values.par_chunks(CHUNK * self.group * self.width);
        let sums: Vec<Vec<f64>> = chunks.map(|chunk| self.sum(chunk, &term)).collect();
        let mut all = vec![0.0; self.width];
        for sums in sums {
            for (all, sum) in all.iter_mut().zip(sums) {
                *all += sum;
            }
        }
        all
    }

    /// That of a part.
    fn sum(&self, values: &[T], term: &impl Fn(usize, f64) -> f64) -> Vec<f64> {
        let (width, group) = (self.width, self.group);
        if (width, group) == (1, 1) {
            return vec![values.iter().map(|&value| term(0, value.into())).sum()];
        }
        let mut sums = vec![0.0; width];
        let mut means = vec![0.0; width];
        for rows in values.chunks_exact(width * group) {
            means.fill(0.0);
            for row in rows.chunks_exact(width) {
                for (mean, &value) in means.iter_mut().zip(row) {
                    *mean += value.into();
                }
            }
            for (column, (sum, mean)) in sums.iter_mut().zip(&means).enumerate() {
                *sum += term(column, mean / group as f64);
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_a_progression() {
        // Of 0 to n - 1: the mean is (n - 1) / 2, the sample variance n (n + 1) / 12.
        let n = 10_001.0_f64;
        let values = (0..10_001).map(|at| f64::from(at) + 1e9).collect();
        let found = moments(&Values::F64(values), 1, 1);
        assert_eq!(found[0].mean, 1e9 + 5000.0);
        let exact = (n * (n + 1.0) / 12.0 / n).sqrt();
        let error = found[0].standard_error().expect("many numbers");
        assert!((error - exact).abs() < 1e-9 * exact, "{error} {exact}");
        let alone = moments(&Values::F32(vec![3.0]), 1, 1);
        assert_eq!(alone[0].standard_error(), None);
    }

    /// Columns side by side have the bits of each alone, and groups those of their means.
    #[test]
    fn columns_do_not_meet() {
        let value = |row: usize, column: usize| ((row * 7 + column * 3) % 1000) as f32 * 0.3;
        let (rows, width) = (12_000, 3);
        let table = (0..rows * width).map(|at| value(at / width, at % width));
        let table = Values::F32(table.collect());
        for group in [1, 4] {
            let together = moments(&table, width, group);
            for (column, found) in together.iter().enumerate() {
                let means = (0..rows / group).map(|number| {
                    let own = number * group..(number + 1) * group;
                    own.map(|row| f64::from(value(row, column))).sum::<f64>() / group as f64
                });
                let alone = moments(&Values::F64(means.collect()), 1, 1);
                assert_eq!(*found, alone[0]);
            }
        }
    }
}
