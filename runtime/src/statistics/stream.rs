//! Statistics of outputs that are not kept. Values arrive in any order and on any thread, are recomputed for
//! every pass, and only histograms and sums are held.

use super::{Exact, MOST_ROWS, Statistics, Sums, Tally, feed, rows, select};
use crate::values::{agent_steps, stopped_agents};
use select::{QUARTILES, Selection};
use sim_compiler::manifest::{Field, Scalar};

/// Candidates for the bits of a digit, those with the fewest passes first.
const DIGITS: [u32; 3] = [16, 11, 8];
/// Upper bound of the bytes of all histograms, if narrower digits help.
const MOST_BYTES: u64 = 256 << 20;

/// The statistics of a model's outputs, pass by pass.
#[derive(Debug)]
pub(crate) struct Stream {
    rows: Vec<Row>,
    /// The number of rows of each output.
    per_output: Vec<u32>,
    /// By word of an agent's outputs: its row.
    of_word: Vec<u32>,
    digit: u32,
    is_first: bool,
    agent_steps: u64,
    stopped: u64,
}

#[derive(Debug)]
struct Row {
    scalar: Scalar,
    tally: Tally,
    selection: Selection,
}

/// What one thread has collected in a pass.
#[derive(Debug)]
pub(crate) struct Part {
    /// By row: the sums (in the first pass) and the histogram.
    rows: Vec<(Option<Tally>, Vec<u64>)>,
    agent_steps: u64,
    stopped: u64,
}

impl Stream {
    /// The statistics of these outputs, collected by `threads` threads.
    pub(crate) fn new(fields: &[Field], threads: usize) -> Stream {
        let digit = digit(fields, threads);
        let mut all = Vec::new();
        let mut of_word = vec![0; fields.iter().map(|field| field.words() as usize).sum()];
        for field in fields {
            let first = all.len() as u32;
            let shared = field.words() > MOST_ROWS;
            let words = &mut of_word[field.word as usize..][..field.words() as usize];
            for (at, row) in words.iter_mut().enumerate() {
                *row = first + if shared { 0 } else { at as u32 };
            }
            all.extend((0..rows(field)).map(|_| Row {
                scalar: field.scalar,
                tally: Tally::new(),
                selection: Selection::new(digit, QUARTILES),
            }));
        }
        Stream {
            rows: all,
            per_output: fields.iter().map(rows).collect(),
            of_word,
            digit,
            is_first: true,
            agent_steps: 0,
            stopped: 0,
        }
    }

    /// The number of passes over all values.
    pub(crate) fn passes(&self) -> u32 {
        match self.rows.is_empty() {
            true => 1,
            false => select::passes(self.digit),
        }
    }

    /// An empty part for one thread and one pass.
    pub(crate) fn part(&self) -> Part {
        let rows = self.rows.iter().map(|row| {
            let tally = self.is_first.then(Tally::new);
            (tally, row.selection.counts())
        });
        Part {
            rows: rows.collect(),
            agent_steps: 0,
            stopped: 0,
        }
    }

    /// Adds one word of the outputs of some agents.
    pub(crate) fn see(&self, part: &mut Part, word: u32, values: &[u32]) {
        let at = self.of_word[word as usize] as usize;
        let Row {
            scalar, selection, ..
        } = &self.rows[at];
        let (tally, counts) = &mut part.rows[at];
        feed(
            *scalar,
            values.iter().copied(),
            tally.as_mut(),
            selection,
            counts,
        );
    }

    /// Adds the step counts of some agents.
    pub(crate) fn see_progress(
        &self,
        part: &mut Part,
        progress: impl Iterator<Item = u32> + Clone,
    ) {
        part.agent_steps += agent_steps(progress.clone());
        part.stopped += stopped_agents(progress);
    }

    /// Ends a pass, with the parts of all threads.
    pub(crate) fn end_pass(&mut self, parts: Vec<Part>) {
        let mut parts = parts.into_iter();
        let Some(mut all) = parts.next() else { return };
        for part in parts {
            all.agent_steps += part.agent_steps;
            all.stopped += part.stopped;
            for ((tally, counts), (other, others)) in all.rows.iter_mut().zip(part.rows) {
                if let (Some(tally), Some(other)) = (tally, other) {
                    tally.merge(&other);
                }
                for (count, other) in counts.iter_mut().zip(others) {
                    *count += other;
                }
            }
        }
        if self.is_first {
            (self.agent_steps, self.stopped) = (all.agent_steps, all.stopped);
            self.is_first = false;
        }
        for (row, (tally, counts)) in self.rows.iter_mut().zip(all.rows) {
            if let Some(tally) = tally {
                row.tally = tally;
            }
            row.selection.narrow(&counts, row.tally.count);
        }
    }

    /// The statistics, after the last pass.
    pub(crate) fn sums(&self) -> Sums {
        let mut rows = self.rows.iter();
        let mut statistics = |row: &Row| row.tally.statistics(row.scalar, row.selection.keys());
        let outputs = self.per_output.iter().map(|&count| -> Vec<Statistics> {
            rows.by_ref()
                .take(count as usize)
                .map(&mut statistics)
                .collect()
        });
        Sums {
            outputs: outputs.collect(),
            agent_steps: self.agent_steps,
            stopped: self.stopped,
        }
    }
}

/// The digit with the fewest passes whose histograms are within the bound.
fn digit(fields: &[Field], threads: usize) -> u32 {
    let fits = |&digit: &u32| bytes_with(fields, threads, digit) <= MOST_BYTES;
    DIGITS.into_iter().find(fits).unwrap_or(8)
}

/// Bytes of the statistics of these outputs.
pub(crate) fn bytes(fields: &[Field], threads: usize) -> u64 {
    bytes_with(fields, threads, digit(fields, threads))
}

fn bytes_with(fields: &[Field], threads: usize, digit: u32) -> u64 {
    let rows: u64 = fields.iter().map(|field| u64::from(rows(field))).sum();
    rows * threads as u64 * (select::bytes(digit) + Exact::BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::{Column, StepCounts};

    fn field(scalar: Scalar, word: u32, words: u32) -> Field {
        Field {
            name: format!("x{word}"),
            doc: String::new(),
            scalar,
            shape: if words == 1 { vec![] } else { vec![words] },
            components: 1,
            variants: Vec::new(),
            word,
        }
    }

    #[test]
    fn what_streams_has_the_statistics_of_what_is_kept() {
        let fields = [
            field(Scalar::F32, 0, 1),
            field(Scalar::I32, 1, 2),
            field(Scalar::Bool, 3, 1),
            field(Scalar::F32, 4, 20),
            field(Scalar::U32, 24, 1),
        ];
        let agents = 1000_usize;
        let mut word = 7_u32;
        let mut columns: Vec<Vec<u32>> = Vec::new();
        for field in &fields {
            let words = (0..agents * field.words() as usize).map(|at| {
                word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                match field.scalar {
                    Scalar::F32 if at % 10 == 3 => f32::NAN.to_bits(),
                    Scalar::F32 => ((word >> 8) as f32 * 1e-5 - 80.0).to_bits(),
                    Scalar::Bool => word >> 31,
                    Scalar::F64 => unreachable!("there is none"),
                    Scalar::I32 | Scalar::U32 => word,
                }
            });
            columns.push(words.collect());
        }
        let progress: Vec<u32> = (0..1000).map(|agent| agent % 7).collect();
        for threads in [1, 3, 400, 4000] {
            let mut stream = Stream::new(&fields, threads);
            let mut passes = 0;
            while passes < stream.passes() {
                let mut parts = vec![stream.part(), stream.part(), stream.part()];
                for agent in 0..agents {
                    let part = &mut parts[agent * 17 % 3];
                    for (field, column) in fields.iter().zip(&columns) {
                        let width = field.words();
                        for at in 0..width {
                            let place = agent * width as usize + at as usize;
                            stream.see(part, field.word + at, &column[place..=place]);
                        }
                    }
                    stream.see_progress(part, progress[agent..=agent].iter().copied());
                }
                stream.end_pass(parts);
                passes += 1;
            }
            let kept: Vec<Column> = (fields.iter().zip(&columns))
                .map(|(field, words)| Column::new(field, 1000, words.clone()))
                .collect();
            let (found, kept) = (
                stream.sums(),
                Sums::of(&kept, &StepCounts::Each(progress.clone())),
            );
            assert_eq!(found.outputs, kept.outputs, "{threads} threads");
            assert_eq!(found.agent_steps, kept.agent_steps);
        }
        assert_eq!(digit(&fields, 1), 16);
        assert_eq!(digit(&fields, 400), 11);
        assert_eq!(digit(&fields, 4000), 8);
    }
}
