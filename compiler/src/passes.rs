//! The optimiser: passes over the IR, each a small file with its invariant on top, and their order.
//!
//! Every pass leaves each state and output the same to the bit (a NaN stays a NaN; its payload may change):
//! no reassociation of floats, no `x + 0.0` to `x`. A pass may assume and must keep the invariants of
//! [`crate::ir`]. A variable whose span is empty was made by the compiler: its name may be dropped.

mod algebra;
mod compact;
mod cse;
pub(crate) mod dce;
pub(crate) mod fold;
mod if_to_select;
pub(crate) mod inline_lets;
mod licm;
pub(crate) mod names;
pub(crate) mod propagate;
mod range;
pub(crate) mod rewrite;
mod scalarise;
pub(crate) mod shape;
pub(crate) mod split_deep;
mod ssa;
#[cfg(test)]
pub(crate) mod tests;
mod unroll;

use crate::ir::{Program, verify::debug_verify};

/// A pass of the optimiser.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// Its name in tests and reports: that of its file.
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
    // After `licm`: a value hoisted from two places gets one name.
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

/// Removes what a program does not use.
pub(crate) fn compact(program: &mut Program) {
    compact::run(program);
}

/// Runs the whole pipeline.
///
/// # Panics
/// In debug builds, if a pass breaks an invariant of the IR.
pub fn optimise(program: &mut Program) {
    program.texts.clear();
    for pass in PIPELINE {
        (pass.run)(program);
        debug_verify(program, pass.name);
    }
}
