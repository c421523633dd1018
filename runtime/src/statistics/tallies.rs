//! The moments of outputs that come in batches of agents.

use super::{Exact, Moments, Tally, double::DoubleTally, rows};
use crate::parallel::*;
use crate::values::{Column, Values};
use sim_compiler::manifest::{Field, Scalar};

/// Bytes of a row before its sums.
const HEAD_BYTES: usize = 24;
/// Bytes of a row.
const ROW_BYTES: usize = HEAD_BYTES + Exact::BYTES as usize;

/// The moments of an output that comes in batches of agents. They are exact, however it is cut, and have the
/// bits of [`Column::statistics`] of all agents, but for those of `f64`, whose last digits depend on the
/// batches. (Quartiles would need all values at once.)
#[derive(Clone, Debug)]
pub struct Tallies {
    scalar: Scalar,
    /// Empty if the values are `f64`.
    rows: Vec<Tally>,
    doubles: Vec<DoubleTally>,
}

impl Tallies {
    /// Of an output, without values yet.
    pub fn new(field: &Field) -> Tallies {
        let count = rows(field) as usize;
        let (single, double) = match field.scalar {
            Scalar::F64 => (0, count),
            Scalar::F32 | Scalar::I32 | Scalar::U32 | Scalar::Bool => (count, 0),
        };
        Tallies {
            scalar: field.scalar,
            rows: vec![Tally::new(); single],
            doubles: vec![DoubleTally::new(); double],
        }
    }

    /// Adds the values of some agents.
    pub fn add(&mut self, column: &Column) {
        match &column.values {
            Values::F32(values) => self.add_all(values, |value| value.to_bits()),
            Values::F64(values) => {
                let rows = self.doubles.len();
                for row in values.chunks_exact(rows) {
                    let own = self.doubles.iter_mut().zip(row);
                    own.for_each(|(tally, value)| tally.add(*value));
                }
            }
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

    /// Adds what other tallies of the same output hold: the moments are then those of the values of both.
    pub fn merge(&mut self, other: &Tallies) {
        for (tally, other) in self.rows.iter_mut().zip(&other.rows) {
            tally.merge(other);
        }
        for (tally, other) in self.doubles.iter_mut().zip(&other.doubles) {
            tally.merge(other);
        }
    }

    /// As bytes, for another process: of each row the counts, the extremes and the sums, all little-endian.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.rows.len() * ROW_BYTES);
        for tally in &self.rows {
            bytes.extend(tally.count.to_le_bytes());
            bytes.extend(tally.nan.to_le_bytes());
            bytes.extend(tally.least.to_le_bytes());
            bytes.extend(tally.most.to_le_bytes());
            let Exact { sums, squares } = &tally.exact;
            let all = sums.iter().chain(squares.iter());
            bytes.extend(all.flat_map(|sum| sum.to_le_bytes()));
        }
        bytes.extend(self.doubles.iter().flat_map(|tally| tally.to_bytes()));
        bytes
    }

    /// What [`Tallies::to_bytes`] gave for the same output; `None` for bytes of another length.
    pub fn from_bytes(field: &Field, bytes: &[u8]) -> Option<Tallies> {
        let mut tallies = Tallies::new(field);
        let (single, double) = bytes.split_at_checked(tallies.rows.len() * ROW_BYTES)?;
        if double.len() != tallies.doubles.len() * DoubleTally::BYTES {
            return None;
        }
        for (tally, bytes) in tallies.doubles.iter_mut().zip(double.as_chunks().0) {
            *tally = DoubleTally::from_bytes(bytes);
        }
        for (tally, row) in tallies.rows.iter_mut().zip(single.chunks_exact(ROW_BYTES)) {
            let (head, sums) = row.split_at(HEAD_BYTES);
            let long = |at: usize| head[at..].first_chunk().map(|it| u64::from_le_bytes(*it));
            let word = |at: usize| head[at..].first_chunk().map(|it| u32::from_le_bytes(*it));
            (tally.count, tally.nan) = (long(0)?, long(8)?);
            (tally.least, tally.most) = (word(16)?, word(20)?);
            let Exact { sums: all, squares } = &mut tally.exact;
            let all = all.iter_mut().chain(squares.iter_mut());
            for (sum, bytes) in all.zip(sums.chunks_exact(size_of::<u128>())) {
                *sum = u128::from_le_bytes(*bytes.first_chunk()?);
            }
        }
        Some(tallies)
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
        let single = self.rows.iter().map(moments);
        single
            .chain(self.doubles.iter().map(DoubleTally::moments))
            .collect()
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
            let mut tally = Tallies::new(&field);
            tally.add(&Column::new(&field, (to - from) as u32, part));
            let bytes = tally.to_bytes();
            assert!(Tallies::from_bytes(&field, &bytes[1..]).is_none());
            let again = Tallies::from_bytes(&field, &bytes);
            tallies.merge(&again.expect("it has the bytes of a tally"));
        }
        let part = words[..2].to_vec();
        let mut twice = tallies.clone();
        twice.add(&Column::new(&field, 1, part));
        assert_eq!(twice.moments()[0].count, tallies.moments()[0].count + 1);
        for (moments, all) in tallies.moments().iter().zip(&all) {
            assert_eq!((moments.count, moments.nan), (all.count, all.nan));
            assert_eq!((moments.mean, moments.deviation), (all.mean, all.deviation));
            let five = all.five.expect("there are numbers");
            assert_eq!(moments.extremes, Some([five[0], five[4]]));
        }
        assert!(all[0].nan > 0 && all[0].mean != all[1].mean);
    }
}
