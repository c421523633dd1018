//! Thread coarsening: an invocation runs several neighbouring agents, statement by statement.
//!
//! It loads once what its agents share: elements of params and tables whose place is the same for all of
//! them, and what they read of another agent of their world. It combines what its agents have in registers
//! before values of a world or a unit are combined in memory, and a workgroup has room for larger worlds. But
//! fewer invocations run, each of which needs registers for all its agents.
//!
//! The order of a sum over agents is that of one agent per invocation: a tree, neighbours first, whose first
//! levels are in an invocation.

use super::{
    lane_layout::{LaneLayout, ONE_LANE},
    lanes::SHUFFLES,
    limits::{self, Placement},
    schedule::{MOST_PER_INVOCATION, Schedule, Target, Tuning},
    usage::usage,
    worlds::{WorldLayout, combines, jumps_out},
};
use crate::ir::{
    Block, Expr, ExprId, Program, Stmt, VarId, VarKind, VarMap,
    cost::{Amount, Costs, instructions::LOAD, instructions::Weight},
    each_statement,
    uniformity::{Scope, Tracking, Uniformity},
};
use crate::{span::Span, value::WORD_BYTES};
use std::collections::HashSet;

/// Does the compiler write such kernels? The one for pages does not: it shall stay small.
pub(crate) const ENABLED: bool = SHUFFLES;

/// Iterations of a loop whose number is not known, for estimates.
const ITERATIONS: u32 = 32;

/// How many agents, at most as many as `asked` for, an invocation can run; if one, why.
pub(crate) fn fitting(
    program: &Program,
    layout: &LaneLayout,
    world: Option<&WorldLayout>,
    schedule: &Schedule,
    asked: u32,
) -> Result<u32, &'static str> {
    let placement = limits::place(program, schedule.array_bytes);
    if let Some(why) = obstacle(program, layout, schedule, &placement) {
        return Err(why);
    }
    let constants = program.constants.iter();
    let constants = constants.map(|(var, _)| WORD_BYTES * limits::words(program, *var));
    let bytes = placement.bytes - constants.sum::<u64>();
    let fits = |agents: &u32| {
        let in_world = world.is_none_or(|world| world.can_be_coarse(*agents));
        in_world && bytes * u64::from(*agents) <= u64::from(limits::FUNCTION_BYTES)
    };
    let mut agents = [4, 2].into_iter().filter(|agents| *agents <= asked);
    agents.find(fits).ok_or(match world {
        Some(world) if world.worlds > 1 => "several worlds share a workgroup",
        Some(world) if !world.can_be_coarse(2) => "a world has an odd number of agents",
        Some(_) | None => "agents have too many values",
    })
}

/// Why an invocation cannot run several agents of a program.
fn obstacle(
    program: &Program,
    layout: &LaneLayout,
    schedule: &Schedule,
    placement: &Placement,
) -> Option<&'static str> {
    let usage = usage(program, layout);
    let folds = program
        .agent_blocks()
        .flat_map(|block| folds(program, block));
    let mut known = HashSet::new();
    let twice = folds.into_iter().any(|fold| !known.insert(fold));
    let jumps = (program.agent_blocks()).any(|block| jumps_around_folds(program, block));
    let has_functions = usage.agent[1] || usage.member;
    let in_memory = placement.private.is_empty() && placement.spilled.is_empty();
    let obstacles = [
        (layout.is_split(), "an agent has several lanes"),
        (schedule.points, "a dispatch has several runs"),
        (usage.stops, "agents stop"),
        (has_functions, "functions read the number of the agent"),
        (!in_memory, "arrays of an agent are large"),
        (!program.checks.words.is_empty(), "the run is checked"),
        (
            twice || jumps,
            "a loop in which values of a world are combined ends early",
        ),
    ];
    obstacles
        .into_iter()
        .find(|(stands, _)| *stands)
        .map(|(_, why)| why)
}

/// The nodes of a block that combine values of the agents of a world.
fn folds(program: &Program, block: &Block) -> Vec<ExprId> {
    let mut found = Vec::new();
    program.each_node_of(block, &mut |id| {
        if let Expr::AcrossWorld { .. } = program[id] {
            found.push(id);
        }
    });
    found
}

/// Does a loop in which values are combined have a `break` or a `continue`?
fn jumps_around_folds(program: &Program, block: &Block) -> bool {
    let mut found = false;
    each_statement(block, &mut |stmt| {
        if let Stmt::For { body, .. } = stmt {
            found |= combines(program, body) && jumps_out(body);
        }
    });
    found
}

/// Gives names to the values that are combined over a world, and to the results.
pub(crate) fn named_folds(program: &mut Program) {
    let mut phases = std::mem::take(&mut program.phases);
    let mut ends = std::mem::take(&mut program.ends);
    let mut samples = std::mem::take(&mut program.samples);
    let blocks = phases
        .iter_mut()
        .chain(&mut ends)
        .map(|phase| &mut phase.body);
    for block in blocks.chain(samples.iter_mut().map(|sample| &mut sample.body)) {
        name_folds(program, block);
    }
    (program.phases, program.ends, program.samples) = (phases, ends, samples);
}

fn name_folds(program: &mut Program, block: &mut Block) {
    let mut statements = Vec::with_capacity(block.len());
    for mut stmt in std::mem::take(block) {
        let nodes: Vec<ExprId> = program.nodes_of(&stmt).collect();
        // Operands first.
        for node in nodes.into_iter().rev() {
            let Expr::AcrossWorld { op, value } = program[node] else {
                continue;
            };
            let ty = program.type_of(value);
            let var = program.add_name(&format!("{}_of", op.name()), ty);
            statements.push(Stmt::Let { var, value });
            let value = program.add(Expr::Read(var), Span::default());
            let value = program.add(Expr::AcrossWorld { op, value }, Span::default());
            let var = program.add_name(&format!("world_{}", op.name()), ty);
            statements.push(Stmt::Let { var, value });
            program[node] = Expr::Read(var);
        }
        for inner in stmt.blocks_mut() {
            name_folds(program, inner);
        }
        statements.push(stmt);
    }
    *block = statements;
}

/// How many agents an invocation must run, at least, for a world to fit a workgroup; none if it cannot.
pub(crate) fn needed(
    program: &Program,
    layout: &WorldLayout,
    target: &Target,
    tuning: &Tuning,
) -> Option<u32> {
    let (invocations, bytes) = target.workgroup;
    let fits = |agents: u32| {
        let coarse = layout.clone().coarse(agents, target.subgroup);
        coarse.size() <= invocations && coarse.bytes() <= bytes.into()
    };
    if fits(1) {
        return Some(1);
    }
    if !ENABLED {
        return None;
    }
    let most = match target.busy {
        Some(_) => tuning.agents_per_invocation.unwrap_or(MOST_PER_INVOCATION),
        // Such devices compute one invocation after the other anyway.
        None => tuning.agents_per_invocation.unwrap_or(1),
    };
    let schedule = Schedule::of(target, tuning);
    let can =
        |agents: u32| fitting(program, &ONE_LANE, Some(layout), &schedule, agents) == Ok(agents);
    [2, 4]
        .into_iter()
        .filter(|agents| *agents <= most)
        .find(|&agents| fits(agents) && can(agents))
}

/// How many agents an invocation should run, and why.
pub(crate) fn wanted(
    program: &Program,
    world: Option<&WorldLayout>,
    target: &Target,
    tuning: &Tuning,
) -> (u32, String) {
    if let Some(asked) = tuning.agents_per_invocation {
        return (asked, "the caller asked for it".to_owned());
    }
    let needed = world.and_then(|layout| needed(program, layout, target, tuning));
    if let (Some(layout), Some(needed @ 2..)) = (world, needed) {
        let why = format!("a world of {} agents fits a workgroup then", layout.members);
        return (needed, why);
    }
    let (profile, one) = (target.profile(), (1, String::new()));
    let Some(busy) = target.busy.filter(|_| !target.points) else {
        return one;
    };
    let percent = |agents: u32| 100 * u64::from(target.agents / agents) / u64::from(busy.max(1));
    if percent(2) < profile.coarse_in_memory.0 {
        return one;
    }
    let (step, live) = (Step::of(program), live_words(program));
    let steps = tuning
        .steps_per_dispatch
        .unwrap_or(target.steps)
        .min(target.steps);
    // Neighbours in an invocation load and store their own columns, so that subgroups touch more memory.
    if step.instructions * f64::from(steps) < profile.coarse_work * f64::from(live) {
        return one;
    }
    let (loads, folds) = (step.loads / step.instructions.max(1.0), step.folds);
    let usage = usage(program, &ONE_LANE);
    // The words that a generator makes of a counter take registers of their own.
    let observes = world.is_some_and(|world| world.rows(program).is_some()) && !usage.draws[1];
    let why = if loads >= profile.shared_loads {
        format!(
            "{:.0} % of a step are loads that agents have in common",
            100.0 * loads
        )
    } else if step.instructions < profile.coarse_fold * folds {
        format!(
            "a step is about {:.0} instructions a fold",
            step.instructions / folds
        )
    } else if observes && step.instructions < profile.coarse_fold {
        format!(
            "values are observed after each step of about {:.0} instructions",
            step.instructions
        )
    } else {
        return one;
    };
    // More of them would have no room in a processor's cache.
    let in_memory = |var: VarId| {
        let is_own = matches!(program[var].kind, VarKind::State | VarKind::Local);
        is_own && usage.dynamic_in_steps[var]
    };
    let (least, most) = match program.var_ids().any(in_memory) {
        true => profile.coarse_in_memory,
        false => (profile.coarse_percent, u64::MAX),
    };
    let fits = |agents: u32, words: u32| live <= words && (least..=most).contains(&percent(agents));
    let agents = match () {
        () if fits(4, profile.coarse_words.1) && !observes => 4,
        () if fits(2, profile.coarse_words.0) => 2,
        () => return one,
    };
    (agents, format!("{why}, and {live} values are held"))
}

/// What a step costs an agent.
#[derive(Clone, Copy, Debug, Default)]
struct Step {
    instructions: f64,
    /// Those of loads that all agents have in common.
    loads: f64,
    /// How often values of agents are combined.
    folds: f64,
}

impl Step {
    fn of(program: &Program) -> Step {
        let uniformity = Uniformity::new(program, Tracking::Variables);
        let costs = Costs::<Step>::new(program, uniformity);
        let blocks = program.phases.iter().map(|phase| &phase.body);
        blocks.fold(Step::default(), |sum, block| {
            sum.and(costs.block(program, block).unwrap_or_default())
        })
    }
}

impl Amount for Step {
    type Setting = Uniformity;

    fn node(uniformity: &Uniformity, program: &Program, id: ExprId) -> Step {
        let is_shared = |id: ExprId| uniformity.of(id).scope < Scope::Agent;
        let is_table = |var: VarId| {
            let kind = program[var].kind;
            matches!(kind, VarKind::Param | VarKind::Data | VarKind::Constant)
        };
        let place = if let Expr::Element { array, index } = program[id] {
            Some(index).filter(|_| is_table(array))
        } else if let Expr::Other { member, .. } = program[id] {
            Some(member)
        } else {
            None
        };
        // What is known is an operand of other instructions.
        let is_literal = |id: ExprId| matches!(program[id], Expr::Literal(_));
        let is_load = place.is_some_and(|place| is_shared(place) && !is_literal(place));
        Step {
            loads: if is_load { f64::from(LOAD) } else { 0.0 },
            instructions: f64::from(Weight::node(&(), program, id).instructions),
            folds: f64::from(u8::from(matches!(program[id], Expr::AcrossWorld { .. }))),
        }
    }

    fn and(self, other: Step) -> Step {
        Step {
            loads: self.loads + other.loads,
            instructions: self.instructions + other.instructions,
            folds: self.folds + other.folds,
        }
    }

    fn repeated(self, iterations: Option<u64>) -> Option<Step> {
        let times = iterations.map_or(f64::from(ITERATIONS), |times| times as f64);
        Some(Step {
            loads: self.loads * times,
            instructions: self.instructions * times,
            folds: self.folds * times,
        })
    }
}

/// Words of values that are needed at a time in a step, at most: states and inputs, and names and variables
/// from where they are given to where they are last read.
fn live_words(program: &Program) -> u32 {
    let mut lives = Lives {
        program,
        at: 0,
        begins: VarMap::filled(None, program.vars.len()),
        ends: VarMap::filled(0, program.vars.len()),
        reads: Vec::new(),
    };
    for phase in &program.phases {
        lives.block(&phase.body);
    }
    let words = |var: VarId| limits::words(program, var) as i64;
    let mut changes = vec![0i64; lives.at + 2];
    for var in program.var_ids() {
        if let Some(begin) = lives.begins[var] {
            changes[begin] += words(var);
            changes[lives.ends[var].max(begin) + 1] -= words(var);
        }
    }
    let is_input = |var: &&VarId| program[**var].kind == VarKind::Input;
    let inputs: HashSet<VarId> = lives.reads.iter().filter(is_input).copied().collect();
    let held = program.states.iter().chain(&inputs);
    let held: i64 = held.map(|&var| words(var)).sum();
    let mut live = 0;
    let most = changes.into_iter().map(|change| {
        live += change;
        live
    });
    (held + most.max().unwrap_or(0)) as u32
}

/// Where variables are given and last read, by the number of the statement.
struct Lives<'a> {
    program: &'a Program,
    at: usize,
    begins: VarMap<Option<usize>>,
    ends: VarMap<usize>,
    reads: Vec<VarId>,
}

impl Lives<'_> {
    fn block(&mut self, block: &Block) {
        for stmt in block {
            self.at += 1;
            let (at, reads) = (self.at, self.reads.len());
            if let Stmt::Let { var, .. } | Stmt::Var { var, .. } = stmt {
                self.begins[var] = Some(at);
            }
            for &root in stmt.roots().iter() {
                for id in self.program.nodes(root) {
                    if let Expr::Read(var) | Expr::Element { array: var, .. } = self.program[id] {
                        self.ends[var] = at;
                        self.reads.push(var);
                    }
                }
            }
            for inner in stmt.blocks() {
                self.block(inner);
            }
            if let Stmt::For { .. } = stmt {
                // What is older than the loop is read again in its next iteration.
                for &var in &self.reads[reads..] {
                    if self.begins[var].is_some_and(|begin| begin < at) {
                        self.ends[var] = self.at;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
