//! Splits an agent over the lanes of a subgroup or a workgroup. Each lane runs its part of the iterations of
//! the loops over array elements, and holds its part of the arrays; every lane computes all else for itself.
//!
//! A loop `for i in 0..n` may be split if its iterations are independent: it does not draw, has no
//! early exit, writes elements `[i]` only, and what else it assigns are accumulators, `a = a + …`,
//! whose parts are combined after it. An array is split together with the loops that access it, if all
//! of these access it at their own index `[i]`. Loops and arrays that depend on one another in this
//! sense are split all or not at all; a network's layer depends on the sums over it in the next.
//!
//! `shuffled` finds more: arrays of rows, of which a loop writes a column (`keys[t][i]`), and reads of what
//! other lanes have, `x[k]` at an index that is the same for all lanes or `u[i - 1]` near a loop's own, which
//! become shuffles within a subgroup.
//!
//! Loops of agents over all agents of their world are split where each step is several dispatches, see
//! `over_world`.
//!
//! Lane `l` of `L` has the elements `l n/L .. (l + 1) n/L`. A long loop that writes no elements is
//! interleaved instead, four elements a lane in turn, so that neighbouring lanes read neighbouring words.
//!
//! Invariant: each state and output is the same as before, to the bit, except where floats are summed or
//! multiplied up, since their order changes. Every lane has the same bits for what is not split, so lanes do
//! not diverge at branches.

mod accesses;
mod affine;
mod barriers;
mod distributed;
mod held;
mod over_world;
mod overlapped;
mod places;
mod shuffled;
mod split;
mod survey;
mod time;

use crate::{
    artifact::Artifact,
    builtin::BuiltinId,
    ir::{
        BinaryOp, Block, Expr, ExprId, LaneOp, Len, Program, Stmt, Type, Value, VarId,
        cost::instructions::{EXCHANGE, SHUFFLE},
        verify::debug_verify,
    },
    kernel::lane_layout::{LaneLayout, Part},
    passes::{self, dce, propagate, rewrite::literal_i32, split_deep},
};
pub(crate) use barriers::{allows_barriers, outlives_stop, stops};
pub(crate) use held::Held;
pub(crate) use over_world::instructions_over_world;

use std::borrow::Cow;
use survey::{Group, Survey, Taken};

/// Whether lanes may read elements of one another. Kernels that a page makes are for devices whose subgroups
/// are not known, which cannot: left out, the module that a page loads is smaller.
pub(crate) const SHUFFLES: bool = !cfg!(target_family = "wasm");
/// Iterations from which on a loop without arrays of its own is interleaved.
const LONG: u32 = 128;
/// What is left of the gain where lanes begin within a `vec4` of inputs or data: measured, such parts were
/// slower than whole ones of twice the length.
const UNALIGNED: f64 = 0.5;
/// Elements that a lane takes in turn: the width of a load.
const TURN: u32 = 4;

/// Instructions per step to skip an integer ahead.
const SKIP: f64 = 2.0;

/// A program whose agents are split over lanes.
#[derive(Clone, Debug)]
pub(crate) struct Laid<'a> {
    pub(crate) program: Cow<'a, Program>,
    pub(crate) layout: LaneLayout,
}

impl<'a> Laid<'a> {
    /// The optimised program with this many lanes per agent, as far as it can be split over them: if a
    /// subgroup has fewer, they synchronise at barriers.
    pub(crate) fn new(artifact: &'a Artifact, lanes: u32, subgroup: u32) -> Laid<'a> {
        let whole = |layout| Laid {
            program: Cow::Borrowed(&artifact.program),
            layout,
        };
        if lanes < 2 {
            return whole(LaneLayout::default());
        }
        if let Some(layout) = split_time(&artifact.program, lanes) {
            return whole(layout);
        }
        let mut program = artifact.lowered.clone();
        let Some(layout) = split(&mut program, lanes, subgroup) else {
            return whole(LaneLayout::default());
        };
        if artifact.options.optimise {
            passes::optimise(&mut program);
        }
        if lanes > subgroup && !allows_barriers(&program, &layout) {
            return whole(LaneLayout::default());
        }
        Laid {
            program: Cow::Owned(program),
            layout,
        }
    }
}

/// A loop that is to be split.
#[derive(Clone, Debug)]
struct SplitLoop {
    /// Its index, which names it.
    index: VarId,
    iterations: u32,
    accumulators: Vec<(VarId, LaneOp)>,
    sharing: Sharing,
}

/// Which iterations of a loop a lane has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sharing {
    /// A part of the loop, one after the other.
    Parts,
    /// So many in turn with the other lanes (block-cyclic).
    Turns(u32),
    /// One in turn with the other lanes (cyclic). A lane loads for several of them before it uses any.
    Strided,
}

/// Splits a lowered program over `lanes` lanes (2 to 128, a power of two) where that pays; `subgroup` of them
/// exchange by shuffles, more by barriers and workgroup memory. None if it does not pay.
pub(crate) fn split(program: &mut Program, lanes: u32, subgroup: u32) -> Option<LaneLayout> {
    debug_assert!(lanes > 1 && lanes.is_power_of_two() && subgroup.is_power_of_two());
    prepare(program);
    let survey = Survey::of(program, None);
    let groups = chosen(&survey, lanes, subgroup);
    if groups.is_empty() {
        return None;
    }
    let parts = split::split(program, &survey, &groups, lanes);
    let shuffles = groups.iter().any(|group| !group.shuffles.is_empty());
    if SHUFFLES && shuffles {
        let arrays = survey.distributed(program, &groups);
        distributed::distribute(program, &arrays, lanes);
        overlapped::run(program);
    }
    debug_verify(program, "lanes::split");
    Some(LaneLayout {
        lanes,
        parts,
        shuffles,
        ..LaneLayout::default()
    })
}

/// Splits the steps of an optimised program over lanes, where they only accumulate, with draws of the
/// language or of generators that can be skipped ahead; the program stays as it is. None if they do more.
pub(crate) fn split_time(program: &Program, lanes: u32) -> Option<LaneLayout> {
    let steps = time::split(program)?;
    Some(LaneLayout {
        lanes,
        accumulated: steps.accumulated,
        skipped: steps.skipped,
        ..LaneLayout::default()
    })
}

/// The estimated effect of splitting a program over this many lanes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Estimate {
    /// Number of lanes.
    pub(crate) lanes: u32,
    /// Instructions that each lane runs per step (or once, in a model without steps).
    pub(crate) work: f64,
    /// Operations of the unit for special functions among them; none where the steps are split over lanes, as
    /// no lane waits for another's.
    pub(crate) special: f64,
    /// Is most of it one long loop over inputs or data, bound by memory?
    pub(crate) streams: bool,
    /// And are they inputs, which each agent has of its own?
    pub(crate) streams_inputs: bool,
    /// Do lanes exchange only a few values after much work?
    pub(crate) seldom_exchanges: bool,
    /// Do lanes read elements of one another?
    pub(crate) shuffles: bool,
}

/// The estimate for each number of lanes on a device with such subgroups, one lane first; fewer where nothing
/// can be split.
pub(crate) fn estimates(lowered: &Program, optimised: &Program, subgroup: u32) -> Vec<Estimate> {
    let mut program = lowered.clone();
    prepare(&mut program);
    let survey = Survey::of(&program, None);
    let time = time::split(optimised);
    let one = Estimate {
        lanes: 1,
        work: survey.total,
        special: if time.is_some() { 0.0 } else { survey.special },
        streams: false,
        streams_inputs: false,
        seldom_exchanges: true,
        shuffles: false,
    };
    let split = [2, 4, 8, 16, 32, 64, 128].into_iter().filter_map(|lanes| {
        if let Some(steps) = &time {
            let ahead = steps.skipped.len() as f64 * SKIP;
            return Some(Estimate {
                lanes,
                // The lanes are combined once a run, and each begins and ends like an agent of its own.
                work: (survey.total + ahead) / f64::from(lanes),
                special: 0.0,
                streams: false,
                streams_inputs: false,
                seldom_exchanges: true,
                shuffles: false,
            });
        }
        let groups = chosen(&survey, lanes, subgroup);
        let saved = groups
            .iter()
            .map(|group| gain(&survey, group, lanes, subgroup));
        let saved: f64 = saved.sum();
        let spared = |at: &usize| {
            let known = &survey.loops[*at];
            let iterations = f64::from(known.iterations) * (1.0 - 1.0 / f64::from(lanes));
            known.runs * known.special * iterations
        };
        let loops = groups.iter().flat_map(|group| &group.loops);
        let spared: f64 = loops.map(spared).sum();
        let long =
            |group: &Group, at: usize| survey.split_loop(group, at).sharing != Sharing::Parts;
        let any_long = |which: &dyn Fn(usize) -> bool| {
            let any = |group: &Group| group.loops.iter().any(|&at| long(group, at) && which(at));
            saved > survey.total / 2.0 && groups.iter().any(any)
        };
        let streams = any_long(&|_| true);
        (!groups.is_empty()).then_some(Estimate {
            lanes,
            work: survey.total - saved,
            special: survey.special - spared,
            streams,
            streams_inputs: any_long(&|at| survey.loops[at].loads_inputs),
            seldom_exchanges: streams,
            shuffles: groups.iter().any(|group| !group.shuffles.is_empty()),
        })
    });
    std::iter::once(one).chain(split).collect()
}

/// The groups of loops that are worth splitting, none inside another's loops.
fn chosen(survey: &Survey, lanes: u32, subgroup: u32) -> Vec<Group> {
    let shuffled = match SHUFFLES && lanes <= subgroup {
        true => survey.shuffled(lanes),
        false => Vec::new(),
    };
    let mut groups: Vec<(f64, Group)> = (survey.groups().into_iter())
        .chain(shuffled)
        .filter(|group| survey.can_share(group, lanes))
        .filter(|group| lanes <= subgroup || !survey.exchanges_in_branches(group))
        .map(|group| (gain(survey, &group, lanes, subgroup), group))
        .filter(|(gain, _)| *gain > 0.0)
        .collect();
    groups.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut taken = Taken::default();
    for (_, group) in groups {
        taken.take(survey, group);
    }
    taken.groups
}

/// Instructions per step that splitting a group saves each lane.
fn gain(survey: &Survey, group: &Group, lanes: u32, subgroup: u32) -> f64 {
    let halvings = lanes.min(subgroup).trailing_zeros();
    let exchanges = exchanges(lanes / lanes.min(subgroup)).count() as u32;
    let talking = f64::from(SHUFFLE * halvings + EXCHANGE * exchanges);
    let mut saved = 1.0 - 1.0 / f64::from(lanes);
    if survey.splits_rows(group, lanes) {
        saved *= UNALIGNED;
    }
    let loops = group.loops.iter().map(|&at| {
        let known = &survey.loops[at];
        let combining = known.accumulators.len() as f64 * talking;
        known.runs * (known.nodes * f64::from(known.iterations) * saved - combining)
    });
    loops.sum::<f64>()
        - group
            .shuffles
            .iter()
            .map(|(_, instructions)| instructions)
            .sum::<f64>()
}

/// How this many parts are combined through workgroup memory, one barrier each time: as sums of how many, at
/// which stride. If they are few, every lane reads them all; if many, it is done twice.
pub(crate) fn exchanges(parts: u32) -> impl Iterator<Item = (u32, u32)> {
    let first = match parts {
        0..=8 => parts,
        _ => 1 << parts.trailing_zeros().div_ceil(2),
    };
    let stages = [(first, 1), (parts / first, first)];
    stages.into_iter().filter(|(count, _)| *count > 1)
}

/// Brings a program into the form that the survey reads.
fn prepare(program: &mut Program) {
    for pass in [split_deep::run, propagate::run, dce::run] {
        pass(program);
    }
    program.each_section(|program, place, block| {
        if place.is_of_agent() {
            start_sums_at_zero(program, block);
        }
    });
}

/// `sum(array)` begins with the first element. Makes it begin with the neutral element instead, so that its
/// loop is over all elements like any other.
fn start_sums_at_zero(program: &mut Program, block: &mut Block) {
    for stmt in block.iter_mut() {
        for inner in stmt.blocks_mut() {
            start_sums_at_zero(program, inner);
        }
    }
    for at in 1..block.len() {
        let (before, rest) = block.split_at_mut(at);
        let (
            Some(Stmt::Var {
                var,
                value: Some(first),
            }),
            Some(Stmt::For {
                index, start, body, ..
            }),
        ) = (before.last_mut(), rest.first_mut())
        else {
            continue;
        };
        let Expr::Element { array, index: zero } = program[*first] else {
            continue;
        };
        let [
            Stmt::Assign {
                var: target,
                value: sum,
            },
        ] = body.as_slice()
        else {
            continue;
        };
        let Some((op, read)) = accumulation(program, *target, *sum) else {
            continue;
        };
        let subtracts = matches!(program[*sum], Expr::Binary(BinaryOp::Subtract, ..));
        let ([next], false) = (read.as_slice(), subtracts) else {
            continue;
        };
        let of_index = matches!(program[*next], Expr::Element { array: other, index: at }
            if other == array && program[at] == Expr::Read(*index));
        if target != var
            || !of_index
            || literal_i32(program, zero) != Some(0)
            || literal_i32(program, *start) != Some(1)
        {
            continue;
        }
        let neutral = neutral(op, program[*var].ty);
        program[*first] = Expr::Literal(neutral);
        program[*start] = Expr::Literal(Value::I32(0));
    }
}

/// The operators that lanes can combine their shares by.
const COMBINED: [(BinaryOp, LaneOp); 5] = [
    (BinaryOp::Add, LaneOp::Sum),
    (BinaryOp::Subtract, LaneOp::Sum),
    (BinaryOp::Multiply, LaneOp::Product),
    (BinaryOp::Or, LaneOp::Any),
    (BinaryOp::And, LaneOp::All),
];

/// If a value is `var op other`, or that under a condition and else `var`: how lanes combine it, and what
/// else it reads.
fn accumulation(program: &Program, var: VarId, value: ExprId) -> Option<(LaneOp, Vec<ExprId>)> {
    let itself = |id: ExprId| program[id] == Expr::Read(var);
    if let Expr::Select {
        condition,
        accept,
        reject,
    } = program[value]
    {
        let other = match (itself(accept), itself(reject)) {
            (true, false) => reject,
            (false, true) => accept,
            (true, true) | (false, false) => return None,
        };
        let (op, mut read) = accumulation(program, var, other)?;
        read.push(condition);
        return Some((op, read));
    }
    let op = if let Expr::Binary(op, ..) = program[value] {
        COMBINED.iter().find(|(known, _)| *known == op)?.1
    } else if let Expr::Builtin(builtin, _) = program[value] {
        match builtin {
            BuiltinId::MIN => LaneOp::Least,
            BuiltinId::MAX => LaneOp::Most,
            _ => return None,
        }
    } else {
        return None;
    };
    let [a, b] = program[value].operands()[..] else {
        return None;
    };
    let ty = program[var].ty;
    if program.type_of(a) != ty || program.type_of(b) != ty {
        return None;
    }
    let subtracts = matches!(program[value], Expr::Binary(BinaryOp::Subtract, ..));
    match (itself(a), itself(b)) {
        (true, _) => Some((op, vec![b])),
        (false, true) if subtracts => None,
        (false, true) => Some((op, vec![a])),
        (false, false) => None,
    }
}

/// The neutral element of a reduction.
pub(crate) fn neutral(op: LaneOp, ty: Type) -> Value {
    let floats = |x: f32| Value::from_floats(&vec![x; ty.components()]);
    match (op, ty) {
        (LaneOp::Any, _) => Value::Bool(false),
        (LaneOp::All, _) => Value::Bool(true),
        (LaneOp::Sum, Type::I32 | Type::U32) => Value::zero(ty),
        (LaneOp::Sum, _) => floats(-0.0),
        (LaneOp::Product, Type::I32) => Value::I32(1),
        (LaneOp::Product, Type::U32) => Value::U32(1),
        (LaneOp::Product, _) => floats(1.0),
        (LaneOp::Least, Type::I32) => Value::I32(i32::MAX),
        (LaneOp::Least, Type::U32) => Value::U32(u32::MAX),
        (LaneOp::Least, _) => floats(f32::INFINITY),
        (LaneOp::Most, Type::I32) => Value::I32(i32::MIN),
        (LaneOp::Most, Type::U32) => Value::U32(0),
        (LaneOp::Most, _) => floats(f32::NEG_INFINITY),
    }
}

/// Elements of an array, if their number is known.
fn elements(len: Len) -> Option<u32> {
    match len {
        Len::Fixed(count) => Some(count),
        Len::One | Len::Open { .. } => None,
    }
}
