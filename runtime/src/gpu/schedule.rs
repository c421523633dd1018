//! Which of a model's kernels a run takes on a device, and why. No choice changes a result.

use crate::{bind::Launch, control::Tuning};
use sim_compiler::{
    artifact::Artifact,
    schedule::{Choice, Kernel, Prepared, Schedule},
};

/// Runs of fewer steps or agents are over before a second entry point has paid for its start.
const LEAST_STEPS: u32 = 16;
const LEAST_AGENTS: u32 = 1_000;
/// Bytes of the table of prepared steps, at most.
const MOST_BYTES: u64 = 64 << 20;

/// Chooses kernels of one model on one device.
pub(crate) struct Scheduler {
    tuning: Tuning,
    /// Does the device end long loops early?
    cuts_loops: bool,
    most_bytes: u64,
    /// Is there a binding left for the table?
    has_room: bool,
    /// The kernel that prepares, once it was asked for.
    preparing: Option<Kernel>,
}

impl Scheduler {
    /// For a model on a device with these limits.
    pub(crate) fn new(
        tuning: Tuning,
        cuts_loops: bool,
        limits: &wgpu::Limits,
        artifact: &Artifact,
    ) -> Scheduler {
        let manifest = &artifact.manifest;
        // Inputs, states, outputs, progress, the tables, and one more.
        let buffers = 5 + manifest.data.len() as u32;
        let binding = manifest.data.iter().map(|table| table.binding + 1).max();
        Scheduler {
            tuning,
            cuts_loops,
            most_bytes: MOST_BYTES
                .min(limits.max_storage_buffer_binding_size)
                .min(limits.max_buffer_size),
            has_room: buffers <= limits.max_storage_buffers_per_shader_stage
                && binding.unwrap_or(5) < limits.max_bindings_per_bind_group,
            preparing: None,
        }
    }

    /// The schedule of a run, and what was chosen for it.
    pub(crate) fn choose(&mut self, artifact: &Artifact, launch: &Launch) -> (Schedule, Choice) {
        let schedule = Schedule {
            unroll_steps: self.tuning.unroll_steps.unwrap_or(0),
            ..Schedule::default()
        };
        let (what, why) = match self.prepares(artifact, launch, schedule) {
            Ok(why) => {
                let prepare = true;
                let what = "what agents share in a step is prepared".to_owned();
                return (
                    Schedule {
                        prepare,
                        ..schedule
                    },
                    Choice { what, why },
                );
            }
            Err(why) => ("nothing is prepared for all agents".to_owned(), why),
        };
        (schedule, Choice { what, why })
    }

    /// Why what all agents share is computed beforehand; as an error, why it is not.
    fn prepares(
        &mut self,
        artifact: &Artifact,
        launch: &Launch,
        schedule: Schedule,
    ) -> Result<String, String> {
        let (agents, steps) = (launch.agents, launch.steps);
        match self.tuning.prepare {
            Some(true) => {}
            Some(false) => return Err("it was turned off".to_owned()),
            None if self.cuts_loops => {
                return Err("it is for GPUs, not for software adapters".to_owned());
            }
            None if steps < LEAST_STEPS || agents < LEAST_AGENTS => {
                return Err(format!(
                    "{agents} agents and {steps} steps are few: it pays from {LEAST_AGENTS} and \
                     {LEAST_STEPS} on"
                ));
            }
            None => {}
        }
        if !self.has_room {
            return Err("the device has no binding left for its table".to_owned());
        }
        let kernel = self.preparing.get_or_insert_with(|| {
            artifact.kernel(&Schedule {
                prepare: true,
                ..schedule
            })
        });
        let Some(prepared) = kernel.prepared else {
            return Err("a step has too little that all agents share".to_owned());
        };
        let bytes = table_bytes(prepared, steps);
        if bytes > self.most_bytes {
            return Err(format!(
                "its table would take {bytes} bytes, and {} is the most",
                self.most_bytes
            ));
        }
        Ok(format!("{agents} agents would each compute it"))
    }

    /// The kernel under a schedule that [`Scheduler::choose`] gave.
    pub(crate) fn kernel(&self, artifact: &Artifact, schedule: &Schedule) -> Kernel {
        match &self.preparing {
            Some(kernel) if schedule.prepare => kernel.clone(),
            _ if *schedule == Schedule::default() => Kernel {
                wgsl: artifact.wgsl.clone(),
                lanes: 1,
                prepared: None,
                choices: Vec::new(),
            },
            _ => artifact.kernel(schedule),
        }
    }
}

/// Bytes of the table for a run of so many steps.
pub(crate) fn table_bytes(prepared: Prepared, steps: u32) -> u64 {
    u64::from(steps.max(1)) * u64::from(prepared.words) * 4
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bind::{Settings, bind};

    const SHARED: &str = "state x = 0.0 step t { x += sin(f32(t)) + cos(0.5 * f32(t)) } output x";
    const OWN: &str = "state x = 0.0 step t { x += sin(x) } output x";

    /// Whether a run prepares, and the reason.
    fn prepares(
        source: &str,
        agents: u32,
        steps: u32,
        tuning: Tuning,
        cuts: bool,
    ) -> (bool, String) {
        let artifact = sim_compiler::compile(source).expect("a legal model");
        let settings = Settings {
            agents: Some(agents),
            steps: Some(steps),
            ..Settings::default()
        };
        let launch = bind(&artifact, &settings).expect("a legal launch");
        let limits = wgpu::Limits::default();
        let mut scheduler = Scheduler::new(tuning, cuts, &limits, &artifact);
        let (schedule, choice) = scheduler.choose(&artifact, &launch);
        let kernel = scheduler.kernel(&artifact, &schedule);
        assert_eq!(kernel.prepared.is_some(), schedule.prepare);
        assert_eq!(kernel.wgsl.contains("fn prepare("), schedule.prepare);
        (schedule.prepare, choice.why)
    }

    fn forced(prepare: bool) -> Tuning {
        Tuning {
            prepare: Some(prepare),
            ..Tuning::default()
        }
    }

    #[test]
    fn large_runs_on_gpus_prepare_what_there_is() {
        let free = Tuning::default();
        assert!(prepares(SHARED, 1_000, 16, free, false).0);
        for (case, word) in [
            (prepares(SHARED, 999, 16, free, false), "few"),
            (prepares(SHARED, 1_000, 15, free, false), "few"),
            (prepares(SHARED, 1_000, 16, free, true), "software"),
            (prepares(SHARED, 1_000, 16, forced(false), false), "off"),
            (prepares(OWN, 1_000, 16, free, false), "too little"),
            (prepares(OWN, 1_000, 16, forced(true), false), "too little"),
        ] {
            assert!(!case.0 && case.1.contains(word), "{case:?}");
        }
        assert!(prepares(SHARED, 1, 1, forced(true), true).0);
    }

    #[test]
    fn a_table_that_is_too_large_is_not_made() {
        // One vec4 per step in at most 64 MiB.
        let most = 1 << 22;
        assert!(prepares(SHARED, 1_000, most, forced(true), false).0);
        let (prepares, why) = prepares(SHARED, 1_000, most + 1, forced(true), false);
        assert!(!prepares && why.contains("67108880 bytes"), "{why}");
    }
}
