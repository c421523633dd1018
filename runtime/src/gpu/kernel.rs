//! The kernel on a device: its shader module and entry points. A session keeps one for each schedule.

use super::{
    cache::{Cache, CacheLocation},
    chunk::workgroups,
    device::{OpenDevice, Task},
    entry_point::{Binding, EntryPoint, READ, WRITE, on_large_stack},
    pace::Pace,
};
use crate::{clock::Stopwatch, error::Error};
use sim_compiler::{
    kernel::schedule::{self, Decision, Grid, Obstacle, Schedule, Scratch, Tuning, When},
    manifest::{ConstantTables, Manifest, Spill, StepTable},
    value::WORD_BYTES,
};
use std::ops::Range;

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
    pub(crate) pace: Pace,
    /// The pipeline cache that is to be written after the first run, so that the run does not wait for it.
    pub(crate) unsaved: Option<Cache>,
    /// What a run dispatches, in order.
    pub(crate) stages: Vec<Stage>,
    /// What the stages keep in a buffer of their own.
    pub(crate) scratch: Option<Scratch>,
    /// What arrays take of a buffer of their own that do not fit the memory of an invocation.
    pub(crate) spill: Option<Spill>,
    /// Arrays of constants that do not fit it, with their binding.
    pub(crate) constants: Option<(u32, wgpu::Buffer)>,
    /// The binding of the uniform blocks of the runs of a dispatch, if it computes several.
    pub(crate) points: Option<u32>,
    /// What fills the step table before `main` runs, if the kernel has a table.
    pub(crate) prepare: Option<(EntryPoint, StepTable)>,
}

/// An entry point that a run dispatches.
pub(crate) struct Stage {
    pub(crate) entry_point: EntryPoint,
    pub(crate) when: When,
    pub(crate) grid: Grid,
    /// Invocations of a workgroup.
    workgroup_size: u32,
}

impl Stage {
    /// Whether it is dispatched for these steps of a run.
    pub(crate) fn runs(&self, steps: &Range<u32>, all: u32) -> bool {
        match self.when {
            When::Range => true,
            When::Birth => steps.start == 0,
            When::Step => !steps.is_empty(),
            When::Sample { every } => !steps.is_empty() && steps.end.is_multiple_of(every),
            When::End => steps.end == all,
        }
    }

    /// The number of workgroups for agents in worlds of `members` agents.
    pub(crate) fn workgroups(&self, agents: u32, members: u32, per_dimension: u32) -> (u32, u32) {
        match self.grid {
            Grid::Agents(each) => workgroups(agents, each, per_dimension),
            Grid::Worlds(each) => {
                workgroups((agents / members).saturating_mul(each), 1, per_dimension)
            }
        }
    }
}

impl Kernel {
    /// A name that it has in every process, and no kernel of the model with another schedule.
    pub(crate) fn name(&self) -> String {
        let hash = blake3::hash(format!("{:?}", self.schedule).as_bytes());
        hash.to_hex()[..16].to_owned()
    }

    /// Whether a dispatch computes at most one step.
    pub(crate) fn is_per_step(&self) -> bool {
        self.stages.iter().any(|stage| stage.when == When::Step)
    }

    /// The most agents of a chunk whose scratch buffer and arrays are not too large.
    pub(crate) fn most_agents(&self, open: &OpenDevice) -> u32 {
        let members = self.schedule.members.max(1);
        let of_world = self
            .scratch
            .map_or(0, |scratch| scratch.bytes(members, members));
        let worlds = open.most_bytes().checked_div(of_world).unwrap_or(u64::MAX);
        let agents = worlds.saturating_mul(members.into());
        let agents = u32::try_from(agents).unwrap_or(u32::MAX);
        match self.spill {
            None => agents,
            Some(_) => agents.min(self.most_that_spill(open, members)),
        }
    }

    /// The most agents whose arrays fit a buffer, in whole worlds.
    fn most_that_spill(&self, open: &OpenDevice, members: u32) -> u32 {
        // Kernels compute the index of a word in 32 bits.
        let most = open.most_bytes().min(u64::from(u32::MAX) * WORD_BYTES);
        let fits = |worlds: u32| self.spill_bytes(open, worlds * members, members) <= most;
        let (mut least, mut beyond) = (0, u32::MAX / members);
        while beyond - least > 1 {
            let middle = least + (beyond - least) / 2;
            match fits(middle) {
                true => least = middle,
                false => beyond = middle,
            }
        }
        least * members
    }

    /// Bytes of the buffer for arrays that do not fit the memory of an invocation, in dispatches of so many
    /// agents; 0 if all do.
    pub(crate) fn spill_bytes(&self, open: &OpenDevice, agents: u32, members: u32) -> u64 {
        let most = open.limits.max_compute_workgroups_per_dimension;
        let invocations = self.stages.iter().map(|stage| {
            let (x, y) = stage.workgroups(agents, members, most);
            u64::from(x) * u64::from(y) * u64::from(stage.workgroup_size)
        });
        let words = self.spill.map_or(0, |spill| u64::from(spill.words));
        invocations.max().unwrap_or(0) * words * WORD_BYTES
    }

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
        bindings.extend(of_kernel(&text));
        check_limits(open, manifest, &text, &bindings)?;
        let started = Stopwatch::start();
        let module = open.guarded(Task::new("validating the kernel"), || {
            on_large_stack(|| module(&open.device, &text.wgsl, checks))
        })?;
        open.meter(|telemetry| telemetry.module_seconds = started.seconds());
        let started = Stopwatch::start();
        let per_step = text.stages.iter().any(|stage| stage.when == When::Step);
        let workgroup_size = text.workgroup_size;
        let stages = text.stages.into_iter().map(|stage| {
            Ok(Stage {
                entry_point: EntryPoint::compile(
                    open,
                    &module,
                    &stage.name,
                    bindings.clone(),
                    handle,
                )?,
                when: stage.when,
                grid: stage.grid,
                workgroup_size: match stage.grid {
                    Grid::Agents(each) if per_step => each,
                    Grid::Agents(_) | Grid::Worlds(_) => workgroup_size,
                },
            })
        });
        let stages = stages.collect::<Result<Vec<Stage>, Error>>()?;
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
        let steps_per_dispatch = match per_step {
            true => Some(1),
            false => tuning.steps_per_dispatch,
        };
        Ok(Kernel {
            schedule,
            decisions: Vec::new(),
            pace: Pace::new(cuts_loops, manifest.inner_iterations, steps_per_dispatch),
            unsaved: cache,
            stages,
            scratch: text.scratch,
            spill: text.spill,
            constants: text.constants.map(|it| upload(open, &it)).transpose()?,
            points: text.points,
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

/// The bindings of what a kernel has beside.
fn of_kernel(text: &schedule::Kernel) -> impl Iterator<Item = Binding> {
    let all = [
        text.step_table.map(|table| (table.binding, READ)),
        text.scratch.map(|scratch| (scratch.binding, WRITE)),
        text.points.map(|binding| (binding, READ)),
        text.spill.map(|spill| (spill.binding, WRITE)),
        text.constants.as_ref().map(|it| (it.binding, READ)),
    ];
    all.into_iter().flatten()
}

/// Uploads arrays of constants; the buffer, with its binding.
///
/// # Errors
/// [`Error::GpuMemory`]
fn upload(open: &OpenDevice, constants: &ConstantTables) -> Result<(u32, wgpu::Buffer), Error> {
    let bytes = constants.words.len() as u64 * WORD_BYTES;
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
    let buffer = open.buffer("allocating the constants", bytes, usage)?;
    open.upload("uploading the constants", &buffer, 0, &constants.words)?;
    Ok((constants.binding, buffer))
}

/// The last binding of a model's kernel, without that of a step table.
pub(crate) fn last_binding(manifest: &Manifest) -> u32 {
    let tables = manifest.data.iter().map(|table| table.binding);
    let worlds = (manifest.world_words(0) > 0).then(|| manifest.worlds_binding());
    tables.chain(worlds).fold(binding::PROGRESS, u32::max)
}

/// What limits the agents of a workgroup, in words.
fn agents_of_workgroup(obstacle: Option<Obstacle>) -> &'static str {
    match obstacle {
        Some(Obstacle::FoldInLoop) => {
            "agents in a workgroup: it runs whole worlds, since a fold of the world stands in a loop"
        }
        Some(Obstacle::LargeFold) => {
            "agents in a workgroup: it runs whole worlds, since a fold combines more than 2^24 agents"
        }
        Some(Obstacle::Checks) => {
            "agents in a workgroup: it runs whole worlds, since code of worlds is checked"
        }
        None => "agents in a workgroup, which runs whole worlds",
    }
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
            agents_of_workgroup(kernel.obstacle),
            kernel.workgroup_size.into(),
            invocations.into(),
        ),
        (
            "bytes of workgroup memory for the states that agents of a world read of others",
            kernel.workgroup_bytes,
            limits.max_compute_workgroup_storage_size.into(),
        ),
        (
            "bytes for what the agents of a world read of others",
            (kernel.scratch).map_or(0, |it| {
                it.bytes(kernel.schedule.members, kernel.schedule.members)
            }),
            open.most_bytes(),
        ),
        (
            "bytes for the arrays of a workgroup's invocations",
            (kernel.spill).map_or(0, |spill| {
                u64::from(spill.words) * u64::from(kernel.workgroup_size) * WORD_BYTES
            }),
            open.most_bytes(),
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
