//! What travels between the parts of a run that is cut: which bytes of a results buffer are read back, and
//! what is uploaded for the next part.

use super::{Fault, HEADER_BYTES, Layout, fault};
use crate::{
    cut::{Part, Saved},
    error::Error,
    gpu::readback,
    gpu::{chunk::Chunk, device::OpenDevice},
    results::RawResults,
};
use sim_compiler::{manifest::Manifest, value::WORD_BYTES};
use std::ops::Range;

/// Words of a part of the buffer: its bytes before it, and its words before and in it, per row.
struct Words {
    start: u64,
    before: u64,
    words: u64,
    rows: u64,
}

impl Words {
    fn bytes(&self) -> Range<u64> {
        let first = self.start + self.before * self.rows * WORD_BYTES;
        first..first + self.words * self.rows * WORD_BYTES
    }
}

impl Layout {
    /// The bytes that are read back of a chunk, in this order: the header, states of worlds, samples of
    /// worlds or units by sampling, step counts, samples of agents by sampling, states. Some may be none, and
    /// states are if they are left on the device.
    pub(crate) fn cut(
        &self,
        manifest: &Manifest,
        chunk: Chunk,
        part: Part<'_>,
        leaves: bool,
    ) -> Vec<Range<u64>> {
        let (agents, worlds) = (u64::from(chunk.count), self.worlds_of(chunk).1 as u64);
        let rows = manifest.world_rows();
        let samples = |of_agents: bool| {
            let all = manifest.samplings.iter().enumerate();
            all.map(move |(number, sampling)| {
                let [agent, world] = manifest.first_sample(number, self.steps);
                let taken = part.samples(*sampling);
                let (start, rows, first, each) = match of_agents {
                    true => {
                        let first = u64::from(manifest.output_words) + agent;
                        (self.outputs.start, agents, first, sampling.words)
                    }
                    false => {
                        let first = u64::from(rows.words()) + world;
                        (self.worlds.start, worlds, first, sampling.world_words)
                    }
                };
                Words {
                    start,
                    before: first + taken.start as u64 * u64::from(each),
                    words: taken.len() as u64 * u64::from(each),
                    rows,
                }
            })
        };
        let progress = Words {
            start: self.progress.start,
            before: 0,
            words: 1,
            rows: agents,
        };
        let [world_states, states] = match leaves {
            true => [0..0, 0..0],
            false => self.state_bytes(manifest, chunk),
        };
        let samples = |of_agents| samples(of_agents).map(|words| words.bytes());
        [0..HEADER_BYTES, world_states]
            .into_iter()
            .chain(samples(false))
            .chain([progress.bytes()])
            .chain(samples(true))
            .chain([states])
            .collect()
    }

    /// The bytes of the states of worlds, and of agents.
    pub(crate) fn state_bytes(&self, manifest: &Manifest, chunk: Chunk) -> [Range<u64>; 2] {
        let rows = manifest.world_rows();
        let of = |start, before: u32, words: u32, rows| {
            let words = Words {
                start,
                before: before.into(),
                words: words.into(),
                rows,
            };
            words.bytes()
        };
        let worlds = self.worlds_of(chunk).1 as u64;
        let agents = chunk.count.into();
        [
            of(
                self.worlds.start,
                rows.input_words,
                rows.state_words,
                worlds,
            ),
            of(self.states.start, 0, manifest.state_words, agents),
        ]
    }

    /// Checks the step counts of a chunk and, if they are right, copies what was read back of it.
    ///
    /// # Errors
    /// The first agent with a wrong step count.
    pub(crate) fn copy_cut(
        &self,
        manifest: &Manifest,
        words: &[u32],
        chunk: Chunk,
        (part, leaves): (Part<'_>, bool),
        raw: &mut RawResults,
    ) -> Result<(), Fault> {
        let mut rest = words;
        let mut back = self
            .cut(manifest, chunk, part, leaves)
            .into_iter()
            .map(|bytes| {
                let (now, later) = rest.split_at(((bytes.end - bytes.start) / WORD_BYTES) as usize);
                rest = later;
                now
            });
        let mut next = || back.next().expect("one for each range");
        let samplings = manifest.samplings.len();
        let (_header, world_states) = (next(), next());
        let of_worlds: Vec<&[u32]> = (0..samplings).map(|_| next()).collect();
        let progress = next();
        let of_agents: Vec<&[u32]> = (0..samplings).map(|_| next()).collect();
        let states = next();
        if let Some(fault) = fault(progress, part.until) {
            return Err(fault);
        }
        let agents = (chunk.first as usize, chunk.count as usize);
        let worlds = self.worlds_of(chunk);
        let saved = raw.saved.as_mut().expect("the run is cut");
        readback::copy(progress, &mut saved.progress[agents.0..][..agents.1]);
        for (columns, words, (first, count)) in [
            (&mut saved.states, states, agents),
            (&mut saved.world_states, world_states, worlds),
        ] {
            for (column, words) in columns.iter_mut().zip(words.chunks_exact(count)) {
                readback::copy(words, &mut column[first..first + count]);
            }
        }
        for (series, stored) in manifest.series.iter().zip(&mut raw.series) {
            let number = series.sampling as usize;
            let sampling = manifest.samplings[number];
            let (words, (first, count), each) = match series.is_of_agents() {
                true => (of_agents[number], agents, sampling.words),
                false => (of_worlds[number], worlds, sampling.world_words),
            };
            let width = series.stored_words(manifest.real) as usize;
            let row = stored.len() / part.samples(sampling).len().max(1);
            for (sample, stored) in stored.chunks_exact_mut(row.max(1)).enumerate() {
                let word = sample * each as usize + series.field.word as usize;
                let rows = &mut stored[first * width..][..count * width];
                readback::transpose(width, &words[word * count..], count, rows);
            }
        }
        Ok(())
    }

    /// Uploads what the steps before those of a part left of a chunk, but for states that are on the device.
    pub(crate) fn upload_saved(
        &self,
        open: &OpenDevice,
        manifest: &Manifest,
        buffer: &wgpu::Buffer,
        chunk: Chunk,
        from: &Saved,
    ) -> Result<(), Error> {
        let worlds = self.worlds_of(chunk);
        let agents = (chunk.first as usize, chunk.count as usize);
        let upload = |start: u64, columns: &[Vec<u32>], (first, count): (usize, usize)| {
            for (word, column) in columns.iter().enumerate() {
                let at = start + (word * count) as u64 * WORD_BYTES;
                open.write(
                    "uploading states",
                    buffer,
                    at,
                    &column[first..first + count],
                )?;
            }
            Ok(())
        };
        if from.on_device.is_none() {
            let [of_worlds, of_agents] = self.state_bytes(manifest, chunk);
            upload(of_worlds.start, &from.world_states, worlds)?;
            upload(of_agents.start, &from.states, agents)?;
        }
        let progress = &from.progress[agents.0..][..agents.1];
        open.write(
            "uploading step counts",
            buffer,
            self.progress.start,
            progress,
        )
    }
}
