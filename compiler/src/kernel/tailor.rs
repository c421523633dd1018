//! A program under a schedule: everything that a kernel's text is written from.

use super::{
    coarsening::{self, ENABLED},
    fences,
    lane_layout::{LaneLayout, ONE_LANE},
    lanes::{Laid, SHUFFLES, stops},
    limits,
    per_step::{self, PerStep},
    rewrites::{self, Bound, Changes},
    schedule::{Decision, Obstacle, Schedule, WorldDispatch},
    step_table::{self, Budget, Table},
    time_loop::TimeLoop,
    worlds::WorldLayout,
};
use crate::{artifact::Artifact, ir::Program, options::Math};
use std::borrow::Cow;

/// What the rules decide for a run, or a caller for a kernel.
#[derive(Clone, Debug)]
pub(crate) struct Choice<'a> {
    /// The optimised program, split over lanes.
    pub(crate) laid: Laid<'a>,
    /// How worlds lie in a workgroup, if agents know of them.
    pub(crate) world: Option<WorldLayout>,
    /// Why a step cannot be several dispatches.
    pub(crate) obstacle: Option<Obstacle>,
    pub(crate) schedule: Schedule,
    /// What a step table may take, if there is to be one.
    pub(crate) table: Option<Budget>,
    /// Why an invocation is to run several agents, if it is.
    pub(crate) coarse: String,
    /// What was decided, and why.
    pub(crate) decisions: Vec<Decision>,
}

impl<'a> Choice<'a> {
    /// What a schedule says, whatever the run.
    pub(crate) fn given(artifact: &'a Artifact, schedule: &Schedule) -> Choice<'a> {
        if artifact.program.knows_worlds() {
            let members = Some(schedule.members).filter(|&members| members > 0);
            let worlds = Some(schedule.worlds).filter(|&worlds| worlds > 0);
            let asked = |_: &WorldLayout| (schedule.world_dispatch, String::new());
            // Not every device has the shuffles of subgroups.
            let portable = Schedule {
                subgroup: 1,
                ..*schedule
            };
            let one = |_| (1, String::new());
            return Choice::in_worlds(artifact, portable, members, worlds, asked, one);
        }
        Choice {
            world: None,
            obstacle: None,
            laid: Laid::new(artifact, schedule.lanes, schedule.subgroup),
            schedule: *schedule,
            table: schedule.step_table.then_some(Budget::UNLIMITED),
            coarse: String::new(),
            decisions: Vec::new(),
        }
    }

    /// The choice for a model whose agents know of worlds, in worlds of `members` agents, else of as many as
    /// the model says: nothing moves roundings or is shared by all agents, and an agent is an invocation. It
    /// may have several `lanes`, a number with its reason, where a step is several dispatches.
    pub(crate) fn in_worlds(
        artifact: &'a Artifact,
        schedule: Schedule,
        members: Option<u32>,
        worlds: Option<u32>,
        dispatch: impl FnOnce(&WorldLayout) -> (WorldDispatch, String),
        lanes: impl FnOnce(u32) -> (u32, String),
    ) -> Choice<'a> {
        let manifest = &artifact.manifest;
        let has_worlds = manifest.world.is_some();
        let members = manifest.members(members).max(1);
        if !has_worlds {
            return Choice::in_units(artifact, schedule, members);
        }
        let program = &artifact.program;
        let (layout, why) = WorldLayout::new(program, members, worlds, schedule.subgroup);
        let asked = dispatch(&layout);
        let obstacle = per_step::obstacle(program, members);
        let (world_dispatch, decision) = dispatched(program, &layout, why, asked, obstacle);
        let mut laid = Laid::new(artifact, 1, schedule.subgroup);
        let mut simple = Decision::new(
            "one lane per agent, one step per iteration, no step table, not relaxed",
            "agents of a world wait for one another in every step",
        );
        let is_fused = world_dispatch == WorldDispatch::Fused;
        if SHUFFLES && !is_fused {
            let (lanes, why) = lanes(members);
            laid = Laid::over_world(artifact, members, schedule.array_bytes, lanes);
            let lanes = laid.layout.lanes;
            if lanes > 1 {
                let what = format!("{lanes} lanes per agent share its loops over the world");
                simple = Decision::new(what, why);
            }
        }
        let mut decisions = vec![decision, simple];
        if is_fused && layout.shuffled > 1 && !layout.exchange.combined.is_empty() {
            let lanes = layout.shuffled;
            decisions.push(Decision::new(
                format!("values are combined by shuffles of {lanes} lanes"),
                "worlds begin with a whole block of lanes",
            ));
        }
        Choice {
            schedule: Schedule {
                members,
                worlds: layout.worlds,
                world_dispatch,
                lanes: laid.layout.lanes,
                unroll_steps: 1,
                step_table: false,
                reserve: false,
                relax: false,
                ..schedule
            },
            laid,
            world: Some(layout),
            obstacle,
            table: None,
            coarse: String::new(),
            decisions,
        }
    }

    /// The choice for a model without worlds of which something is sampled, in units of `members` agents.
    fn in_units(artifact: &'a Artifact, schedule: Schedule, members: u32) -> Choice<'a> {
        let program = &artifact.program;
        // `stop` becomes a mask, since what has stopped is still sampled.
        let stops = program.phases.iter().any(|phase| stops(phase));
        let simple = Decision::new(
            "one lane per agent, no step table",
            "agents wait for one another where something is sampled",
        );
        Choice {
            laid: Laid::new(artifact, 1, schedule.subgroup),
            schedule: Schedule {
                members,
                worlds: 1,
                lanes: 1,
                unroll_steps: if stops { 1 } else { schedule.unroll_steps },
                step_table: false,
                reserve: false,
                ..schedule
            },
            world: Some(WorldLayout::of_units(program, members, schedule.subgroup)),
            obstacle: None,
            table: None,
            coarse: String::new(),
            decisions: vec![simple],
        }
    }
}

/// What a dispatch computes of worlds, given what was asked for and what stands against it, and why.
fn dispatched(
    program: &Program,
    layout: &WorldLayout,
    why: String,
    (asked, reason): (WorldDispatch, String),
    obstacle: Option<Obstacle>,
) -> (WorldDispatch, Decision) {
    let members = layout.members;
    let what = match layout.worlds {
        1 => format!("one world of {members} agents in a workgroup"),
        worlds => format!("{worlds} worlds of {members} agents in a workgroup"),
    };
    match (asked, obstacle) {
        (WorldDispatch::Fused, _) if reason.is_empty() => (asked, Decision::new(what, why)),
        (WorldDispatch::Fused, _) => (asked, Decision::new(what, format!("{why}; {reason}"))),
        (WorldDispatch::PerStep, None) => {
            let what = match per_step::split(program).1.steps.len() {
                1 => "one dispatch a step".to_owned(),
                stages => format!("{stages} dispatches a step"),
            };
            (asked, Decision::new(what, reason))
        }
        (WorldDispatch::PerStep, Some(obstacle)) => {
            let why = format!("{why}; a step cannot be several dispatches, since {obstacle}");
            (WorldDispatch::Fused, Decision::new(what, why))
        }
    }
}

/// A program tailored to a device.
#[derive(Clone, Debug)]
pub(crate) struct Tailored<'a> {
    /// The program: the model's, except for what its schedule changes.
    pub(crate) program: Cow<'a, Program>,
    /// How its agents are split over lanes.
    pub(crate) layout: LaneLayout,
    /// How worlds lie in a workgroup, if agents know of them.
    pub(crate) world: Option<WorldLayout>,
    /// Why a step cannot be several dispatches.
    pub(crate) obstacle: Option<Obstacle>,
    /// The dispatches of each step, if a dispatch computes no more.
    pub(crate) per_step: Option<PerStep>,
    /// The schedule, without what the model cannot use.
    pub(crate) schedule: Schedule,
    /// What is uniform in a step.
    pub(crate) table: Option<Table>,
    /// The layout of the time loop.
    pub(crate) time_loop: TimeLoop,
    /// What was decided, and why.
    pub(crate) decisions: Vec<Decision>,
}

/// Carries out a choice, as far as the model allows: rewrites and fences, the step table, the time loop.
pub(crate) fn tailor<'a>(artifact: &Artifact, choice: Choice<'a>) -> Tailored<'a> {
    let Laid {
        mut program,
        layout,
    } = choice.laid;
    let (mut schedule, mut decisions) = (choice.schedule, choice.decisions);
    let changes = rewritten(artifact, &mut program, &layout, &schedule);
    if let Some(fenced) = fences::fenced(&program, schedule.keeps_order) {
        program = Cow::Owned(fenced);
    }
    let per_step = (choice.world.is_some() && schedule.world_dispatch == WorldDispatch::PerStep)
        .then(|| {
            let (stages, per_step) = per_step::split(&program);
            program = Cow::Owned(stages);
            per_step
        });
    let mut world = choice.world;
    let coarse = coarsened(&mut program, &layout, &mut world, &mut schedule);
    decisions.extend(coarse.map(|(what, why)| Decision::new(what, why.unwrap_or(&choice.coarse))));
    let manifest = &artifact.manifest;
    // What fills a step table has no other buffers.
    let is_in_memory = limits::place(&program, schedule.array_bytes).is_in_memory();
    let shared = (choice.table.filter(|_| is_in_memory))
        .map(|budget| step_table::shared(&program, manifest, &layout, &schedule, budget));
    let table = match shared.transpose() {
        Ok(shared) => shared.map(|(split, table)| {
            program = Cow::Owned(split);
            table
        }),
        Err(why) => {
            decisions.push(Decision::new("no step table", why));
            None
        }
    };
    let statements = table.as_ref().map_or(0, |table| table.shared);
    let rows = world.as_ref().and_then(|world| world.rows(&program));
    // A stage has no loop over steps that an agent would stay in once it has stopped.
    let in_loop = if per_step.is_some() {
        &ONE_LANE
    } else {
        &layout
    };
    let (time_loop, copies) = TimeLoop::plan(&program, in_loop, &schedule, statements, rows);
    schedule.relax = changes.is_some();
    schedule.step_table = table.is_some();
    // A table holds the values of one run, and stages find their rows of a world by its number in one. Runs
    // with large arrays fill a device by themselves.
    schedule.points &= table.is_none() && per_step.is_none() && is_in_memory;
    // Many runs share the device.
    schedule.reserve &= !schedule.points;
    decisions.extend(changes.map(|changes| changes.decision()));
    decisions.extend(table.as_ref().map(Table::decision));
    decisions.extend(copies);
    Tailored {
        program,
        layout,
        world,
        obstacle: choice.obstacle,
        per_step,
        schedule,
        table,
        time_loop,
        decisions,
    }
}

/// Prepares a program for several agents per invocation, if a schedule asks for that, as far as it is
/// possible. Says so, and what stands against it.
fn coarsened(
    program: &mut Cow<'_, Program>,
    layout: &LaneLayout,
    world: &mut Option<WorldLayout>,
    schedule: &mut Schedule,
) -> Option<(String, Option<&'static str>)> {
    let asked = std::mem::replace(&mut schedule.agents_per_invocation, 1);
    let is_fused = world.is_none() || schedule.world_dispatch == WorldDispatch::Fused;
    if !ENABLED || asked == 1 || !is_fused {
        return None;
    }
    match coarsening::fitting(program, layout, world.as_ref(), schedule, asked) {
        Ok(agents) => {
            coarsening::named_folds(program.to_mut());
            schedule.agents_per_invocation = agents;
            *world = (world.take()).map(|world| world.coarse(agents, schedule.subgroup));
            Some((format!("{agents} agents per invocation"), None))
        }
        Err(why) => Some(("one agent per invocation".to_owned(), Some(why))),
    }
}

/// Applies the rewrites that a schedule asks for; what they have changed, if anything.
fn rewritten(
    artifact: &Artifact,
    program: &mut Cow<'_, Program>,
    layout: &LaneLayout,
    schedule: &Schedule,
) -> Option<Changes> {
    let options = &artifact.options;
    let may_round = options.optimise && options.math == Math::Fast;
    if !schedule.relax || !may_round {
        return None;
    }
    let bound = Bound::of(program, schedule, options.generator);
    let (changed, changes) = rewrites::apply(program, layout, bound, schedule)?;
    *program = Cow::Owned(changed);
    Some(changes)
}
