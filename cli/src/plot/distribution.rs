//! How values are distributed: bins that suit them, and the weights of single values.
//!
//! What decides about bins is taken from a sample of large populations; counts are always of all values.

use super::scale::step;
use std::collections::BTreeMap;

/// Values that decide about bins.
const SAMPLE: usize = 1 << 16;
/// A value that at least this share has is no density but a point mass.
const MASS: f64 = 0.02;
/// The same of whole numbers, among which some are frequent by chance.
const WHOLE_MASS: f64 = 0.1;
/// Point masses that are shown.
const MOST_MASSES: usize = 3;
/// Different values that have a bar each.
const MOST_VALUES: usize = 60;
/// Bins at most.
const MOST_BINS: f64 = 50.0;
/// Greatest over least, of nearly all values, from which on logarithms are binned.
const MANY_DECADES: f64 = 1000.0;

/// A distribution.
#[derive(Debug, PartialEq)]
pub(super) struct Distribution {
    /// Finite values.
    pub(super) finite: u64,
    pub(super) nan: u64,
    pub(super) infinite: u64,
    /// Of the finite values; NaN if there are none, or for the deviation fewer than two.
    pub(super) mean: f64,
    pub(super) deviation: f64,
    pub(super) form: Form,
}

/// How a distribution is shown.
#[derive(Debug, PartialEq)]
pub(super) enum Form {
    /// Few different values and how many agents have each, in order.
    Values(Vec<(f64, u64)>),
    /// Bins.
    Bins {
        /// One more than there are counts.
        edges: Vec<f64>,
        counts: Vec<u64>,
        logarithmic: bool,
        /// Values in no bin, since single values are so frequent, in order.
        masses: Vec<(f64, u64)>,
        /// How many lie below and above all bins.
        outside: [u64; 2],
    },
}

/// Of values, which are asked for several times. Are they whole numbers?
pub(super) fn distribution<I: Iterator<Item = f64>>(
    values: impl Fn() -> I,
    is_whole: bool,
) -> Distribution {
    let (mut nan, mut infinite, mut finite) = (0, 0, 0_u64);
    let [mut low, mut high] = [f64::INFINITY, f64::NEG_INFINITY];
    for value in values() {
        if value.is_finite() {
            finite += 1;
            (low, high) = (low.min(value), high.max(value));
        } else if value.is_nan() {
            nan += 1;
        } else {
            infinite += 1;
        }
    }
    let all = || values().filter(|value| value.is_finite());
    let mut sample: Vec<f64> = sampled(all(), finite as usize, SAMPLE).collect();
    sample.sort_by(f64::total_cmp);
    let (mean, deviation) = moments(all(), finite);
    let few = few(&sample, [low, high], is_whole)
        .then(|| counted(all()))
        .flatten();
    let form = match few {
        Some(values) => Form::Values(values),
        None => binned(all, &sample, [low, high], is_whole),
    };
    Distribution {
        finite,
        nan,
        infinite,
        mean,
        deviation,
        form,
    }
}

/// About `most` of so many values, chosen without regard to what numbers they have; all if there are no more.
pub(super) fn sampled<T>(
    values: impl Iterator<Item = T>,
    count: usize,
    most: usize,
) -> impl Iterator<Item = T> {
    let every = count.div_ceil(most).max(1) as u64;
    // A fixed distance would always meet agents of one sort where a model tells sorts by `agent % 8`.
    let is_chosen = move |at: usize| mixed(at as u64).is_multiple_of(every);
    let each = values.enumerate();
    each.filter_map(move |(at, value)| is_chosen(at).then_some(value))
}

/// The finaliser of SplitMix64.
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Mean and standard deviation.
fn moments(values: impl Iterator<Item = f64>, count: u64) -> (f64, f64) {
    let mut seen = 0.0;
    // Welford's: exact enough for values of any size.
    let (mean, squares) = values.fold((0.0, 0.0), |(mean, squares), value| {
        seen += 1.0;
        let off: f64 = value - mean;
        let mean = mean + off / seen;
        (mean, squares + off * (value - mean))
    });
    match count {
        0 => (f64::NAN, f64::NAN),
        1 => (mean, f64::NAN),
        count => (mean, (squares / (count - 1) as f64).sqrt()),
    }
}

/// May each value have a bar of its own?
fn few(sample: &[f64], [low, high]: [f64; 2], is_whole: bool) -> bool {
    let mut values = sample.to_vec();
    values.dedup();
    let is_narrow = is_whole && high - low < MOST_VALUES as f64;
    is_narrow || values.len() == 1 || values.len() <= MOST_VALUES.min(sample.len() / 4)
}

/// How many there are of each value, if these are few.
fn counted(values: impl Iterator<Item = f64>) -> Option<Vec<(f64, u64)>> {
    let mut counts: BTreeMap<i64, (f64, u64)> = BTreeMap::new();
    for value in values {
        // Both zeros are one value; the bits of others are in the order of the values.
        let bits = (value + 0.0).to_bits() as i64;
        let key = if bits < 0 { i64::MIN - bits } else { bits };
        counts.entry(key).or_insert((value + 0.0, 0)).1 += 1;
        if counts.len() > MOST_VALUES {
            return None;
        }
    }
    Some(counts.into_values().collect())
}

fn binned<I: Iterator<Item = f64>>(
    all: impl Fn() -> I,
    sample: &[f64],
    range: [f64; 2],
    is_whole: bool,
) -> Form {
    let heavy = heavy(sample, if is_whole { WHOLE_MASS } else { MASS });
    let rest: Vec<f64> = sample
        .iter()
        .copied()
        .filter(|it| !heavy.contains(it))
        .collect();
    let (edges, logarithmic) = edges(&rest, range, &heavy, is_whole);
    let last = edges.len() - 1;
    let mut counts = vec![0; last];
    let mut masses: Vec<(f64, u64)> = heavy.iter().map(|&value| (value, 0)).collect();
    let mut outside = [0; 2];
    for value in all() {
        if let Some(mass) = masses.iter_mut().find(|(mass, _)| *mass == value) {
            mass.1 += 1;
        } else if value < edges[0] {
            outside[0] += 1;
        } else if value > edges[last] {
            outside[1] += 1;
        } else {
            let bin = edges.partition_point(|&edge| edge <= value);
            counts[bin.clamp(1, last) - 1] += 1;
        }
    }
    Form::Bins {
        edges,
        counts,
        logarithmic,
        masses,
        outside,
    }
}

/// The values that are point masses, in order.
fn heavy(sorted: &[f64], share: f64) -> Vec<f64> {
    let runs = sorted.chunk_by(|a, b| a == b);
    let most = (share * sorted.len() as f64).max(5.0);
    let mut found: Vec<&[f64]> = runs.filter(|run| run.len() as f64 >= most).collect();
    found.sort_by_key(|run| std::cmp::Reverse(run.len()));
    found.truncate(MOST_MASSES);
    let mut values: Vec<f64> = found.iter().map(|run| run[0] + 0.0).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// Borders of bins for these sorted values; are they equal in logarithms?
fn edges(sorted: &[f64], [low, high]: [f64; 2], heavy: &[f64], is_whole: bool) -> (Vec<f64>, bool) {
    let quantile = |share: f64| {
        let at = share * sorted.len().saturating_sub(1) as f64;
        sorted.get(at.round() as usize).copied().unwrap_or(low)
    };
    let [below, above] = [quantile(0.005), quantile(0.995)];
    if low > 0.0 && above / below >= MANY_DECADES && heavy.iter().all(|&value| value > 0.0) {
        return (logarithmic([low, high]), true);
    }
    let [lower, upper] = [quantile(0.25), quantile(0.75)];
    let middle = upper - lower;
    // A few far values would leave a single bin for all others.
    let [from, to] = match middle > 0.0 {
        true => [
            low.max(lower - 8.0 * middle),
            high.min(upper + 8.0 * middle),
        ],
        false => [low, high],
    };
    if from >= to {
        let half = 0.5 * from.abs().max(1.0);
        return (vec![from - half, from + half], false);
    }
    // Freedman and Diaconis' rule.
    let width = 2.0 * middle / (sorted.len() as f64).cbrt();
    let count = ((to - from) / width).clamp(8.0, MOST_BINS);
    // Rounding to a round width makes fewer.
    let mut width = step(from, to, (1.4 * count) as usize);
    if is_whole {
        width = width.max(1.0);
    }
    // A value at a border belongs to the bin above it, the greatest one too.
    let (first, last) = ((from / width).floor(), (to / width).floor() + 1.0);
    let bins = (last - first).max(1.0) as u32;
    let edge = |at: u32| (first + f64::from(at)) * width;
    ((0..=bins).map(edge).collect(), false)
}

/// About forty bins that are equal in logarithms, with borders at the powers of ten.
fn logarithmic([low, high]: [f64; 2]) -> Vec<f64> {
    let [first, last] = [low.log10().floor() as i32, high.log10().ceil() as i32];
    let decades = (last - first).max(1);
    let per_decade = (40 / decades).clamp(1, 10);
    let power = |at: i32| f64::from(first) + f64::from(at) / f64::from(per_decade);
    (0..=decades * per_decade)
        .map(|at| 10_f64.powf(power(at)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64], is_whole: bool) -> Distribution {
        distribution(|| values.iter().copied(), is_whole)
    }

    /// Quantiles of the normal distribution, nearly.
    fn bell(count: usize) -> Vec<f64> {
        let logit = |p: f64| (p / (1.0 - p)).ln() / 1.702;
        (0..count)
            .map(|at| logit((at as f64 + 0.5) / count as f64))
            .collect()
    }

    #[test]
    fn every_value_is_counted_once() {
        let mut values = bell(10_000);
        values.extend([f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e30]);
        values.extend(vec![0.0; 500]);
        let found = of(&values, false);
        assert_eq!((found.finite, found.nan, found.infinite), (10_501, 1, 2));
        let Form::Bins {
            edges,
            counts,
            masses,
            outside,
            ..
        } = found.form
        else {
            panic!("it has bins");
        };
        assert_eq!(masses, [(0.0, 500)]);
        assert_eq!(outside, [0, 1]);
        assert_eq!(counts.iter().sum::<u64>(), 10_000);
        assert!(
            (10..=80).contains(&edges.len()) && edges.contains(&0.0),
            "{edges:?}"
        );
    }

    #[test]
    fn few_values_have_bars() {
        let values: Vec<f64> = (0..900).map(|at| f64::from(at % 9) / 4.0).collect();
        let Form::Values(found) = of(&values, false).form else {
            panic!("they are few");
        };
        assert_eq!(found.len(), 9);
        assert_eq!(found[3], (0.75, 100));
        assert_eq!(of(&[5.0], false).form, Form::Values(vec![(5.0, 1)]));
        let signs = of(&[-1.0, 3.0, -1.0, 0.0, -0.0], true).form;
        assert_eq!(signs, Form::Values(vec![(-1.0, 2), (0.0, 2), (3.0, 1)]));
    }

    #[test]
    fn wide_spreads_are_binned_by_logarithms() {
        let values: Vec<f64> = bell(5000).iter().map(|it| (3.0 * it).exp()).collect();
        assert!(matches!(
            of(&values, false).form,
            Form::Bins {
                logarithmic: true,
                ..
            }
        ));
        assert!(matches!(
            of(&bell(5000), false).form,
            Form::Bins {
                logarithmic: false,
                ..
            }
        ));
    }

    #[test]
    fn a_large_population_is_counted_whole() {
        let values: Vec<f64> = (0..300_000)
            .map(|at| f64::from(at % 7 + 1) * 1e-3)
            .collect();
        let Form::Values(found) = of(&values, false).form else {
            panic!("they are few");
        };
        assert_eq!(found.iter().map(|(_, count)| count).sum::<u64>(), 300_000);
        assert_eq!(found.len(), 7);
    }

    #[test]
    fn moments_are_those_of_the_definition() {
        let found = of(&[1.0, 2.0, 4.0], false);
        assert!((found.mean - 7.0 / 3.0).abs() < 1e-12);
        assert!((found.deviation - 1.527_525).abs() < 1e-6);
        assert!(of(&[], false).mean.is_nan() && of(&[1.0], false).deviation.is_nan());
    }
}
