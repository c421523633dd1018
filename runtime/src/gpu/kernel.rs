//! The kernel on a device: layout of the bindings, shader module and pipelines.

use crate::{
    clock::Stopwatch,
    error::Error,
    gpu::device::{OpenDevice, Task, alone},
};
use sim_compiler::{
    manifest::Manifest,
    schedule::{self, Prepared},
};

/// Binding numbers of the manifest's contract; the tables follow.
pub(crate) mod binding {
    pub(crate) const RUN: u32 = 0;
    pub(crate) const INPUTS: u32 = 1;
    pub(crate) const STATES: u32 = 2;
    pub(crate) const OUTPUTS: u32 = 3;
    pub(crate) const PROGRESS: u32 = 4;
}

/// Stack that parsing and compiling a deeply nested kernel may take: naga and the drivers recurse.
const STACK: usize = 64 << 20;

/// A pipeline that is ready to run.
pub(crate) struct Kernel {
    pub(crate) pipeline: wgpu::ComputePipeline,
    pub(crate) layout: wgpu::BindGroupLayout,
    /// The entry point that computes what agents share, if the kernel has one.
    pub(crate) preparing: Option<Preparing>,
}

/// The pipeline of `prepare`.
pub(crate) struct Preparing {
    pub(crate) pipeline: wgpu::ComputePipeline,
    pub(crate) layout: wgpu::BindGroupLayout,
    pub(crate) prepared: Prepared,
}

impl Kernel {
    /// Validates and compiles one of a model's kernels for the device, with the shader compiler's checks if `checks`.
    pub(crate) fn build(
        open: &OpenDevice,
        manifest: &Manifest,
        kernel: &schedule::Kernel,
        checks: bool,
        cache: Option<&wgpu::PipelineCache>,
    ) -> Result<Kernel, Error> {
        let mut entries = entries(manifest);
        entries.extend(
            kernel
                .prepared
                .map(|prepared| storage(prepared.binding, true)),
        );
        check_limits(open, manifest, kernel.workgroup_size, entries.len())?;
        let started = Stopwatch::start();
        let module = open.guarded(Task::new("validating the kernel"), || {
            stacker::maybe_grow(STACK / 2, STACK, || {
                module(&open.device, &kernel.wgsl, checks)
            })
        })?;
        open.meter(|telemetry| telemetry.module_seconds = started.seconds());
        let started = Stopwatch::start();
        let (pipeline, layout) = pipeline(open, &module, "main", &entries, cache)?;
        let preparing = kernel.prepared.map(|prepared| -> Result<_, Error> {
            let mut entries = vec![uniform(manifest)];
            entries.extend(tables(manifest));
            entries.push(storage(prepared.binding, false));
            let (pipeline, layout) = self::pipeline(open, &module, "prepare", &entries, cache)?;
            Ok(Preparing {
                pipeline,
                layout,
                prepared,
            })
        });
        let preparing = preparing.transpose()?;
        open.meter(|telemetry| telemetry.pipeline_seconds = started.seconds());
        Ok(Kernel {
            pipeline,
            layout,
            preparing,
        })
    }
}

/// Compiles an entry point whose bindings are these.
fn pipeline(
    open: &OpenDevice,
    module: &wgpu::ShaderModule,
    entry_point: &str,
    entries: &[wgpu::BindGroupLayoutEntry],
    cache: Option<&wgpu::PipelineCache>,
) -> Result<(wgpu::ComputePipeline, wgpu::BindGroupLayout), Error> {
    let device = &open.device;
    let layout = open.guarded(Task::new("laying out the buffers"), || {
        device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("sim"),
            entries,
        })
    })?;
    let _alone = alone();
    let pipeline = open.guarded(Task::new("compiling the kernel"), || {
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("sim"),
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        stacker::maybe_grow(STACK / 2, STACK, || {
            device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some("sim"),
                layout: Some(&pipeline_layout),
                module,
                entry_point: Some(entry_point),
                compilation_options: wgpu::PipelineCompilationOptions {
                    // Kernels read none of it before they have written it.
                    zero_initialize_workgroup_memory: false,
                    ..Default::default()
                },
                cache,
            })
        })
    })?;
    Ok((pipeline, layout))
}

fn module(device: &wgpu::Device, wgsl: &str, checks: bool) -> wgpu::ShaderModule {
    let descriptor = wgpu::ShaderModuleDescriptor {
        label: Some("sim"),
        source: wgpu::ShaderSource::Wgsl(wgsl.into()),
    };
    if checks {
        return device.create_shader_module(descriptor);
    }
    // SAFETY: the compiler writes kernels whose loops are bounded, whose indices are clamped or proved to
    // be in range, and whose integer divisors are guarded in the text, so that the checks would find
    // nothing. They cost: forced loop bounding keeps drivers from unrolling loops over local arrays, which
    // was measured to make kernels up to 31 times slower. The length of every buffer follows from the same
    // manifest that the kernel was written for.
    unsafe {
        device.create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked())
    }
}

fn storage(binding: u32, read_only: bool) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Storage { read_only },
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    }
}

fn uniform(manifest: &Manifest) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding: binding::RUN,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Uniform,
            has_dynamic_offset: true,
            min_binding_size: wgpu::BufferSize::new(u64::from(manifest.uniform_words) * 4),
        },
        count: None,
    }
}

fn tables(manifest: &Manifest) -> impl Iterator<Item = wgpu::BindGroupLayoutEntry> {
    let tables = manifest.data.iter();
    tables.map(|table| storage(table.binding, true))
}

/// The layout that the manifest's contract prescribes.
fn entries(manifest: &Manifest) -> Vec<wgpu::BindGroupLayoutEntry> {
    let mut entries = vec![uniform(manifest)];
    if manifest.input_words > 0 {
        entries.push(storage(binding::INPUTS, true));
    }
    if manifest.state_words > 0 {
        entries.push(storage(binding::STATES, false));
    }
    if manifest.output_words > 0 {
        entries.push(storage(binding::OUTPUTS, false));
    }
    entries.push(storage(binding::PROGRESS, false));
    entries.extend(tables(manifest));
    entries
}

/// What the validator would refuse with words about our internals, said in the user's.
fn check_limits(
    open: &OpenDevice,
    manifest: &Manifest,
    workgroup_size: u32,
    bindings: usize,
) -> Result<(), Error> {
    let limits = &open.limits;
    let last_binding = manifest
        .data
        .iter()
        .map(|table| table.binding)
        .max()
        .unwrap_or(binding::PROGRESS);
    let checks = [
        (
            "storage buffers (inputs, states, outputs and one per table)",
            bindings as u64 - 1,
            limits.max_storage_buffers_per_shader_stage.into(),
        ),
        (
            "bindings",
            u64::from(last_binding) + 1,
            limits.max_bindings_per_bind_group.into(),
        ),
        (
            "bytes of params",
            u64::from(manifest.uniform_words) * 4,
            limits.max_uniform_buffer_binding_size,
        ),
        (
            "agents in a workgroup",
            workgroup_size.into(),
            limits
                .max_compute_invocations_per_workgroup
                .min(limits.max_compute_workgroup_size_x)
                .into(),
        ),
    ];
    for (limit, needed, available) in checks {
        if needed > available {
            return Err(Error::AdapterLimit {
                adapter: open.adapter.name.clone(),
                limit,
                needed,
                available,
            });
        }
    }
    Ok(())
}
