//! Which kernel runs a launch on a device.

use crate::{adapter::AdapterKind, control::Tuning, gpu::device::OpenDevice};
use sim_compiler::{
    artifact::Artifact,
    schedule::{Choice, Schedule, Target, lanes},
};

/// Invocations that keep a GPU with memory of its own busy: on an H200 a lane more for each of fewer agents
/// than this made a run shorter.
const BUSY_DISCRETE: u32 = 40_000;
/// The same for a GPU within a processor.
const BUSY_INTEGRATED: u32 = 4_000;

/// The schedule for a launch of so many agents, and what was decided.
pub(crate) fn schedule(
    open: &OpenDevice,
    artifact: &Artifact,
    tuning: &Tuning,
    agents: u32,
) -> (Schedule, Vec<Choice>) {
    let forced = |what: String| Choice {
        what,
        why: "the caller asked for it".to_owned(),
    };
    let mut schedule = Schedule::default();
    let mut choices = Vec::new();
    let choice = match tuning.lanes {
        Some(asked) => {
            schedule.lanes = asked.next_power_of_two().clamp(1, open.subgroup.min(32));
            forced(format!("{} lanes per agent at most", schedule.lanes))
        }
        None => {
            let target = Target {
                agents,
                busy: busy(open.adapter.kind),
                subgroup: open.subgroup,
            };
            let (count, choice) = lanes(artifact, &target);
            schedule.lanes = count;
            choice
        }
    };
    choices.push(choice);
    if let Some(copies) = tuning.unroll_steps {
        schedule.unroll_steps = copies;
        choices.push(forced(format!("{copies} steps per round of the time loop")));
    }
    (schedule, choices)
}

fn busy(kind: AdapterKind) -> u32 {
    match kind {
        AdapterKind::Discrete | AdapterKind::Virtual => BUSY_DISCRETE,
        AdapterKind::Integrated => BUSY_INTEGRATED,
        // A processor is never idle: one lane more is as much more work.
        AdapterKind::Other | AdapterKind::Software => 1,
    }
}
