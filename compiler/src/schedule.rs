//! How a program is laid out on a GPU, apart from what it means: the choices that a kernel's text depends on.
//!
//! A schedule never changes what a model computes but for the order in which a float sum is taken
//! (`lanes`, `reassociate`) and for some roundings (`reassociate`, by `load` in other places); draws are the same bits
//! under each. [`Schedule::default`] asks nothing of the host beyond the manifest; a runtime that knows its device and
//! population takes a better one.

use crate::{artifact::Artifact, emit, passes};
use passes::lanes::{Estimate, estimates};
use serde::{Deserialize, Serialize};

/// The choices of one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// Lanes that share one agent: a power of two, 1 to [`MOST_LANES`].
    pub lanes: u32,
    /// So many lanes tell one another values by shuffles: the smallest subgroup of the device, or 1. Where an agent
    /// has more lanes, they talk through workgroup memory.
    pub subgroup: u32,
    /// How often the time loop's body stands in the text, at least 1; 0 chooses by the body's size.
    pub unroll_steps: u32,
    /// Computes what depends on the step but not on the agent once, in an entry point `prepare` of its own
    /// that the host dispatches before `main`.
    pub prepare: bool,
    /// The device's compiler takes float sums in the order of the text, so that lanes which add the same two
    /// values get the same bits without further care, and few sums need an arithmetic fence.
    pub keeps_order: bool,
    /// The device's compiler does not assume that there are no infinities, as WGSL would let it: 1 over infinity is 0.
    pub has_infinities: bool,
    /// How much of the device the agents keep busy.
    pub load: Load,
    /// Reserves workgroup memory that is never used, [`RESERVED_BYTES`] a workgroup. Drivers spare registers so that
    /// many workgroups fit a processor at once, at the price of waiting for one value after another; where few
    /// run anyway, that is the wrong way round, and memory that few workgroups have room for tells them.
    pub reserve: bool,
    /// Moves constant factors, takes sums of floats in the order that suits fused multiply-adds, undoes divisions
    /// within divisors, and lets pairs of divisions share a
    /// reciprocal if the device is full and waits for special functions. Only with [`crate::Math::Fast`] and the optimiser.
    pub reassociate: bool,
}

/// How much of a device a run keeps busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Load {
    /// So little that a step does nothing but wait for its own values: what it computes in vain meanwhile costs nothing.
    Idle,
    /// A step waits for its own values, but others want to compute.
    Light,
    /// All of it: throughput counts.
    Full,
}

impl Default for Schedule {
    fn default() -> Self {
        Schedule {
            lanes: 1,
            subgroup: 32,
            unroll_steps: 0,
            prepare: false,
            keeps_order: false,
            has_infinities: false,
            load: Load::Full,
            reserve: false,
            reassociate: false,
        }
    }
}

/// Most lanes of an agent: all of a workgroup. WebGPU has at least 256 invocations there.
pub const MOST_LANES: u32 = 128;

/// See [`Schedule::reserve`]: on an H200 less had no effect, and more left no room for five workgroups.
pub const RESERVED_BYTES: u32 = 8 << 10;
/// Workgroups for which a processor has room with it.
const ROOMY: u32 = 5;
/// Lanes that hold so many input values leave registers for no more workgroups anyway: 64 of them take 200 registers
/// each, of the 65,536 that processors of NVIDIA have.
const CROWDED_INPUTS: u32 = 160;

/// A kernel's text and what a host must know to dispatch it, beside the manifest.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// WGSL with the entry point `main`, and `prepare` if `prepared` says so.
    pub wgsl: String,
    /// Lanes per agent: a workgroup runs `workgroup_size / lanes` agents.
    pub lanes: u32,
    /// Invocations of a workgroup.
    pub workgroup_size: u32,
    /// Were sums or divisions changed, as [`Schedule::reassociate`] asks?
    pub reassociated: bool,
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
    /// Agents of the whole population: a run of a part of it gets the kernel of the whole, so that its sums
    /// are taken in the same order.
    pub agents: u32,
    /// Steps of the run.
    pub steps: u32,
    /// Processors of the device: units of which each runs workgroups of its own. None where it is not known.
    pub processors: Option<u32>,
    /// How many invocations keep the device busy; with fewer, more of them cost next to nothing. None for a
    /// processor, which is never idle.
    pub busy: Option<u32>,
    /// The smallest subgroup that it may form; 1 if it has none.
    pub subgroup: u32,
    /// Bytes that the table of `prepare` may take; 0 if there is no binding left for it.
    pub table_bytes: u64,
    /// See [`Schedule::keeps_order`].
    pub keeps_order: bool,
    /// See [`Schedule::has_infinities`].
    pub has_infinities: bool,
}

/// Choices that a caller makes instead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// Lanes per agent, 1 to [`MOST_LANES`], as far as the model allows.
    pub lanes: Option<u32>,
    /// Whether lanes talk by shuffles where the device has them; else all through workgroup memory.
    pub shuffles: Option<bool>,
    /// Whether there is a `prepare`, where a model has work for it.
    pub prepare: Option<bool>,
    /// Whether sums and divisions of floats are changed to what is faster.
    pub reassociate: Option<bool>,
    /// Whether workgroup memory is reserved.
    pub reserve: Option<bool>,
    /// How busy the run is taken to keep the device.
    pub load: Option<Load>,
    /// Steps in the text of a round, at least 1.
    pub unroll_steps: Option<u32>,
}

/// A schedule and its kernel, whose `choices` say why.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// What was chosen.
    pub schedule: Schedule,
    /// The kernel.
    pub kernel: Kernel,
}

/// Invocations that keep one of a GPU's processors busy: on an H200, which has 132, lanes made runs with fewer
/// agents than 40,000 shorter.
pub const BUSY_PROCESSOR: u32 = 304;
/// The same for a GPU whose processors are not known, taken for a large one.
pub const BUSY_LARGE: u32 = 40_000;
/// The same for a GPU within a processor.
pub const BUSY_SMALL: u32 = 4_000;
/// Bytes of the table of `prepare`, at most.
pub const TABLE_BYTES: u64 = 64 << 20;
/// Runs of fewer steps or agents are over before a second entry point has paid for its start.
const LEAST_STEPS: u32 = 16;
const LEAST_AGENTS: u32 = 1_000;

impl Target {
    /// A GPU like the one on which the choices were measured.
    pub fn large(agents: u32, steps: u32) -> Target {
        Target {
            agents,
            steps,
            processors: Some(132),
            busy: Some(132 * BUSY_PROCESSOR),
            subgroup: 32,
            table_bytes: TABLE_BYTES,
            keeps_order: true,
            has_infinities: true,
        }
    }

    /// How busy so many lanes per agent keep it. On an H200, which 40,128 invocations keep just busy, kernels made for
    /// throughput were faster in 10 of 14 cases of 60,000 to 80,000 invocations (a portfolio by 17 %) and in 7 of 12 of
    /// 50,000; and what was computed in vain made steps up to 10 % slower in cases of 30,000 to 40,000.
    fn load(&self, lanes: u32) -> Load {
        let invocations = u64::from(self.agents) * u64::from(lanes);
        match self.busy.map(u64::from) {
            Some(busy) if 2 * invocations <= busy => Load::Idle,
            Some(busy) if 4 * invocations < 5 * busy => Load::Light,
            Some(_) | None => Load::Full,
        }
    }

    /// Has every processor room for its invocations and for reserved memory?
    fn is_roomy(&self, lanes: u32, workgroup_size: u32) -> bool {
        let invocations = u64::from(self.agents) * u64::from(lanes);
        let workgroups = invocations.div_ceil(workgroup_size.into());
        self.processors
            .is_some_and(|count| workgroups <= u64::from(count) * u64::from(ROOMY))
    }
}

impl Prepared {
    /// Bytes of the table for a run of so many steps.
    pub fn table_bytes(&self, steps: u32) -> u64 {
        let rows = u64::from(steps.max(1)) * u64::from(self.rows_per_step);
        rows * u64::from(self.words) * 4
    }
}

/// The kernel for a run on a device.
pub fn choose(artifact: &Artifact, target: &Target, wishes: &Wishes) -> Chosen {
    if let Some(own) = &artifact.own_kernel {
        return given(artifact, own);
    }
    let target = &Target {
        subgroup: match wishes.shuffles {
            Some(false) => 1,
            Some(true) | None => target.subgroup.max(1),
        },
        ..*target
    };
    let (lanes, choice) = match wishes.lanes {
        Some(asked) => lanes_asked_for(artifact, target, asked),
        None => lanes(artifact, target),
    };
    let mut choices = vec![choice];
    let reserved = reserved(artifact, target, wishes, lanes);
    let load = wishes.load.unwrap_or_else(|| target.load(lanes));
    choices.extend(made_for(load, target, wishes, lanes));
    let plain = Schedule {
        lanes,
        subgroup: target.subgroup,
        unroll_steps: wishes.unroll_steps.unwrap_or(0),
        prepare: false,
        keeps_order: target.keeps_order,
        has_infinities: target.has_infinities,
        load,
        reserve: reserved.is_some(),
        reassociate: (wishes.reassociate).unwrap_or(target.busy.is_some()),
    };
    choices.extend(reserved.map(|why| Choice {
        what: format!("{} KiB of workgroup memory reserved", RESERVED_BYTES >> 10),
        why,
    }));
    if let Some(copies) = wishes.unroll_steps {
        choices.push(asked_for(format!(
            "{copies} steps per round of the time loop"
        )));
    }
    let (mut schedule, mut kernel) = match prepared(artifact, target, wishes, plain) {
        Ok(chosen) => chosen,
        Err((why, kernel)) => {
            let what = "nothing is prepared for all agents".to_owned();
            choices.push(Choice { what, why });
            (plain, kernel.unwrap_or_else(|| artifact.kernel(&plain)))
        }
    };
    schedule.reassociate = kernel.reassociated;
    choices.append(&mut kernel.choices);
    kernel.choices = choices;
    Chosen { schedule, kernel }
}

/// What steps are made for, where that is a choice.
fn made_for(load: Load, target: &Target, wishes: &Wishes, lanes: u32) -> Option<Choice> {
    let what = match load {
        Load::Idle => "steps are made for latency, also by work in vain",
        Load::Light => "steps are made for latency",
        Load::Full => "steps are made for throughput",
    };
    let why = match (wishes.load, target.busy) {
        (Some(_), _) => "the caller asked for it".to_owned(),
        (None, Some(busy)) => format!(
            "{} invocations on a device that {busy} keep busy",
            u64::from(target.agents) * u64::from(lanes)
        ),
        (None, None) => return None,
    };
    let what = what.to_owned();
    Some(Choice { what, why })
}

/// Why memory is reserved, if it is.
fn reserved(artifact: &Artifact, target: &Target, wishes: &Wishes, lanes: u32) -> Option<String> {
    let inputs = || emit::input_words(&artifact.shared(lanes, target.subgroup));
    let workgroup_size = artifact.manifest.workgroup_size.max(lanes);
    match wishes.reserve {
        Some(true) => Some("the caller asked for it".to_owned()),
        Some(false) => None,
        None if target.is_roomy(lanes, workgroup_size) => Some(format!(
            "{} invocations are few for the device: its compiler need not spare registers",
            u64::from(target.agents) * u64::from(lanes)
        )),
        None if target.processors.is_some() && inputs() >= CROWDED_INPUTS => Some(format!(
            "a lane's {} input values leave registers for few workgroups anyway: its compiler need not spare more",
            inputs()
        )),
        None => None,
    }
}

/// The kernel that a caller has put into [`Artifact::own_kernel`].
fn given(artifact: &Artifact, own: &str) -> Chosen {
    Chosen {
        schedule: Schedule::default(),
        kernel: Kernel {
            wgsl: own.to_owned(),
            lanes: 1,
            workgroup_size: artifact.manifest.workgroup_size,
            reassociated: false,
            prepared: None,
            choices: vec![Choice {
                what: "the kernel that was given".to_owned(),
                why: "it took the place of the compiler's".to_owned(),
            }],
        },
    }
}

/// So many lanes, and how they talk where that is not by shuffles alone.
fn in_words(lanes: u32, subgroup: u32) -> String {
    match lanes {
        1 => "one lane per agent".to_owned(),
        _ if lanes > subgroup => {
            format!("{lanes} lanes per agent, which talk through workgroup memory")
        }
        _ => format!("{lanes} lanes per agent"),
    }
}

/// The lanes that a caller asks for, or as many as the model has use for.
fn lanes_asked_for(artifact: &Artifact, target: &Target, asked: u32) -> (u32, Choice) {
    let asked = asked.clamp(1, MOST_LANES).next_power_of_two();
    let fits = |lanes: u32| artifact.shared(lanes, target.subgroup).lanes.max(1);
    let mut fewer = std::iter::successors(Some(asked), |lanes| Some(lanes / 2).filter(|&n| n > 1));
    let lanes = fewer.find_map(|lanes| Some(fits(lanes)).filter(|&lanes| lanes > 1));
    let lanes = lanes.unwrap_or(1);
    let why = match lanes < asked {
        false => "the caller asked for it".to_owned(),
        true => format!(
            "the caller asked for {asked}, but the model has no loops that so many could share, or barriers would \
             stand where agents part"
        ),
    };
    let what = in_words(lanes, target.subgroup);
    (lanes, Choice { what, why })
}

/// What reassociation changed, in words.
pub(crate) fn reassociated(changes: passes::reassociate::Changes) -> Choice {
    // How many, and the words for one and for more, `#` of them.
    let counted = [
        (
            changes.exponentials,
            "1 quotient or bound of an exponential is simpler",
            "# quotients and bounds of exponentials are simpler",
        ),
        (
            changes.factors,
            "constant factors have moved in 1 place",
            "constant factors have moved in # places",
        ),
        (
            changes.sums,
            "1 sum is a chain of fused multiply-adds",
            "# sums are chains of fused multiply-adds",
        ),
        (
            changes.quotients,
            "1 division no longer waits for another",
            "# divisions no longer wait for others",
        ),
        (
            changes.pairs,
            "1 pair of divisions shares a reciprocal",
            "# pairs of divisions share a reciprocal",
        ),
        (
            changes.weights,
            "1 constant went into weights",
            "# constants went into weights",
        ),
        (
            changes.inverses,
            "1 reciprocal is taken before it is needed",
            "# reciprocals are taken before they are needed",
        ),
        (
            changes.late,
            "1 sum takes what is known last at last",
            "# sums take what is known last at last",
        ),
        (
            changes.outcomes,
            "what follows from 1 choice is computed before it is known",
            "what follows from # choices is computed before they are known",
        ),
    ];
    let what = counted.iter().filter_map(|(count, one, more)| match count {
        0 => None,
        1 => Some((*one).to_owned()),
        _ => Some(more.replace('#', &count.to_string())),
    });
    Choice {
        what: what.collect::<Vec<String>>().join("; "),
        why: "fast mathematics lets floats be rounded in another order, which saves instructions or waiting"
            .to_owned(),
    }
}

fn asked_for(what: String) -> Choice {
    let why = "the caller asked for it".to_owned();
    Choice { what, why }
}

/// The kernel that computes beforehand what all agents share; as an error, why there is none, and the plain kernel
/// if that is what came out.
fn prepared(
    artifact: &Artifact,
    target: &Target,
    wishes: &Wishes,
    plain: Schedule,
) -> Result<(Schedule, Kernel), (String, Option<Kernel>)> {
    let (agents, steps) = (target.agents, target.steps);
    match wishes.prepare {
        Some(true) => {}
        Some(false) => return Err(("it was turned off".to_owned(), None)),
        None if target.busy.is_none() => {
            let why = "it is for GPUs, not for software adapters".to_owned();
            return Err((why, None));
        }
        None if steps < LEAST_STEPS || agents < LEAST_AGENTS => {
            let why = format!(
                "{agents} agents and {steps} steps are few: it pays from {LEAST_AGENTS} and \
                 {LEAST_STEPS} on"
            );
            return Err((why, None));
        }
        None => {}
    }
    if target.table_bytes == 0 {
        let why = "the device has no binding left for its table".to_owned();
        return Err((why, None));
    }
    let schedule = Schedule {
        prepare: true,
        ..plain
    };
    let kernel = artifact.kernel(&schedule);
    let bytes = match &kernel.prepared {
        None => {
            let why = match kernel.lanes > schedule.subgroup {
                true => {
                    "a step has too little that all agents share, or lanes wait for one another in it"
                }
                false => "a step has too little that all agents share",
            };
            let why = why.to_owned();
            return Err((why, Some(kernel)));
        }
        Some(prepared) => prepared.table_bytes(steps),
    };
    if bytes > target.table_bytes {
        let why = format!(
            "its table would take {bytes} bytes, and {} is the most",
            target.table_bytes
        );
        return Err((why, None));
    }
    Ok((schedule, kernel))
}

/// Input values that a lane can hold in registers beside its work.
const HELD_INPUTS: u32 = 170;
/// So many times as many invocations keep a device busy whose time goes into loading: tables, which all agents read,
/// and inputs, which come from memory. An H200 was fastest with 128 lanes for each of 256 to 65,536 agents with 2,000
/// inputs, by 1 to 17 %.
const STREAMING: u32 = 4;
const STREAMING_INPUTS: u32 = 64;
/// Of the invocations that keep a device busy, those that give each of its schedulers one subgroup: on an H200 four
/// schedulers a processor, 32 lanes each.
const TURN: f64 = 128.0 / BUSY_PROCESSOR as f64;
/// What each operation of a lane's special functions costs another subgroup of the same scheduler, in instructions of a
/// step (an H200 takes eight cycles for it). By this six models with 1,000 to 40,000 agents, twelve numbers of them, are
/// 1.7 % slower on average than with the best of 1, 2, 4 and 8 lanes, by estimates without it 10 %.
const IN_TURN: f64 = 24.0;
/// A larger number of lanes has to be better by so much: estimates are rough.
const CLEARLY: f64 = 0.93;

/// How long so many lanes for each of so many agents take, in instructions of a step, on a device that `busy` invocations
/// keep busy.
///
/// With `n` lanes an agent's step takes as long as a lane's part of it, and `n` times as many invocations
/// run: those that share a scheduler take turns at its unit for special functions, and once they keep the device busy,
/// a step takes that much longer.
fn time(estimate: &Estimate, agents: u32, busy: u32) -> f64 {
    let times = match (estimate.streams, estimate.streams_inputs) {
        (_, true) => STREAMING_INPUTS,
        (true, false) => STREAMING,
        (false, false) => 1,
    };
    let busy = f64::from(busy);
    let invocations = f64::from(agents) * f64::from(estimate.lanes);
    let all = estimate.work * (invocations / (busy * f64::from(times))).max(1.0);
    if estimate.streams {
        return all;
    }
    let turns = (invocations / (busy * TURN)).ceil().max(1.0);
    all.max(estimate.work + IN_TURN * (turns - 1.0) * estimate.special)
}

/// How many lanes share an agent, and why: as few as can hold its inputs in registers, and more only where
/// agents are too few to keep the device busy.
fn lanes(artifact: &Artifact, target: &Target) -> (u32, Choice) {
    let choice = |lanes: u32, why: String| {
        let what = in_words(lanes, target.subgroup);
        (lanes, Choice { what, why })
    };
    let Some(busy) = target.busy else {
        let why = "a processor is never idle: one lane more is as much more work";
        return choice(1, why.to_owned());
    };
    let by_shuffles = |estimate: &Estimate| estimate.lanes <= target.subgroup;
    let estimates = estimates(&artifact.lowered, &artifact.program, target.subgroup);
    let mut estimates: Vec<_> = (estimates.into_iter())
        .filter(|estimate| by_shuffles(estimate) || estimate.seldom_talks)
        .collect();
    if estimates.len() == 1 {
        let why = match target.subgroup {
            1 => "the device has no subgroups, and the model no long sum that barriers are worth",
            _ => "the model has no loop that lanes could share",
        };
        return choice(1, why.to_owned());
    }
    // As few as hold the inputs: the loads of every step that it saves are worth more than anything else.
    let words = artifact.manifest.input_words;
    let mut held = String::new();
    if words > HELD_INPUTS {
        let fits = |lanes: u32| {
            let shared = artifact.shared(lanes, target.subgroup);
            emit::input_words(&shared) <= HELD_INPUTS
        };
        let needed = estimates
            .iter()
            .position(|estimate| !estimate.streams && fits(estimate.lanes));
        if let Some(needed) = needed.filter(|needed| *needed > 0) {
            held = format!("{words} input values do not fit one lane's registers; ");
            estimates.drain(..needed);
        }
    }
    let time = |estimate: &Estimate| time(estimate, target.agents, busy);
    let mut best = estimates[0];
    for estimate in &estimates {
        // With 34,000 to 40,000 agents an H200 was 4 to 10 % slower for it.
        let fills = !estimate.seldom_talks && target.load(estimate.lanes) == Load::Full;
        if fills && estimate.lanes > best.lanes {
            continue;
        }
        let fits = || artifact.shared(estimate.lanes, target.subgroup).lanes == estimate.lanes;
        if time(estimate) < CLEARLY * time(&best) && (by_shuffles(estimate) || fits()) {
            best = *estimate;
        }
    }
    let why = format!(
        "{held}{} agents on a device that {busy} invocations keep busy; a step is about {:.0} \
         instructions of a lane",
        target.agents, best.work
    );
    choice(best.lanes, why)
}

#[cfg(test)]
mod tests;
