//! The table of what all agents share in each step: the kernel's entry point `prepare` fills it before the
//! time loop's dispatches, `main` reads it.

use super::{
    buffers::uniform_entry,
    device::{OpenDevice, Task},
    kernel::Preparing,
    plan,
    upload::buffer,
};
use crate::{bind::Launch, error::Error};
use sim_compiler::manifest::Manifest;
use std::{cell::Cell, sync::Arc};

/// The table of one run's steps.
pub(crate) struct PerStep {
    pub(crate) buffer: wgpu::Buffer,
    bind_group: wgpu::BindGroup,
    /// Steps that fit.
    steps: u32,
    /// The launch whose values it has, or will have once it is filled.
    launch: Option<Arc<Launch>>,
    filled: Cell<bool>,
}

impl PerStep {
    /// Allocates it for the launch's steps. `tables` are the bindings of the model's tables.
    pub(crate) fn create(
        open: &OpenDevice,
        preparing: &Preparing,
        manifest: &Manifest,
        uniform: &wgpu::Buffer,
        tables: &[wgpu::BindGroupEntry<'_>],
        steps: u32,
    ) -> Result<PerStep, Error> {
        let bytes = preparing.prepared.table_bytes(steps);
        let usage = wgpu::BufferUsages::STORAGE;
        let buffer = buffer(open, "allocating what agents share", bytes, usage)?;
        let mut entries = vec![uniform_entry(manifest, uniform)];
        entries.extend_from_slice(tables);
        entries.push(wgpu::BindGroupEntry {
            binding: preparing.prepared.binding,
            resource: buffer.as_entire_binding(),
        });
        let bind_group = open.guarded(Task::new("binding the buffers"), || {
            open.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("sim prepare"),
                layout: &preparing.layout,
                entries: &entries,
            })
        })?;
        Ok(PerStep {
            buffer,
            bind_group,
            steps,
            launch: None,
            filled: Cell::new(false),
        })
    }

    /// Has it room for so many steps?
    pub(crate) fn serves(&self, steps: u32) -> bool {
        steps <= self.steps
    }

    /// From now on it is to have the values of a launch.
    pub(crate) fn load(&mut self, launch: &Arc<Launch>) {
        let known = self.launch.as_ref();
        if !known.is_some_and(|known| Arc::ptr_eq(known, launch)) {
            self.launch = Some(Arc::clone(launch));
            self.filled.set(false);
        }
    }

    /// Has it the values of its launch?
    pub(crate) fn is_filled(&self) -> bool {
        self.filled.get()
    }

    /// Fills it, unless it has the launch's values already. `offset` is that of a uniform block.
    pub(crate) fn fill(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        preparing: &Preparing,
        limits: &wgpu::Limits,
        steps: u32,
        offset: u32,
    ) {
        if self.filled.replace(true) || steps == 0 {
            return;
        }
        let (x, y) = plan::workgroups(
            steps * preparing.prepared.rows_per_step,
            preparing.prepared.workgroup_size,
            limits.max_compute_workgroups_per_dimension,
        );
        pass.set_pipeline(&preparing.pipeline);
        pass.set_bind_group(0, &self.bind_group, &[offset]);
        pass.dispatch_workgroups(x, y, 1);
    }
}
