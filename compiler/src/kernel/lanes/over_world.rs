//! Loops of agents over all agents of their world, where each step is several dispatches: lanes of an agent
//! have every `lanes`-th iteration each, so that neighbouring lanes read neighbouring rows. Without lanes, an
//! agent reads all of its world one after the other, and most of a device waits where agents are few.
//!
//! Only loops of phases are split. All else each lane computes for itself, and the first one stores it.

use super::{
    Group, Laid, LaneLayout, SHUFFLES, SplitLoop,
    places::{binary, int, node, read},
    prepare,
    split::{self, counted},
    survey::Survey,
};
use crate::{
    artifact::Artifact,
    ir::{
        BinaryOp, Block, Expr, ExprId, Launch, Owner, Program, Stmt, Type, VarId, VarKind,
        any_statement, each_statement, verify::debug_verify,
    },
    kernel::limits,
    passes::{self, names::fresh, rewrite::Cloner},
};
use std::{borrow::Cow, collections::HashSet};

/// Iterations of a lane that its driver's compiler makes one block of: it loads the rows of all of them
/// first. Otherwise each waits for its own, some 200 cycles on an H200.
const OVERLAPPED: u32 = 8;

impl<'a> Laid<'a> {
    /// The optimised program whose agents have this many lanes, which share the loops over all `members` of
    /// their world; one lane where no loop can be shared, or arrays beyond these bytes are in storage, where
    /// each has its own copy.
    pub(crate) fn over_world(
        artifact: &'a Artifact,
        members: u32,
        array_bytes: u32,
        lanes: u32,
    ) -> Laid<'a> {
        let whole = Laid {
            program: Cow::Borrowed(&artifact.program),
            layout: LaneLayout::default(),
        };
        if !SHUFFLES || lanes < 2 || !is_in_memory(&artifact.program, array_bytes) {
            return whole;
        }
        let mut program = artifact.lowered.clone();
        prepare(&mut program);
        let survey = Survey::of(&program, Some(members));
        let group = |at: usize| Group {
            loops: vec![at],
            ..Group::default()
        };
        let groups: Vec<Group> = loops(&program, &survey).into_iter().map(group).collect();
        if groups.is_empty() {
            return whole;
        }
        split::split(&mut program, &survey, &groups, lanes);
        debug_verify(&program, "lanes::over_world");
        if artifact.options.optimise {
            passes::optimise(&mut program);
        }
        Laid {
            program: Cow::Owned(program),
            layout: LaneLayout {
                lanes,
                ..LaneLayout::default()
            },
        }
    }
}

/// The instructions that the loops which lanes can share take of an agent's step; 0 where
/// [`Laid::over_world`] shares none.
pub(crate) fn instructions_over_world(artifact: &Artifact, members: u32, array_bytes: u32) -> f64 {
    if !is_in_memory(&artifact.program, array_bytes) {
        return 0.0;
    }
    let mut program = artifact.lowered.clone();
    prepare(&mut program);
    let survey = Survey::of(&program, Some(members));
    let of_loop = |at: usize| {
        let known = &survey.loops[at];
        known.runs * known.nodes * f64::from(known.iterations)
    };
    loops(&program, &survey).into_iter().map(of_loop).sum()
}

fn is_in_memory(program: &Program, array_bytes: u32) -> bool {
    limits::place(program, array_bytes).is_in_memory()
}

/// The loops that lanes can share, none inside another one: they accumulate, and set no elements of arrays
/// that other iterations read.
fn loops(program: &Program, survey: &Survey) -> Vec<usize> {
    let mut of_phases = HashSet::new();
    for phase in program.phases.iter().filter(|it| it.owner == Owner::Agent) {
        each_statement(phase, &mut |stmt| {
            if let Stmt::For { index, body, .. } = stmt
                && !sets_elements(body)
            {
                of_phases.insert(*index);
            }
        });
    }
    let fits = |at: &usize| {
        let known = &survey.loops[*at];
        let shares = known.over_world && known.fits && !known.accumulators.is_empty();
        shares && of_phases.contains(&known.index)
    };
    let all: Vec<usize> = (0..survey.loops.len()).filter(fits).collect();
    let is_outer = |at: &usize| !survey.loops[*at].around.iter().any(|it| all.contains(it));
    all.iter().copied().filter(is_outer).collect()
}

/// Does a block set elements of arrays that are not its own?
fn sets_elements(block: &Block) -> bool {
    let mut own: HashSet<VarId> = HashSet::new();
    each_statement(block, &mut |stmt| {
        if let Stmt::Var { var, .. } = stmt {
            own.insert(*var);
        }
    });
    any_statement(
        block,
        &|stmt| matches!(stmt, Stmt::AssignElement { var, .. } if !own.contains(var)),
    )
}

/// Adds the iterations of a lane to a block: the numbers `lane`, `lane + lanes` and so on.
pub(super) fn strided(
    program: &mut Program,
    split: &SplitLoop,
    lanes: u32,
    body: &Block,
    new: &mut Block,
) {
    let (each, beyond) = (split.iterations / lanes, split.iterations % lanes);
    let (turns, rest) = (each / OVERLAPPED, each % OVERLAPPED);
    let lane = |program: &mut Program| node(program, Expr::Launch(Launch::Lane { lanes }));
    let scaled = |program: &mut Program, number: ExprId, by: u32| {
        let by = int(program, by);
        binary(program, BinaryOp::Multiply, number, by)
    };
    // That of this number among the lane's own, with names of its own.
    let iteration = |program: &mut Program, number: ExprId| {
        let name = program[split.index].name.clone();
        let index = fresh(program, name, Type::I32, VarKind::Let);
        let (before, own) = (scaled(program, number, lanes), lane(program));
        let value = binary(program, BinaryOp::Add, before, own);
        let mut copy = Cloner::default();
        copy.rename(split.index, index);
        let mut block = vec![Stmt::Let { var: index, value }];
        block.extend(copy.block(program, body));
        block
    };
    let counter = |program: &mut Program, name: &str| {
        fresh(program, name.to_owned(), Type::I32, VarKind::Index)
    };
    if turns > 0 {
        let [turn, k] = ["turn", "k"].map(|name| counter(program, name));
        let (number, own) = (read(program, turn), read(program, k));
        let first = scaled(program, number, OVERLAPPED);
        let number = binary(program, BinaryOp::Add, first, own);
        let inner = iteration(program, number);
        let block = vec![counted(program, k, OVERLAPPED, inner)];
        new.push(counted(program, turn, turns, block));
    }
    if rest > 0 {
        let k = counter(program, "k");
        let (first, own) = (int(program, turns * OVERLAPPED), read(program, k));
        let number = binary(program, BinaryOp::Add, first, own);
        let inner = iteration(program, number);
        new.push(counted(program, k, rest, inner));
    }
    if beyond > 0 {
        let (own, end) = (lane(program), int(program, beyond));
        let condition = binary(program, BinaryOp::Less, own, end);
        let number = int(program, each);
        new.push(Stmt::If {
            condition,
            accept: iteration(program, number),
            reject: Block::new(),
        });
    }
}
