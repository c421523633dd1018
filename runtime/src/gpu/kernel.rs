//! The kernel on a device: its shader module and entry points. A session keeps one for each schedule.

use super::{
    cache::{Cache, CacheLocation},
    device::{OpenDevice, Task},
    entry_point::{Binding, EntryPoint, READ, WRITE, on_large_stack},
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

/// A kernel that is ready to run, and the pace that was measured for it.
pub(crate) struct Kernel {
    pub(crate) schedule: Schedule,
    /// Why it is as it is, for the run that it was chosen for last.
    pub(crate) decisions: Vec<Decision>,
    /// Agents of a workgroup.
    pub(crate) workgroup_agents: u32,
    pub(crate) pace: Pace,
    /// The pipeline cache that is to be written after the first run, so that the run does not wait for it.
    pub(crate) unsaved: Option<Cache>,
    pub(crate) main: EntryPoint,
    /// What fills the step table before `main` runs, if the kernel has a table.
    pub(crate) prepare: Option<(EntryPoint, StepTable)>,
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
        let mut shared = vec![(binding::RUN, wgpu::BufferBindingType::Uniform)];
        shared.extend(manifest.data.iter().map(|table| (table.binding, READ)));
        let mut bindings = shared.clone();
        bindings.extend(of_agents(manifest));
        bindings.extend(text.step_table.map(|table| (table.binding, READ)));
        check_limits(open, manifest, &text, &bindings)?;
        let started = Stopwatch::start();
        let module = open.guarded(Task::new("validating the kernel"), || {
            on_large_stack(|| module(&open.device, &text.wgsl, checks))
        })?;
        open.meter(|telemetry| telemetry.module_seconds = started.seconds());
        let started = Stopwatch::start();
        let main = EntryPoint::compile(open, &module, "main", bindings, handle)?;
        let prepare = text.step_table.map(|table| {
            shared.push((table.binding, WRITE));
            Ok((
                EntryPoint::compile(open, &module, "prepare", shared, handle)?,
                table,
            ))
        });
        let prepare = prepare.transpose()?;
        open.meter(|telemetry| telemetry.pipeline_seconds = started.seconds());
        let cuts_loops = open.adapter.kind.cuts_long_loops();
        Ok(Kernel {
            schedule,
            decisions: Vec::new(),
            workgroup_agents: text.workgroup_agents,
            pace: Pace::new(
                cuts_loops,
                manifest.inner_iterations,
                tuning.steps_per_dispatch,
            ),
            unsaved: cache,
            main,
            prepare,
        })
    }
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

/// The bindings of what each agent has, those that the model does not lack.
fn of_agents(manifest: &Manifest) -> impl Iterator<Item = Binding> {
    // A run has at least one sample.
    let all = [
        (manifest.world_words(0), (manifest.worlds_binding(), WRITE)),
        (manifest.input_words.into(), (binding::INPUTS, READ)),
        (manifest.state_words.into(), (binding::STATES, WRITE)),
        (manifest.result_words(0), (binding::OUTPUTS, WRITE)),
        (1, (binding::PROGRESS, WRITE)),
    ];
    let present = all.into_iter().filter(|&(words, _)| words > 0);
    present.map(|(_, binding)| binding)
}

/// The last binding of a model's kernel, without that of a step table.
pub(crate) fn last_binding(manifest: &Manifest) -> u32 {
    let tables = manifest.data.iter().map(|table| table.binding);
    let worlds = (manifest.world_words(0) > 0).then(|| manifest.worlds_binding());
    tables.chain(worlds).fold(binding::PROGRESS, u32::max)
}

/// Checks the limits that the validator would report in terms of the kernel rather than the model.
fn check_limits(
    open: &OpenDevice,
    manifest: &Manifest,
    kernel: &schedule::Kernel,
    bindings: &[Binding],
) -> Result<(), Error> {
    let limits = &open.limits;
    let invocations =
        (limits.max_compute_invocations_per_workgroup).min(limits.max_compute_workgroup_size_x);
    let checks = [
        (
            "storage buffers (inputs, states, outputs, worlds and one per table)",
            bindings.len() as u64 - 1,
            limits.max_storage_buffers_per_shader_stage.into(),
        ),
        (
            "bindings",
            u64::from(last_binding(manifest)) + 1,
            limits.max_bindings_per_bind_group.into(),
        ),
        (
            "bytes of params",
            u64::from(manifest.uniform_words) * WORD_BYTES,
            limits.max_uniform_buffer_binding_size,
        ),
        (
            "agents in a workgroup, which runs whole worlds",
            kernel.workgroup_size.into(),
            invocations.into(),
        ),
        (
            "bytes of workgroup memory for the states that agents of a world read of others",
            kernel.workgroup_bytes,
            limits.max_compute_workgroup_storage_size.into(),
        ),
    ];
    match checks
        .into_iter()
        .find(|(_, needed, available)| needed > available)
    {
        Some((limit, needed, available)) => Err(open.beyond_limit(limit, needed, available)),
        None => Ok(()),
    }
}
