//! The heuristics: which schedule a run gets, and why.

use super::{
    coarsening,
    lanes::{self, Estimate, Held, Laid},
    per_step,
    profile::Profile,
    schedule::{Decision, MOST_LANES, Occupancy, Schedule, Target, Tuning, WorldDispatch},
    step_table::Budget,
    tailor::Choice,
    worlds::WorldLayout,
};
use crate::artifact::Artifact;
use std::collections::BTreeMap;

/// The choice for a run on a device, and the reasons.
pub(crate) fn choose<'a>(artifact: &'a Artifact, target: &Target, tuning: &Tuning) -> Choice<'a> {
    let shares = target.points && target.occupancy(1) == Occupancy::Low;
    let target = &Target {
        agents: tuning.kernel_agents.unwrap_or(target.agents),
        subgroup: match tuning.shuffles {
            Some(false) => 1,
            Some(true) | None => target.subgroup.max(1),
        },
        ..*target
    };
    let mut choice = split(artifact, target, tuning, shares);
    if coarsening::ENABLED {
        let (program, world) = (&choice.laid.program, choice.world.as_ref());
        let (agents, why) = coarsening::wanted(program, world, target, tuning);
        choice.schedule.agents_per_invocation = agents;
        choice.coarse = why;
    }
    choice
}

/// The choice for invocations that run no more than one agent. Such a run `shares` its dispatch, or not.
fn split<'a>(artifact: &'a Artifact, target: &Target, tuning: &Tuning, shares: bool) -> Choice<'a> {
    if artifact.program.knows_worlds() {
        let (schedule, asked) = (Schedule::of(target, tuning), tuning.worlds_per_workgroup);
        let dispatch = |layout: &WorldLayout| world_dispatch(artifact, layout, target, tuning);
        let lanes = |members| lanes_over_world(members, target, tuning);
        return Choice::in_worlds(artifact, schedule, target.members, asked, dispatch, lanes);
    }
    let mut splits = Splits {
        artifact,
        subgroup: target.subgroup,
        programs: BTreeMap::new(),
    };
    // Who asks for several agents per invocation asks for one lane.
    let coarse = (tuning.agents_per_invocation).filter(|&agents| agents > 1);
    let (lanes, split) = match tuning.lanes.or(coarse.map(|_| 1)) {
        Some(asked) => lanes_asked_for(&mut splits, asked),
        None => choose_lanes(&mut splits, target),
    };
    let laid = splits.take(lanes);
    let reserved = reserved(
        &laid,
        target,
        tuning,
        lanes,
        artifact.manifest.workgroup_size,
    );
    let occupancy = tuning.occupancy.unwrap_or_else(|| target.occupancy(lanes));
    let kibibytes = target.profile().reserved_bytes >> 10;
    let memory = format!("{kibibytes} KiB of workgroup memory reserved");
    let copies = (tuning.unroll_steps)
        .map(|copies| format!("{copies} steps per iteration of the time loop"));
    let table = step_table(target, tuning, shares);
    let decisions = [
        Some(split),
        made_for(occupancy, target, tuning, lanes),
        (reserved.as_ref()).map(|why| Decision::new(memory, why)),
        copies.map(|what| Decision::new(what, ASKED_FOR)),
        (table.as_ref().err()).map(|why| Decision::new("no step table", why)),
    ];
    Choice {
        laid,
        world: None,
        obstacle: None,
        schedule: Schedule {
            lanes,
            occupancy,
            reserve: reserved.is_some(),
            ..Schedule::of(target, tuning)
        },
        table: table.ok(),
        coarse: String::new(),
        decisions: decisions.into_iter().flatten().collect(),
    }
}

/// What a dispatch computes of worlds, and why. A part of one step where they do not fit a workgroup, where a
/// few of them would leave most of the device idle while agents look at all others, and where a driver would
/// compile a kernel of all steps longer than anybody waits. Elsewhere that was slower: on an H100 12 times,
/// for one world of 1,000 whose step is a fold.
fn world_dispatch(
    artifact: &Artifact,
    layout: &WorldLayout,
    target: &Target,
    tuning: &Tuning,
) -> (WorldDispatch, String) {
    if let Some(asked) = tuning.world_dispatch {
        return (asked, ASKED_FOR.to_owned());
    }
    let members = layout.members;
    if coarsening::needed(&artifact.program, layout, target, tuning).is_none() {
        let why = format!("a world of {members} agents does not fit a workgroup");
        return (WorldDispatch::PerStep, why);
    }
    let folds = layout.exchange.folds;
    if folds > target.class.profile().most_folds {
        let why = format!("a driver in software compiles a kernel with {folds} folds too long");
        return (WorldDispatch::PerStep, why);
    }
    if is_spread(artifact, layout, target, tuning) {
        let why = "agents look at all of their world, and a workgroup a world leaves most of the device idle";
        return (WorldDispatch::PerStep, why.to_owned());
    }
    (WorldDispatch::Fused, String::new())
}

/// Are worlds that fit a workgroup better spread over the device, a dispatch or more a step, since lanes then
/// share the agents' loops over their world? By cycles of a processor for these loops alone: in one dispatch,
/// its schedulers issue all instructions of its agents, or wait for each of one agent's; in several, those of
/// the device do, at half the rate, since lanes load rows first and combine values last.
fn is_spread(artifact: &Artifact, layout: &WorldLayout, target: &Target, tuning: &Tuning) -> bool {
    let (profile, members) = (target.profile(), layout.members);
    let Some(processors) = target.processors.filter(|_| target.busy.is_some()) else {
        return false;
    };
    let asked = tuning.lanes.is_some() || tuning.worlds_per_workgroup.is_some();
    if !lanes::SHUFFLES || asked || target.points || target.subgroup < 2 {
        return false;
    }
    let array_bytes = tuning.array_bytes.unwrap_or(profile.array_bytes);
    let work = lanes::instructions_over_world(artifact, members, array_bytes);
    if work == 0.0 || per_step::obstacle(&artifact.program, members).is_some() {
        return false;
    }
    let workgroups = target.agents.div_ceil(layout.agents());
    let own = workgroups
        .div_ceil(processors)
        .saturating_mul(layout.size());
    let scheduled = f64::from(profile.scheduled);
    let fused = work * (f64::from(own) / scheduled).max(profile.latency_cycles);
    let all = f64::from(target.agents) / (scheduled * f64::from(processors));
    let (stages, plan) = per_step::split(&artifact.program);
    let dispatches = plan.dispatches_per_step(&stages);
    profile.dispatch_cycles * dispatches + 2.0 * work * all < profile.clearly_spread * fused
}

/// The lanes that share an agent's loops over the agents of its world, and why: a whole subgroup, as long as
/// each has a few iterations, so that neighbours load neighbouring rows.
fn lanes_over_world(members: u32, target: &Target, tuning: &Tuning) -> (u32, String) {
    let most = target.subgroup.clamp(1, MOST_LANES);
    if let Some(asked) = tuning.lanes {
        return (asked.next_power_of_two().min(most), ASKED_FOR.to_owned());
    }
    if !lanes::SHUFFLES || target.busy.is_none() {
        return (1, String::new());
    }
    let several = (members / LEAST_ITERATIONS).max(1).ilog2();
    let why = format!("a subgroup has {most}, and a world {members} agents");
    (most.min(1 << several), why)
}

/// Fewer iterations of a lane are not worth it to combine what they accumulate.
const LEAST_ITERATIONS: u32 = 4;

/// Why it is so where a caller decides.
pub(crate) const ASKED_FOR: &str = "the caller asked for it";

/// The optimised program split over each number of lanes that was asked for, each computed once.
struct Splits<'a> {
    artifact: &'a Artifact,
    subgroup: u32,
    programs: BTreeMap<u32, Laid<'a>>,
}

impl<'a> Splits<'a> {
    fn of(&mut self, lanes: u32) -> &Laid<'a> {
        let (artifact, subgroup) = (self.artifact, self.subgroup);
        let made = self.programs.entry(lanes);
        made.or_insert_with(|| Laid::new(artifact, lanes, subgroup))
    }

    fn take(mut self, lanes: u32) -> Laid<'a> {
        self.of(lanes);
        let made = self.programs.remove(&lanes);
        made.expect("it was made in the line before")
    }

    /// The number of lanes that an agent gets: one where the model cannot use that many.
    fn lanes(&mut self, lanes: u32) -> u32 {
        self.of(lanes).layout.lanes
    }
}

/// Whether steps are optimised for latency or throughput, where that is a choice.
fn made_for(
    occupancy: Occupancy,
    target: &Target,
    tuning: &Tuning,
    lanes: u32,
) -> Option<Decision> {
    let what = match occupancy {
        Occupancy::Low => "steps are optimised for latency",
        Occupancy::Full => "steps are optimised for throughput",
    };
    let why = match (tuning.occupancy, target.busy) {
        (Some(_), _) => ASKED_FOR.to_owned(),
        (None, Some(busy)) => format!(
            "{} invocations on a device that {busy} keep busy",
            u64::from(target.agents) * u64::from(lanes)
        ),
        (None, None) => return None,
    };
    Some(Decision::new(what, why))
}

/// Why memory is reserved, if it is.
fn reserved(
    laid: &Laid<'_>,
    target: &Target,
    tuning: &Tuning,
    lanes: u32,
    workgroup_size: u32,
) -> Option<String> {
    match tuning.reserve {
        Some(true) => return Some(ASKED_FOR.to_owned()),
        Some(false) => return None,
        None if target.is_roomy(lanes, workgroup_size.max(lanes)) => {
            return Some(format!(
                "{} invocations are few for the device: its compiler need not limit registers",
                u64::from(target.agents) * u64::from(lanes)
            ));
        }
        None => {}
    }
    let (processors, profile) = (target.processors?, target.profile());
    let invocations = u64::from(target.agents) * u64::from(lanes);
    let many = u64::from(processors) * u64::from(profile.cached_invocations);
    let held = laid.held();
    if held.has_arrays_in_memory(profile.cached_words - 1) && invocations >= many {
        let why =
            "arrays of all workgroups that could run at a time do not fit the processors' caches";
        return Some(why.to_owned());
    }
    let inputs = held.inputs;
    (inputs >= profile.crowded_inputs).then(|| {
        format!(
            "a lane's {inputs} input values leave registers for few workgroups anyway: its compiler need \
            not limit them"
        )
    })
}

/// A number of lanes in words, and how they exchange values where that is not by shuffles alone.
fn in_words(lanes: u32, subgroup: u32, shuffles: bool) -> String {
    match lanes {
        1 => "one lane per agent".to_owned(),
        _ if lanes > subgroup => {
            format!("{lanes} lanes per agent, which exchange values through workgroup memory")
        }
        _ if shuffles => format!("{lanes} lanes per agent, which read elements of one another"),
        _ => format!("{lanes} lanes per agent"),
    }
}

/// The lanes that a caller asks for, or as many of them as the model can use.
fn lanes_asked_for(splits: &mut Splits<'_>, asked: u32) -> (u32, Decision) {
    let asked = asked.clamp(1, MOST_LANES).next_power_of_two();
    let mut fewer = std::iter::successors(Some(asked), |lanes| Some(lanes / 2).filter(|&n| n > 1));
    let lanes = fewer.find_map(|lanes| Some(splits.lanes(lanes)).filter(|&lanes| lanes > 1));
    let lanes = lanes.unwrap_or(1);
    let why = match lanes < asked {
        false => ASKED_FOR.to_owned(),
        true => format!(
            "the caller asked for {asked}, but the model has no loops to split over that many, or barriers \
             would stand where agents diverge"
        ),
    };
    let what = in_words(lanes, splits.subgroup, splits.of(lanes).layout.shuffles);
    (lanes, Decision::new(what, why))
}

/// What a step table may take, if there is to be one; as an error, why there is none. Runs that `share` a
/// dispatch have none, since each would need its own.
fn step_table(target: &Target, tuning: &Tuning, shares: bool) -> Result<Budget, String> {
    let (agents, steps, profile) = (target.agents, target.steps, target.profile());
    match tuning.step_table {
        Some(true) => {}
        Some(false) => return Err("it was turned off".to_owned()),
        None if target.busy.is_none() => {
            return Err("it is for GPUs, not for software adapters".to_owned());
        }
        None if shares => {
            return Err("runs that share a dispatch would need a table each".to_owned());
        }
        None if steps < profile.table_steps || agents < profile.table_agents => {
            return Err(format!(
                "{agents} agents and {steps} steps are few: it pays from {} and {} on",
                profile.table_agents, profile.table_steps
            ));
        }
        None => {}
    }
    match target.table_bytes {
        0 => Err("the device has no binding left for its table".to_owned()),
        bytes => Ok(Budget { steps, bytes }),
    }
}

/// The estimated time of a step with this many lanes per agent, in instructions of a step, on a device that
/// `busy` invocations keep busy.
///
/// With `n` lanes an agent's step takes as long as a lane's part of it, and `n` times as many invocations
/// run. Those that share a scheduler take turns at its unit for special functions, and once they keep the
/// device busy, a step takes longer in proportion.
fn time(estimate: &Estimate, target: &Target, busy: u32) -> f64 {
    let (agents, profile) = (target.agents, target.profile());
    let times = match (estimate.streams, estimate.streams_inputs) {
        (_, true) => profile.streaming_inputs,
        (true, false) => profile.streaming,
        (false, false) => 1,
    };
    let busy = f64::from(busy);
    let invocations = f64::from(agents) * f64::from(estimate.lanes);
    let all = estimate.work * (invocations / (busy * f64::from(times))).max(1.0);
    if estimate.streams {
        return all;
    }
    let per_processor = profile.busy.map_or(busy, |busy| f64::from(busy.processor));
    let scheduled = f64::from(profile.scheduled) / per_processor;
    let turns = (invocations / (busy * scheduled)).ceil().max(1.0);
    all.max(estimate.work + profile.special_wait * (turns - 1.0) * estimate.special)
}

/// The number of lanes per agent, and why: the fewest that can hold its inputs in registers, and more only
/// where there are too few agents to keep the device busy.
fn choose_lanes(splits: &mut Splits<'_>, target: &Target) -> (u32, Decision) {
    let (artifact, profile) = (splits.artifact, target.profile());
    let decision = |lanes: u32, shuffles: bool, why: String| {
        let what = in_words(lanes, target.subgroup, shuffles);
        (lanes, Decision::new(what, why))
    };
    let Some(busy) = target.busy else {
        let why = "a CPU is never idle: each further lane is that much more work";
        return decision(1, false, why.to_owned());
    };
    let by_shuffles = |estimate: &Estimate| estimate.lanes <= target.subgroup;
    let estimates = lanes::estimates(&artifact.lowered, &artifact.program, target.subgroup);
    let mut estimates: Vec<_> = (estimates.into_iter())
        .filter(|estimate| by_shuffles(estimate) || estimate.seldom_exchanges)
        .collect();
    if estimates.len() == 1 {
        let why = match target.subgroup {
            1 => "the device has no subgroups, and the model has no sum long enough for barriers",
            _ => "the model has no loop that could be split over lanes",
        };
        return decision(1, false, why.to_owned());
    }
    let (needed, held) = needed(splits, &estimates, profile);
    estimates.drain(..needed);
    let time = |estimate: &Estimate| time(estimate, target, busy);
    let mut best = estimates[0];
    for estimate in &estimates {
        let first_shuffles = estimate.shuffles && !best.shuffles;
        let clearly = match first_shuffles {
            true => profile.clearly_by_shuffles,
            false => profile.clearly,
        };
        // More lanes cost throughput where exchanges are frequent and the device is full already.
        let fills =
            !estimate.seldom_exchanges && target.occupancy(estimate.lanes) == Occupancy::Full;
        if fills && estimate.lanes > best.lanes && !first_shuffles {
            continue;
        }
        let mut fits = || {
            let laid = splits.of(estimate.lanes);
            let fits = by_shuffles(estimate) || laid.layout.lanes == estimate.lanes;
            fits && (estimate.lanes == 1 || laid.held().has_tables(profile.held_inputs))
        };
        if time(estimate) < clearly * time(&best) && fits() {
            best = *estimate;
        }
    }
    let why = format!(
        "{held}{} agents on a device that {busy} invocations keep busy; a step is about {:.0} \
         instructions of a lane",
        target.agents, best.work
    );
    decision(best.lanes, best.shuffles, why)
}

/// Where the estimates begin of which one is to be chosen, and why: the fewest lanes that hold the inputs and
/// arrays of an agent in registers, since saving their loads in every step is worth more than anything else.
fn needed(splits: &mut Splits<'_>, estimates: &[Estimate], profile: &Profile) -> (usize, String) {
    let (words, most) = (splits.artifact.manifest.input_words, profile.held_inputs);
    let whole = splits.of(1).held();
    let mut first = |fits: &dyn Fn(&Held) -> bool| {
        let mut lanes = estimates.iter();
        lanes.position(|estimate| !estimate.streams && fits(&splits.of(estimate.lanes).held()))
    };
    let found = if whole.has_arrays_in_memory(most) {
        let needed = first(&|held| held.has_all(most));
        needed.map(|needed| (needed, "arrays in memory would fit registers; ".to_owned()))
    } else {
        None
    };
    let found = found.or_else(|| {
        let needed = first(&|held| held.has_inputs(most)).filter(|_| words > most)?;
        let why = format!("{words} input values do not fit one lane's registers; ");
        Some((needed, why))
    });
    found.filter(|(needed, _)| *needed > 0).unwrap_or_default()
}

#[cfg(test)]
mod tests;
