//! The other way to run worlds on a GPU: each step is a few dispatches, one after the other, so that a world
//! may be larger than a workgroup and one world occupies the whole device.
//!
//! A [`Stage`] is one dispatch. Phases of agents that do not read what those before them assign share one. A
//! phase of the world becomes several: where it combines values of its agents ([`Expr::AcrossWorld`]), agents
//! compute these values first, and workgroups combine those of [`GROUP`] neighbours each; the world's own
//! stage combines these parts likewise, which gives the same tree. A fold whose values depend on the result
//! of another one needs a stage of its own after it: see [`Levels`].
//!
//! What phases read of other agents lies in storage as rows: twice, where a stage reads and assigns the same
//! state, which then reads one copy and writes the other.
//!
//! A sample is a phase of the world of its own, after the first values and after the steps that it follows.

mod levels;
mod samples;

use super::{
    lanes::SHUFFLES,
    schedule::Obstacle,
    worlds::{SHARED_BYTES, in_memory, published},
};
use crate::{
    ir::{
        Block, Expr, ExprId, LaneOp, Len, Owner, Phase, Program, Stmt, Type, Var, VarId, VarKind,
        VarMap, any_statement, each_statement,
    },
    span::Span,
    value::{VEC4_WORDS, WORD_BYTES},
};
use levels::{Levels, need, retain};
use std::{
    collections::{BTreeSet, HashSet},
    ops::Range,
};

/// Agents whose values one workgroup combines.
pub(crate) const GROUP: u32 = 256;
/// Agents of a workgroup whose lanes read the rows of their world from its memory.
const SHARING: u32 = 8;
/// Agents of a world at most, where values are combined: a workgroup combines [`GROUP`] times as many parts
/// as it has invocations.
const MOST_COMBINED: u32 = GROUP * GROUP * GROUP;

/// The dispatches of a run.
#[derive(Clone, Debug)]
pub(crate) struct PerStep {
    /// That of the initial values.
    pub(crate) birth: Stage,
    /// Those of each step, in order.
    pub(crate) steps: Vec<Stage>,
    /// Those of the samples: one for each of the tailored program's [`Program::samples`], with the number of
    /// the model's sample that it is a part of.
    pub(crate) samples: Vec<(usize, Stage)>,
    /// Those after the last step, before that of the outputs.
    pub(crate) ends: Vec<Stage>,
    /// That of the outputs.
    pub(crate) finish: Stage,
    /// The states that are read of other agents, in storage.
    pub(crate) rows: Rows,
    /// Stages of a step after which the other copy of the rows is the current one.
    pub(crate) flips: u32,
    /// Folds of a phase of the world at most.
    pub(crate) folds: u32,
    /// How values are combined, and of which type.
    pub(crate) combined: Vec<(LaneOp, Type)>,
}

/// One dispatch.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    pub(crate) task: Task,
    /// What it runs, one after the other, of the tailored program's [`Program::phases`] or [`Program::ends`];
    /// not of stages of samples.
    pub(crate) phases: Range<usize>,
    /// The folds of its phase of the world whose results it reads.
    pub(crate) known: Vec<Fold>,
    /// Stages before it, among those of a step or after the last, that have changed the current copy of rows.
    pub(crate) flips_before: u32,
    /// Whether it reads one copy of the rows and writes the other.
    pub(crate) flips: bool,
    /// The variables that it reads or assigns, itself or by the prologue.
    pub(crate) mentions: HashSet<VarId>,
    /// The states, the values of the world and the records that it assigns.
    pub(crate) assigns: BTreeSet<VarId>,
    /// Whether it draws: for agents, and for the world.
    pub(crate) draws: [bool; 2],
    /// Whether it has loops, which devices may end early.
    pub(crate) loops: bool,
    /// Invocations of an agent: lanes that share its loops over the world.
    pub(crate) lanes: u32,
    /// Whether it reads states of other agents.
    pub(crate) reads_others: bool,
}

/// Who runs a stage.
#[derive(Clone, Debug)]
pub(crate) enum Task {
    /// Each agent.
    Agents,
    /// Each agent, for these values of its, of which a workgroup stores one part each.
    Parts(Vec<Fold>),
    /// Each world.
    World,
}

/// A value of a world that combines those of its agents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fold {
    pub(crate) op: LaneOp,
    pub(crate) ty: Type,
    /// Its number within the phase.
    pub(crate) number: u32,
    /// The variable of what an agent has.
    pub(crate) element: VarId,
    /// The name of the result.
    pub(crate) result: VarId,
}

/// What is read of other agents: a row of `vec4`s for each agent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    /// The states, and the word at which each begins.
    pub(crate) words: Vec<(VarId, u32)>,
    /// `vec4`s of an agent.
    pub(crate) count: u32,
    /// Copies: 2 where a stage reads of others what it assigns.
    pub(crate) copies: u32,
    /// Is any of them an array?
    has_arrays: bool,
}

impl PerStep {
    /// Dispatches of a step, on average.
    pub(crate) fn dispatches_per_step(&self, program: &Program) -> f64 {
        let samples = program
            .samples
            .iter()
            .map(|sample| 1.0 / f64::from(sample.every));
        self.steps.len() as f64 + samples.sum::<f64>()
    }
}

impl Rows {
    fn of(program: &Program) -> Rows {
        let mut states = BTreeSet::new();
        for block in program.agent_blocks() {
            states.extend(published(program, block));
        }
        let (mut words, mut end) = (Vec::new(), 0u32);
        // The widest first, so that no vector lies in two rows.
        for width in [VEC4_WORDS, 2, 1] {
            for &state in &states {
                let each = stride(program[state].ty);
                if each == width {
                    words.push((state, end));
                    let elements = super::worlds::elements(program, state);
                    end = end.saturating_add(elements.saturating_mul(each));
                }
            }
        }
        let has_arrays = (states.iter()).any(|state| program[*state].len != Len::One);
        Rows {
            words,
            count: end.div_ceil(VEC4_WORDS),
            copies: 1,
            has_arrays,
        }
    }

    /// The word at which a state begins in an agent's row.
    pub(crate) fn word(&self, var: VarId) -> Option<u32> {
        let found = self.words.iter().find(|(known, _)| *known == var);
        found.map(|(_, word)| *word)
    }
}

/// Words from an element of this type to the next in a row.
pub(crate) fn stride(ty: Type) -> u32 {
    ty.words().next_power_of_two()
}

/// Why a program's worlds cannot run one stage after the other, if they cannot.
pub(crate) fn obstacle(program: &Program, members: u32) -> Option<Obstacle> {
    let phases = program.phases.iter().chain(&program.ends);
    let sampled = program.samples.iter().map(|sample| &sample.body);
    let blocks = || {
        let phases = phases.clone().map(|phase| &phase.body);
        phases.chain(sampled.clone())
    };
    let of_worlds = phases.clone().filter(|phase| phase.owner == Owner::World);
    let mut of_worlds = of_worlds.map(|phase| &phase.body).chain(sampled.clone());
    let keeps_fault =
        |stmt: &Stmt| matches!(stmt, Stmt::Assign { var, .. } if program.checks.are_for(*var));
    if of_worlds.any(|block| any_statement(block, &keeps_fault)) {
        return Some(Obstacle::Checks);
    }
    let combines = |block: &Block| super::worlds::combines(program, block);
    let in_loop = |stmt: &Stmt| matches!(stmt, Stmt::For { body, .. } if combines(body));
    if blocks().any(|block| any_statement(block, &in_loop)) {
        return Some(Obstacle::FoldInLoop);
    }
    let observes = (program.samples.iter()).any(|sample| !sample.combined.is_empty());
    (members > MOST_COMBINED && (observes || blocks().any(combines))).then_some(Obstacle::LargeFold)
}

/// Splits a program without an [`obstacle`] into stages: the phases of the result are what its stages run.
pub(crate) fn split(program: &Program) -> (Program, PerStep) {
    let mut split = Splitter {
        program: with_loads_in_place(program),
        rows: Rows::of(program),
        folds: 0,
        combined: Vec::new(),
    };
    let (phases, mut steps, flips) = split.stages(&program.phases);
    // Agents count the steps.
    if !(steps.iter()).any(|stage| matches!(stage.task, Task::Agents)) {
        steps.push(Stage::new(Task::Agents, phases.len()..phases.len(), flips));
    }
    let samples = split.samples(flips);
    let (ends, end_stages, end_flips) = split.stages(&program.ends);
    let Splitter {
        mut program,
        mut rows,
        folds,
        combined,
    } = split;
    rows.copies = 1 + u32::from(flips + end_flips > 0);
    (program.phases, program.ends) = (phases, ends);
    let mut finish = Stage::new(Task::Agents, 0..0, end_flips);
    finish.survey(&program, &rows, &[&program.finish]);
    let mut birth = Stage::new(Task::Agents, 0..0, 0);
    birth.survey(&program, &rows, &[&program.init]);
    let mut plan = PerStep {
        birth,
        steps,
        samples,
        ends: end_stages,
        finish,
        rows,
        flips,
        folds,
        combined,
    };
    for (stages, phases) in [
        (&mut plan.steps, &program.phases),
        (&mut plan.ends, &program.ends),
    ] {
        for stage in stages {
            let phases = phases[stage.phases.clone()].iter();
            let blocks: Vec<&Block> = phases.map(|phase| &phase.body).collect();
            stage.survey(&program, &plan.rows, &blocks);
        }
    }
    for ((_, stage), sample) in plan.samples.iter_mut().zip(&program.samples) {
        stage.survey(&program, &plan.rows, &[&sample.body]);
    }
    (program, plan)
}

/// The program with loads of inputs and tables where phases read them, as far as that is once. The prologue
/// has them before the time loop, which a dispatch of a part of one step does not have: there they would
/// occupy registers from its start, for agents that do not read them, too. SwiftShader compiles `attention`,
/// which has 768 of them under a condition, in 40 % of the time.
fn with_loads_in_place(program: &Program) -> Program {
    let mut placed = program.clone();
    let mut loads = VarMap::<Option<ExprId>>::filled(None, program.vars.len());
    for stmt in &program.prologue {
        if let Stmt::Let { var, value } = stmt
            && let Expr::Element { array, .. } = program[*value]
            && matches!(program[array].kind, VarKind::Input | VarKind::Data)
        {
            loads[*var] = Some(*value);
        }
    }
    for phase in program.phases.iter().chain(&program.ends) {
        let mut reads = Vec::new();
        let mut times = VarMap::filled(0, program.vars.len());
        program.each_node_of(phase, &mut |id| {
            if let Expr::Read(var) = program[id] {
                reads.push((var, id));
                times[var] += 1;
            }
        });
        // Once more where it is in a loop.
        each_statement(phase, &mut |stmt| {
            if let Stmt::For { body, .. } = stmt {
                program.each_node_of(body, &mut |id| {
                    if let Expr::Read(var) = program[id] {
                        times[var] += 1;
                    }
                });
            }
        });
        for (var, id) in reads {
            if let (1, Some(load)) = (times[var], loads[var]) {
                placed[id] = program[load].clone();
            }
        }
    }
    placed
}

struct Splitter {
    program: Program,
    rows: Rows,
    folds: u32,
    combined: Vec<(LaneOp, Type)>,
}

impl Splitter {
    /// The blocks of stages, the stages, and how many of them change the current copy of the rows.
    fn stages(&mut self, phases: &[Phase]) -> (Vec<Phase>, Vec<Stage>, u32) {
        let (mut blocks, mut stages, mut flips) = (Vec::new(), Vec::<Stage>::new(), 0);
        // What the agents of the last stage read of others and assign, if it is one of agents.
        let mut last: Option<(BTreeSet<VarId>, BTreeSet<VarId>)> = None;
        for phase in phases {
            if phase.is_empty() {
                continue;
            }
            if phase.owner == Owner::World {
                last = None;
                let program = &self.program;
                let values = (program.world_states.iter()).chain(&program.world_outputs);
                let values = values.copied().collect();
                stages.extend(self.world(phase, &values, &mut blocks, flips));
                continue;
            }
            let reads: BTreeSet<VarId> = published(&self.program, phase).into_iter().collect();
            let assigns = assigned(phase);
            let at = blocks.len();
            blocks.push(phase.clone());
            match (&mut last, stages.last_mut()) {
                (Some((read, known)), Some(stage)) if reads.is_disjoint(known) => {
                    read.extend(reads);
                    known.extend(assigns);
                    stage.phases.end = at + 1;
                    let both = !read.is_disjoint(known);
                    flips += u32::from(both && !stage.flips);
                    stage.flips = both;
                }
                _ => {
                    let mut stage = Stage::new(Task::Agents, at..at + 1, flips);
                    stage.flips = !reads.is_disjoint(&assigns);
                    flips += u32::from(stage.flips);
                    stages.push(stage);
                    last = Some((reads, assigns));
                }
            }
        }
        (blocks, stages, flips)
    }

    /// The stages of a phase of the world, of which these values last.
    fn world(
        &mut self,
        phase: &Phase,
        values: &HashSet<VarId>,
        blocks: &mut Vec<Phase>,
        flips: u32,
    ) -> Vec<Stage> {
        let mut stages = Vec::new();
        let mut levels = Levels::default();
        levels.block(&self.program, phase, 0, None);
        let mut folds = Vec::with_capacity(levels.folds.len());
        for (number, &(node, _)) in levels.folds.iter().enumerate() {
            let fold = self.fold(node, number as u32);
            folds.push(fold);
        }
        self.folds = self.folds.max(folds.len() as u32);
        let of_levels = |range: Range<u32>| {
            let all = folds.iter().zip(&levels.folds);
            let own = all.filter(|(_, (_, level))| range.contains(level));
            own.map(|(fold, _)| *fold).collect::<Vec<_>>()
        };
        let mut elements: Vec<(ExprId, Fold)> = (levels.folds.iter().zip(&folds))
            .map(|((node, _), fold)| (*node, *fold))
            .collect();
        elements.sort_unstable_by_key(|(node, _)| node.0);
        let count = levels.folds.iter().map(|(_, level)| level + 1).max();
        let count = count.unwrap_or(0);
        for level in 0..=count {
            let own = of_levels(level..level + 1);
            let roots = match level < count {
                true => own.iter().map(|fold| fold.element).collect(),
                false => values.clone(),
            };
            let mut again = Levels::default();
            again.elements.clone_from(&elements);
            let body = again.block(&self.program, phase, 0, Some(level));
            let declared = own.iter().map(|fold| Stmt::Var {
                var: fold.element,
                value: None,
            });
            let mut body: Block = declared.chain(body).collect();
            self.drop_unread(&mut body, &elements, roots);
            let at = blocks.len();
            let task = match level < count {
                true => Task::Parts(own),
                false => Task::World,
            };
            let mut stage = Stage::new(task, at..at + 1, flips);
            stage.known = of_levels(0..level);
            stages.push(stage);
            blocks.push(Phase {
                owner: Owner::World,
                body,
            });
        }
        // From here on, a fold's node reads its result.
        for (node, fold) in elements {
            self.program[node] = Expr::Read(fold.result);
        }
        stages
    }

    /// The variables of a fold.
    fn fold(&mut self, node: ExprId, number: u32) -> Fold {
        let Expr::AcrossWorld { op, value } = self.program[node] else {
            unreachable!("a fold combines the values of agents");
        };
        let ty = self.program.type_of(value);
        if !self.combined.contains(&(op, ty)) {
            self.combined.push((op, ty));
        }
        let name = op.name();
        let mut add = |name: String, kind: VarKind| {
            self.program.add_var(Var {
                name,
                doc: String::new(),
                ty,
                len: Len::One,
                kind,
                word: 0,
                span: Span::default(),
            })
        };
        Fold {
            op,
            ty,
            number,
            element: add(format!("{name}_of"), VarKind::Local),
            result: add(format!("world_{name}"), VarKind::Let),
        }
    }

    /// Drops statements that the `needed` variables do not depend on.
    fn drop_unread(&self, block: &mut Block, folds: &[(ExprId, Fold)], mut needed: HashSet<VarId>) {
        let program = &self.program;
        while need(program, block, folds, &mut needed) {}
        retain(block, &needed);
    }
}

impl Stage {
    fn new(task: Task, phases: Range<usize>, flips_before: u32) -> Stage {
        Stage {
            task,
            phases,
            known: Vec::new(),
            flips_before,
            flips: false,
            mentions: HashSet::new(),
            assigns: BTreeSet::new(),
            draws: [false; 2],
            loops: false,
            lanes: 1,
            reads_others: false,
        }
    }

    /// The agents of a workgroup that first copies the rows of their world of `members` to its memory, if it
    /// does: where lanes share loops over the world, and these rows fit. On an H200 all workgroups that read
    /// the same rows at once wait for one another's loads of them: with the copies a step of 512 bodies takes
    /// 3.4 us, without 4.7; one of 1,024 3.9 and 8.8.
    pub(crate) fn shares_rows(&self, rows: &Rows, members: u32) -> Option<u32> {
        if !SHUFFLES {
            return None;
        }
        let bytes = rows_bytes(rows, members);
        let fits = bytes > 0 && bytes <= SHARED_BYTES.into() && !rows.has_arrays;
        // Every device has workgroups of GROUP invocations, and each is of one world.
        let most = SHARING.min(GROUP / self.lanes);
        let agents = most.min(1 << members.trailing_zeros());
        (self.lanes > 1 && self.reads_others && fits && agents > 1).then_some(agents)
    }

    /// Notes what its blocks mention.
    fn survey(&mut self, program: &Program, rows: &Rows, blocks: &[&Block]) {
        let visit = |stage: &mut Stage, stmt: &Stmt| {
            let states = (stmt.target()).filter(|&var| is_stored(program, var));
            stage.mentions.extend(stmt.target());
            stage.assigns.extend(states);
            stage.loops |= matches!(stmt, Stmt::For { .. });
            for id in program.nodes_of(stmt) {
                let expr = &program[id];
                if let Expr::RandomWord { owner, .. } = expr {
                    stage.draws[usize::from(*owner == Owner::World)] = true;
                } else if let Expr::AcrossLanes { lanes, .. } = expr {
                    stage.lanes = *lanes;
                }
                // Functions are few: whether this one has loops is not worth a walk.
                stage.loops |= matches!(expr, Expr::Call(..));
                if let Expr::Other { var, .. } = expr {
                    stage.reads_others |= program[*var].kind == VarKind::State;
                } else {
                    stage.mentions.extend(expr.variable());
                }
            }
        };
        for block in blocks {
            each_statement(block, &mut |stmt| visit(self, stmt));
        }
        if self.flips {
            self.mentions.extend(rows.words.iter().map(|(var, _)| *var));
        }
        for stmt in program.prologue.iter().rev() {
            if (stmt.target()).is_some_and(|var| self.mentions.contains(&var)) {
                each_statement(std::slice::from_ref(stmt), &mut |stmt| visit(self, stmt));
            }
        }
        let mentions = &self.mentions;
        (self.known).retain(|fold| mentions.contains(&fold.result));
    }
}

/// Bytes of the rows of a world.
pub(crate) fn rows_bytes(rows: &Rows, members: u32) -> u64 {
    u64::from(members) * u64::from(rows.count) * u64::from(VEC4_WORDS) * WORD_BYTES
}

/// Is a variable one that outlives a dispatch?
fn is_stored(program: &Program, var: VarId) -> bool {
    matches!(
        program[var].kind,
        VarKind::State
            | VarKind::WorldState
            | VarKind::WorldOutput
            | VarKind::Record
            | VarKind::WorldRecord
    )
}

/// The variables that a block assigns.
fn assigned(block: &Block) -> BTreeSet<VarId> {
    let mut vars = BTreeSet::new();
    each_statement(block, &mut |stmt| vars.extend(stmt.target()));
    vars
}

/// The types of combined values in workgroup memory.
pub(crate) fn types(combined: &[(LaneOp, Type)]) -> Vec<Type> {
    let mut types: Vec<Type> = combined.iter().map(|(_, ty)| in_memory(*ty)).collect();
    types.sort_by_key(|ty| *ty as u8);
    types.dedup();
    types
}
