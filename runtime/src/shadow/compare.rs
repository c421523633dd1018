//! How far results in `f32` are from those in `f64`, and what that means.

use crate::walk::{DoubleColumn, DoubleRun};
use sim_compiler::manifest::Field;

/// Differences up to this part of the spread are no news.
const ENOUGH: f64 = 1e-3;

/// Differences up to this part of the spread leave statistics as they are.
const ROUGH: f64 = 0.03;

/// The mean of the sample agrees if it differs by no more than so many standard errors of a difference of two
/// independent samples.
const STANDARD_ERRORS: f64 = 3.0;

/// What differences mean. The later ones are the graver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// No value differs.
    Equal,
    /// All differ by less than a thousandth of the spread.
    Enough,
    /// All differ by a few hundredths of the spread at most.
    Rough,
    /// Most do not differ, some go another way; the mean agrees.
    Few,
    /// Single values have nothing to do with each other; mean and spread agree within their standard errors.
    Chaotic,
    /// The distribution is another one, or a value that should be a number is none.
    NotEnough,
}

/// Whose a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// An output of agents.
    Output,
    /// A state of agents.
    State,
    /// An output of worlds.
    World,
}

/// An output, or a state, in `f32` and in `f64`.
#[derive(Clone, Debug)]
pub struct Compared {
    /// Its name, type and shape.
    pub field: Field,
    /// Whose it is.
    pub of: Of,
    /// Agents, or worlds, that were compared.
    pub rows: u32,
    /// The median and the largest difference.
    pub absolute: [f64; 2],
    /// The same as parts of the value in `f64`.
    pub relative: [f64; 2],
    /// The same as parts of the spread: the standard deviation in `f64` of the element over the agents, or
    /// its size where all agents have the same.
    pub of_spread: [f64; 2],
    /// Spearman's rank correlation: of an array the lowest of its elements'. None where all agents have the
    /// same value.
    pub rank_correlation: Option<f64>,
    /// The difference of the means, in standard errors of the mean over the whole run; of an array the
    /// largest of its elements'. None where all agents have the same value.
    pub bias: Option<f64>,
    /// The same in standard errors of the mean of the sample.
    pub bias_of_sample: Option<f64>,
    /// Rows with an element that differs by more than a thousandth of the spread; at all, if it is no float.
    pub differing: u32,
    /// Rows with an element that is finite in one type alone.
    pub not_finite: u32,
    /// What it means.
    pub verdict: Verdict,
}

/// Compares all outputs, or all states of a model that has none.
pub(super) fn all(single: &DoubleRun, wide: &DoubleRun, agents: u32, worlds: u32) -> Vec<Compared> {
    let lists = [
        (Of::Output, &single.outputs, &wide.outputs, agents),
        (
            Of::World,
            &single.world_outputs,
            &wide.world_outputs,
            worlds,
        ),
    ];
    let compare =
        |(of, single, wide, population): (Of, &Vec<DoubleColumn>, &Vec<DoubleColumn>, u32)| {
            let pairs = single.iter().zip(wide);
            let compared = pairs.map(|(single, wide)| compare(of, single, wide, population));
            compared.collect::<Vec<_>>()
        };
    let outputs: Vec<Compared> = lists.into_iter().flat_map(compare).collect();
    match outputs.is_empty() {
        true => compare((Of::State, &single.states, &wide.states, agents)),
        false => outputs,
    }
}

/// One element of a field over the rows.
struct Element {
    spread: f64,
    /// Whether all rows have the same value.
    constant: bool,
    correlation: Option<f64>,
    /// The difference of the means as a part of the spread.
    bias: f64,
    /// The spread in `f32` as a part of that in `f64`.
    spread_ratio: f64,
}

fn compare(of: Of, single: &DoubleColumn, wide: &DoubleColumn, population: u32) -> Compared {
    let field = &wide.field;
    let width = (field.values() as usize).max(1);
    let rows = wide.values.len() / width;
    let is_float = field.scalar.is_float();
    let mut differences = Differences::default();
    let (mut differing, mut not_finite) = (vec![false; rows], vec![false; rows]);
    let mut elements = Vec::with_capacity(width);
    for at in 0..width {
        let column = |values: &[f64]| values.iter().skip(at).step_by(width).copied().collect();
        let (a, b): (Vec<f64>, Vec<f64>) = (column(&single.values), column(&wide.values));
        let element = Element::of(&a, &b);
        for (row, (&a, &b)) in a.iter().zip(&b).enumerate() {
            if a.is_finite() != b.is_finite() {
                not_finite[row] = true;
            }
            let difference = distance(a, b);
            differences.add(difference, b, element.spread);
            let limit = if is_float {
                ENOUGH * element.spread
            } else {
                0.0
            };
            differing[row] |= difference > limit;
        }
        elements.push(element);
    }
    let count = |flags: &[bool]| flags.iter().filter(|&&flag| flag).count() as u32;
    let varied = || elements.iter().filter(|element| !element.constant);
    let bias = varied().map(|element| element.bias).reduce(f64::max);
    let mut compared = Compared {
        field: field.clone(),
        of,
        rows: rows as u32,
        absolute: median_and_most(differences.absolute),
        relative: median_and_most(differences.relative),
        of_spread: median_and_most(differences.of_spread),
        rank_correlation: varied()
            .filter_map(|element| element.correlation)
            .reduce(f64::min),
        bias: bias.map(|bias| bias * f64::from(population).sqrt()),
        bias_of_sample: bias.map(|bias| bias * (rows as f64).sqrt()),
        differing: count(&differing),
        not_finite: count(&not_finite),
        verdict: Verdict::Equal,
    };
    compared.verdict = verdict(&compared, &elements);
    compared
}

fn verdict(compared: &Compared, elements: &[Element]) -> Verdict {
    let [median, most] = compared.of_spread;
    if compared.not_finite > 0 {
        return Verdict::NotEnough;
    }
    if compared.absolute[1] == 0.0 {
        return Verdict::Equal;
    }
    if most <= ENOUGH {
        return Verdict::Enough;
    }
    // Of what all agents have in common nothing says how much it may differ.
    let constant = elements
        .iter()
        .any(|element| element.constant && element.spread > 0.0);
    if most <= ROUGH {
        return if constant {
            Verdict::NotEnough
        } else {
            Verdict::Rough
        };
    }
    let rows = f64::from(compared.rows);
    let error = STANDARD_ERRORS * (2.0 / rows).sqrt();
    let same_mean = elements.iter().all(|element| element.bias <= error);
    let same_spread = elements
        .iter()
        .all(|element| (element.spread_ratio - 1.0).abs() <= error.max(0.1));
    if constant || !same_mean || !same_spread || rows < 8.0 {
        return Verdict::NotEnough;
    }
    match median <= ENOUGH {
        true => Verdict::Few,
        false => Verdict::Chaotic,
    }
}

/// How far two numbers are apart: 0 for the same one and for two NaN, infinite if one alone is finite.
fn distance(a: f64, b: f64) -> f64 {
    if a == b || (a.is_nan() && b.is_nan()) {
        return 0.0;
    }
    let distance = (a - b).abs();
    if distance.is_nan() {
        f64::INFINITY
    } else {
        distance
    }
}

#[derive(Default)]
struct Differences {
    absolute: Vec<f64>,
    relative: Vec<f64>,
    of_spread: Vec<f64>,
}

impl Differences {
    fn add(&mut self, difference: f64, value: f64, spread: f64) {
        let part = |of: f64| {
            if difference == 0.0 {
                0.0
            } else {
                difference / of
            }
        };
        self.absolute.push(difference);
        self.relative.push(part(value.abs()));
        self.of_spread.push(part(spread));
    }
}

fn median_and_most(mut values: Vec<f64>) -> [f64; 2] {
    values.sort_unstable_by(f64::total_cmp);
    match values.as_slice() {
        [] => [0.0; 2],
        sorted => [sorted[(sorted.len() - 1) / 2], sorted[sorted.len() - 1]],
    }
}

impl Element {
    fn of(single: &[f64], wide: &[f64]) -> Element {
        let pairs = single.iter().zip(wide);
        let finite = pairs.filter(|(a, b)| a.is_finite() && b.is_finite());
        let (a, b): (Vec<f64>, Vec<f64>) = finite.unzip();
        let ([mean_of_single, spread_of_single], [mean, spread]) = (moments(&a), moments(&b));
        // What differs by roundings of f64 alone is the same.
        let constant = spread <= 1e-12 * mean.abs();
        let size = if constant { mean.abs() } else { spread };
        let part = |difference: f64| {
            if difference == 0.0 {
                0.0
            } else {
                difference / size
            }
        };
        Element {
            spread: size,
            constant,
            correlation: (!constant).then(|| rank_correlation(&a, &b)).flatten(),
            bias: part((mean_of_single - mean).abs()),
            spread_ratio: if constant {
                1.0
            } else {
                spread_of_single / spread
            },
        }
    }
}

/// Mean and standard deviation.
fn moments(values: &[f64]) -> [f64; 2] {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
    [mean, (squares / (count - 1.0).max(1.0)).sqrt()]
}

/// Spearman's; equal values share the mean of their ranks.
fn rank_correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let (a, b) = (ranks(a), ranks(b));
    let ([mean_a, sd_a], [mean_b, sd_b]) = (moments(&a), moments(&b));
    let products = a.iter().zip(&b).map(|(x, y)| (x - mean_a) * (y - mean_b));
    let covariance = products.sum::<f64>() / (a.len() as f64 - 1.0).max(1.0);
    let correlation = covariance / (sd_a * sd_b);
    // Ranks are halves of whole numbers: what is left of the last digits is no difference.
    let whole = if correlation > 1.0 - 1e-12 {
        1.0
    } else {
        correlation
    };
    correlation.is_finite().then_some(whole)
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|&i, &k| values[i].total_cmp(&values[k]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for equal in order.chunk_by(|&i, &k| values[i] == values[k]) {
        let rank = f64::from(first) + (equal.len() as f64 - 1.0) / 2.0;
        equal.iter().for_each(|&at| ranks[at] = rank);
        first += equal.len() as u32;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_compiler::random;

    fn column(values: Vec<f64>) -> DoubleColumn {
        let field = Field {
            name: "x".to_owned(),
            doc: String::new(),
            scalar: sim_compiler::manifest::Scalar::F32,
            shape: Vec::new(),
            components: 1,
            variants: Vec::new(),
            word: 0,
        };
        DoubleColumn { field, values }
    }

    fn of(pairs: impl Iterator<Item = (f64, f64)>) -> Compared {
        let (single, wide) = pairs.unzip();
        compare(Of::Output, &column(single), &column(wide), 1_000_000)
    }

    /// Numbers without order, from 0 to 1.
    fn noise(k: u32) -> f64 {
        random::unit(random::Generator::default().draw(1, k, 0, 0)).into()
    }

    #[test]
    fn verdicts_follow_from_the_differences() {
        let n = 0..256_u32;
        let same = of(n.clone().map(|k| (noise(k), noise(k))));
        assert_eq!(same.verdict, Verdict::Equal);
        assert_eq!(same.rank_correlation, Some(1.0));
        let enough = of(n.clone().map(|k| (noise(k) * (1.0 + 1e-6), noise(k))));
        assert_eq!(enough.verdict, Verdict::Enough);
        assert!((enough.relative[0] - 1e-6).abs() < 1e-12);
        let rough = of(n.clone().map(|k| (noise(k) + 0.003, noise(k))));
        assert_eq!(rough.verdict, Verdict::Rough);
        // 0.003 of a standard deviation of 0.29, times the root of 10^6 agents.
        assert!((rough.bias.expect("varied") - 10.4).abs() < 0.3);
        let few = of(n
            .clone()
            .map(|k| (if k == 7 { 0.1 } else { noise(k) }, noise(k))));
        assert_eq!((few.verdict, few.differing), (Verdict::Few, 1));
        let chaotic = of(n.clone().map(|k| (noise(k + 1000), noise(k))));
        assert_eq!(chaotic.verdict, Verdict::Chaotic);
        assert!(chaotic.rank_correlation.expect("varied").abs() < 0.3);
        let biased = of(n.clone().map(|k| (noise(k + 1000) + 0.3, noise(k))));
        assert_eq!(biased.verdict, Verdict::NotEnough);
        let lost = of(n
            .clone()
            .map(|k| (if k == 3 { f64::NAN } else { noise(k) }, noise(k))));
        assert_eq!((lost.verdict, lost.not_finite), (Verdict::NotEnough, 1));
        // Where all agents are the same, their size is what differences are measured by.
        let constant = of(n.clone().map(|_| (2.000_01, 2.0)));
        assert_eq!(constant.verdict, Verdict::Enough);
        assert_eq!(constant.rank_correlation, None);
        assert_eq!(of(n.map(|_| (3.0, 2.0))).verdict, Verdict::NotEnough);
    }

    #[test]
    fn equal_values_share_a_rank() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [2.5, 0.0, 2.5, 1.0]);
    }
}
