//! The step table: what all agents share in each step. The entry point `prepare` fills it before the first
//! dispatch of a launch, and `main` reads it.

use super::{chunk::workgroups, device::OpenDevice, kernel::StepTableKernel};
use crate::error::Error;

/// The step table of one run.
pub(crate) struct StepTable {
    pub(crate) buffer: wgpu::Buffer,
    bind_group: wgpu::BindGroup,
}

impl StepTable {
    /// Allocates a table for `steps` steps. `shared` are the bindings that both entry points have: the
    /// uniform block and the data tables.
    pub(crate) fn create(
        open: &OpenDevice,
        kernel: &StepTableKernel,
        shared: &[wgpu::BindGroupEntry<'_>],
        steps: u32,
    ) -> Result<StepTable, Error> {
        let bytes = kernel.layout.table_bytes(steps);
        let usage = wgpu::BufferUsages::STORAGE;
        let buffer = open.buffer("allocating the step table", bytes, usage)?;
        let mut entries = shared.to_vec();
        entries.push(wgpu::BindGroupEntry {
            binding: kernel.layout.binding,
            resource: buffer.as_entire_binding(),
        });
        Ok(StepTable {
            bind_group: open.bind_group(&kernel.bind_group_layout, &entries)?,
            buffer,
        })
    }

    /// Records the dispatch that fills it. `offset` is the dynamic offset of the uniform block.
    pub(crate) fn fill(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        kernel: &StepTableKernel,
        limits: &wgpu::Limits,
        steps: u32,
        offset: u32,
    ) {
        if steps == 0 {
            return;
        }
        let (x, y) = workgroups(
            steps * kernel.layout.rows_per_step,
            kernel.layout.workgroup_size,
            limits.max_compute_workgroups_per_dimension,
        );
        pass.set_pipeline(&kernel.pipeline);
        pass.set_bind_group(0, &self.bind_group, &[offset]);
        pass.dispatch_workgroups(x, y, 1);
    }
}
