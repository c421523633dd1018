//! The backends that write text: from a program tailored to a device to what the device compiles.

mod prepared;
mod wgsl;

pub use crate::kernel::schedule::Chosen;
pub use prepared::{prepare, prepared};
pub use wgsl::Origin;

use crate::{
    artifact::Artifact,
    kernel::{
        choose,
        profile::DeviceClass,
        schedule::{Decision, Grid, Kernel, Schedule, Stage, Target, Tuning, When, WorldDispatch},
        tailor::{self, Choice},
    },
    manifest::Manifest,
};

/// The kernel for a run on a device.
pub fn choose(artifact: &Artifact, target: &Target, tuning: &Tuning) -> Chosen {
    if let Some(own) = &artifact.own_kernel {
        return given(artifact, own);
    }
    let choice = choose::choose(artifact, target, tuning);
    let tailored = tailor::tailor(artifact, choice);
    Chosen {
        schedule: tailored.schedule,
        kernel: wgsl::wgsl(tailored, &artifact.manifest, &artifact.options),
    }
}

/// Agents of a run of which nothing says how many it has.
const SOME_AGENTS: u32 = 10_000;
/// The same for steps.
const SOME_STEPS: u32 = 1_000;

/// Why a run's worlds have no size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorldSize {
    /// Neither the model nor the caller says it, and the kernel depends on it.
    Unknown,
    /// The caller gives one for a model without worlds.
    NoWorlds,
}

/// What a caller says of a run; what it leaves out is the model's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunSize {
    /// Number of agents.
    pub agents: Option<u32>,
    /// Number of steps.
    pub steps: Option<u32>,
    /// Number of agents in a world.
    pub world: Option<u32>,
}

/// What is known of a run of a model, on a device of some class or on any.
///
/// # Errors
/// If the size of its worlds does not fit the model.
pub fn target(
    manifest: &Manifest,
    class: Option<DeviceClass>,
    size: RunSize,
) -> Result<Target, WorldSize> {
    let agents = size.agents.or(manifest.agents).unwrap_or(SOME_AGENTS);
    let steps = size.steps.or(manifest.steps).unwrap_or(SOME_STEPS);
    let target = match class {
        Some(class) => Target::of(class, agents, steps),
        None => Target::any(agents, steps),
    };
    let members = manifest.world.as_ref().map(|world| world.members);
    let members = size.world.or(members.flatten());
    match (&manifest.world, members) {
        (Some(_), None) => Err(WorldSize::Unknown),
        (None, Some(_)) => Err(WorldSize::NoWorlds),
        (Some(_), Some(_)) | (None, None) => Ok(Target { members, ..target }),
    }
}

/// Gives an artifact the kernel of a run on a device, as a host takes it that dispatches one entry point for
/// many steps; the manifest then describes that kernel.
pub fn fix_kernel(artifact: &mut Artifact, target: &Target, tuning: &Tuning) {
    let kernel = choose(artifact, target, &for_hosts(tuning)).kernel;
    artifact.own_kernel = Some(kernel.wgsl);
    artifact.manifest.step_table = kernel.step_table;
    artifact.manifest.spill = kernel.spill;
    artifact.manifest.constants = kernel.constants;
    artifact.manifest.workgroup_size = kernel.workgroup_agents;
    if let Some(world) = &mut artifact.manifest.world {
        world.members = target.members;
    }
}

/// The lines that each expression of the model went to, of the kernel that [`fix_kernel`] gives.
pub fn fixed_origins(artifact: &Artifact, target: &Target, tuning: &Tuning) -> Vec<Origin> {
    let choice = choose::choose(artifact, target, &for_hosts(tuning));
    let tailored = tailor::tailor(artifact, choice);
    wgsl::origins(&tailored, &artifact.manifest, &artifact.options)
}

fn for_hosts(tuning: &Tuning) -> Tuning {
    Tuning {
        world_dispatch: Some(WorldDispatch::Fused),
        ..*tuning
    }
}

/// The kernel that a caller has put into [`Artifact::own_kernel`].
fn given(artifact: &Artifact, own: &str) -> Chosen {
    Chosen {
        schedule: Schedule::default(),
        kernel: Kernel {
            wgsl: own.to_owned(),
            stages: vec![Stage {
                name: "main".to_owned(),
                when: When::Range,
                grid: Grid::Agents(artifact.manifest.workgroup_size),
            }],
            scratch: None,
            obstacle: None,
            schedule: Schedule::default(),
            lanes: 1,
            workgroup_size: artifact.manifest.workgroup_size,
            workgroup_agents: artifact.manifest.workgroup_size,
            workgroup_bytes: 0,
            step_table: None,
            points: None,
            spill: artifact.manifest.spill,
            constants: artifact.manifest.constants.clone(),
            decisions: vec![Decision::new(
                "the kernel that was given",
                "it took the place of the compiler's",
            )],
        },
    }
}

impl Artifact {
    /// The text of the kernel for a host that knows only the manifest: the caller's own, or that of
    /// [`Schedule::default`], which is written at each call.
    pub fn wgsl(&self) -> String {
        match &self.own_kernel {
            Some(own) => own.clone(),
            None => self.kernel(&Schedule::default()).wgsl,
        }
    }

    /// The kernel under a schedule. Parts of the schedule that the model cannot use are dropped: the kernel
    /// says what it has.
    pub fn kernel(&self, schedule: &Schedule) -> Kernel {
        let tailored = tailor::tailor(self, Choice::given(self, schedule));
        wgsl::wgsl(tailored, &self.manifest, &self.options)
    }

    /// The lines of [`Artifact::wgsl`] that each expression of the model went to.
    pub fn origins(&self) -> Vec<Origin> {
        let tailored = tailor::tailor(self, Choice::given(self, &Schedule::default()));
        wgsl::origins(&tailored, &self.manifest, &self.options)
    }
}
