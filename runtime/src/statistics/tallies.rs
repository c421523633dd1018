//! The moments of outputs that come in batches of agents.

use super::{Moments, Tally, rows};
use crate::values::{Column, Values};
use rayon::prelude::*;
use sim_compiler::manifest::{Field, Scalar};

/// The moments of an output that comes in batches of agents. They are exact, however it is cut, and have the
/// bits of [`Column::statistics`] of all agents. (Quartiles would need all values at once.)
#[derive(Clone, Debug)]
pub struct Tallies {
    scalar: Scalar,
    rows: Vec<Tally>,
}

impl Tallies {
    /// Of an output, without values yet.
    pub fn new(field: &Field) -> Tallies {
        Tallies {
            scalar: field.scalar,
            rows: vec![Tally::new(); rows(field) as usize],
        }
    }

    /// Adds the values of some agents.
    pub fn add(&mut self, column: &Column) {
        match &column.values {
            Values::F32(values) => self.add_all(values, |value| value.to_bits()),
            Values::I32(values) => self.add_all(values, |value| value as u32),
            Values::U32(values) => self.add_all(values, |value| value),
            Values::Bool(values) => self.add_all(values, u32::from),
        }
    }

    fn add_all<T: Copy + Sync>(&mut self, values: &[T], word: impl Fn(T) -> u32 + Sync) {
        /// Values that a thread adds at a time, about.
        const BLOCK: usize = 1 << 16;
        let (scalar, stride) = (self.scalar, self.rows.len());
        let blocks = values.par_chunks(BLOCK.next_multiple_of(stride));
        for (row, tallied) in self.rows.iter_mut().enumerate() {
            let tally = |block: &[T]| {
                let mut tally = Tally::new();
                for &value in block.iter().skip(row).step_by(stride) {
                    tally.add_word(scalar, word(value));
                }
                tally
            };
            let found = blocks
                .clone()
                .map(tally)
                .reduce(Tally::new, |mut one, other| {
                    one.merge(&other);
                    one
                });
            tallied.merge(&found);
        }
    }

    /// Those of the values so far, with the rows of [`Column::statistics`].
    pub fn moments(&self) -> Vec<Moments> {
        let moments = |tally: &Tally| {
            let Tally {
                exact,
                count,
                nan,
                least,
                most,
            } = tally;
            Moments::from_keys(self.scalar, (*count, *nan), exact, [*least, *most])
        };
        self.rows.iter().map(moments).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tallies_of_batches_are_the_statistics_of_all() {
        let field =
            sim_compiler::compile("step {} output v = vec2(0.0, 0.0)").expect("it compiles");
        let field = field.manifest.outputs[0].clone();
        let value = |at: u32| match at % 97 {
            5 => f32::NAN,
            at => (at as f32 - 40.0) * 1.37,
        };
        let words: Vec<u32> = (0..400_000).map(|at| value(at).to_bits()).collect();
        let all = Column::new(&field, 200_000, words.clone()).statistics();
        let mut tallies = Tallies::new(&field);
        for (from, to) in [(0, 1), (1, 70_000), (70_000, 200_000)] {
            let part = words[2 * from..2 * to].to_vec();
            tallies.add(&Column::new(&field, (to - from) as u32, part));
        }
        for (moments, all) in tallies.moments().iter().zip(&all) {
            assert_eq!((moments.count, moments.nan), (all.count, all.nan));
            assert_eq!((moments.mean, moments.deviation), (all.mean, all.deviation));
            let five = all.five.expect("there are numbers");
            assert_eq!(moments.extremes, Some([five[0], five[4]]));
        }
        assert!(all[0].nan > 0 && all[0].mean != all[1].mean);
    }
}
