//! The meaning of the IR: an interpreter that runs one agent at a time, as simple as possible. Backends,
//! passes and rewrites are compared with it.
//!
//! [`Interpreter::new`] lays out the variables of a program for one launch. Then each [`Machine`] runs
//! agents, one after another. A run can be split into ranges of steps, as on a GPU: states are stored in
//! their words in between, and the results keep their bits.
//!
//! It is pure: no input or output, no threads. What ends a run early is a [`Fault`]; a program that `verify`
//! refuses is a panic.
//!
//! # Lanes
//!
//! An agent may be split over several lanes. They run the same statements, each with variables of its own,
//! and differ in [`Launch::Lane`] and what follows from it. [`Expr::AcrossLanes`] gives all of them the
//! values that they have for its operand, combined as a balanced tree: the two halves of the lanes first,
//! each in the same way.
//!
//! No lane sees another one's variables elsewhere. So a statement without `AcrossLanes` runs lane by lane,
//! from its beginning to its end. One that contains `AcrossLanes`, at any depth, runs in lock-step: its
//! conditions and bounds must have the same values in all lanes, and all lanes must go on to the same
//! statement after each of its statements, as after each one of `init`, `step` and `finish`. On a device,
//! lanes that did not would wait for others that never come, or combine values that do not belong together;
//! here it is [`Fault::Diverged`].

//!
//! # Worlds
//!
//! A [`WorldMachine`] runs the agents of a world together, each as a lane with variables of its own. A phase
//! of agents runs agent by agent; before each phase the values that [`Expr::Other`] reads are copied. In a
//! phase of the world the agents are in lock-step around [`Expr::AcrossWorld`], as lanes are.

mod lane;
mod machine;
mod plan;
mod walk;
mod world;

#[cfg(doc)]
use super::{Expr, Launch};
use super::{Program, RealType, Value};
use crate::{builtin::real::Real, random::Generator};
use lane::Lane;
pub use machine::Machine;
#[cfg(test)]
pub(crate) use machine::combined;
use plan::Plan;
pub use walk::{Inputs, Walk};
pub use world::{WorldMachine, WorldRows};

/// The values of a launch, beside its program.
#[derive(Clone, Copy, Debug)]
pub struct LaunchValues<'a> {
    /// The generator of the random words.
    pub generator: Generator,
    /// The seed of all draws.
    pub seed: u64,
    /// The value of `agents` in the model.
    pub population: u32,
    /// The value of `steps` in the model.
    pub steps: u32,
    /// The value of `len(world)` in the model, a divisor of the population; of no meaning without worlds.
    pub members: u32,
    /// The words of the kernel's uniform block, which has the params.
    pub uniform: &'a [u32],
    /// The words of each table of `program.data`, in that order; at least one row each.
    pub data: &'a [&'a [u32]],
}

/// The progress of an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The number of steps that it ran, including the one in which it stopped.
    pub steps: u32,
    /// Whether it stopped.
    pub stopped: bool,
}

/// Why a run ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It was cancelled.
    Cancelled,
    /// The lanes of an agent diverged around an [`Expr::AcrossLanes`]: the program was split wrongly.
    Diverged,
}

/// A launch that is ready to run.
pub struct Interpreter<'a> {
    program: &'a Program,
    values: LaunchValues<'a>,
    plan: Plan,
}

impl<'a> Interpreter<'a> {
    /// Lays out the variables of a program, which `verify` accepts, once for all agents.
    pub fn new(program: &'a Program, values: LaunchValues<'a>) -> Self {
        Interpreter {
            program,
            values,
            plan: Plan::new(program, values.data),
        }
    }

    /// Bytes that the variables of one lane take while it runs with floats of type `R`.
    pub fn bytes<R>(&self) -> u64 {
        self.plan.slots as u64 * size_of::<Value<R>>() as u64
    }

    /// The machine type of the program's floats. Modules for browsers, which load no program in `f64`, have
    /// no interpreter in `f64`.
    pub fn real(&self) -> RealType {
        match cfg!(sim_web) {
            true => RealType::F32,
            false => self.program.real,
        }
    }

    /// Does the program need a [`WorldMachine`]?
    pub fn has_worlds(&self) -> bool {
        self.program.has_worlds()
    }

    /// A machine for worlds of so many agents: as many as the launch says, or for the last unit of a model
    /// without worlds fewer. It asks now and then whether it is `cancelled`.
    pub fn world_machine<F: Fn() -> bool + Copy>(
        &self,
        members: u32,
        cancelled: F,
    ) -> WorldMachine<'_, F> {
        self.world_machine_of(members, cancelled)
    }

    /// The same with floats of type `R`.
    pub fn world_machine_of<R: Real, F: Fn() -> bool + Copy>(
        &self,
        members: u32,
        cancelled: F,
    ) -> WorldMachine<'_, F, R> {
        let agents = (0..members).map(|_| Lane::new(self, 0, members == 1, cancelled));
        WorldMachine::new(self, agents.collect())
    }

    /// A machine for agents of `lanes` lanes, a power of two: 1, or what the program was split over. It asks
    /// now and then whether it is `cancelled`.
    pub fn machine<F: Fn() -> bool + Copy>(&self, lanes: u32, cancelled: F) -> Machine<'_, F> {
        self.machine_of(lanes, cancelled)
    }

    /// The same with floats of type `R`.
    pub fn machine_of<R: Real, F: Fn() -> bool + Copy>(
        &self,
        lanes: u32,
        cancelled: F,
    ) -> Machine<'_, F, R> {
        let lanes = (0..lanes).map(|number| Lane::new(self, number, false, cancelled));
        Machine::new(self, lanes.collect())
    }

    /// A walk of one agent, or of a world of so many `members` where agents meet, with floats of type `R`. It
    /// asks now and then whether it is `cancelled`.
    pub fn walk<R: Real, F: Fn() -> bool + Copy>(
        &self,
        members: Option<u32>,
        cancelled: F,
    ) -> Walk<'_, F, R> {
        Walk::new(self, members, cancelled)
    }
}

#[cfg(test)]
mod tests;
