//! What was sampled as a run went on: from what a kernel stores of each agent, world or unit to the series
//! that a caller gets.
//!
//! What is observed of the population is combined over worlds or units here, as a tree in their order, and a
//! mean divided: so it has the same bits whatever the backend, and however the run was split. A fold that
//! needs all values at once gets them recorded.

use crate::parallel::*;
use crate::{
    array::{doubles_of, words_of},
    error::{Error, Role},
    statistics::{Statistics, between},
    values::{Column, Element, Values},
};
use sim_compiler::manifest::{
    self, Field, Manifest, RealType, Sampling, Scalar, SeriesFold, SeriesOf,
};

/// Values that were sampled before the first step and after each of every so many.
#[derive(Clone, Debug)]
pub struct Series {
    /// Whose values they are.
    pub of: SeriesOf,
    /// By sample: the number of steps before it, 0 for the first.
    pub steps: Vec<u32>,
    /// The values, with shape `(samples, agents, dimensions…)` of a record,
    /// `(samples, worlds, dimensions…)` of `world observe` and `(samples, dimensions…)` of `observe`. Vectors
    /// have their components as the last dimension; quantiles and bins are a dimension.
    pub column: Column,
    /// For a mean, the sums before they were divided, as `column` has the means. Sums of parts of a
    /// population add up to those of all; of means that is true up to roundings only.
    pub sums: Option<Values>,
}

impl Series {
    /// The model's name for it.
    pub fn name(&self) -> &str {
        &self.column.field.name
    }

    /// All values, sample by sample: `f32`, `i32`, `u32` (also enums) or `bool`.
    ///
    /// # Errors
    /// [`Error::WrongType`]
    pub fn values<T: Element>(&self) -> Result<&[T], Error> {
        self.column.typed(self.role())
    }

    /// The number of values of a sample.
    pub fn width(&self) -> usize {
        self.column.shape[1..].iter().product()
    }

    pub(crate) fn role(&self) -> Role {
        match self.of {
            SeriesOf::Agents => Role::Record,
            SeriesOf::Worlds | SeriesOf::Population => Role::Observation,
        }
    }

    /// Names and types for what a kernel stored of a series.
    pub(crate) fn of(
        manifest: &Manifest,
        series: &manifest::Series,
        counts: Counts,
        words: Vec<u32>,
    ) -> Series {
        let sampling = manifest.samplings[series.sampling as usize];
        let samples = sampling.samples(counts.steps);
        let width = series.field.words() as usize;
        let mut sums = None;
        let (rows, words) = match &series.fold {
            None => (None, words),
            Some(fold) => {
                let groups = match series.of {
                    SeriesOf::Worlds => counts.worlds,
                    SeriesOf::Population | SeriesOf::Agents => 1,
                } as usize;
                let row = words.len() / samples as usize;
                let mut found = vec![0; samples as usize * groups * width];
                (found.par_chunks_mut(groups * width))
                    .zip(words.par_chunks(row))
                    .for_each(|(found, row)| {
                        let each = found.chunks_mut(width).zip(row.chunks(row.len() / groups));
                        for (found, values) in each {
                            combine((&series.field, manifest.real), fold, values, found);
                        }
                    });
                if *fold == SeriesFold::Mean {
                    sums = Some(Values::from_words(series.field.scalar, found.clone()));
                    let agents = counts.agents as usize / groups;
                    divide(manifest.real, &mut found, agents);
                }
                (Some(groups), found)
            }
        };
        let rows = rows.unwrap_or(words.len() / (samples as usize * width));
        let mut shape = vec![samples as usize];
        if series.of != SeriesOf::Population {
            shape.push(rows);
        }
        shape.extend(series.field.dims().iter().map(|&n| n as usize));
        Series {
            of: series.of,
            steps: (0..samples).map(|sample| sample * sampling.every).collect(),
            column: Column {
                field: series.field.clone(),
                shape,
                values: Values::from_words(series.field.scalar, words),
            },
            sums,
        }
    }
}

/// The sizes of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counts {
    pub(crate) agents: u32,
    pub(crate) worlds: u32,
    pub(crate) steps: u32,
}

/// Where the samples of a series lie in a row of words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places {
    /// Is there a row per agent? Otherwise one per world or unit.
    pub(crate) of_agents: bool,
    /// Words of a sample.
    pub(crate) width: usize,
    /// The word of the first sample, counted from the first sample of all, and words to the next one.
    first: usize,
    stride: usize,
}

impl Places {
    pub(crate) fn of(manifest: &Manifest, series: &manifest::Series, steps: u32) -> Places {
        let number = series.sampling as usize;
        let sampling: Sampling = manifest.samplings[number];
        let [agent, world] = manifest.first_sample(number, steps);
        let of_agents = series.is_of_agents();
        let (first, stride) = match of_agents {
            true => (agent, sampling.words),
            false => (world, sampling.world_words),
        };
        Places {
            of_agents,
            width: series.stored_words(manifest.real) as usize,
            first: first as usize + series.field.word as usize,
            stride: stride as usize,
        }
    }

    /// The word of a sample, counted from the first sample of all.
    pub(crate) fn word(&self, sample: usize) -> usize {
        self.first + sample * self.stride
    }

    /// The number of rows, given those of agents and of worlds or units.
    pub(crate) fn rows(&self, agents: u32, worlds: u32) -> usize {
        match self.of_agents {
            true => agents as usize,
            false => worlds as usize,
        }
    }
}

/// Divides sums by the number of agents.
fn divide(real: RealType, sums: &mut [u32], agents: usize) {
    match real {
        RealType::F32 => {
            for word in sums {
                *word = (f32::from_bits(*word) / agents as f32).to_bits();
            }
        }
        RealType::F64 => {
            let means: Vec<f64> = doubles_of(sums).map(|sum| sum / agents as f64).collect();
            sums.copy_from_slice(&words_of(means.into_iter()));
        }
    }
}

/// Combines stored values, of agents or of units, to what the fold is of all; for a mean, to their sum.
fn combine(
    (field, real): (&Field, RealType),
    fold: &SeriesFold,
    values: &[u32],
    found: &mut [u32],
) {
    match fold {
        SeriesFold::Sum | SeriesFold::Count | SeriesFold::Mean => {
            tree_of(field.scalar, add, |a, b| a + b, values, found);
        }
        SeriesFold::Min => {
            tree_of(
                field.scalar,
                least,
                |a, b| if b < a { b } else { a },
                values,
                found,
            );
        }
        SeriesFold::Max => {
            tree_of(
                field.scalar,
                most,
                |a, b| if a < b { b } else { a },
                values,
                found,
            );
        }
        SeriesFold::Any => found[0] = values.iter().any(|&word| word != 0).into(),
        SeriesFold::All => found[0] = values.iter().all(|&word| word != 0).into(),
        SeriesFold::Var | SeriesFold::Sd => {
            let values = Values::from_words(real.scalar(), values.to_vec());
            let deviation = Statistics::of(&values, 0, 1).deviation;
            let deviation = deviation.unwrap_or(f64::NAN);
            put(
                real,
                found,
                match fold {
                    SeriesFold::Sd => deviation,
                    _ => deviation * deviation,
                },
            );
        }
        SeriesFold::Quantiles(fractions) => {
            let width = real.scalar().words() as usize;
            let fractions = fractions.iter().map(|fraction| fraction.of(real));
            let all = quantiles(floats(real, values), fractions);
            for (found, value) in found.chunks_exact_mut(width).zip(all) {
                put(real, found, value);
            }
        }
        SeriesFold::Histogram { low, high, bins } => {
            found.fill(0);
            let ends = [low.of(real), high.of(real)];
            for value in floats(real, values) {
                if let Some(bin) = bin(value, ends, *bins) {
                    found[bin] += 1;
                }
            }
        }
    }
}

/// The floats in words.
fn floats(real: RealType, words: &[u32]) -> Vec<f64> {
    match real {
        RealType::F32 => (words.iter().map(|&word| f32::from_bits(word).into())).collect(),
        RealType::F64 => doubles_of(words).collect(),
    }
}

/// Writes a float.
fn put(real: RealType, words: &mut [u32], value: f64) {
    match real {
        RealType::F32 => words[0] = (value as f32).to_bits(),
        RealType::F64 => words.copy_from_slice(&words_of([value].into_iter())),
    }
}

/// [`tree`] of words, or of pairs of words that are doubles.
fn tree_of(
    scalar: Scalar,
    both: Combine,
    doubles: impl Fn(f64, f64) -> f64,
    rows: &[u32],
    found: &mut [u32],
) {
    if scalar != Scalar::F64 {
        tree(|a, b| both(scalar, a, b), rows, found);
        return;
    }
    let rows: Vec<f64> = doubles_of(rows).collect();
    let mut all = vec![0.0; found.len() / 2];
    tree(doubles, &rows, &mut all);
    found.copy_from_slice(&words_of(all.into_iter()));
}

/// Two words combined to one.
type Combine = fn(Scalar, u32, u32) -> u32;

fn add(scalar: Scalar, a: u32, b: u32) -> u32 {
    match scalar {
        Scalar::F32 => (f32::from_bits(a) + f32::from_bits(b)).to_bits(),
        Scalar::F64 => unreachable!("a double is no word"),
        Scalar::I32 | Scalar::U32 | Scalar::Bool => a.wrapping_add(b),
    }
}

fn is_less(scalar: Scalar, a: u32, b: u32) -> bool {
    match scalar {
        Scalar::F32 => f32::from_bits(a) < f32::from_bits(b),
        Scalar::F64 => unreachable!("a double is no word"),
        Scalar::I32 => (a as i32) < b as i32,
        Scalar::U32 | Scalar::Bool => a < b,
    }
}

fn least(scalar: Scalar, a: u32, b: u32) -> u32 {
    if is_less(scalar, b, a) { b } else { a }
}

fn most(scalar: Scalar, a: u32, b: u32) -> u32 {
    if is_less(scalar, a, b) { b } else { a }
}

/// Combines rows of values component by component as a tree: neighbours first, a last one without a neighbour
/// stays. Units have a power of two of agents each, so that this goes on where the kernel ended.
fn tree<T: Copy>(both: impl Fn(T, T) -> T, rows: &[T], found: &mut [T]) {
    let width = found.len();
    let mut level = rows.to_vec();
    let mut count = level.len() / width;
    while count > 1 {
        for pair in 0..count / 2 {
            for at in 0..width {
                let [a, b] = [2 * pair, 2 * pair + 1].map(|row| level[row * width + at]);
                level[pair * width + at] = both(a, b);
            }
        }
        if count % 2 == 1 {
            level.copy_within((count - 1) * width..count * width, count / 2 * width);
        }
        count = count.div_ceil(2);
    }
    found.copy_from_slice(&level[..width]);
}

/// The values at fractions of the sorted values, as [`crate::statistics`] has them.
fn quantiles(
    mut numbers: Vec<f64>,
    fractions: impl Iterator<Item = f64>,
) -> impl Iterator<Item = f64> {
    numbers.retain(|number| !number.is_nan());
    numbers.sort_unstable_by(f64::total_cmp);
    fractions.map(move |fraction| match numbers.len() {
        0 => f64::NAN,
        count => {
            let place = fraction * (count - 1) as f64;
            let at = place as usize;
            let next = numbers[(at + 1).min(count - 1)];
            between(numbers[at], next, place - at as f64)
        }
    })
}

/// The bin of a value, if it has one.
fn bin(value: f64, [low, high]: [f64; 2], bins: u32) -> Option<usize> {
    if !(low..=high).contains(&value) {
        return None;
    }
    // Of `f32` the product is exact, so that a value at a border between two bins is not rounded below it.
    let place = (value - low) * f64::from(bins) / (high - low);
    Some((place as usize).min(bins as usize - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_neighbours() {
        let words: Vec<u32> = (0..5)
            .map(|k| (1.0e8f32 * 3.0f32.powi(k)).to_bits())
            .collect();
        let at = |k: usize| f32::from_bits(words[k]);
        let expected = ((at(0) + at(1)) + (at(2) + at(3))) + at(4);
        let mut found = [0];
        tree(|a, b| add(Scalar::F32, a, b), &words, &mut found);
        assert_eq!(f32::from_bits(found[0]), expected);
    }

    #[test]
    fn quantiles_are_those_of_numpy() {
        let numbers = vec![3.0, f64::NAN, 1.0, 2.0, 4.0];
        let found: Vec<f64> = quantiles(numbers, [0.0, 0.5, 0.75].into_iter()).collect();
        assert_eq!(found, [1.0, 2.5, 3.25]);
        let found = quantiles(vec![f64::NAN], [0.5].into_iter()).next();
        assert!(found.is_some_and(f64::is_nan));
    }

    #[test]
    fn bins_have_their_lower_ends_and_the_last_one_both() {
        let bins = [-1.0, 0.0, 0.25, 0.5, 1.0, 1.1, f64::NAN].map(|x| bin(x, [0.0, 1.0], 4));
        assert_eq!(bins, [None, Some(0), Some(1), Some(2), Some(3), None, None]);
        let bins: Vec<_> = (0..49)
            .map(|x| bin(f64::from(x), [0.0, 49.0], 49))
            .collect();
        assert_eq!(bins, (0..49).map(Some).collect::<Vec<_>>());
    }
}
