//! Reverse mode of a model whose agents depend on one another, or whose step has several phases.
//!
//! Adjoints are those of the sum of the wanted output over all agents. So the derivative by an agent's input
//! is that of what all agents of its world make of it, and the sum over agents of the derivatives by a param
//! is the derivative of the sum. What agents add to the adjoint of a state of the world stays apart, in a
//! state of each agent, until a sum over the world passes it on.
//!
//! The program has a step for each round ([`super::rounds`]), whose phases are
//!
//! * one that keeps the states before a step, or takes them from what was kept;
//! * those of the model ([`super::parts`]), with copies of the states that the way back reads;
//! * those of the end of the run, and back: of each one, the last one first, what is combined over the world,
//!   what is the agent's own, and what it collects ([`super::members`]);
//! * those of a step back, likewise.
//!
//! Neighbours among these are one phase where no agent reads of another one what the first of them assigns.

use super::{
    By, Made, Named, NotMade, Refused, Reverse,
    build::int,
    combined::Combined,
    draw_in,
    members::Reads,
    parts::{self, Part},
    prune::{named, pruned, with_names},
    record::Sweep,
    rounds::{LaunchNames, Round, Rounds, When},
    straight,
};
use crate::{
    Artifact,
    gradient::refused,
    ir::{BinaryOp, Block, Expr, Owner, Phase, Program, Value, VarId, VarKind, each_statement},
    random::{FINISH_STEP, INIT_STEP},
};
use std::collections::{HashMap, HashSet};

/// Do agents depend on one another?
pub(super) fn agents_depend(program: &Program) -> bool {
    let looks = |expr: &Expr| matches!(expr, Expr::Other { .. } | Expr::AcrossWorld { .. });
    program.exprs.iter().any(looks)
}

/// Is this the way to turn the program around: do agents depend on one another, or has a step several phases?
pub(super) fn has_phases(program: &Program) -> bool {
    let phases = program.phases.len() > 1 || !program.ends.is_empty();
    phases || !program.world_states.is_empty() || agents_depend(program)
}

/// A model as it is turned around.
struct Turned<'a> {
    artifact: &'a Artifact,
    rounds: Rounds,
    launch_names: LaunchNames,
    wanted: (VarId, usize),
    by: &'a [Named],
    /// `init`, as a phase.
    init: &'a Part,
    /// The phases of a step, and those behind the last one.
    step: &'a [Part],
    end: &'a [Part],
}

/// The program of a model for so many steps. `lowered` knows the number of steps.
///
/// # Errors
/// As [`super::reverse`].
pub(super) fn program(
    artifact: &Artifact,
    lowered: &Program,
    (wanted, by): ((VarId, usize), Vec<Named>),
    steps: u32,
) -> Result<Reverse, Refused> {
    if lowered.can_stop() {
        return Err(refused(
            "reverse mode is not there for agents that stop, where they depend on one another or a step has \
             several phases",
        ));
    }
    let rounds = Rounds::new(steps)?;
    let mut source = lowered.clone();
    let launch_names = parts::launch_names(&mut source);
    let init = [lowered.prologue.clone(), lowered.init.clone()].concat();
    let init = straight::straightened(lowered, &mut source, &init, None);
    draw_in(&mut source, &init, Expr::Literal(Value::U32(INIT_STEP)));
    let mut straight = |owner: Owner, block: &Block, random_step: Expr| {
        let block = parts::straight(lowered, &mut source, launch_names, block, &random_step);
        (owner, block)
    };
    let of_step = || Expr::Read(launch_names.random_step);
    let step: Vec<(Owner, Block)> = (lowered.phases.iter())
        .map(|phase| straight(phase.owner, &phase.body, of_step()))
        .collect();
    let of_end = || Expr::Literal(Value::U32(FINISH_STEP));
    let mut end: Vec<(Owner, Block)> = (lowered.ends.iter())
        .map(|phase| straight(phase.owner, &phase.body, of_end()))
        .collect();
    end.push(straight(Owner::Agent, &lowered.finish, of_end()));
    // Whole worlds have no derivatives.
    let outputs: HashSet<VarId> = lowered.world_outputs.iter().copied().collect();
    for (_, block) in &mut end {
        *block = pruned(&source, std::mem::take(block), &outputs);
    }
    end.retain(|(_, block)| !block.is_empty());
    let blocks = step.iter().chain(&end).map(|(_, block)| block);
    let blocks: Vec<&Block> = [&init].into_iter().chain(blocks).collect();
    let by_vars: Vec<VarId> = by.iter().map(|(_, var)| *var).collect();
    let mut active = super::activity::active(&source, &blocks, &by_vars, &[wanted.0]);
    let step = parts::parts(&mut source, step, &mut active);
    let end = parts::parts(&mut source, end, &mut active);
    let init = parts::parts(&mut source, vec![(Owner::Agent, init)], &mut active);
    let model = Turned {
        artifact,
        rounds,
        launch_names,
        wanted,
        by: &by,
        init: &init[0],
        step: &step,
        end: &end,
    };
    match model.program(&source, &active) {
        Ok(found) => Ok(found),
        Err(NotMade::TooLarge(refused) | NotMade::Refused(refused)) => Err(refused),
    }
}

/// Leaves out of the rows what nobody needs of them: aliases, some copies, and the outputs of worlds.
fn without_names(program: &mut Program) {
    let rows = [&program.states, &program.world_states, &program.inputs];
    let listed: HashSet<VarId> = rows.into_iter().flatten().copied().collect();
    for var in program.var_ids() {
        let of_row = matches!(
            program[var].kind,
            VarKind::State | VarKind::WorldState | VarKind::WorldOutput | VarKind::Input
        );
        if of_row && !listed.contains(&var) {
            program[var].kind = VarKind::Local;
        }
    }
}

/// Phases in the order in which they are made.
#[derive(Default)]
struct Phases {
    all: Vec<Phase>,
    /// Of the last one: what it assigns, and in which rounds.
    assigned: Vec<(When, HashSet<VarId>)>,
}

impl Phases {
    /// Adds a block, as a phase of its own if it must be one.
    fn push(&mut self, program: &Program, owner: Owner, when: When, block: Block) {
        if block.is_empty() {
            return;
        }
        let mut looks_at = HashSet::new();
        program.each_node_of(&block, &mut |id| {
            if let Expr::Other { var, .. } = program[id] {
                looks_at.insert(var);
            }
        });
        let mut assigned = HashSet::new();
        each_statement(&block, &mut |stmt| assigned.extend(stmt.target()));
        let waits = (self.assigned.iter())
            .any(|(other, set)| when.meets(*other) && !set.is_disjoint(&looks_at));
        match self.all.last_mut() {
            Some(last) if last.owner == owner && !waits => {
                last.body.extend(block);
                self.assigned.push((when, assigned));
            }
            _ => {
                self.all.push(Phase { owner, body: block });
                self.assigned = vec![(when, assigned)];
            }
        }
    }
}

impl<'a> Turned<'a> {
    fn program(&self, source: &'a Program, active: &HashSet<VarId>) -> Result<Reverse, NotMade> {
        let mut sweep = Sweep::new(source, active);
        sweep.launch_names = Some(self.launch_names);
        let mut made = Made::of(self.artifact);
        let copies = made.keep_outputs(&mut sweep.program);
        for (_, kept) in &copies {
            sweep.clear(*kept);
        }
        for var in source.states.iter().chain(&source.world_states) {
            if active.contains(var) {
                let bar = sweep.bar(*var, VarKind::State);
                made.begin_with_zeros(&mut sweep, bar);
            }
        }
        // Of a step or a segment, and of the run.
        let mut sums = Vec::new();
        for (_, var) in self.by {
            // The last one made is what the way back adds to.
            let [sum, part] = [(); 2].map(|()| sweep.bar(*var, VarKind::State));
            made.begin_with_zeros(&mut sweep, sum);
            made.begin_with_zeros(&mut sweep, part);
            sums.push([part, sum]);
        }
        for part in self.step.iter().chain(self.end).chain([self.init]) {
            for (var, state) in &part.stands_for {
                if let Some(bar) = sweep.bars.get(state) {
                    sweep.bars.insert(*var, *bar);
                }
            }
        }
        let phases = self.phases(&mut sweep, &mut made, &sums);
        let first = std::mem::take(&mut sweep.block);
        sweep.program.init.extend(first);
        sweep.program.prologue.clear();
        sweep.program.phases = phases;
        sweep.program.ends.clear();
        sweep.program.world_outputs.clear();
        let derivatives = self.finish(&mut sweep, &mut made, copies, &sums);
        super::clean(&mut sweep.program);
        without_names(&mut sweep.program);
        Ok(Reverse {
            artifact: made.artifact(self.artifact, sweep, None)?,
            steps: self.rounds.count(),
            by: derivatives,
        })
    }

    /// What follows the last round: `init` backwards, and the outputs.
    fn finish(
        &self,
        sweep: &mut Sweep<'a>,
        made: &mut Made,
        copies: Vec<(VarId, VarId)>,
        sums: &[[VarId; 2]],
    ) -> Vec<By> {
        for (output, state) in copies {
            sweep.each_value(state, |sweep, k| {
                let value = sweep.element(state, k);
                sweep.assign(output, k, value);
            });
        }
        sweep.others.reads = Reads::Dropped;
        sweep.ask_again();
        sweep.names.extend(&self.init.aliases);
        let way_back = sweep.frame(&self.init.local);
        sweep.block.extend(way_back);
        let mut derivatives = Vec::new();
        for ((field, var), [_, sum]) in self.by.iter().zip(sums) {
            let output = made.output(sweep, *sum, format!("derivative by {}", field.name));
            sweep.add_sum(output, *sum, *var);
            derivatives.push(By {
                field: field.clone(),
                output: sweep.program[output].name.clone(),
            });
        }
        let block = std::mem::take(&mut sweep.block);
        let states = sweep.program.states.iter();
        let given = states.chain(&self.init.results).copied().collect();
        sweep.program.finish = pruned(&sweep.program, block, &given);
        derivatives
    }

    /// The phases of a round.
    fn phases(&self, sweep: &mut Sweep<'a>, made: &mut Made, sums: &[[VarId; 2]]) -> Vec<Phase> {
        // The way back first, which says what it needs.
        let mut back = Vec::new();
        for (parts, when) in [(self.end, When::End), (self.step, When::Back)] {
            for part in parts.iter().rev() {
                self.part_back(sweep, part, when, &mut back);
            }
        }
        let sum_up = self.timed(sweep, When::Back, |sweep, round| {
            let first = sweep.op("first", BinaryOp::Equal, round.slot, int(0));
            let block = sweep.written(|sweep| {
                for ((_, var), [part, sum]) in self.by.iter().zip(sums) {
                    sweep.add_sum(*sum, *sum, *var);
                    sweep.clear(*part);
                }
            });
            sweep.when(first, block, Block::new());
        });
        back.push((Owner::Agent, When::Back, sum_up));
        for var in std::mem::take(&mut sweep.others.states) {
            made.begin_with_zeros(sweep, var);
        }
        for var in std::mem::take(&mut sweep.others.world_states) {
            made.begin_with_zeros(sweep, var);
        }
        let mut needed = HashSet::new();
        for (_, _, block) in &back {
            needed.extend(named(&sweep.program, block));
        }
        let mut phases = Phases::default();
        for (owner, block) in self.keeping(sweep, made, &needed) {
            phases.push(&sweep.program, owner, When::Always, block);
        }
        for (parts, when) in [(self.step, When::Steps), (self.end, When::End)] {
            let last = parts.len().saturating_sub(1);
            for (k, part) in parts.iter().enumerate() {
                let when = match (k == last, when) {
                    (true, When::Steps) => When::Forward,
                    // The way back of the end computes the outputs.
                    (true, _) => break,
                    (false, when) => when,
                };
                let block = self.forward(sweep, made, part, when, &needed);
                phases.push(&sweep.program, part.owner, when, block);
            }
        }
        for (owner, when, block) in back {
            phases.push(&sweep.program, owner, when, block);
        }
        phases.all
    }

    fn timed(
        &self,
        sweep: &mut Sweep<'a>,
        when: When,
        write: impl FnOnce(&mut Sweep<'a>, &Round),
    ) -> Block {
        sweep.timed(self.rounds, self.launch_names, when, write)
    }

    /// A phase of the model, with the copies that the way back needs.
    fn forward(
        &self,
        sweep: &mut Sweep<'a>,
        made: &mut Made,
        part: &'a Part,
        when: When,
        needed: &HashSet<VarId>,
    ) -> Block {
        let copies = part.copies.iter().filter(|(copy, _)| needed.contains(copy));
        let copies: Vec<(VarId, VarId)> = copies.copied().collect();
        for (copy, _) in &copies {
            made.begin_with_zeros(sweep, *copy);
        }
        self.timed(sweep, when, |sweep, _| {
            for (copy, state) in copies {
                sweep.each_value(copy, |sweep, k| {
                    let value = sweep.element(state, k);
                    sweep.assign(copy, k, value);
                });
            }
            let body = sweep.plain(&part.forward);
            sweep.block.extend(body);
        })
    }

    /// The way back of a phase: what is combined over the world, the agent's own, and what it collects.
    fn part_back(
        &self,
        sweep: &mut Sweep<'a>,
        part: &'a Part,
        when: When,
        out: &mut Vec<(Owner, When, Block)>,
    ) {
        sweep.names.extend(&part.aliases);
        if part.owner == Owner::World {
            let block = self.timed(sweep, when, |sweep, _| {
                let block = self.combined(sweep, part);
                sweep.block.extend(block);
            });
            out.push((Owner::World, when, block));
        }
        let own = self.timed(sweep, when, |sweep, _| {
            sweep.others.reads = Reads::Kept;
            sweep.others.combined = Combined::Before;
            sweep.ask_again();
            let seed = self.seed(sweep, part);
            let block = sweep.frame(&part.local);
            let begin = sweep.begin_kept();
            let block = [begin, seed, block].concat();
            let block = pruned(&sweep.program, block, &part.results);
            let block = with_names(&mut sweep.program, block);
            sweep.refuse_combined(&block);
            sweep.block.extend(block);
        });
        out.push((Owner::Agent, when, own));
        let collected = self.timed(sweep, when, |sweep, _| {
            let block = sweep.collected();
            sweep.block.extend(block);
        });
        out.push((Owner::Agent, when, collected));
        for alias in part.aliases.keys() {
            sweep.names.remove(alias);
        }
    }

    /// What a phase of the world combines, forward and back.
    fn combined(&self, sweep: &mut Sweep<'a>, part: &'a Part) -> Block {
        sweep.others.reads = Reads::Dropped;
        sweep.others.combined = Combined::Here;
        sweep.ask_again();
        let bars = sweep.bars.clone();
        let mut locals: HashMap<VarId, VarId> = HashMap::new();
        // A phase of the world assigns no state of an agent.
        let states = bars.values().copied();
        let mut states: Vec<VarId> = (states)
            .filter(|bar| sweep.program[*bar].kind == VarKind::State)
            .collect();
        states.sort();
        states.dedup();
        let declarations = sweep.written(|sweep| {
            for bar in states {
                let local = sweep.copy_of(bar);
                locals.insert(bar, local);
            }
        });
        for bar in sweep.bars.values_mut() {
            *bar = locals.get(bar).copied().unwrap_or(*bar);
        }
        let block = sweep.frame(&part.local);
        sweep.bars = bars;
        let block = [declarations, block].concat();
        let block = pruned(&sweep.program, block, &part.results);
        with_names(&mut sweep.program, block)
    }

    /// The adjoint of the wanted value, where it is an output of this phase.
    fn seed(&self, sweep: &mut Sweep<'a>, part: &Part) -> Block {
        let (wanted, place) = self.wanted;
        let mut assigns = false;
        each_statement(&part.local, &mut |stmt| {
            assigns |= stmt.target() == Some(wanted)
        });
        if !assigns {
            return Block::new();
        }
        sweep.written(|sweep| sweep.begin_with_one(wanted, place))
    }

    /// Keeps the states before steps and segments, and takes them from there.
    fn keeping(
        &self,
        sweep: &mut Sweep<'a>,
        made: &mut Made,
        needed: &HashSet<VarId>,
    ) -> Vec<(Owner, Block)> {
        let states = self.needed_states(sweep.source, needed);
        let mut out = Vec::new();
        for (owner, kind) in [
            (Owner::World, VarKind::WorldState),
            (Owner::Agent, VarKind::State),
        ] {
            let own: Vec<VarId> = (states.iter().copied())
                .filter(|var| sweep.source[*var].kind == kind)
                .collect();
            if own.is_empty() {
                continue;
            }
            let steps = sweep.tables(&own, self.rounds.slots(), kind);
            let segments = match self.rounds.kept_segments() {
                0 => Vec::new(),
                count => sweep.tables(&own, count, kind),
            };
            for table in steps.iter().chain(&segments) {
                made.begin_with_zeros(sweep, *table);
            }
            let block = self.timed(sweep, When::Always, |sweep, round| {
                if !segments.is_empty() {
                    let keep =
                        sweep.written(|sweep| sweep.save_all(&own, &segments, round.segment));
                    sweep.when(round.keeps_segment, keep, Block::new());
                    let take =
                        sweep.written(|sweep| sweep.fetch_all(&own, &segments, round.segment));
                    sweep.when(round.begins_again, take, Block::new());
                }
                let keep = sweep.written(|sweep| sweep.save_all(&own, &steps, round.slot));
                sweep.when(round.keeps_step, keep, Block::new());
                let take = sweep.written(|sweep| sweep.fetch_all(&own, &steps, round.slot));
                sweep.when(round.back, take, Block::new());
            });
            out.push((owner, block));
        }
        out
    }

    /// The states that are taken from what was kept: those that the way back of a step reads, and what these
    /// follow from. In their order.
    fn needed_states(&self, source: &Program, needed: &HashSet<VarId>) -> Vec<VarId> {
        let states = source.states.iter().chain(&source.world_states);
        let all: HashSet<VarId> = states.copied().collect();
        let mut found = &all & needed;
        for part in self.step {
            let stands = part.copies.iter().chain(&part.stands_for);
            let read = stands.filter(|(var, _)| needed.contains(var));
            found.extend(
                read.map(|(_, state)| *state)
                    .filter(|var| all.contains(var)),
            );
        }
        loop {
            let given = &all - &found;
            let mut more = HashSet::new();
            for part in self.step {
                let block = pruned(source, part.forward.clone(), &given);
                more.extend(&named(source, &block) & &all);
            }
            if more.is_subset(&found) {
                break;
            }
            found.extend(more);
        }
        let in_order = source.states.iter().chain(&source.world_states);
        in_order
            .copied()
            .filter(|var| found.contains(var))
            .collect()
    }
}
