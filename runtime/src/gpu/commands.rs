//! The commands of a submission. Recording takes the host longer than submitting, so the commands of a run
//! that fits one submission are recorded once more while the device computes it, for the next run like it.

use super::{
    buffer_set::{BufferSet, RunBuffers},
    cached_kernel::CachedKernel,
    chunk::workgroups,
    device::{OpenDevice, Task},
    reduce::Reduction,
    staging::Mapping,
    timing::{SubmissionTiming, Timestamps},
    uniforms::Uniforms,
};
use crate::error::Error;

/// Recording, submitting and waiting, in errors.
pub(super) const RUNNING: Task = Task::new("running the kernel");

/// Everything that commands depend on beside the kernel and the buffers. Commands with equal keys are
/// interchangeable.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct CommandKey {
    /// Runs of the submission.
    pub(super) runs: usize,
    /// Agents of each run.
    pub(super) agents: u32,
    /// Dispatches of each run, one after the other.
    pub(super) dispatches: usize,
    /// Bytes that are read back of each run's results.
    pub(super) bytes_back: u64,
    pub(super) timing: SubmissionTiming,
}

/// Work of one submission that commands recorded for later submissions do not have.
#[derive(Clone, Copy, Default)]
pub(super) struct OneOffWork<'a> {
    /// The number of steps for which step tables are filled, unless they are.
    pub(super) step_tables: Option<u32>,
    pub(super) reductions: &'a [Reduction],
}

/// Recorded commands, which can be submitted once.
pub(super) struct Commands {
    pub(super) key: CommandKey,
    buffer: wgpu::CommandBuffer,
    mapping: Mapping,
}

/// A submission on the device.
pub(super) struct Submitted {
    pub(super) index: wgpu::SubmissionIndex,
    pub(super) mapping: Mapping,
}

impl Commands {
    /// Records the dispatches and the copies of the results to the staging buffer.
    pub(super) fn record(
        open: &OpenDevice,
        kernel: &CachedKernel,
        buffers: &BufferSet,
        key: CommandKey,
        one_off: OneOffWork<'_>,
    ) -> Result<Commands, Error> {
        open.guarded(RUNNING, || {
            let mut encoder = open
                .device
                .create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("sim") });
            let staging = &buffers.staging;
            let timestamps = staging.timestamps_if(key.timing.timestamps);
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some("sim"),
                timestamp_writes: timestamps.map(Timestamps::pass_writes),
            });
            if let Some(timestamps) = timestamps {
                timestamps.begin(&mut pass);
            }
            if let Some(steps) = one_off.step_tables {
                fill_step_tables(
                    &mut pass,
                    open,
                    kernel,
                    &buffers.runs[..key.runs],
                    &buffers.uniforms,
                    steps,
                );
            }
            for _ in 0..key.timing.repeats {
                dispatch(&mut pass, open, kernel, buffers, &key);
            }
            drop(pass);
            Reduction::record_all(&mut encoder, one_off.reductions);
            let results = buffers.runs[..key.runs].iter();
            let results = results.map(|run| (&run.results.buffer, key.bytes_back));
            let reports = one_off.reductions.iter().map(Reduction::report);
            let timed = key.timing.timestamps;
            let mapping = staging.fill(&mut encoder, results.chain(reports), timed);
            Commands {
                key,
                buffer: encoder.finish(),
                mapping,
            }
        })
    }

    /// Hands the commands to the device.
    pub(super) fn submit(self, open: &OpenDevice) -> Result<Submitted, Error> {
        let index = open.guarded(RUNNING, || open.queue.submit([self.buffer]))?;
        open.meter(|telemetry| telemetry.submissions += 1);
        Ok(Submitted {
            index,
            mapping: self.mapping,
        })
    }
}

/// Records what fills the step tables that do not hold the values of their launches.
fn fill_step_tables(
    pass: &mut wgpu::ComputePass<'_>,
    open: &OpenDevice,
    kernel: &CachedKernel,
    runs: &[RunBuffers],
    uniforms: &Uniforms,
    steps: u32,
) {
    for (number, run) in runs.iter().enumerate() {
        if let (Some(table), Some(kernel)) = (&run.step_table, &kernel.kernel.step_table) {
            let offset = uniforms.offset(number);
            table.fill(pass, kernel, &open.limits, steps, offset);
        }
    }
}

/// Records the dispatches of the time loop: all runs side by side, one range of steps after the other.
fn dispatch(
    pass: &mut wgpu::ComputePass<'_>,
    open: &OpenDevice,
    kernel: &CachedKernel,
    buffers: &BufferSet,
    key: &CommandKey,
) {
    let most = open.limits.max_compute_workgroups_per_dimension;
    let (x, y) = workgroups(key.agents, kernel.workgroup_agents, most);
    pass.set_pipeline(&kernel.kernel.pipeline);
    for block in 0..key.dispatches * key.runs {
        let bind_group = &buffers.runs[block % key.runs].bind_group;
        pass.set_bind_group(0, bind_group, &[buffers.uniforms.offset(block)]);
        pass.dispatch_workgroups(x, y, 1);
    }
}
