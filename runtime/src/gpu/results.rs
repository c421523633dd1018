//! The results of a chunk, all in one buffer, so that one copy reads them back.
//!
//! The buffer begins with a header for timestamps. Step counts, outputs and states follow, each with a
//! binding of its own. Word `w` of agent `i` is at index `w * agents + i` of its part.

use crate::{
    control::Keep,
    error::Error,
    gpu::{chunk::Chunk, device::OpenDevice, kernel::binding, readback},
    results::RawResults,
};
use rayon::prelude::*;
use sim_compiler::{
    manifest::{CUT_SHORT, Field, Manifest, STOPPED},
    value::WORD_BYTES,
};

/// Bytes of the header: two timestamps of 64 bits.
pub(crate) const HEADER_BYTES: u64 = 16;
/// Offset alignment of bindings that every device accepts: the upper bound of
/// `minStorageBufferOffsetAlignment` in WebGPU.
const ALIGNMENT: u64 = 256;
/// Agents per parallel task when step counts are checked.
const CHECKED: usize = 1 << 16;
/// The value that debug builds fill results with: a NaN with a recognisable payload.
pub(crate) const POISON: u32 = 0x7fc0_dead;

/// The offsets of the parts in bytes, for a number of agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    agents: u64,
    output_words: u64,
    state_words: u64,
    outputs: u64,
    states: u64,
}

/// The offset of the step counts.
const PROGRESS: u64 = ALIGNMENT;

impl Layout {
    pub(crate) fn new(manifest: &Manifest, agents: u32) -> Layout {
        let agents = u64::from(agents);
        let output_words = u64::from(manifest.output_words);
        let state_words = u64::from(manifest.state_words);
        let outputs = (PROGRESS + agents * WORD_BYTES).next_multiple_of(ALIGNMENT);
        let states = (outputs + agents * output_words * WORD_BYTES).next_multiple_of(ALIGNMENT);
        Layout {
            agents,
            output_words,
            state_words,
            outputs,
            states,
        }
    }

    /// The agents that fit a buffer of `bytes` bytes.
    pub(crate) fn most_agents(manifest: &Manifest, bytes: u64) -> u64 {
        let words = 1 + u64::from(manifest.output_words) + u64::from(manifest.state_words);
        // The header, and the padding after two parts.
        bytes.saturating_sub(3 * ALIGNMENT) / (words * WORD_BYTES)
    }

    /// Bytes of the whole buffer.
    pub(crate) fn bytes(&self) -> u64 {
        self.states + self.agents * self.state_words * WORD_BYTES
    }

    /// Bytes from the beginning of the buffer that are read back.
    pub(crate) fn bytes_back(&self, keep: Keep) -> u64 {
        match (keep.outputs, keep.states) {
            (_, true) => self.bytes(),
            (true, false) => self.outputs_end(),
            (false, false) => HEADER_BYTES,
        }
    }

    /// Words from the beginning of the buffer that are read back.
    pub(crate) fn words_back(&self, keep: Keep) -> usize {
        (self.bytes_back(keep) / WORD_BYTES) as usize
    }

    fn outputs_end(&self) -> u64 {
        self.outputs + self.agents * self.output_words * WORD_BYTES
    }

    /// The parts that are not empty.
    fn parts(&self) -> impl Iterator<Item = Part> {
        let part = |binding, offset, words| Part {
            binding,
            offset,
            bytes: self.agents * words * WORD_BYTES,
        };
        [
            part(binding::PROGRESS, PROGRESS, 1),
            part(binding::OUTPUTS, self.outputs, self.output_words),
            part(binding::STATES, self.states, self.state_words),
        ]
        .into_iter()
        .filter(|part| part.bytes > 0)
    }
}

/// A part of the buffer with a binding of its own.
struct Part {
    binding: u32,
    offset: u64,
    bytes: u64,
}

/// The buffer.
pub(crate) struct ResultsBuffer {
    pub(crate) buffer: wgpu::Buffer,
    pub(crate) layout: Layout,
}

impl ResultsBuffer {
    pub(crate) fn create(open: &OpenDevice, layout: Layout) -> Result<ResultsBuffer, Error> {
        let usage = wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::COPY_SRC
            | wgpu::BufferUsages::COPY_DST
            | wgpu::BufferUsages::QUERY_RESOLVE;
        let buffer = open.buffer("allocating the results", layout.bytes(), usage)?;
        Ok(ResultsBuffer { buffer, layout })
    }

    /// The bindings of its parts.
    pub(crate) fn entries(&self) -> impl Iterator<Item = wgpu::BindGroupEntry<'_>> {
        let entry = |part: Part| wgpu::BindGroupEntry {
            binding: part.binding,
            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: &self.buffer,
                offset: part.offset,
                size: wgpu::BufferSize::new(part.bytes),
            }),
        };
        self.layout.parts().map(entry)
    }

    /// The outputs, if the model has any.
    pub(crate) fn outputs(&self) -> Option<wgpu::BindingResource<'_>> {
        self.resource(binding::OUTPUTS)
    }

    /// The step counts.
    pub(crate) fn progress(&self) -> Option<wgpu::BindingResource<'_>> {
        self.resource(binding::PROGRESS)
    }

    fn resource(&self, binding: u32) -> Option<wgpu::BindingResource<'_>> {
        let mut entries = self.entries();
        entries
            .find(|entry| entry.binding == binding)
            .map(|entry| entry.resource)
    }

    /// Fills step counts and outputs with [`POISON`].
    pub(crate) fn poison(&self, open: &OpenDevice) -> Result<(), Error> {
        let bytes = self.layout.outputs_end() - PROGRESS;
        let poison = vec![POISON; (bytes / WORD_BYTES) as usize];
        open.write("poisoning the results", &self.buffer, PROGRESS, &poison)
    }
}

impl Layout {
    /// Checks the step counts of a chunk and, if they are right, copies its results to `raw`.
    ///
    /// # Errors
    /// The first agent with a wrong step count.
    pub(crate) fn copy_results(
        &self,
        manifest: &Manifest,
        words: &[u32],
        chunk: Chunk,
        steps: u32,
        raw: &mut RawResults,
    ) -> Result<(), Fault> {
        let (first, count) = (chunk.first as usize, chunk.count as usize);
        let progress = &mut raw.progress[first..first + count];
        readback::copy(
            &words[(PROGRESS / WORD_BYTES) as usize..][..count],
            progress,
        );
        if let Some(fault) = fault(progress, steps) {
            return Err(fault);
        }
        let take = |from: u64, width: u32, fields: &[Field], rows: &mut [Vec<u32>]| {
            if width == 0 {
                return;
            }
            let words = &words[(from / WORD_BYTES) as usize..][..width as usize * count];
            for (field, rows) in fields.iter().zip(rows) {
                let width = field.words() as usize;
                let rows = &mut rows[first * width..][..count * width];
                readback::transpose(field, words, count, rows);
            }
        };
        let (outputs, states) = (&manifest.outputs, &manifest.states);
        take(
            self.outputs,
            manifest.output_words,
            outputs,
            &mut raw.outputs,
        );
        if let Some(rows) = &mut raw.states {
            take(self.states, manifest.state_words, states, rows);
        }
        Ok(())
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
            let layout = Layout::new(&manifest, agents);
            let mut end = HEADER_BYTES;
            for Part { offset, bytes, .. } in layout.parts() {
                assert!(
                    offset >= end
                        && offset % ALIGNMENT == 0
                        && bytes >= u64::from(agents) * WORD_BYTES
                );
                end = offset + bytes;
            }
            assert_eq!(layout.parts().count(), 3);
            assert_eq!(end, layout.bytes());
            assert!(layout.outputs_end() < layout.bytes_back(Keep::ALL));
            assert_eq!(layout.bytes_back(Keep::ALL), layout.bytes());
            let most = Layout::most_agents(&manifest, layout.bytes()) as u32;
            assert!(Layout::new(&manifest, most).bytes() <= layout.bytes());
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
