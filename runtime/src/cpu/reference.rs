//! The reference interpreter of the IR: one agent at a time, obviously right. It is the meaning of the
//! language and the oracle of all tests.
//!
//! [`Launch`] says what to run, [`Launch::prepare`] lays its variables out once, and then either a
//! [`Machine`] runs single agents or [`Interpreter::run`] a population on all cores. A run may be split
//! into ranges of steps as on a GPU: the states travel in their words and the results are the same to the
//! bit.

mod drive;
mod machine;
mod plan;

pub use drive::Agents;
pub use machine::Machine;

use super::{Cancelled, Control, Progress};
use plan::Plan;
use sim_compiler::{ir::Program, manifest::Manifest, random::Generator};

/// What to run: a compiled model and the values of one launch.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// The model; `ir::verify` accepts it.
    pub program: &'a Program,
    /// Its manifest, for the lengths of the agents' rows.
    pub manifest: &'a Manifest,
    /// The generator of its random words.
    pub generator: Generator,
    /// The seed of all draws.
    pub seed: u64,
    /// What the model calls `agents`.
    pub population: u32,
    /// What the model calls `steps`.
    pub steps: u32,
    /// The words of the kernel's uniform block, of which the params are read.
    pub uniform: &'a [u32],
    /// The words of each table of `program.data`, in that order; at least one row each.
    pub data: &'a [&'a [u32]],
}

/// A launch that is ready to run.
pub struct Interpreter<'a> {
    launch: Launch<'a>,
    plan: Plan,
}

impl<'a> Launch<'a> {
    /// Lays the variables out, once for all agents.
    pub fn prepare(self) -> Interpreter<'a> {
        Interpreter {
            plan: Plan::new(&self),
            launch: self,
        }
    }
}

impl<'a> Interpreter<'a> {
    /// A machine that runs one agent after another; one per thread.
    pub fn machine(&self) -> Machine<'_> {
        Machine::new(&self.launch, &self.plan)
    }

    /// The launch that was prepared.
    pub fn launch(&self) -> &Launch<'a> {
        &self.launch
    }
}

#[cfg(test)]
mod tests;
