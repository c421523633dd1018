//! The optimiser: passes over the IR, each a small file with its law on top, and their order.
//!
//! Every pass leaves each state and output the same to the bit (a NaN stays a NaN; its payload is free):
//! no reassociation of floats, no `x + 0.0` to `x`. A pass may assume and must keep the invariants of
//! [`crate::ir`]. A variable whose span is empty was made by the compiler: its name may vanish.

mod accumulators;
mod algebra;
mod bound;
mod chains;
mod compact;
mod cse;
mod dce;
mod exponentials;
mod factors;
pub(crate) mod fences;
mod fold;
mod free_sums;
mod if_to_select;
mod inline_lets;
mod interleave;
mod intervals;
mod inverses;
pub(crate) mod lanes;
mod late;
mod licm;
mod names;
mod outcomes;
pub mod per_step;
mod personal;
mod propagate;
mod quotients;
mod range;
pub(crate) mod reassociate;
mod reciprocals;
mod rewrite;
mod scalarise;
mod shape;
mod split_deep;
mod ssa;
mod terms;
#[cfg(test)]
mod tests;
mod times;
mod unroll;
mod weights;

use crate::ir::Program;

/// A step of the optimiser.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// What it is called in tests and reports: its file's name.
    pub name: &'static str,
    /// What it does to the program.
    pub run: fn(&mut Program),
}

/// The passes in the order in which they run.
pub static PIPELINE: &[Pass] = &[
    pass("split_deep", split_deep::run),
    pass("propagate", propagate::run),
    pass("dce", dce::run),
    pass("unroll", unroll::run),
    pass("compact", compact::run),
    pass("scalarise", scalarise::run),
    pass("if_to_select", if_to_select::run),
    pass("ssa", ssa::run),
    pass("propagate", propagate::run),
    pass("range", range::run),
    pass("dce", dce::run),
    pass("licm", licm::run),
    // After `licm`: the same value hoisted from two places is one value.
    pass("cse", cse::run),
    pass("propagate", propagate::run),
    pass("dce", dce::run),
    pass("inline_lets", inline_lets::run),
    pass("split_deep", split_deep::run),
    pass("compact", compact::run),
];

const fn pass(name: &'static str, run: fn(&mut Program)) -> Pass {
    Pass { name, run }
}

/// Drops what a program does not use.
pub(crate) fn compact(program: &mut Program) {
    compact::run(program);
}

/// Runs the whole pipeline.
///
/// # Panics
/// In debug builds, if a pass breaks an invariant of the IR.
pub fn optimise(program: &mut Program) {
    for pass in PIPELINE {
        (pass.run)(program);
        #[cfg(debug_assertions)]
        if let Err(broken) = crate::ir::verify::verify(program) {
            panic!("pass `{}` broke the IR: {broken}", pass.name);
        }
    }
}
