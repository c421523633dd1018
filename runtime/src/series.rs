//! What was sampled as a run went on: from what a kernel stores of each agent, world or unit to the series
//! that a caller gets.
//!
//! What is observed of the population is combined over worlds or units here, as a tree in their order, and a
//! mean divided: so it has the same bits whatever the backend, and however the run was split. A fold that
//! needs all values at once gets them recorded.

use crate::parallel::*;
use crate::{
    error::{Error, Role},
    statistics::{Statistics, between},
    values::{Column, Element, Values},
};
use sim_compiler::manifest::{self, Field, Manifest, Sampling, Scalar, SeriesFold, SeriesOf};

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
                            combine(&series.field, fold, values, found);
                        }
                    });
                if *fold == SeriesFold::Mean {
                    sums = Some(Values::from_words(series.field.scalar, found.clone()));
                    let agents = (counts.agents as usize / groups) as f32;
                    for word in &mut found {
                        *word = (f32::from_bits(*word) / agents).to_bits();
                    }
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
            width: series.stored_words() as usize,
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

/// Combines stored values, of agents or of units, to what the fold is of all; for a mean, to their sum.
fn combine(field: &Field, fold: &SeriesFold, values: &[u32], found: &mut [u32]) {
    match fold {
        SeriesFold::Sum | SeriesFold::Count | SeriesFold::Mean => {
            tree(field.scalar, add, values, found);
        }
        SeriesFold::Min => tree(field.scalar, least, values, found),
        SeriesFold::Max => tree(field.scalar, most, values, found),
        SeriesFold::Any => found[0] = values.iter().any(|&word| word != 0).into(),
        SeriesFold::All => found[0] = values.iter().all(|&word| word != 0).into(),
        SeriesFold::Var | SeriesFold::Sd => {
            let values = Values::F32(values.iter().map(|&word| f32::from_bits(word)).collect());
            let deviation = Statistics::of(&values, 0, 1).deviation;
            let deviation = deviation.unwrap_or(f64::NAN);
            let value = match fold {
                SeriesFold::Sd => deviation,
                _ => deviation * deviation,
            };
            found[0] = (value as f32).to_bits();
        }
        SeriesFold::Quantiles(fractions) => quantiles(values, fractions, found),
        SeriesFold::Histogram { low, high, bins } => {
            found.fill(0);
            for &word in values {
                if let Some(bin) = bin(f32::from_bits(word), *low, *high, *bins) {
                    found[bin] += 1;
                }
            }
        }
    }
}

/// Two words combined to one.
type Combine = fn(Scalar, u32, u32) -> u32;

fn add(scalar: Scalar, a: u32, b: u32) -> u32 {
    match scalar {
        Scalar::F32 => (f32::from_bits(a) + f32::from_bits(b)).to_bits(),
        Scalar::I32 | Scalar::U32 | Scalar::Bool => a.wrapping_add(b),
    }
}

fn is_less(scalar: Scalar, a: u32, b: u32) -> bool {
    match scalar {
        Scalar::F32 => f32::from_bits(a) < f32::from_bits(b),
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

/// Combines rows of words component by component as a tree: neighbours first, a last one without a neighbour
/// stays. Units have a power of two of agents each, so that this goes on where the kernel ended.
fn tree(scalar: Scalar, both: Combine, rows: &[u32], found: &mut [u32]) {
    let width = found.len();
    let mut level = rows.to_vec();
    let mut count = level.len() / width;
    while count > 1 {
        for pair in 0..count / 2 {
            for at in 0..width {
                let [a, b] = [2 * pair, 2 * pair + 1].map(|row| level[row * width + at]);
                level[pair * width + at] = both(scalar, a, b);
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
fn quantiles(values: &[u32], fractions: &[f32], found: &mut [u32]) {
    let numbers = values.iter().map(|&word| f32::from_bits(word));
    let mut numbers: Vec<f32> = numbers.filter(|number| !number.is_nan()).collect();
    numbers.sort_unstable_by(f32::total_cmp);
    for (found, &fraction) in found.iter_mut().zip(fractions) {
        let value = match numbers.len() {
            0 => f64::NAN,
            count => {
                let place = f64::from(fraction) * (count - 1) as f64;
                let at = place as usize;
                let next = numbers[(at + 1).min(count - 1)];
                between(numbers[at].into(), next.into(), place - at as f64)
            }
        };
        *found = (value as f32).to_bits();
    }
}

/// The bin of a value, if it has one.
fn bin(value: f32, low: f32, high: f32, bins: u32) -> Option<usize> {
    if !(low..=high).contains(&value) {
        return None;
    }
    let [value, low, high] = [value, low, high].map(f64::from);
    // The product is exact, so that a value at a border between two bins is not rounded below it.
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
        tree(Scalar::F32, add, &words, &mut found);
        assert_eq!(f32::from_bits(found[0]), expected);
    }

    #[test]
    fn quantiles_are_those_of_numpy() {
        let words = [3.0f32, f32::NAN, 1.0, 2.0, 4.0].map(f32::to_bits);
        let mut found = [0; 3];
        quantiles(&words, &[0.0, 0.5, 0.75], &mut found);
        assert_eq!(found.map(f32::from_bits), [1.0, 2.5, 3.25]);
        let mut found = [0];
        quantiles(&[f32::NAN.to_bits()], &[0.5], &mut found);
        assert!(f32::from_bits(found[0]).is_nan());
    }

    #[test]
    fn bins_have_their_lower_ends_and_the_last_one_both() {
        let bins = [-1.0, 0.0, 0.25, 0.5, 1.0, 1.1, f32::NAN].map(|x| bin(x, 0.0, 1.0, 4));
        assert_eq!(bins, [None, Some(0), Some(1), Some(2), Some(3), None, None]);
        let bins: Vec<_> = (0..49).map(|x| bin(x as f32, 0.0, 49.0, 49)).collect();
        assert_eq!(bins, (0..49).map(Some).collect::<Vec<_>>());
    }
}
