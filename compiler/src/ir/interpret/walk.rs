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
    // What a world stores at its end. Nobody reads it: it may have fewer digits than `R`.
    states: Vec<u32>,
    outputs: Vec<u32>,
    world_states: Vec<u32>,
    world_outputs: Vec<u32>,
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
                machine.loads_inputs = false;
                Kind::World(machine)
            }
        };
        let zeros =
            |vars: &[VarId], rows: u32| vec![0_u32; (program.row_words(vars) * rows) as usize];
        Walk {
            program,
            machine,
            members: count as usize,
            progress: vec![Progress::default(); count as usize],
            states: zeros(&program.states, count),
            outputs: zeros(&program.outputs, count),
            world_states: zeros(&program.world_states, 1),
            world_outputs: zeros(&program.world_outputs, 1),
        }
    }

    /// How many agents walk together.
    pub fn members(&self) -> usize {
        self.members
    }

    /// Begins with an agent or a world: its number, and the words in the rows of its inputs, or none for
    /// those that the model computes.
    ///
    /// # Errors
    /// What ended the run early.
    pub fn begin(&mut self, number: u32, inputs: &Inputs<'_>) -> Result<(), Fault> {
        self.progress.fill(Progress::default());
        let (program, members) = (self.program, self.members);
        let first = number * members as u32;
        for member in 0..members {
            let row = inputs.row(member, members);
            let lane = self.lane(member);
            for &input in inputs.absent {
                lane.input_default(input, first + member as u32);
            }
            if !row.is_empty() {
                lane.load_given(&program.inputs, row, inputs.given);
            }
            if !inputs.world.is_empty() {
                lane.load(&program.world_inputs, inputs.world);
            }
        }
        match &mut self.machine {
            Kind::Agent(machine) => machine.begin(number, None, None),
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
            Kind::Agent(machine) => machine.finish(&mut self.outputs),
            Kind::World(_) => self.world(|machine, rows| {
                machine.finish(rows)?;
                machine.store(rows);
                Ok(())
            }),
        }
    }

    /// The numbers that a member has for a variable, which is no table. Those of every type are `f64` without
    /// rounding. Outputs are there once they are computed; states and outputs of a world are those of any
    /// member.
    pub fn numbers(&mut self, member: usize, var: VarId) -> Vec<f64> {
        let mut numbers = Vec::new();
        for value in self.values(member, var) {
            match value {
                Value::I32(x) => numbers.push(f64::from(*x)),
                Value::U32(x) => numbers.push(f64::from(*x)),
                Value::Bool(x) => numbers.push(f64::from(u8::from(*x))),
                Value::F32(_) | Value::Vec2(_) | Value::Vec3(_) | Value::Vec4(_) => {
                    numbers.extend(value.floats().iter().map(|x| x.to_f64()));
                }
            }
        }
        numbers
    }

    /// Have all agents stopped, so that no step changes anything?
    pub fn is_over(&self) -> bool {
        let busy = matches!(&self.machine, Kind::World(world) if world.is_busy());
        !busy && self.progress.iter().all(|progress| progress.stopped)
    }

    fn world<T>(
        &mut self,
        act: impl FnOnce(&mut WorldMachine<'a, F, R>, &mut WorldRows<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let Kind::World(machine) = &mut self.machine else {
            unreachable!("internal error: an agent alone is no world");
        };
        let mut rows = WorldRows {
            inputs: &[],
            states: &mut self.states,
            outputs: &mut self.outputs,
            progress: &mut self.progress,
            world_inputs: &[],
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
    /// The rows of its agents; empty if none is given.
    pub rows: &'a [u32],
    /// By word of a row, whether the launch gives it.
    pub given: &'a [bool],
    /// The row of the world.
    pub world: &'a [u32],
    /// The inputs of agents that the model computes: numbers of the program's `input_defaults`.
    pub absent: &'a [usize],
}

impl Inputs<'_> {
    fn row(&self, member: usize, members: usize) -> &[u32] {
        let stride = self.rows.len() / members;
        &self.rows[member * stride..][..stride]
    }
}
