//! How a program is laid out on a GPU, apart from what it means: the choices that a kernel's text depends on.
//!
//! A schedule never changes what a model computes but for the order in which a float sum is taken
//! (`lanes`); draws are the same bits under each. [`Schedule::default`] asks nothing of the host beyond
//! the manifest; a runtime that knows its device and population takes a better one.

use crate::{artifact::Artifact, emit, passes};
use serde::{Deserialize, Serialize};

/// The choices of one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// Lanes of a subgroup that share one agent: a power of two, 1 to 32. More than 1 needs subgroups.
    pub lanes: u32,
    /// How often the time loop's body stands in the text, at least 1; 0 chooses by the body's size.
    pub unroll_steps: u32,
    /// Computes what depends on the step but not on the agent once, in an entry point `prepare` of its own
    /// that the host dispatches before `main`.
    pub prepare: bool,
}

impl Default for Schedule {
    fn default() -> Self {
        Schedule {
            lanes: 1,
            unroll_steps: 0,
            prepare: false,
        }
    }
}

/// A kernel's text and what a host must know to dispatch it, beside the manifest.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// WGSL with the entry point `main`, and `prepare` if `prepared` says so.
    pub wgsl: String,
    /// Lanes per agent: a workgroup runs `manifest.workgroup_size / lanes` agents.
    pub lanes: u32,
    /// What `prepare` computes; none if there is no such entry point.
    pub prepared: Option<Prepared>,
    /// What the schedule left to the compiler, and what it chose.
    pub choices: Vec<Choice>,
}

/// A choice that was made for a kernel, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What was chosen.
    pub what: String,
    /// The reason.
    pub why: String,
}

/// The table that the entry point `prepare` fills: one row of `vec4`s per step of the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prepared {
    /// Rows per step: one for each lane of an agent, if lanes read different ones.
    pub rows_per_step: u32,
    /// Its binding.
    pub binding: u32,
    /// Words of a row, a multiple of 4.
    pub words: u32,
    /// Steps that one workgroup computes.
    pub workgroup_size: u32,
}

/// What a choice depends on beside the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// How many agents run at a time.
    pub agents: u32,
    /// How many invocations keep the device busy; with fewer, more of them cost next to nothing.
    pub busy: u32,
    /// The smallest subgroup that it may form; 1 if it has none.
    pub subgroup: u32,
}

impl Target {
    /// A GPU of the size on which the choices were measured (132 processors of four schedulers each).
    pub fn large(agents: u32) -> Target {
        Target {
            agents,
            busy: 40_000,
            subgroup: 32,
        }
    }
}

/// Input values that a lane can hold in registers beside its work.
const HELD_INPUTS: u32 = 170;
/// More invocations than this keep a device busy whose time goes into loading.
const STREAMING: u32 = 4;
/// A larger number of lanes has to be better by so much: estimates are rough.
const CLEARLY: f64 = 0.93;

/// How many lanes share an agent, and why: as few as can hold its inputs in registers, and more only where
/// agents are too few to keep the device busy.
///
/// With `n` lanes an agent's step takes as long as a lane's part of it, and `n` times as many invocations
/// run: once they keep the device busy, it takes that much longer.
pub fn lanes(artifact: &Artifact, target: &Target) -> (u32, Choice) {
    let choice = |lanes: u32, why: String| {
        let what = match lanes {
            1 => "one lane per agent".to_owned(),
            _ => format!("{lanes} lanes per agent"),
        };
        (lanes, Choice { what, why })
    };
    if target.subgroup < 2 {
        return choice(1, "the device has no subgroups".to_owned());
    }
    let estimates = passes::lanes::estimates(&artifact.lowered, &artifact.program);
    let mut estimates: Vec<_> = (estimates.into_iter())
        .filter(|estimate| estimate.lanes <= target.subgroup)
        .collect();
    if estimates.len() == 1 {
        return choice(1, "the model has no loop that lanes could share".to_owned());
    }
    // As few as hold the inputs: the loads of every step that it saves are worth more than anything else.
    let words = artifact.manifest.input_words;
    let mut held = String::new();
    if words > HELD_INPUTS {
        let fits = |lanes: u32| emit::input_words(&artifact.shared(lanes)) <= HELD_INPUTS;
        let needed = estimates
            .iter()
            .position(|estimate| !estimate.streams && fits(estimate.lanes));
        if let Some(needed) = needed.filter(|needed| *needed > 0) {
            held = format!("{words} input values do not fit one lane's registers; ");
            estimates.drain(..needed);
        }
    }
    let time = |estimate: &passes::lanes::Estimate| {
        let busy = match estimate.streams {
            true => f64::from(target.busy) * f64::from(STREAMING),
            false => f64::from(target.busy),
        };
        let invocations = f64::from(target.agents) * f64::from(estimate.lanes);
        estimate.work * (invocations / busy).max(1.0)
    };
    let mut best = estimates[0];
    for estimate in &estimates {
        if time(estimate) < CLEARLY * time(&best) {
            best = *estimate;
        }
    }
    let why = format!(
        "{held}{} agents on a device that {} invocations keep busy; a step is about {:.0} instructions \
         of a lane",
        target.agents, target.busy, best.work
    );
    choice(best.lanes, why)
}
