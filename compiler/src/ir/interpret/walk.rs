//! One agent, or one world with its agents, step by step: with the values that its variables have after each
//! step, and a hash of what was decided in it. Floats are of type `R`. Nothing is sampled.

use super::{Fault, Interpreter, Progress, WorldMachine, WorldRows, lane::Lane, machine::Machine};
use crate::{
    builtin::real::Real,
    ir::{Program, Value, VarId},
};

/// An agent or a world on its way.
pub struct Walk<'a, F, R: Real> {
    program: &'a Program,
    machine: Kind<'a, F, R>,
    members: usize,
    progress: Vec<Progress>,
    inputs: Vec<R::Word>,
    states: Vec<R::Word>,
    outputs: Vec<R::Word>,
    world_inputs: Vec<R::Word>,
    world_states: Vec<R::Word>,
    world_outputs: Vec<R::Word>,
}

enum Kind<'a, F, R> {
    Agent(Machine<'a, F, R>),
    World(WorldMachine<'a, F, R>),
}

impl<'a, F: Fn() -> bool + Copy, R: Real> Walk<'a, F, R> {
    /// A walk for one agent, or where agents meet for worlds of so many.
    pub(super) fn new(
        interpreter: &'a Interpreter<'a>,
        members: Option<u32>,
        cancelled: F,
    ) -> Self {
        let program = interpreter.program;
        let count = members.unwrap_or(1);
        let alone = members == Some(1);
        let lanes = (0..count).map(|_| Lane::new(interpreter, 0, alone, cancelled));
        let machine = match members {
            None => Kind::Agent(Machine::new(interpreter, lanes.collect())),
            Some(_) => {
                let mut machine = WorldMachine::new(interpreter, lanes.collect());
                machine.samples = false;
                Kind::World(machine)
            }
        };
        let zeros = |vars: &[VarId], rows: u32| {
            vec![R::Word::default(); (program.row_words(vars) * rows) as usize]
        };
        Walk {
            program,
            machine,
            members: count as usize,
            progress: vec![Progress::default(); count as usize],
            inputs: zeros(&program.inputs, count),
            states: zeros(&program.states, count),
            outputs: zeros(&program.outputs, count),
            world_inputs: zeros(&program.world_inputs, 1),
            world_states: zeros(&program.world_states, 1),
            world_outputs: zeros(&program.world_outputs, 1),
        }
    }

    /// How many agents walk together.
    pub fn members(&self) -> usize {
        self.members
    }

    /// Begins with an agent or a world: its number, and the words of `f32` in the rows of its inputs, or none
    /// for those that the model computes: the numbers in `absent` of the program's `input_defaults`.
    /// `given` says which words of an agent's row are the launch's.
    ///
    /// # Errors
    /// What ended the run early.
    pub fn begin(&mut self, number: u32, inputs: &Inputs<'_>) -> Result<(), Fault> {
        self.progress.fill(Progress::default());
        let first = number * self.members as u32;
        let stride = self.inputs.len() / self.members;
        for member in 0..self.members {
            let row = &mut self.inputs[member * stride..][..stride];
            let agent = first + member as u32;
            let lanes = match &mut self.machine {
                Kind::Agent(machine) => machine,
                Kind::World(world) => &mut world.agents,
            };
            for &input in inputs.absent {
                lanes.input_default(input, agent, row);
            }
            widen::<R>(
                self.program,
                &self.program.inputs,
                inputs.row(member, stride),
                inputs.given,
                row,
            );
        }
        let world_inputs = &self.program.world_inputs;
        widen::<R>(
            self.program,
            world_inputs,
            inputs.world,
            &[],
            &mut self.world_inputs,
        );
        match &mut self.machine {
            Kind::Agent(machine) => machine.begin(number, &self.inputs, None),
            Kind::World(_) => self.world(|machine, rows| machine.begin(number, true, rows)),
        }
    }

    /// Runs one step. Agents that have stopped leave it out.
    ///
    /// # Errors
    /// What ended the run early.
    pub fn step(&mut self, step: u32) -> Result<(), Fault> {
        match &mut self.machine {
            Kind::Agent(machine) => {
                let progress = &mut self.progress[0];
                if !progress.stopped {
                    progress.steps += 1;
                    progress.stopped = machine.step(step)?;
                }
                Ok(())
            }
            Kind::World(_) => self.world(|machine, rows| machine.step(step, rows).map(|_| ())),
        }
    }

    /// Computes the outputs.
    ///
    /// # Errors
    /// What ended the run early.
    pub fn finish(&mut self) -> Result<(), Fault> {
        match &mut self.machine {
            Kind::Agent(machine) => {
                machine.finish(&mut self.outputs)?;
                machine.states(&mut self.states);
                Ok(())
            }
            Kind::World(_) => self.world(|machine, rows| {
                machine.finish(rows)?;
                machine.store(rows);
                Ok(())
            }),
        }
    }

    /// A member's row of outputs, once they are computed.
    pub fn outputs(&self, member: usize) -> &[R::Word] {
        let stride = self.outputs.len() / self.members;
        &self.outputs[member * stride..][..stride]
    }

    /// Its row of states then.
    pub fn states(&self, member: usize) -> &[R::Word] {
        let stride = self.states.len() / self.members;
        &self.states[member * stride..][..stride]
    }

    /// The row of the world's outputs then.
    pub fn world_outputs(&self) -> &[R::Word] {
        &self.world_outputs
    }

    /// Have all agents stopped, so that no step changes anything?
    pub fn is_over(&self) -> bool {
        let busy = matches!(&self.machine, Kind::World(world) if world.is_busy());
        !busy && self.progress.iter().all(|progress| progress.stopped)
    }

    fn world<T>(
        &mut self,
        act: impl FnOnce(&mut WorldMachine<'a, F, R>, &mut WorldRows<'_, R::Word>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let Kind::World(machine) = &mut self.machine else {
            unreachable!("internal error: an agent alone is no world");
        };
        let mut rows = WorldRows {
            inputs: &self.inputs,
            states: &mut self.states,
            outputs: &mut self.outputs,
            progress: &mut self.progress,
            world_inputs: &self.world_inputs,
            world_states: &mut self.world_states,
            world_outputs: &mut self.world_outputs,
        };
        act(machine, &mut rows)
    }

    fn lane(&mut self, member: usize) -> &mut Lane<'a, F, R> {
        match &mut self.machine {
            Kind::Agent(machine) => &mut machine.lanes[member],
            Kind::World(world) => &mut world.agents.lanes[member],
        }
    }

    /// How far a member is.
    pub fn progress(&self, member: usize) -> Progress {
        self.progress[member]
    }

    /// The values of a member's variable, which is no table: one, or the elements of an array. States and
    /// outputs of a world are those of any member.
    pub fn values(&mut self, member: usize, var: VarId) -> &[Value<R>] {
        self.lane(member).slots(var)
    }

    /// Counts from now on how often each `let`, `var` and loop of a member gives its variable a value.
    pub fn clear_counts(&mut self, member: usize) {
        let vars = self.program.vars.len();
        let counts = &mut self.lane(member).counts;
        counts.clear();
        counts.resize(vars, 0);
    }

    /// How often a `let`, a `var` or a loop gave the variable a value since the counts were cleared.
    pub fn count(&mut self, member: usize, var: VarId) -> u32 {
        self.lane(member).counts[var.0 as usize]
    }

    /// A hash of what a member decided since the last call: results of comparisons of floats and of
    /// conversions from them, conditions, and numbers of iterations. Two runs that decided the same have the
    /// same one.
    pub fn decisions(&mut self, member: usize) -> u64 {
        self.lane(member).take_decisions()
    }
}

/// What a launch gives to an agent or a world.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// The rows of its agents, words of `f32`; empty if none is given.
    pub rows: &'a [u32],
    /// By word of a row, whether the launch gives it.
    pub given: &'a [bool],
    /// The row of the world.
    pub world: &'a [u32],
    /// The inputs of agents that the model computes.
    pub absent: &'a [usize],
}

impl Inputs<'_> {
    fn row(&self, member: usize, stride: usize) -> &[u32] {
        self.rows
            .get(member * stride..)
            .map_or(&[], |rest| &rest[..stride.min(rest.len())])
    }
}

/// Copies the variables of a row of `f32` whose words are `given`; all where that says nothing.
fn widen<R: Real>(
    program: &Program,
    vars: &[VarId],
    from: &[u32],
    given: &[bool],
    to: &mut [R::Word],
) {
    if from.is_empty() {
        return;
    }
    for &var in vars {
        let width = program[var].ty.words() as usize;
        let first = program[var].word as usize;
        let end = program.row_words(&[var]) as usize;
        for word in (first..end).step_by(width) {
            if given.get(word).copied().unwrap_or(given.is_empty()) {
                let value = Value::from_words(program[var].ty, &from[word..]);
                R::store(value.map_floats(R::from_f32), &mut to[word..]);
            }
        }
    }
}
