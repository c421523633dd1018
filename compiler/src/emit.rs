//! The backends that write text: from a program tailored to a device to what the device compiles.

mod wgsl;

pub use wgsl::Origin;

use crate::{
    artifact::Artifact,
    kernel::{
        choose,
        schedule::{Decision, Grid, Kernel, Schedule, Stage, Target, Tuning, When},
        tailor::{self, Choice},
    },
};

/// A schedule and its kernel, whose `decisions` say why.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The schedule.
    pub schedule: Schedule,
    /// The kernel.
    pub kernel: Kernel,
}

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
