//! The layout of the time loop: how many copies of the step an iteration has, and what runs only every so
//! many steps.

use super::{
    lane_layout::LaneLayout,
    lanes::outlives_stop,
    schedule::{Decision, MOST_COPIES, Occupancy, Schedule},
};
use crate::{
    ir::{
        BinaryOp, Expr, Launch, Program, Stmt,
        cost::{
            Amount,
            instructions::{Weight, Weights},
        },
    },
    passes::rewrite::literal_i32,
};

/// The time loop of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeLoop {
    /// Copies of the step in an iteration: a loop's own cost is a large part of a small step, and drivers
    /// overlap steps only within an iteration.
    pub(crate) copies: u32,
    /// The number of steps between checks whether all agents of a subgroup have stopped, if not after each.
    pub(crate) asks_every: Option<u32>,
    /// The step begins with an `if` that only steps take whose number is a multiple of this power of two. It
    /// stands before a loop over the steps up to the next multiple: in each copy of the step its branch would
    /// keep drivers from overlapping them.
    pub(crate) period: Option<u32>,
    /// An agent that has stopped continues without effect.
    pub(crate) outlives_stop: bool,
}

impl TimeLoop {
    /// The time loop of a program whose step begins with this many statements that do not run in the loop,
    /// and of which the samples of so many steps are combined together, if any are; and why it has its number
    /// of copies, where that was a choice.
    pub(crate) fn plan(
        program: &Program,
        layout: &LaneLayout,
        schedule: &Schedule,
        shared: usize,
        rows: Option<u32>,
    ) -> (TimeLoop, Option<Decision>) {
        let has_barriers = layout.lanes > schedule.subgroup;
        let outlives_stop = outlives_stop(program, layout, has_barriers);
        let asks_seldom = outlives_stop && schedule.occupancy != Occupancy::Full && !has_barriers;
        let first = program.phases.first();
        let period = match layout.splits_time() || asks_seldom {
            true => None,
            false => {
                (first.and_then(|block| block.get(shared))).and_then(|stmt| period(program, stmt))
            }
        };
        let skipped = shared + usize::from(period.is_some());
        let (copies, decision) = copies(program, skipped, schedule, rows);
        let copies = period.map_or(copies, |steps| 1 << copies.min(steps).ilog2());
        let until_asked = schedule.class.profile().copies.until_asked;
        let time_loop = TimeLoop {
            copies,
            asks_every: asks_seldom.then_some(until_asked),
            period,
            outlives_stop,
        };
        (time_loop, decision)
    }
}

/// How many copies of a step an iteration has, and why; the first `skipped` statements do not count.
fn copies(
    program: &Program,
    skipped: usize,
    schedule: &Schedule,
    rows: Option<u32>,
) -> (u32, Option<Decision>) {
    match schedule.unroll_steps {
        0 => {}
        asked => return (asked.min(MOST_COPIES), None),
    }
    let Some((first, others)) = program.phases.split_first() else {
        return (1, None);
    };
    let mut blocks = vec![&first[skipped..]];
    blocks.extend(others.iter().map(|phase| phase.as_slice()));
    if blocks.iter().all(|block| block.is_empty()) {
        return (1, None);
    }
    let weights = Weights::new(program, ());
    let weight = (blocks.iter()).fold(Weight::default(), |sum, block| {
        sum.and(weights.of_block(program, block))
    });
    let (size, full) = (weight.instructions, schedule.occupancy == Occupancy::Full);
    let known = schedule.class.profile().copies;
    let branches = !known.branches && blocks.iter().any(|block| has_branches(block));
    let copies = match size {
        _ if weight.loops || branches => 1,
        _ if size <= known.small.0 => rows.unwrap_or(known.small.1),
        // One loop less than with the usual copies: GBM and Lorenz's equations took 1 to 3 % less on an H100.
        _ if size <= known.medium.0 => rows.unwrap_or(known.medium.1),
        _ if size <= known.large.0 && full => known.large.1,
        _ if size <= known.latent.0 && schedule.reserve && !full => known.latent.1,
        _ => 1,
    };
    let why = match (weight.loops, branches) {
        (true, _) => "a step has loops of its own".to_owned(),
        (false, true) => {
            "drivers that compute on a CPU compile copies of branches slowly".to_owned()
        }
        (false, false) => format!("a step is about {size} instructions"),
    };
    let what = match copies {
        1 => "one step per iteration of the time loop".to_owned(),
        _ => format!("{copies} steps per iteration of the time loop"),
    };
    (copies, Some(Decision { what, why }))
}

fn has_branches(step: &[Stmt]) -> bool {
    step.iter().any(|stmt| matches!(stmt, Stmt::If { .. }))
}

/// The period of a statement that runs only in steps whose number is a multiple of a power of two.
pub(crate) fn period(program: &Program, stmt: &Stmt) -> Option<u32> {
    let Stmt::If {
        condition,
        accept,
        reject,
    } = stmt
    else {
        return None;
    };
    let integer = |id| literal_i32(program, id).and_then(|value| u32::try_from(value).ok());
    let Expr::Binary(BinaryOp::Equal, rest, zero) = program[*condition] else {
        return None;
    };
    let Expr::Binary(BinaryOp::BitAnd, number, mask) = program[rest] else {
        return None;
    };
    let is_step = matches!(program[number], Expr::Launch(Launch::Step));
    let steps = integer(mask)?.checked_add(1)?;
    let plain = (accept.iter()).all(|stmt| matches!(stmt, Stmt::Let { .. } | Stmt::Assign { .. }));
    (is_step && integer(zero) == Some(0) && steps.is_power_of_two() && reject.is_empty() && plain)
        .then_some(steps)
}
