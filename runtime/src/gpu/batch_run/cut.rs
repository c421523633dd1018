//! Runs that are cut: what is read back of their chunks.

use super::{BatchRun, Submission};
use crate::{
    cut::Scratch,
    error::Error,
    gpu::{buffer_set::BufferSet, jobs::Job},
};
use sim_compiler::value::WORD_BYTES;
use std::ops::Range;

impl BatchRun<'_> {
    /// What is read back of jobs, where their run is cut: buffers and their bytes.
    pub(super) fn copies_of_cut<'b>(
        &self,
        buffers: &'b BufferSet,
        jobs: &[Job],
    ) -> Vec<(&'b wgpu::Buffer, Range<u64>)> {
        let (manifest, part) = (self.resources.manifest, self.batch.part);
        let of_job = |(run, job): (&'b crate::gpu::buffer_set::RunBuffers, &Job)| {
            let ranges = buffers.layout.cut(manifest, job.chunk, part).into_iter();
            let results = ranges.map(|bytes| (&run.results, bytes));
            let scratch = run.scratch.as_ref().map(|it| (it, 0..it.size()));
            results.chain(scratch).collect::<Vec<_>>()
        };
        let all = buffers.runs.iter().zip(jobs).flat_map(of_job);
        all.filter(|(_, bytes)| bytes.start < bytes.end).collect()
    }

    /// Takes what was read back.
    ///
    /// # Errors
    /// That of the first wrong step count.
    pub(super) fn take_cut(
        &mut self,
        submission: &Submission,
        mut words: &[u32],
    ) -> Result<(), Error> {
        let Submission { buffers, jobs, .. } = submission;
        let (manifest, part) = (self.resources.manifest, self.batch.part);
        let kernel = self.resources.kernel.name();
        for (run, job) in buffers.runs.iter().zip(jobs) {
            let ranges = buffers.layout.cut(manifest, job.chunk, part).into_iter();
            let bytes: u64 = ranges.map(|bytes| bytes.end - bytes.start).sum();
            let own;
            (own, words) = words.split_at((bytes / WORD_BYTES) as usize);
            let copied = (buffers.layout).copy_cut(manifest, own, job.chunk, part, self.raw(job));
            copied.map_err(|fault| self.error(fault, job))?;
            let saved = self.raw(job).saved.as_mut().expect("the run is cut");
            saved.kernel.clone_from(&kernel);
            if let Some(scratch) = &run.scratch {
                let own;
                (own, words) = words.split_at((scratch.size() / WORD_BYTES) as usize);
                saved.scratch.push(Scratch {
                    agents: [job.chunk.first, job.chunk.count],
                    words: own.to_vec(),
                });
            }
        }
        Ok(())
    }
}
