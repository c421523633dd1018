//! Which of a model's kernels runs a launch on a device, and why.

use crate::{
    adapter::AdapterKind,
    bind::Launch,
    control::Tuning,
    gpu::{adapter::cuts_long_loops, device::OpenDevice},
};
use sim_compiler::{
    artifact::Artifact,
    schedule::{Choice, Kernel, Prepared, Schedule, Target, lanes},
};

/// Invocations that keep a GPU with memory of its own busy: on an H200 a lane more for each of fewer agents
/// than this made a run shorter.
const BUSY_DISCRETE: u32 = 40_000;
/// The same for a GPU within a processor.
const BUSY_INTEGRATED: u32 = 4_000;
/// Runs of fewer steps or agents are over before a second entry point has paid for its start.
const LEAST_STEPS: u32 = 16;
const LEAST_AGENTS: u32 = 1_000;
/// Bytes of the table of prepared steps, at most.
const MOST_BYTES: u64 = 64 << 20;

/// What a choice needs to know of a device.
pub(crate) struct Place<'a> {
    limits: &'a wgpu::Limits,
    kind: AdapterKind,
    subgroup: u32,
}

impl OpenDevice {
    /// As the choices see it.
    pub(crate) fn place(&self) -> Place<'_> {
        Place {
            limits: &self.limits,
            kind: self.adapter.kind,
            subgroup: self.subgroup,
        }
    }
}

/// A schedule, what was decided, and the kernel if it had to be looked at.
pub(crate) struct Chosen {
    pub(crate) schedule: Schedule,
    choices: Vec<Choice>,
    text: Option<Kernel>,
}

impl Chosen {
    /// The kernel, and all that was chosen for it.
    pub(crate) fn kernel(self, artifact: &Artifact) -> (Kernel, Vec<Choice>) {
        let text = match self.text {
            Some(text) => text,
            // As it was given: callers may have written their own.
            None if self.schedule == Schedule::default() => Kernel {
                wgsl: artifact.wgsl.clone(),
                lanes: 1,
                prepared: None,
                choices: Vec::new(),
            },
            None => artifact.kernel(&self.schedule),
        };
        let mut choices = self.choices;
        choices.extend(text.choices.iter().cloned());
        (text, choices)
    }
}

/// The schedule for a launch.
pub(crate) fn schedule(
    place: &Place<'_>,
    artifact: &Artifact,
    tuning: &Tuning,
    launch: &Launch,
) -> Chosen {
    let mut chosen = Chosen {
        schedule: Schedule {
            unroll_steps: tuning.unroll_steps.unwrap_or(0),
            ..Schedule::default()
        },
        choices: Vec::new(),
        text: None,
    };
    let (lanes, choice) = lanes_of(place, artifact, tuning, launch);
    chosen.schedule.lanes = lanes;
    chosen.choices.push(choice);
    let (what, why) = match prepared(place, artifact, tuning, launch, chosen.schedule) {
        Ok((text, why)) => {
            chosen.schedule.prepare = true;
            chosen.text = Some(text);
            ("what agents share in a step is prepared", why)
        }
        Err(why) => ("nothing is prepared for all agents", why),
    };
    chosen.choices.push(Choice {
        what: what.to_owned(),
        why,
    });
    if let Some(copies) = tuning.unroll_steps {
        chosen.choices.push(Choice {
            what: format!("{copies} steps per round of the time loop"),
            why: "the caller asked for it".to_owned(),
        });
    }
    chosen
}

fn lanes_of(
    place: &Place<'_>,
    artifact: &Artifact,
    tuning: &Tuning,
    launch: &Launch,
) -> (u32, Choice) {
    if let Some(asked) = tuning.lanes {
        let lanes = asked.next_power_of_two().clamp(1, place.subgroup.min(32));
        let choice = Choice {
            what: format!("{lanes} lanes per agent at most"),
            why: "the caller asked for it".to_owned(),
        };
        return (lanes, choice);
    }
    let busy = match place.kind {
        AdapterKind::Discrete | AdapterKind::Virtual => BUSY_DISCRETE,
        AdapterKind::Integrated => BUSY_INTEGRATED,
        AdapterKind::Other | AdapterKind::Software => {
            let choice = Choice {
                what: "one lane per agent".to_owned(),
                why: "a processor is never idle: one lane more is as much more work".to_owned(),
            };
            return (1, choice);
        }
    };
    let target = Target {
        agents: launch.agents,
        busy,
        subgroup: place.subgroup,
    };
    lanes(artifact, &target)
}

/// The kernel that computes beforehand what all agents share, and why; as an error, why not.
fn prepared(
    place: &Place<'_>,
    artifact: &Artifact,
    tuning: &Tuning,
    launch: &Launch,
    schedule: Schedule,
) -> Result<(Kernel, String), String> {
    let (agents, steps) = (launch.agents, launch.steps);
    match tuning.prepare {
        Some(true) => {}
        Some(false) => return Err("it was turned off".to_owned()),
        None if cuts_long_loops(place.kind) => {
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
    let manifest = &artifact.manifest;
    // Inputs, states, outputs, progress, the tables, and one more.
    let buffers = 5 + manifest.data.len() as u32;
    let binding = manifest.data.iter().map(|table| table.binding + 1).max();
    if buffers > place.limits.max_storage_buffers_per_shader_stage
        || binding.unwrap_or(5) >= place.limits.max_bindings_per_bind_group
    {
        return Err("the device has no binding left for its table".to_owned());
    }
    let kernel = artifact.kernel(&Schedule {
        prepare: true,
        ..schedule
    });
    let Some(prepared) = kernel.prepared else {
        return Err("a step has too little that all agents share".to_owned());
    };
    let most = MOST_BYTES
        .min(place.limits.max_storage_buffer_binding_size)
        .min(place.limits.max_buffer_size);
    let bytes = table_bytes(prepared, steps);
    if bytes > most {
        return Err(format!(
            "its table would take {bytes} bytes, and {most} is the most"
        ));
    }
    Ok((kernel, format!("{agents} agents would each compute it")))
}

/// Bytes of the table for a run of so many steps.
pub(crate) fn table_bytes(prepared: Prepared, steps: u32) -> u64 {
    let rows = u64::from(steps.max(1)) * u64::from(prepared.rows_per_step);
    rows * u64::from(prepared.words) * 4
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
        let place = Place {
            limits: &wgpu::Limits::default(),
            kind: match cuts {
                true => AdapterKind::Software,
                false => AdapterKind::Discrete,
            },
            subgroup: 1,
        };
        let chosen = schedule(&place, &artifact, &tuning, &launch);
        let prepare = chosen.schedule.prepare;
        let why = chosen.choices[1].why.clone();
        let (kernel, _) = chosen.kernel(&artifact);
        assert_eq!(kernel.prepared.is_some(), prepare);
        assert_eq!(kernel.wgsl.contains("fn prepare("), prepare);
        (prepare, why)
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
