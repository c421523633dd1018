//! The results of a chunk: all in one buffer, so that one copy brings them back to the host.
//!
//! It begins with a head for the device's clock, then come the step counts, the outputs and the states, each a binding
//! of its own. Word `w` of agent `i` lies at `w * agents + i` of its part.

use crate::{
    control::Keep,
    error::Error,
    gpu::{
        device::OpenDevice,
        kernel::binding,
        readback,
        upload::{buffer, write},
    },
    results::RawResults,
};
use rayon::prelude::*;
use sim_compiler::manifest::{CUT_SHORT, Field, Manifest, STOPPED};

/// Words of the head: two timestamps of 64 bits each.
pub(crate) const HEAD_WORDS: usize = 4;
/// Their bytes.
pub(crate) const HEAD_BYTES: u64 = HEAD_WORDS as u64 * 4;
/// Where bindings may begin on every device: WebGPU's `minStorageBufferOffsetAlignment` is no more than that.
const ALIGNMENT: u64 = 256;
/// Agents whose step counts one task checks.
const CHECKED: usize = 1 << 16;
/// What debug builds fill results with: a NaN that says where it comes from.
pub(crate) const POISON: u32 = 0x7fc0_dead;

/// Where the parts of the buffer begin, in bytes, for a number of agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    agents: u64,
    output_words: u64,
    state_words: u64,
    outputs: u64,
    states: u64,
}

/// Where the step counts begin.
const PROGRESS: u64 = ALIGNMENT;

impl Layout {
    /// For so many agents.
    pub(crate) fn new(manifest: &Manifest, agents: u32) -> Layout {
        let agents = u64::from(agents);
        let output_words = u64::from(manifest.output_words);
        let state_words = u64::from(manifest.state_words);
        let outputs = (PROGRESS + agents * 4).next_multiple_of(ALIGNMENT);
        let states = (outputs + agents * output_words * 4).next_multiple_of(ALIGNMENT);
        Layout {
            agents,
            output_words,
            state_words,
            outputs,
            states,
        }
    }

    /// Agents for which a buffer of so many bytes has room.
    pub(crate) fn most_agents(manifest: &Manifest, bytes: u64) -> u64 {
        let words = 1 + u64::from(manifest.output_words) + u64::from(manifest.state_words);
        // The head, and the ends of two parts up to where the next begins.
        bytes.saturating_sub(3 * ALIGNMENT) / (words * 4)
    }

    /// Bytes of the whole buffer.
    pub(crate) fn bytes(&self) -> u64 {
        self.states + self.agents * self.state_words * 4
    }

    /// Bytes from its beginning on that the host reads.
    pub(crate) fn read(&self, keep: Keep) -> u64 {
        match (keep.outputs, keep.states) {
            (_, true) => self.bytes(),
            (true, false) => self.outputs_end(),
            (false, false) => HEAD_BYTES,
        }
    }

    fn outputs_end(&self) -> u64 {
        self.outputs + self.agents * self.output_words * 4
    }

    /// The parts with a binding each: its number, where they begin, and their bytes.
    fn parts(&self) -> impl Iterator<Item = (u32, u64, u64)> {
        let part = |binding, first, words| (binding, first, self.agents * words * 4);
        [
            part(binding::PROGRESS, PROGRESS, 1),
            part(binding::OUTPUTS, self.outputs, self.output_words),
            part(binding::STATES, self.states, self.state_words),
        ]
        .into_iter()
        .filter(|&(_, _, bytes)| bytes > 0)
    }
}

/// The buffer.
pub(crate) struct Results {
    pub(crate) device: wgpu::Buffer,
    pub(crate) layout: Layout,
}

impl Results {
    /// Allocates it.
    pub(crate) fn create(open: &OpenDevice, layout: Layout) -> Result<Results, Error> {
        let usage = wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::COPY_SRC
            | wgpu::BufferUsages::COPY_DST
            | wgpu::BufferUsages::QUERY_RESOLVE;
        let device = buffer(open, "allocating the results", layout.bytes(), usage)?;
        Ok(Results { device, layout })
    }

    /// Its bindings.
    pub(crate) fn entries(&self) -> impl Iterator<Item = wgpu::BindGroupEntry<'_>> {
        let entry = |(binding, offset, bytes)| wgpu::BindGroupEntry {
            binding,
            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: &self.device,
                offset,
                size: wgpu::BufferSize::new(bytes),
            }),
        };
        self.layout.parts().map(entry)
    }

    /// One of them.
    pub(crate) fn resource(&self, binding: u32) -> Option<wgpu::BindingResource<'_>> {
        let mut entries = self.entries();
        entries
            .find(|entry| entry.binding == binding)
            .map(|entry| entry.resource)
    }

    /// Fills step counts and outputs with [`POISON`].
    pub(crate) fn poison(&self, open: &OpenDevice) -> Result<(), Error> {
        let bytes = self.layout.outputs_end() - PROGRESS;
        let poison = vec![POISON; bytes as usize / 4];
        write(
            open,
            "poisoning the results",
            &self.device,
            PROGRESS,
            &poison,
        )
    }
}

/// One chunk of a run, and what is wrong with its step counts.
pub(crate) struct Chunk {
    /// First agent, counted within the run.
    pub(crate) first: u32,
    /// Agents.
    pub(crate) count: u32,
}

impl Chunk {
    /// Checks the step counts and, if they are right, takes the results from the words that were read; as `Err`, what
    /// is wrong with the first agent for which something is.
    pub(crate) fn take(
        &self,
        manifest: &Manifest,
        layout: &Layout,
        words: &[u32],
        steps: u32,
        raw: &mut RawResults,
    ) -> Result<(), Fault> {
        let (first, count) = (self.first as usize, self.count as usize);
        let progress = &mut raw.progress[first..first + count];
        readback::copy(&words[PROGRESS as usize / 4..][..count], progress);
        if let Some(fault) = fault(progress, steps) {
            return Err(fault);
        }
        let take = |from: u64, width: u32, fields: &[Field], rows: &mut [Vec<u32>]| {
            if width == 0 {
                return;
            }
            let words = &words[from as usize / 4..][..width as usize * count];
            for (field, rows) in fields.iter().zip(rows) {
                let width = field.words() as usize;
                let rows = &mut rows[first * width..][..count * width];
                readback::transpose(field, words, count, rows);
            }
        };
        let (outputs, states) = (&manifest.outputs, &manifest.states);
        take(
            layout.outputs,
            manifest.output_words,
            outputs,
            &mut raw.outputs,
        );
        if let Some(rows) = &mut raw.states {
            take(layout.states, manifest.state_words, states, rows);
        }
        Ok(())
    }
}

/// The first agent whose step count is wrong, counted within its chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) agent: u32,
    /// Its word of progress.
    pub(crate) word: u32,
}

impl Fault {
    /// As an error, for a run whose chunk begins at the agent `first`.
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
        // No `||`: without branches the loop over all agents is one of vector instructions.
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
        let source = "agents 9\nsteps 3\nstate x = 0.0\nstate y = 1\noutput z = x\nstep {\n x += 1.0\n y += 1\n}\n";
        let manifest = sim_compiler::compile(source).expect("compiles").manifest;
        for agents in [1, 63, 64, 65, 100_000] {
            let layout = Layout::new(&manifest, agents);
            let mut end = HEAD_BYTES;
            for (_, first, bytes) in layout.parts() {
                assert!(first >= end && first % ALIGNMENT == 0 && bytes >= u64::from(agents) * 4);
                end = first + bytes;
            }
            assert_eq!(layout.parts().count(), 3);
            assert_eq!(end, layout.bytes());
            assert!(layout.outputs_end() < layout.read(Keep::ALL));
            assert_eq!(layout.read(Keep::ALL), layout.bytes());
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
