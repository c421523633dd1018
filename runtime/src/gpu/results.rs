//! The results of a chunk, all in one buffer, so that one copy reads them back.
//!
//! The buffer begins with a header for timestamps. The values of worlds, step counts, outputs and states
//! follow, each with a binding of its own; samples lie behind outputs and behind the values of worlds. Word
//! `w` of agent `i` is at index `w * agents + i` of its part, and that of a world likewise.

mod cut;

use crate::parallel::*;
use crate::{
    bind::Launch,
    control::Keep,
    cut::Part as RunPart,
    error::Error,
    gpu::{chunk::Chunk, device::OpenDevice, kernel::binding, readback},
    memory::MANY,
    results::Target,
    series::Places,
};
use sim_compiler::{
    manifest::{CUT_SHORT, Field, Manifest, STOPPED},
    value::WORD_BYTES,
};
use std::ops::Range;

/// Bytes of the header: two timestamps of 64 bits.
pub(crate) const HEADER_BYTES: u64 = 16;
/// Offset alignment of bindings that every device accepts: the upper bound of
/// `minStorageBufferOffsetAlignment` in WebGPU.
const ALIGNMENT: u64 = 256;
/// Agents per parallel task when step counts are checked.
const CHECKED: usize = 1 << 16;
/// The value that debug builds fill results with: a NaN with a recognisable payload.
pub(crate) const POISON: u32 = 0x7fc0_dead;

/// A part of the buffer with a binding of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    binding: u32,
    /// Words per agent, or per world or unit.
    words: u64,
    /// Bytes before it, and bytes to its end.
    start: u64,
    end: u64,
}

/// The parts for a number of agents, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Inputs, states, outputs and samples of the worlds or units.
    worlds: Part,
    /// Agents of a world or a unit.
    members: u32,
    steps: u32,
    progress: Part,
    outputs: Part,
    states: Part,
}

impl Layout {
    /// The parts for agents in worlds of `members` agents, in runs of so many steps.
    pub(crate) fn new(manifest: &Manifest, agents: u32, members: u32, steps: u32) -> Layout {
        Layout::of_points(manifest, 1, agents, members, steps)
    }

    /// The parts for several runs of so many agents each, which lie one after the other in each part.
    pub(crate) fn of_points(
        manifest: &Manifest,
        points: u32,
        agents: u32,
        members: u32,
        steps: u32,
    ) -> Layout {
        let mut end = HEADER_BYTES;
        let mut part = |binding, words: u64, count: u32| {
            let start = end.next_multiple_of(ALIGNMENT);
            end = start + u64::from(count) * words * WORD_BYTES;
            Part {
                binding,
                words,
                start,
                end,
            }
        };
        let worlds = points * agents.div_ceil(members);
        let agents = points * agents;
        Layout {
            worlds: part(
                manifest.worlds_binding(),
                manifest.world_words(steps),
                worlds,
            ),
            members,
            steps,
            progress: part(binding::PROGRESS, 1, agents),
            outputs: part(binding::OUTPUTS, manifest.result_words(steps), agents),
            states: part(binding::STATES, manifest.state_words.into(), agents),
        }
    }

    /// The agents that fit a buffer of `bytes` bytes.
    pub(crate) fn most_agents(manifest: &Manifest, steps: u32, bytes: u64) -> u64 {
        let words = 1 + manifest.result_words(steps) + u64::from(manifest.state_words);
        // A world may have one agent.
        let words = words + manifest.world_words(steps);
        // The header, and the padding after each of four parts.
        bytes.saturating_sub(5 * ALIGNMENT) / (words * WORD_BYTES)
    }

    /// Bytes of the whole buffer.
    pub(crate) fn bytes(&self) -> u64 {
        self.states.end
    }

    /// Bytes from the beginning of the buffer that are read back.
    pub(crate) fn bytes_back(&self, keep: Keep) -> u64 {
        match (keep.outputs, keep.states) {
            (_, true) => self.bytes(),
            (true, false) => self.outputs.end,
            (false, false) if self.worlds.words > 0 => self.worlds.end,
            (false, false) => HEADER_BYTES,
        }
    }

    /// The same without step counts: what follows them lies where they are.
    pub(crate) fn without_progress(&self) -> Layout {
        let gap = self.outputs.start - self.progress.start;
        let moved = |part: Part| Part {
            start: part.start - gap,
            end: part.end - gap,
            ..part
        };
        Layout {
            progress: Part {
                words: 0,
                end: self.progress.start,
                ..self.progress
            },
            outputs: moved(self.outputs),
            states: moved(self.states),
            ..*self
        }
    }

    /// The bytes that are read back, one range after the other, of which the second may be empty; without
    /// those of step counts if the device `checks` these.
    pub(crate) fn ranges_back(&self, keep: Keep, checks: bool) -> Vec<Range<u64>> {
        let end = self.bytes_back(keep);
        let steps = match checks {
            true => self.progress.start..self.outputs.start,
            false => end..end,
        };
        vec![0..steps.start, steps.end..end]
    }

    /// The parts that are not empty.
    fn parts(&self) -> impl Iterator<Item = Part> {
        let parts = [self.worlds, self.progress, self.outputs, self.states].into_iter();
        parts.filter(|part| part.end > part.start)
    }

    /// The bindings of the parts of a buffer.
    pub(crate) fn entries<'a>(
        &self,
        buffer: &'a wgpu::Buffer,
    ) -> impl Iterator<Item = wgpu::BindGroupEntry<'a>> {
        self.parts().map(move |part| wgpu::BindGroupEntry {
            binding: part.binding,
            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer,
                offset: part.start,
                size: wgpu::BufferSize::new(part.end - part.start),
            }),
        })
    }

    /// Fills step counts and outputs of a buffer with [`POISON`].
    pub(crate) fn poison(&self, open: &OpenDevice, buffer: &wgpu::Buffer) -> Result<(), Error> {
        let start = self.progress.start;
        let poison = vec![POISON; ((self.outputs.end - start) / WORD_BYTES) as usize];
        open.write("poisoning the results", buffer, start, &poison)
    }

    /// Uploads the inputs of the worlds of a chunk, for a dispatch that has its run among others.
    pub(crate) fn upload_worlds(
        &self,
        open: &OpenDevice,
        buffer: &wgpu::Buffer,
        launch: &Launch,
        chunk: Chunk,
        point: Point,
    ) -> Result<(), Error> {
        let width = launch.world_inputs.len() / launch.worlds() as usize;
        if width == 0 {
            return Ok(());
        }
        let (first, count) = self.worlds_of(chunk);
        let rows = &launch.world_inputs[first * width..][..count * width];
        for word in 0..width {
            let column: Vec<u32> = rows.iter().skip(word).step_by(width).copied().collect();
            let at = word * point.stride(count) + point.first(count);
            let at = self.worlds.start + at as u64 * WORD_BYTES;
            open.write("uploading the inputs of worlds", buffer, at, &column)?;
        }
        Ok(())
    }

    /// Copies the results of the worlds of a chunk.
    pub(crate) fn copy_worlds(
        &self,
        manifest: &Manifest,
        words: &[u32],
        (chunk, point): (Chunk, Point),
        part: RunPart<'_>,
        to: &mut Target<'_>,
    ) {
        let rows = manifest.world_rows();
        if self.worlds.words == 0 {
            return;
        }
        let (first, count) = self.worlds_of(chunk);
        let words = &words[(self.worlds.start / WORD_BYTES) as usize + point.first(count)..];
        let stride = point.stride(count);
        let take = |before: u32, fields: &[Field], columns: &mut [&mut [u32]]| {
            for (field, column) in fields.iter().zip(columns) {
                let width = field.words() as usize;
                let column = &mut column[first * width..][..count * width];
                let words = &words[(before + field.word) as usize * stride..];
                readback::transpose(width, words, stride, column);
            }
        };
        let outputs = rows.input_words + rows.state_words;
        take(outputs, &rows.outputs, &mut to.world_outputs);
        if let Some(columns) = &mut to.world_states {
            take(rows.input_words, &rows.states, columns);
        }
        let before = rows.words() as usize * stride;
        let columns = (&words[before..], stride);
        self.copy_samples(manifest, false, columns, (first, count), part, to);
    }

    /// The first world or unit of a chunk, and their number.
    fn worlds_of(&self, chunk: Chunk) -> (usize, usize) {
        let count = chunk.count.div_ceil(self.members);
        ((chunk.first / self.members) as usize, count as usize)
    }

    /// Copies the samples that a part took of agents, or of worlds or units: rows `first..first + count` of
    /// each sample.
    fn copy_samples(
        &self,
        manifest: &Manifest,
        of_agents: bool,
        (words, stride): (&[u32], usize),
        (first, count): (usize, usize),
        part: RunPart<'_>,
        to: &mut Target<'_>,
    ) {
        for (series, stored) in manifest.series.iter().zip(&mut to.series) {
            let places = Places::of(manifest, series, self.steps);
            if places.of_agents != of_agents {
                continue;
            }
            let samples = part.samples(manifest.samplings[series.sampling as usize]);
            let width = places.width;
            for (sample, stored) in samples.zip(&mut stored.samples) {
                let words = &words[places.word(sample) * stride..];
                let rows = &mut stored[first * width..][..count * width];
                readback::transpose(width, words, stride, rows);
            }
        }
    }

    /// Checks the step counts of a chunk and, if they are right, copies its results.
    ///
    /// # Errors
    /// The first agent with a wrong step count.
    pub(crate) fn copy_results(
        &self,
        manifest: &Manifest,
        words: &[u32],
        (chunk, point): (Chunk, Point),
        part: RunPart<'_>,
        to: &mut Target<'_>,
    ) -> Result<(), Fault> {
        let (first, count) = (chunk.first as usize, chunk.count as usize);
        let stride = point.stride(count);
        let words_of = |part: Part| {
            let start = (part.start / WORD_BYTES) as usize;
            &words[start..][..part.words as usize * stride][point.first(count)..]
        };
        if self.progress.words > 0 {
            let progress = &words_of(self.progress)[..count];
            if let Some(fault) = fault(progress, part.until) {
                return Err(fault);
            }
            if !to.progress.is_empty() {
                readback::copy(progress, &mut to.progress[first..first + count]);
            }
        }
        let take = |part: Part, fields: &[Field], rows: &mut [&mut [u32]]| {
            let each = |(field, rows): (&Field, &mut &mut [u32])| {
                let width = field.words() as usize;
                let rows = &mut rows[first * width..][..count * width];
                let words = &words_of(part)[field.word as usize * stride..];
                readback::transpose(width, words, stride, rows);
            };
            match count * fields.len() < MANY {
                true => fields.iter().zip(rows).for_each(each),
                false => fields.par_iter().zip(rows.par_iter_mut()).for_each(each),
            }
        };
        take(self.outputs, &manifest.outputs, &mut to.outputs);
        if let Some(rows) = &mut to.states {
            take(self.states, &manifest.states, rows);
        }
        if manifest.record_words(0) > 0 {
            let samples = &words_of(self.outputs)[manifest.output_words as usize * stride..];
            self.copy_samples(manifest, true, (samples, stride), (first, count), part, to);
        }
        Ok(())
    }
}

/// Which of the runs of a dispatch one is. All have as many agents, and as many worlds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    pub(crate) number: usize,
    pub(crate) points: usize,
}

impl Point {
    /// The place of its first row, where each run has `count` rows.
    fn first(self, count: usize) -> usize {
        self.number * count
    }

    /// The words from one column to the next.
    fn stride(self, count: usize) -> usize {
        self.points * count
    }
}

/// The first agent whose step count is wrong, counted within its chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) agent: u32,
    /// Its progress word.
    pub(crate) word: u32,
}

impl Fault {
    /// The error, for a chunk whose first agent has this number in the population.
    pub(crate) fn error(self, adapter: &str, first: u64, expected: u32) -> Error {
        let adapter = adapter.to_owned();
        let agent = first + u64::from(self.agent);
        match self.word & CUT_SHORT {
            0 => Error::WrongStepCount {
                adapter,
                agent,
                expected,
                found: self.word & (CUT_SHORT - 1),
            },
            _ => Error::LoopCutShort { adapter, agent },
        }
    }
}

fn fault(progress: &[u32], steps: u32) -> Option<Fault> {
    let wrong = |&word: &u32| {
        let ran = word & (CUT_SHORT - 1);
        let stopped = word & STOPPED != 0;
        // Without branches (`||`) the loop over all agents is vectorised.
        (word & CUT_SHORT != 0) | (ran > steps) | (!stopped & (ran != steps))
    };
    let any = |words: &[u32]| words.iter().fold(false, |any, word| any | wrong(word));
    let fine = match progress.len() {
        0..=CHECKED => !any(progress),
        _ => !progress.par_chunks(CHECKED).any(any),
    };
    if fine {
        return None;
    }
    let agent = progress.iter().position(wrong)?;
    Some(Fault {
        agent: agent as u32,
        word: progress[agent],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_lie_one_after_the_other_and_fill_what_they_may() {
        let source = "agents 9\nsteps 3\nstate x = 0.0\nstate y = 1\noutput z = x\nstep {\n x += 1.0\n y += \
            1\n}\n";
        let manifest = sim_compiler::compile(source).expect("compiles").manifest;
        for agents in [1, 63, 64, 65, 100_000] {
            let layout = Layout::new(&manifest, agents, 1, 3);
            let mut end = HEADER_BYTES;
            for Part {
                start, end: last, ..
            } in layout.parts()
            {
                assert!(
                    start >= end
                        && start % ALIGNMENT == 0
                        && last - start >= u64::from(agents) * WORD_BYTES
                );
                end = last;
            }
            assert_eq!(layout.parts().count(), 3);
            assert_eq!(end, layout.bytes());
            assert!(layout.outputs.end < layout.bytes_back(Keep::ALL));
            assert_eq!(layout.bytes_back(Keep::ALL), layout.bytes());
            let most = Layout::most_agents(&manifest, 3, layout.bytes()) as u32;
            assert!(Layout::new(&manifest, most, 1, 3).bytes() <= layout.bytes());
        }
    }

    #[test]
    fn the_first_wrong_step_count_is_found() {
        let mut progress = vec![10; 200_000];
        assert_eq!(fault(&progress, 10), None);
        progress[7] = STOPPED | 3;
        assert_eq!(fault(&progress, 10), None, "it stopped by itself");
        for (word, at) in [
            (9, 150_000),
            (11, 70_000),
            (CUT_SHORT | 10, 3),
            (STOPPED | 11, 1),
        ] {
            progress[at] = word;
            let agent = at as u32;
            assert_eq!(fault(&progress, 10), Some(Fault { agent, word }));
        }
    }
}
