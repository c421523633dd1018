//! Entry points of compiled modules. Buffers are bound by number: a caller lists all that it has, and each
//! entry point takes those that it declares.

use super::device::{OpenDevice, Task, alone};
use crate::error::Error;

/// Stack for parsing and compiling a deeply nested kernel, over which naga and the drivers recurse.
const STACK: usize = 64 << 20;

/// A binding that an entry point only reads.
pub(crate) const READ: wgpu::BufferBindingType =
    wgpu::BufferBindingType::Storage { read_only: true };
/// A binding that an entry point reads and writes.
pub(crate) const WRITE: wgpu::BufferBindingType =
    wgpu::BufferBindingType::Storage { read_only: false };

/// The number of a binding and its kind. A uniform one has a dynamic offset.
pub(crate) type Binding = (u32, wgpu::BufferBindingType);

/// An entry point that is ready to run.
pub(crate) struct EntryPoint {
    pipeline: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
    bindings: Vec<Binding>,
}

/// One dispatch of an entry point.
pub(crate) struct Dispatch<'a> {
    pub(crate) entry_point: &'a EntryPoint,
    pub(crate) buffers: &'a wgpu::BindGroup,
    /// The dynamic offset of the uniform binding, if there is one.
    pub(crate) offset: Option<u32>,
    /// The number of workgroups in x and y.
    pub(crate) workgroups: (u32, u32),
    /// The number of workgroups in z: runs that the dispatch computes side by side.
    pub(crate) points: u32,
}

/// Calls `act` on a stack that is large enough for naga and the drivers.
pub(crate) fn on_large_stack<T>(act: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(STACK / 2, STACK, act)
}

impl EntryPoint {
    /// Compiles an entry point that declares these bindings.
    ///
    /// # Errors
    /// [`Error::KernelRefused`], [`Error::GpuMemory`]
    pub(crate) fn compile(
        open: &OpenDevice,
        module: &wgpu::ShaderModule,
        name: &str,
        bindings: Vec<Binding>,
        cache: Option<&wgpu::PipelineCache>,
    ) -> Result<EntryPoint, Error> {
        let entry = |&(binding, ty): &Binding| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty,
                has_dynamic_offset: ty == wgpu::BufferBindingType::Uniform,
                min_binding_size: None,
            },
            count: None,
        };
        let entries: Vec<_> = bindings.iter().map(entry).collect();
        let compile = || {
            let layout = open
                .device
                .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                    label: Some("sim"),
                    entries: &entries,
                });
            let pipeline_layout = wgpu::PipelineLayoutDescriptor {
                label: Some("sim"),
                bind_group_layouts: &[Some(&layout)],
                immediate_size: 0,
            };
            let pipeline = open
                .device
                .create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                    label: Some(name),
                    layout: Some(&open.device.create_pipeline_layout(&pipeline_layout)),
                    module,
                    entry_point: Some(name),
                    compilation_options: wgpu::PipelineCompilationOptions {
                        // Kernels write workgroup memory before they read it.
                        zero_initialize_workgroup_memory: false,
                        ..Default::default()
                    },
                    cache,
                });
            (pipeline, layout)
        };
        let _alone = alone();
        let compiled = || open.guarded(Task::new("compiling the kernel"), compile);
        let (pipeline, layout) = on_large_stack(compiled)?;
        Ok(EntryPoint {
            pipeline,
            layout,
            bindings,
        })
    }

    /// Binds those of `buffers` that the entry point declares.
    ///
    /// # Errors
    /// Those of the device.
    pub(crate) fn bind(
        &self,
        open: &OpenDevice,
        buffers: &[wgpu::BindGroupEntry<'_>],
    ) -> Result<wgpu::BindGroup, Error> {
        let declares = |entry: &&wgpu::BindGroupEntry<'_>| {
            self.bindings
                .iter()
                .any(|&(binding, _)| binding == entry.binding)
        };
        let entries: Vec<_> = buffers.iter().filter(declares).cloned().collect();
        open.guarded(Task::new("binding the buffers"), || {
            open.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("sim"),
                layout: &self.layout,
                entries: &entries,
            })
        })
    }
}

/// A whole buffer under the number of its binding.
pub(crate) fn entry(binding: u32, buffer: &wgpu::Buffer) -> wgpu::BindGroupEntry<'_> {
    wgpu::BindGroupEntry {
        binding,
        resource: buffer.as_entire_binding(),
    }
}

/// Records dispatches, one after the other.
pub(crate) fn record(pass: &mut wgpu::ComputePass<'_>, dispatches: &[Dispatch<'_>]) {
    let mut current = None;
    for dispatch in dispatches {
        let pipeline = &dispatch.entry_point.pipeline;
        if current != Some(pipeline) {
            pass.set_pipeline(pipeline);
            current = Some(pipeline);
        }
        pass.set_bind_group(0, dispatch.buffers, dispatch.offset.as_slice());
        let (x, y) = dispatch.workgroups;
        pass.dispatch_workgroups(x, y, dispatch.points);
    }
}
