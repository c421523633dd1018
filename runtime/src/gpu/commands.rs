//! The commands of a submission: dispatches, reductions, and the copies to the staging buffer.

use super::{
    buffer_set::BufferSet,
    chunk::workgroups,
    device::{OpenDevice, Task},
    kernel::Kernel,
    reduce::Reduction,
    staging::Mapping,
};
use crate::{clock::Stopwatch, error::Error};

/// Recording, submitting and waiting, in errors.
pub(super) const RUNNING: Task = Task::new("running the kernel");

/// What a submission does, beside the kernel and the buffers.
pub(super) struct Work<'a> {
    /// Runs side by side.
    pub(super) runs: usize,
    /// Agents of each run.
    pub(super) agents: u32,
    /// Dispatches of each run, one after the other.
    pub(super) dispatches: usize,
    /// The number of steps for which step tables are filled, before the first dispatch of a run.
    pub(super) fills_tables: Option<u32>,
    /// Bytes that are read back of each run's results.
    pub(super) bytes_back: u64,
    pub(super) reductions: &'a [Reduction],
    /// Whether timestamps are written.
    pub(super) timed: bool,
    /// How often the dispatches are repeated between the timestamps, at least 1.
    pub(super) repeats: u32,
}

/// A submission on the device.
pub(super) struct Submitted {
    pub(super) index: wgpu::SubmissionIndex,
    pub(super) mapping: Mapping,
}

impl Work<'_> {
    /// Records the commands and hands them to the device.
    pub(super) fn submit(
        &self,
        open: &OpenDevice,
        kernel: &Kernel,
        buffers: &BufferSet,
    ) -> Result<Submitted, Error> {
        let started = Stopwatch::start();
        let (commands, mapping) = open.guarded(RUNNING, || self.record(open, kernel, buffers))?;
        open.meter(|telemetry| telemetry.record_seconds += started.seconds());
        let index = open.guarded(RUNNING, || open.queue.submit([commands]))?;
        open.meter(|telemetry| telemetry.submissions += 1);
        Ok(Submitted { index, mapping })
    }

    fn record(
        &self,
        open: &OpenDevice,
        kernel: &Kernel,
        buffers: &BufferSet,
    ) -> (wgpu::CommandBuffer, Mapping) {
        let mut encoder = open
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("sim") });
        let (staging, runs) = (&buffers.staging, &buffers.runs[..self.runs]);
        let mut pass = staging.begin_pass(&mut encoder, self.timed);
        for (number, run) in runs.iter().enumerate() {
            let tables = run.step_table.as_ref().zip(kernel.step_table.as_ref());
            if let (Some((table, kernel)), Some(steps)) = (tables, self.fills_tables) {
                let offset = buffers.uniforms.offset(number);
                table.fill(&mut pass, kernel, &open.limits, steps, offset);
            }
        }
        let most = open.limits.max_compute_workgroups_per_dimension;
        let (x, y) = workgroups(self.agents, kernel.workgroup_agents, most);
        pass.set_pipeline(&kernel.pipeline);
        // All runs side by side, one range of steps after the other.
        let blocks = (0..self.repeats).flat_map(|_| 0..self.dispatches * self.runs);
        for block in blocks {
            let bind_group = &runs[block % self.runs].bind_group;
            pass.set_bind_group(0, bind_group, &[buffers.uniforms.offset(block)]);
            pass.dispatch_workgroups(x, y, 1);
        }
        drop(pass);
        Reduction::record_all(&mut encoder, self.reductions);
        let results = runs
            .iter()
            .map(|run| (&run.results.buffer, self.bytes_back));
        let reports = self.reductions.iter().map(Reduction::report);
        let mapping = staging.fill(&mut encoder, results.chain(reports), self.timed);
        (encoder.finish(), mapping)
    }
}
