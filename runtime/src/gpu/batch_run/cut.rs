//! Runs that are cut: what is read back of their chunks.

use super::{BatchRun, Submission};
use crate::{
    cut::{OnDevice, Scratch},
    error::Error,
    gpu::{buffer_set::BufferSet, jobs::Job, resident::Resident},
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
            let leaves = self.leaves(job);
            let ranges = buffers
                .layout
                .cut(manifest, job.chunk, part, leaves)
                .into_iter();
            let results = ranges.map(|bytes| (&run.results, bytes));
            let scratch = run.scratch.as_ref().filter(|_| !leaves);
            let scratch = scratch.map(|it| (it, 0..it.size()));
            results.chain(scratch).collect::<Vec<_>>()
        };
        let all = buffers.runs.iter().zip(jobs).flat_map(of_job);
        all.filter(|(_, bytes)| bytes.start < bytes.end).collect()
    }

    /// Whether the states of a job are left on the device: if it is all of a run.
    fn leaves(&self, job: &Job) -> bool {
        self.batch.part.leaves && job.chunk.count == job.launch.agents
    }

    /// Leaves the states of the only job on the device after its last steps, if the caller wants that and it
    /// is all of a run.
    ///
    /// # Errors
    /// Those of the device.
    pub(super) fn leave(
        &self,
        is_last: bool,
        buffers: &BufferSet,
        jobs: &[Job],
    ) -> Result<Option<OnDevice>, Error> {
        let [job] = jobs else {
            return Ok(None);
        };
        let ranges = (buffers.layout).state_bytes(self.resources.manifest, job.chunk);
        let keep = || Resident::keep(self.resources.open, ranges, buffers.runs[0].states());
        let leaves = is_last && buffers.shape.is_cut && self.leaves(job);
        leaves.then(keep).transpose()
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
            let leaves = self.leaves(job);
            let ranges = buffers
                .layout
                .cut(manifest, job.chunk, part, leaves)
                .into_iter();
            let bytes: u64 = ranges.map(|bytes| bytes.end - bytes.start).sum();
            let own;
            (own, words) = words.split_at((bytes / WORD_BYTES) as usize);
            let how = (part, leaves);
            let copied = (buffers.layout).copy_cut(manifest, own, job.chunk, how, self.raw(job));
            copied.map_err(|fault| self.error(fault, job))?;
            let saved = self.raw(job).saved.as_mut().expect("the run is cut");
            saved.kernel.clone_from(&kernel);
            if leaves {
                (saved.states, saved.world_states) = (Vec::new(), Vec::new());
                saved.on_device.clone_from(&submission.left);
            } else if let Some(scratch) = &run.scratch {
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
