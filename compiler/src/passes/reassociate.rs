//! What a GPU gains where floats need not be rounded as a model writes them: [`super::quotients`], [`super::exponentials`],
//! [`super::factors`], [`super::chains`] and [`super::reciprocals`], what cleans up after them, [`super::weights`],
//! [`super::inverses`], and, by how many agents run, [`super::late`] and [`super::outcomes`] or
//! [`super::interleave`].
//!
//! Law: every float is what it was but for the order of its sums and for some roundings; all else is the
//! same to the bit. So no pass of the pipeline, but a choice of a kernel's schedule.

use super::{
    chains, exponentials, factors, interleave, inverses, late, outcomes, quotients, reciprocals,
    split_deep, weights,
};
use crate::ir::Program;

/// The passes of the pipeline that clean up: values that no longer change during the time loop leave it.
const CLEANING: [&str; 8] = [
    "propagate",
    "licm",
    "cse",
    "propagate",
    "dce",
    "inline_lets",
    "split_deep",
    "compact",
];

/// What the time of a step is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// Waiting, while nobody else has anything to compute.
    Idle,
    /// Waiting: few agents run, and each step waits for its own values.
    Latency,
    /// The unit for special functions.
    Special,
    /// All other instructions.
    Issue,
}

/// What was changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    /// Quotients and bounds of exponentials that are simpler now.
    pub(crate) exponentials: u32,
    /// Places where constant factors have moved.
    pub(crate) factors: u32,
    /// Sums that have become chains.
    pub(crate) sums: u32,
    /// Divisions whose divisor held one.
    pub(crate) quotients: u32,
    /// Pairs of divisions that share a reciprocal.
    pub(crate) pairs: u32,
    /// Constants that went into weights.
    pub(crate) weights: u32,
    /// Reciprocals in place of divisions.
    pub(crate) inverses: u32,
    /// Sums that add up what is known last at last.
    pub(crate) late: u32,
    /// Choices whose outcomes are computed before they are known.
    pub(crate) outcomes: u32,
}

/// An optimised program, changed for a device that knows infinities or may not; none if there is nothing to change. Pairs relieve the unit for special functions
/// and cost instructions; divisions that hold none are waited for once, and let more of them be paired.
pub(crate) fn reassociate(
    program: &Program,
    bound: Bound,
    has_infinities: bool,
) -> Option<(Program, Changes)> {
    let mut program = program.clone();
    let waits = matches!(bound, Bound::Idle | Bound::Latency);
    let mut changes = Changes {
        quotients: match bound {
            Bound::Idle | Bound::Latency | Bound::Special => quotients::run(&mut program),
            Bound::Issue => 0,
        },
        exponentials: exponentials::run(&mut program),
        factors: factors::run(&mut program),
        sums: chains::run(&mut program),
        pairs: 0,
        weights: 0,
        inverses: 0,
        late: 0,
        outcomes: 0,
    };
    split_deep::run(&mut program);
    let plain = program.clone();
    let mut written_out = false;
    match bound {
        Bound::Special => changes.pairs = reciprocals::run(&mut program),
        // So that the constants of functions, too, can go into weights.
        Bound::Idle | Bound::Latency | Bound::Issue if program.shared_time.is_empty() => {
            written_out = reciprocals::write_out(&mut program, has_infinities)
        }
        Bound::Idle | Bound::Latency | Bound::Issue => {}
    }
    // Written out for nothing, what holds divisions only makes a text longer.
    if bound == Bound::Special && changes.pairs == 0 {
        program = plain.clone();
    }
    // Else it is as clean as it was.
    if changes != Changes::default() || written_out {
        clean(&mut program);
    }
    if program.shared_time.is_empty() {
        changes.weights = weights::run(&mut program, waits);
        if written_out && changes.weights == 0 {
            program = plain;
            clean(&mut program);
        }
        changes.inverses = inverses::run(&mut program, waits);
        if waits {
            changes.late = late::run(&mut program);
        }
        if bound == Bound::Idle {
            changes.outcomes = outcomes::run(&mut program);
        }
    }
    if changes == Changes::default() {
        return None;
    }
    match (bound, changes.pairs) {
        (Bound::Idle | Bound::Latency, _) => {}
        (Bound::Special | Bound::Issue, 0) => {
            interleave::run(&mut program, interleave::TOGETHER_UNPAIRED);
        }
        (Bound::Special | Bound::Issue, _) => interleave::run(&mut program, interleave::TOGETHER),
    }
    #[cfg(debug_assertions)]
    if let Err(broken) = crate::ir::verify::verify(&program) {
        panic!("reassociating broke the IR: {broken}");
    }
    Some((program, changes))
}

fn clean(program: &mut Program) {
    // Where lanes share out the steps, the accumulated states are known by their numbers, and their lanes
    // begin with other values than `init` says: no other pass may run.
    if !program.shared_time.is_empty() {
        split_deep::run(program);
        return;
    }
    for name in CLEANING {
        let pass = super::PIPELINE.iter().find(|pass| pass.name == name);
        (pass.expect("the pipeline has that pass").run)(program);
    }
}
