//! The kernel on a device: its bindings, shader module and pipelines. A session keeps one for each schedule.

use super::{
    adapter,
    cache::{Cache, CacheLocation},
    device::{OpenDevice, Task, alone, storage},
    pace::Pace,
};
use crate::{clock::Stopwatch, error::Error};
use sim_compiler::{
    kernel::schedule::{self, Decision, Schedule, Tuning},
    manifest::{Manifest, StepTable},
    value::WORD_BYTES,
};

/// Binding numbers that the manifest promises; the data tables follow.
pub(crate) mod binding {
    pub(crate) const RUN: u32 = 0;
    pub(crate) const INPUTS: u32 = 1;
    pub(crate) const STATES: u32 = 2;
    pub(crate) const OUTPUTS: u32 = 3;
    pub(crate) const PROGRESS: u32 = 4;
}

/// Stack for parsing and compiling a deeply nested kernel, over which naga and the drivers recurse.
const STACK: usize = 64 << 20;

/// A pipeline that is ready to run, and the pace that was measured for it.
pub(crate) struct Kernel {
    pub(crate) schedule: Schedule,
    pub(crate) decisions: Vec<Decision>,
    /// Agents of a workgroup.
    pub(crate) workgroup_agents: u32,
    pub(crate) pace: Pace,
    /// The pipeline cache that is to be written after the first run, so that the run does not wait for it.
    pub(crate) unsaved: Option<Cache>,
    pub(crate) pipeline: wgpu::ComputePipeline,
    pub(crate) bind_group_layout: wgpu::BindGroupLayout,
    /// What fills the step table, if the kernel has one.
    pub(crate) step_table: Option<StepTableKernel>,
}

/// The pipeline of the entry point `prepare`, which fills the step table.
pub(crate) struct StepTableKernel {
    pub(crate) pipeline: wgpu::ComputePipeline,
    pub(crate) bind_group_layout: wgpu::BindGroupLayout,
    /// The binding and the size of the table.
    pub(crate) layout: StepTable,
}

impl Kernel {
    /// Validates and compiles the text of a kernel.
    ///
    /// # Errors
    /// [`Error::AdapterLimit`], [`Error::KernelRefused`]
    pub(crate) fn build(
        open: &OpenDevice,
        manifest: &Manifest,
        schedule: Schedule,
        text: schedule::Kernel,
        tuning: &Tuning,
        location: Option<&CacheLocation>,
    ) -> Result<Kernel, Error> {
        let checks = tuning.checks == Some(true);
        let cache = location.and_then(|it| Cache::open(open, it, &text.wgsl, checks));
        let handle = cache.as_ref().map(Cache::handle);
        let mut entries = entries(manifest);
        entries.extend(text.step_table.map(|table| storage(table.binding, true)));
        check_limits(open, manifest, text.workgroup_size, entries.len())?;
        let started = Stopwatch::start();
        let module = open.guarded(Task::new("validating the kernel"), || {
            stacker::maybe_grow(STACK / 2, STACK, || {
                module(&open.device, &text.wgsl, checks)
            })
        })?;
        open.meter(|telemetry| telemetry.module_seconds = started.seconds());
        let started = Stopwatch::start();
        let (pipeline, bind_group_layout) = pipeline(open, &module, "main", &entries, handle)?;
        let step_table = text.step_table.map(|layout| -> Result<_, Error> {
            let mut entries = vec![uniform(manifest)];
            entries.extend(tables(manifest));
            entries.push(storage(layout.binding, false));
            let (pipeline, bind_group_layout) =
                self::pipeline(open, &module, "prepare", &entries, handle)?;
            Ok(StepTableKernel {
                pipeline,
                bind_group_layout,
                layout,
            })
        });
        let step_table = step_table.transpose()?;
        open.meter(|telemetry| telemetry.pipeline_seconds = started.seconds());
        let cuts_loops = adapter::cuts_long_loops(open.adapter.kind);
        Ok(Kernel {
            schedule,
            decisions: text.decisions,
            workgroup_agents: text.workgroup_size / text.lanes,
            pace: Pace::new(cuts_loops, manifest.inner_rounds, tuning.steps_per_dispatch),
            unsaved: cache,
            pipeline,
            bind_group_layout,
            step_table,
        })
    }
}

/// Compiles an entry point with these bindings.
fn pipeline(
    open: &OpenDevice,
    module: &wgpu::ShaderModule,
    entry_point: &'static str,
    entries: &[wgpu::BindGroupLayoutEntry],
    cache: Option<&wgpu::PipelineCache>,
) -> Result<(wgpu::ComputePipeline, wgpu::BindGroupLayout), Error> {
    let layout = open.bind_group_layout(entries)?;
    let _alone = alone();
    let pipeline = stacker::maybe_grow(STACK / 2, STACK, || {
        open.pipeline(module, entry_point, &layout, cache)
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
    // SAFETY: in every kernel that the compiler writes, loops are bounded, indices are clamped or proved to
    // be in range, and integer divisors are guarded, so the checks never fire. The length of every buffer
    // follows from the manifest that the kernel was compiled with. The checks are expensive: forced loop
    // bounding prevents drivers from unrolling loops over local arrays, which made kernels up to 31 times
    // slower.
    unsafe {
        device.create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked())
    }
}

fn uniform(manifest: &Manifest) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding: binding::RUN,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Uniform,
            has_dynamic_offset: true,
            min_binding_size: wgpu::BufferSize::new(u64::from(manifest.uniform_words) * WORD_BYTES),
        },
        count: None,
    }
}

fn tables(manifest: &Manifest) -> impl Iterator<Item = wgpu::BindGroupLayoutEntry> {
    let tables = manifest.data.iter();
    tables.map(|table| storage(table.binding, true))
}

/// The bindings that the manifest promises.
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

/// Checks the limits that the validator would report in terms of the kernel rather than the model.
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
            u64::from(manifest.uniform_words) * WORD_BYTES,
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
            return Err(open.beyond_limit(limit, needed, available));
        }
    }
    Ok(())
}
