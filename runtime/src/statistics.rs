//! Statistics of an output: moments, extremes and quartiles.
//!
//! NaNs are counted and otherwise ignored. Sums are exact (`exact`), so mean and deviation are rounded once
//! or twice at the end and do not depend on the order of values. Quartiles are linear interpolations between
//! order statistics, type 7 of R. J. Hyndman and Y. Fan, "Sample Quantiles in Statistical Packages", The
//! American Statistician 50 (1996): of n sorted values, the quantile p is at position (n - 1) p, counted from
//! 0. This is the default of NumPy and R. Order statistics are found by counting (`select`), over values in
//! memory or over values that are recomputed for each pass (`stream`). Those of `f64` are sorted (`double`).

mod double;
mod exact;
mod select;
mod shared;
mod stream;
mod tallies;

#[cfg(feature = "gpu")]
pub(crate) use exact::EXPONENTS;
pub(crate) use exact::{Exact, UNIT};
pub(crate) use stream::{Part, Stream, bytes as stream_bytes};
pub use tallies::Tallies;

use crate::parallel::{self, *};
use crate::values::{Column, StepCounts, Values};
use select::{QUANTILES, QUARTILES, Selection, is_nan, key, position, value};
use shared::{SHARED, select_shared};
use sim_compiler::manifest::{Field, Scalar};

/// Most values per agent that have statistics of their own.
pub(crate) const MOST_ROWS: u32 = 16;

/// Statistics of some values. Without any number, only `count` and `nan` are meaningful.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statistics {
    /// The number of values that are not NaN.
    pub count: u64,
    /// The number of NaNs.
    pub nan: u64,
    /// The mean; `None` without numbers.
    pub mean: Option<f64>,
    /// The sample standard deviation (divisor n - 1); `None` for fewer than 2 numbers.
    pub deviation: Option<f64>,
    /// Minimum, lower quartile, median, upper quartile and maximum; `None` without numbers.
    pub five: Option<[f64; 5]>,
}

/// The statistics of some values that one pass computes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// The number of values that are not NaN.
    pub count: u64,
    /// The number of NaNs.
    pub nan: u64,
    /// The mean; `None` without numbers.
    pub mean: Option<f64>,
    /// The sample standard deviation (divisor n - 1); `None` for fewer than 2 numbers.
    pub deviation: Option<f64>,
    /// Minimum and maximum; `None` without numbers.
    pub extremes: Option<[f64; 2]>,
}

impl Moments {
    /// Those of `count` numbers and `nan` NaNs, from their sums and the keys of the extremes.
    fn from_keys(
        scalar: Scalar,
        (count, nan): (u64, u64),
        exact: &Exact,
        keys: [u32; 2],
    ) -> Moments {
        let extremes = (count > 0).then(|| keys.map(|key| value(scalar, key)));
        let mut moments = exact.moments(count);
        if let Some([least, most]) = extremes
            && !(least.is_finite() && most.is_finite())
        {
            // Infinities dominate a sum; those of opposite signs give NaN.
            moments.mean = Some(least + most);
            moments.deviation = moments.deviation.map(|_| f64::NAN);
        }
        Moments {
            count,
            nan,
            mean: moments.mean,
            deviation: moments.deviation,
            extremes,
        }
    }
}

/// The statistics of outputs and step counts, if those of each agent are not kept.
#[derive(Clone, Debug)]
pub(crate) struct Sums {
    /// By output: the result of [`Column::statistics`].
    pub(crate) outputs: Vec<Vec<Statistics>>,
    /// The sum of the steps of all agents.
    pub(crate) agent_steps: u64,
    /// The number of agents that stopped.
    pub(crate) stopped: u64,
}

impl Sums {
    /// Computes the statistics of columns in memory.
    pub(crate) fn of(outputs: &[Column], steps: &StepCounts) -> Sums {
        Sums {
            outputs: outputs.par_iter().map(Column::statistics).collect(),
            agent_steps: steps.agent_steps(),
            stopped: steps.stopped(),
        }
    }
}

/// Moments and extremes, from one pass over some values.
#[derive(Clone, Debug)]
struct Tally {
    exact: Exact,
    /// Values that are not NaN.
    count: u64,
    nan: u64,
    /// Smallest and largest key of a number.
    least: u32,
    most: u32,
}

impl Tally {
    fn new() -> Tally {
        Tally {
            exact: Exact::new(),
            count: 0,
            nan: 0,
            least: u32::MAX,
            most: 0,
        }
    }

    /// Adds a number and its key.
    #[inline]
    fn add(&mut self, scalar: Scalar, word: u32, key: u32) {
        self.count += 1;
        self.least = self.least.min(key);
        self.most = self.most.max(key);
        let (at, magnitude) = match scalar {
            Scalar::F32 => {
                let (sign, exponent) = (word >> 31, word >> 23 & 0xff);
                let fraction = word & 0x7f_ffff;
                let magnitude = match exponent {
                    0 => fraction,
                    _ => fraction | 0x80_0000,
                };
                (sign << 8 | exponent.max(1), magnitude)
            }
            Scalar::F64 => unreachable!("doubles have a tally of their own"),
            Scalar::I32 => {
                let whole = word as i32;
                let sign = u32::from(whole < 0);
                (sign << 8 | UNIT as u32, whole.unsigned_abs())
            }
            Scalar::U32 => (UNIT as u32, word),
            Scalar::Bool => (UNIT as u32, (word != 0).into()),
        };
        self.exact.add(at as usize, magnitude);
    }

    /// Adds a value, which may be NaN.
    fn add_word(&mut self, scalar: Scalar, word: u32) {
        match scalar == Scalar::F32 && is_nan(word) {
            true => self.nan += 1,
            false => self.add(scalar, word, key(scalar, word)),
        }
    }

    fn merge(&mut self, other: &Tally) {
        self.exact.merge(&other.exact);
        self.count += other.count;
        self.nan += other.nan;
        self.least = self.least.min(other.least);
        self.most = self.most.max(other.most);
    }

    /// The statistics, given the keys on both sides of each quartile.
    fn statistics(&self, scalar: Scalar, keys: [u32; 6]) -> Statistics {
        Statistics::from_keys(
            scalar,
            self.count,
            self.nan,
            &self.exact,
            [
                self.least, keys[0], keys[1], keys[2], keys[3], keys[4], keys[5], self.most,
            ],
        )
    }
}

impl Statistics {
    /// The statistics of the values at `first`, `first + stride`, …
    pub fn of(values: &Values, first: usize, stride: usize) -> Statistics {
        if let Values::F64(values) = values {
            let own = values.iter().skip(first).step_by(stride.max(1));
            return double::statistics(own.copied());
        }
        let (tally, selection) = select_of(values, first, stride, QUARTILES);
        tally.statistics(values.scalar(), selection.keys())
    }

    /// The standard error of the mean, if the values are independent: the standard deviation over the root of
    /// their number. `None` for fewer than 2 numbers.
    pub fn standard_error(&self) -> Option<f64> {
        Some(self.deviation? / (self.count as f64).sqrt())
    }

    /// The statistics of `count` numbers and `nan` NaNs, from their sums and keys: minimum, two keys per
    /// quartile, maximum.
    pub(crate) fn from_keys(
        scalar: Scalar,
        count: u64,
        nan: u64,
        exact: &Exact,
        keys: [u32; 8],
    ) -> Statistics {
        let at = |target: usize| value(scalar, keys[target]);
        let quartile = |number: usize| {
            let (_, rest) = position(count, QUARTILES[number]);
            between(at(2 * number + 1), at(2 * number + 2), rest)
        };
        let Moments {
            mean,
            deviation,
            extremes,
            ..
        } = Moments::from_keys(scalar, (count, nan), exact, [keys[0], keys[7]]);
        let five = extremes.map(|[least, most]| {
            let [lower, median, upper] = [quartile(0), quartile(1), quartile(2)];
            [least, lower, median, upper, most]
        });
        Statistics {
            count,
            nan,
            mean,
            deviation,
            five,
        }
    }
}

/// The number of statistics of a field: one per value of an agent, or one for all.
pub(crate) fn rows(field: &Field) -> u32 {
    match field.values() {
        values if values > MOST_ROWS => 1,
        values => values,
    }
}

impl Column {
    /// The statistics of each element over all agents: of each component of each element of an array, in
    /// row-major order. One for all values if an agent has more than 16.
    pub fn statistics(&self) -> Vec<Statistics> {
        let rows = rows(&self.field) as usize;
        (0..rows)
            .map(|row| Statistics::of(&self.values, row, rows))
            .collect()
    }

    /// The quantiles of these probabilities, with the rows of [`Column::statistics`]: interpolated between
    /// order statistics as the quartiles are. A row is empty if it has no numbers. A probability below 0 is
    /// 0, one above 1 is 1.
    pub fn quantiles(&self, probabilities: &[f64]) -> Vec<Vec<f64>> {
        let rows = rows(&self.field) as usize;
        (0..rows)
            .into_par_iter()
            .map(|row| quantiles(&self.values, row, rows, probabilities))
            .collect()
    }
}

/// The quantiles of the values at `first`, `first + stride`, …; none without numbers.
fn quantiles(values: &Values, first: usize, stride: usize, probabilities: &[f64]) -> Vec<f64> {
    if let Values::F64(values) = values {
        let own = values.iter().skip(first).step_by(stride.max(1));
        return double::quantiles(own.copied(), probabilities);
    }
    let scalar = values.scalar();
    let mut found = Vec::with_capacity(probabilities.len());
    for some in probabilities.chunks(QUANTILES) {
        let of = |at: usize| some.get(at).unwrap_or(&some[0]).clamp(0.0, 1.0);
        let (tally, selection) = select_of(values, first, stride, std::array::from_fn(of));
        if tally.count == 0 {
            return Vec::new();
        }
        let keys = selection.keys().map(|key| value(scalar, key));
        found.extend((0..some.len()).map(|at| {
            let (_, rest) = position(tally.count, of(at));
            between(keys[2 * at], keys[2 * at + 1], rest)
        }));
    }
    found
}

/// Moments and order statistics of the values at `first`, `first + stride`, …
fn select_of(
    values: &Values,
    first: usize,
    stride: usize,
    probabilities: [f64; QUANTILES],
) -> (Tally, Selection) {
    let places = |length: usize| (first..length).step_by(stride.max(1));
    let count = places(values.len()).len();
    if count >= SHARED && parallel::current_num_threads() > 1 {
        let at = |place: usize| first + place * stride.max(1);
        return match values {
            Values::F32(values) => select_shared(Scalar::F32, probabilities, count, |it| {
                values[at(it)].to_bits()
            }),
            Values::F64(_) => unreachable!("doubles are sorted"),
            Values::I32(values) => select_shared(Scalar::I32, probabilities, count, |it| {
                values[at(it)] as u32
            }),
            Values::U32(values) => {
                select_shared(Scalar::U32, probabilities, count, |it| values[at(it)])
            }
            Values::Bool(values) => select_shared(Scalar::Bool, probabilities, count, |it| {
                values[at(it)].into()
            }),
        };
    }
    match values {
        Values::F32(values) => select_from(Scalar::F32, probabilities, || {
            places(values.len()).map(|at| values[at].to_bits())
        }),
        Values::F64(_) => unreachable!("doubles are sorted"),
        Values::I32(values) => select_from(Scalar::I32, probabilities, || {
            places(values.len()).map(|at| values[at] as u32)
        }),
        Values::U32(values) => select_from(Scalar::U32, probabilities, || {
            places(values.len()).map(|at| values[at])
        }),
        Values::Bool(values) => select_from(Scalar::Bool, probabilities, || {
            places(values.len()).map(|at| values[at].into())
        }),
    }
}

/// Moments and order statistics of values in memory, which are iterated several times and never copied.
fn select_from<I: Iterator<Item = u32>>(
    scalar: Scalar,
    probabilities: [f64; QUANTILES],
    values: impl Fn() -> I,
) -> (Tally, Selection) {
    /// For fewer values, histograms of wide digits take longer than more passes.
    const MANY: usize = 1 << 17;
    /// Up to so many values, copying their keys takes less time than counting them in several passes.
    const FEW: usize = 1 << 12;
    if values().nth(FEW).is_none() {
        return select_few(scalar, probabilities, values());
    }
    let few = values().nth(MANY).is_none();
    let mut selection = Selection::new(if few { 8 } else { 16 }, probabilities);
    let mut tally = Tally::new();
    let mut is_first = true;
    while !selection.is_done() {
        let mut counts = selection.counts();
        let tallied = is_first.then_some(&mut tally);
        feed(scalar, values(), tallied, &selection, &mut counts);
        selection.narrow(&counts, tally.count);
        is_first = false;
    }
    (tally, selection)
}

/// Moments and order statistics of a few values, whose keys are copied.
fn select_few(
    scalar: Scalar,
    probabilities: [f64; QUANTILES],
    values: impl Iterator<Item = u32>,
) -> (Tally, Selection) {
    let mut tally = Tally::new();
    let mut keys = Vec::with_capacity(values.size_hint().0);
    values.for_each(|word| {
        if scalar == Scalar::F32 && is_nan(word) {
            tally.nan += 1;
        } else {
            let key = key(scalar, word);
            tally.add(scalar, word, key);
            keys.push(key);
        }
    });
    (tally, Selection::of_keys(&mut keys, probabilities))
}

/// Feeds values to a selection, and in the first pass to a tally.
#[inline]
fn feed(
    scalar: Scalar,
    values: impl Iterator<Item = u32>,
    tally: Option<&mut Tally>,
    selection: &Selection,
    counts: &mut [u64],
) {
    let is_number = |word: u32| scalar != Scalar::F32 || !is_nan(word);
    match tally {
        None => {
            let numbers = values.filter(|&word| is_number(word));
            numbers.for_each(|word| selection.count(counts, key(scalar, word)));
        }
        Some(tally) => values.for_each(|word| {
            if is_number(word) {
                let key = key(scalar, word);
                tally.add(scalar, word, key);
                selection.count(counts, key);
            } else {
                tally.nan += 1;
            }
        }),
    }
}

/// Interpolates between two order statistics.
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
    fn moments_are_those_of_sums_in_double_precision() {
        let mut word = 3_u32;
        let mut next = || {
            word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            word
        };
        let words: Vec<u32> = (0..10_000).map(|_| next()).collect();
        let floats = words.iter().map(|&word| (word >> 8) as f32 * 3e-7 - 1.0);
        let samples = [
            Values::F32(floats.collect()),
            Values::I32(words.iter().map(|&word| word as i32 / 3).collect()),
            Values::U32(words.clone()),
            Values::Bool(words.iter().map(|word| word % 3 == 0).collect()),
        ];
        for values in samples {
            let numbers: Vec<f64> = (0..values.len()).map(|at| values.number(at)).collect();
            let n = numbers.len() as f64;
            let mean = numbers.iter().sum::<f64>() / n;
            let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
            let deviation = (squares / (n - 1.0)).sqrt();
            let found = Statistics::of(&values, 0, 1);
            let near =
                |a: Option<f64>, b: f64| a.is_some_and(|a| (a - b).abs() < 1e-11 * deviation);
            assert!(near(found.mean, mean), "{found:?} {mean}");
            assert!(near(found.deviation, deviation), "{found:?} {deviation}");
            // A wide digit, in place of four narrow ones.
            let many: Vec<f32> = numbers
                .iter()
                .cycle()
                .take(140_000)
                .map(|&it| it as f32)
                .collect();
            let mut sorted = many.clone();
            sorted.sort_by(f32::total_cmp);
            let five = Statistics::of(&Values::F32(many), 0, 1)
                .five
                .map(|five| five[2]);
            assert_eq!(
                five,
                Some(f64::midpoint(sorted[69_999].into(), sorted[70_000].into()))
            );
        }
    }

    #[test]
    fn quantiles_are_those_of_sorted_values() {
        let values: Vec<f32> = (0..2000)
            .map(|i| ((i * 7919) % 2003) as f32 * 0.5)
            .collect();
        let mut sorted = values.clone();
        sorted.sort_by(f32::total_cmp);
        let probabilities = [0.01_f64, 0.99, 0.5, 0.0, 1.0, 0.123, 0.25];
        let expected = probabilities.map(|p| {
            let place = 1999.0 * p;
            let below = sorted[place as usize];
            let above = sorted[(place as usize + 1).min(1999)];
            f64::from(below) + place.fract() * f64::from(above - below)
        });
        let values = Values::F32(values);
        assert_eq!(quantiles(&values, 0, 1, &probabilities), expected);
        let five = Statistics::of(&values, 0, 1).five.expect("there are many");
        let same = quantiles(&values, 0, 1, &[0.0, 0.25, 0.5, 0.75, 1.0]);
        assert_eq!(same, five);
        let none = Values::F32(vec![f32::NAN]);
        assert_eq!(quantiles(&none, 0, 1, &[0.5]), [0.0; 0]);
        let one = Values::Bool(vec![true]);
        assert_eq!(quantiles(&one, 0, 1, &[0.1, 0.9]), [1.0, 1.0]);
    }

    #[test]
    fn the_standard_error_is_of_the_mean() {
        let found = Statistics::of(&Values::I32(vec![1, 2, 3, 4]), 0, 1);
        assert_eq!(found.standard_error(), Some((5.0_f64 / 3.0).sqrt() / 2.0));
        let one = Statistics::of(&Values::I32(vec![1]), 0, 1);
        assert_eq!(one.standard_error(), None);
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
