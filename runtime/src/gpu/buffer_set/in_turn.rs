//! Runs one after the other in the buffers of one.

use super::BufferSet;
use crate::gpu::{device::OpenDevice, entry_point::Dispatch, kernel::Kernel};
use std::ops::Range;

impl BufferSet {
    /// The buffer of the rows of inputs, which somebody else writes: later runs upload theirs again.
    pub(crate) fn take_inputs(&mut self) -> wgpu::Buffer {
        let inputs = &mut self.inputs[0];
        inputs.holds.fill(None);
        inputs.buffer.clone()
    }

    /// The dispatches of one of several jobs with uniform blocks, by its place and their number.
    pub(crate) fn one_of<'a>(
        &'a self,
        open: &OpenDevice,
        kernel: &'a Kernel,
        (job, jobs): (usize, usize),
        ranges: &'a [Range<u32>],
        (agents, steps): (u32, u32),
    ) -> impl Iterator<Item = Dispatch<'a>> {
        let most = open.limits.max_compute_workgroups_per_dimension;
        let members = self.shape.members;
        ranges.iter().enumerate().flat_map(move |(at, range)| {
            let stages = (kernel.stages.iter()).filter(move |stage| stage.runs(range, steps));
            stages.map(move |stage| Dispatch {
                entry_point: &stage.entry_point,
                buffers: &self.runs[0].main,
                offset: self.blocks.offset(at * jobs + job),
                workgroups: stage.workgroups(agents, members, most),
                points: 1,
            })
        })
    }
}
