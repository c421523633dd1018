//! The reference interpreter of the IR: one agent at a time, as simple as possible. It defines the meaning of
//! the language and is the oracle of the tests.
//!
//! [`Launch`] describes a run, and [`Launch::prepare`] lays out its variables once. Then a [`Machine`] runs
//! single agents, or [`Interpreter::run`] runs a population on all cores. A run can be split into ranges of
//! steps, as on a GPU: states are stored in their words in between, and the results keep their bits.

mod drive;
mod machine;
mod plan;

pub use drive::Agents;
pub use machine::Machine;

use super::{Cancelled, Control, Progress};
use plan::Plan;
use sim_compiler::{
    ir::{Program, Value},
    manifest::Manifest,
    random::Generator,
};

/// A run: a compiled model and the values of one launch.
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
    /// The value of `agents` in the model.
    pub population: u32,
    /// The value of `steps` in the model.
    pub steps: u32,
    /// The words of the kernel's uniform block, which has the params.
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
    /// Lays out the variables, once for all agents.
    pub fn prepare(self) -> Interpreter<'a> {
        Interpreter {
            plan: Plan::new(&self),
            launch: self,
        }
    }
}

impl<'a> Interpreter<'a> {
    /// Bytes that the variables of one agent take while it runs.
    pub fn bytes(&self) -> u64 {
        self.plan.slots as u64 * size_of::<Value>() as u64
    }

    /// A machine, which runs one agent after another; one per thread.
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
