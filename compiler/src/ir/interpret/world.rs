//! Runs the agents of a world together, phase by phase.

use super::{
    Fault, Interpreter, Progress,
    lane::{Flow, Lane},
    machine::Machine,
};
use crate::{
    builtin::real::Real,
    ir::{Block, Owner, Phase},
    random::{FINISH_STEP, INIT_STEP},
};
use std::{ops::Range, sync::Arc};

/// The rows of words of a world and of its agents, those of one agent after those of another.
#[derive(Debug)]
pub struct WorldRows<'a> {
    /// The inputs of the agents.
    pub inputs: &'a [u32],
    /// The states of the agents.
    pub states: &'a mut [u32],
    /// The outputs of the agents, and behind an agent's outputs its samples.
    pub outputs: &'a mut [u32],
    /// The progress of each agent.
    pub progress: &'a mut [Progress],
    /// The inputs of the world.
    pub world_inputs: &'a [u32],
    /// The states of the world.
    pub world_states: &'a mut [u32],
    /// The outputs of the world, and behind them its samples.
    pub world_outputs: &'a mut [u32],
}

/// Runs worlds of one launch, one after another. It asks `F` whether the run is cancelled.
pub struct WorldMachine<'a, F, R = f32> {
    interpreter: &'a Interpreter<'a>,
    /// Each agent is a lane.
    pub(super) agents: Machine<'a, F, R>,
    stopped: Vec<bool>,
    /// Does the world go on where all its agents have stopped?
    busy: bool,
    /// Are samples taken?
    pub(super) samples: bool,
    /// Are inputs in rows? Otherwise the agents' variables hold them.
    pub(super) loads_inputs: bool,
}

impl<'a, F: Fn() -> bool, R: Real> WorldMachine<'a, F, R> {
    pub(super) fn new(interpreter: &'a Interpreter<'a>, agents: Vec<Lane<'a, F, R>>) -> Self {
        let program = interpreter.program;
        WorldMachine {
            interpreter,
            busy: !program.samples.is_empty()
                || (program.phases.iter()).any(|phase| phase.owner == Owner::World),
            samples: true,
            loads_inputs: true,
            stopped: vec![false; agents.len()],
            agents: Machine::new(interpreter, agents),
        }
    }

    /// Runs a world over a range of steps: from `init` if the range starts at 0, otherwise from its rows; up
    /// to `finish` if the range ends with the run. Outputs are written at the end of the run only.
    ///
    /// # Errors
    /// What ended the run early.
    pub fn run(
        &mut self,
        world: u32,
        steps: Range<u32>,
        rows: &mut WorldRows<'_>,
    ) -> Result<(), Fault> {
        self.begin(world, steps.start == 0, rows)?;
        for step in steps.clone() {
            if !self.step(step, rows)? {
                break;
            }
        }
        if steps.end == self.interpreter.values.steps {
            self.finish(rows)?;
        }
        self.store(rows);
        Ok(())
    }

    /// Does the world go on where all its agents have stopped?
    pub(super) fn is_busy(&self) -> bool {
        self.busy
    }

    /// Runs one step, unless all agents have stopped and the world has nothing to do: then `false`.
    pub(super) fn step(&mut self, step: u32, rows: &mut WorldRows<'_>) -> Result<bool, Fault> {
        let program = self.interpreter.program;
        for (agent, progress) in self.agents.lanes.iter_mut().zip(&mut *rows.progress) {
            agent.begin_step(step).ok_or(Fault::Cancelled)?;
            progress.steps += u32::from(!progress.stopped);
        }
        if self.stopped.iter().all(|&stopped| stopped) && !self.busy {
            return Ok(false);
        }
        for phase in &program.phases {
            self.phase(phase, step, true)?;
        }
        self.samples(step + 1, rows)?;
        for (stopped, progress) in self.stopped.iter().zip(&mut *rows.progress) {
            progress.stopped = *stopped;
        }
        Ok(true)
    }

    /// Begins with a world, at its initialisation or with its states.
    pub(super) fn begin(
        &mut self,
        world: u32,
        born: bool,
        rows: &mut WorldRows<'_>,
    ) -> Result<(), Fault> {
        let program = self.interpreter.program;
        let members = self.stopped.len();
        let first = world * self.interpreter.values.members;
        let inputs = rows.inputs.len() / members;
        let states = rows.states.len() / members;
        for (member, agent) in self.agents.lanes.iter_mut().enumerate() {
            agent.begin_agent(first + member as u32);
            if self.loads_inputs {
                agent.load(&program.inputs, &rows.inputs[member * inputs..][..inputs]);
                agent.load(&program.world_inputs, rows.world_inputs);
            }
            if born {
                rows.progress[member] = Progress::default();
                agent.clear(&program.states);
                agent.clear(&program.world_states);
                agent.begin_draws(INIT_STEP);
                completed(agent, &program.init)?;
            } else {
                agent.load(&program.states, &rows.states[member * states..][..states]);
                agent.load(&program.world_states, rows.world_states);
            }
            completed(agent, &program.prologue)?;
            self.stopped[member] = rows.progress[member].stopped;
        }
        match born {
            true => self.samples(0, rows),
            false => Ok(()),
        }
    }

    /// Computes the outputs.
    pub(super) fn finish(&mut self, rows: &mut WorldRows<'_>) -> Result<(), Fault> {
        let program = self.interpreter.program;
        for agent in &mut self.agents.lanes {
            agent.clear(&program.outputs);
            agent.clear(&program.world_outputs);
        }
        for phase in &program.ends {
            self.phase(phase, FINISH_STEP, false)?;
        }
        self.publish();
        let outputs = rows.outputs.len() / self.stopped.len();
        for (member, agent) in self.agents.lanes.iter_mut().enumerate() {
            agent.begin_draws(FINISH_STEP);
            completed(agent, &program.finish)?;
            agent.store(
                &program.outputs,
                &mut rows.outputs[member * outputs..][..outputs],
            );
        }
        self.agents.lanes[0].store(&program.world_outputs, rows.world_outputs);
        Ok(())
    }

    /// Takes the samples that are due after so many steps.
    fn samples(&mut self, done: u32, rows: &mut WorldRows<'_>) -> Result<(), Fault> {
        if !self.samples {
            return Ok(());
        }
        let program = self.interpreter.program;
        let outputs = rows.outputs.len() / self.stopped.len();
        let mut first = program.row_words(&program.outputs) as usize;
        let mut world_first = program.row_words(&program.world_outputs) as usize;
        for sample in &program.samples {
            let [words, world_words] = [&sample.records, &sample.world_records]
                .map(|list| program.row_words(list) as usize);
            if done.is_multiple_of(sample.every) {
                self.publish();
                self.agents.section(&sample.body, done)?;
                let at = (done / sample.every) as usize;
                for (row, agent) in (rows.outputs.chunks_mut(outputs.max(1)))
                    .zip(&mut self.agents.lanes)
                    .filter(|_| words > 0)
                {
                    agent.store(&sample.records, &mut row[first + at * words..]);
                }
                for &(var, op) in &sample.combined {
                    self.agents.combine(var, op);
                }
                let row = &mut rows.world_outputs[world_first + at * world_words..];
                self.agents.lanes[0].store(&sample.world_records, row);
            }
            let samples = (self.interpreter.values.steps / sample.every) as usize + 1;
            first += samples * words;
            world_first += samples * world_words;
        }
        Ok(())
    }

    /// Stores the states in their rows.
    pub(super) fn store(&mut self, rows: &mut WorldRows<'_>) {
        let program = self.interpreter.program;
        let states = rows.states.len() / self.stopped.len();
        for (member, agent) in self.agents.lanes.iter_mut().enumerate() {
            agent.store(
                &program.states,
                &mut rows.states[member * states..][..states],
            );
        }
        self.agents.lanes[0].store(&program.world_states, rows.world_states);
    }

    /// Runs a phase; `stops` if agents that have stopped leave it out.
    fn phase(&mut self, phase: &'a Phase, random_step: u32, stops: bool) -> Result<(), Fault> {
        self.publish();
        if phase.owner == Owner::World {
            let stopped = self.agents.section(phase, random_step)?;
            assert!(!stopped, "internal error: a world stops");
            return Ok(());
        }
        for (agent, stopped) in self.agents.lanes.iter_mut().zip(&mut self.stopped) {
            if *stopped && stops {
                continue;
            }
            agent.begin_draws(random_step);
            *stopped |= completed(agent, phase)?;
        }
        Ok(())
    }

    /// Lets the agents read one another as they are now.
    fn publish(&mut self) {
        let plan = &self.interpreter.plan;
        if plan.published.is_empty() {
            return;
        }
        let mut all = Vec::with_capacity(plan.published_values * self.stopped.len());
        for agent in &mut self.agents.lanes {
            agent.publish(&mut all);
        }
        let all = Arc::new(all);
        for agent in &mut self.agents.lanes {
            agent.others = Arc::clone(&all);
        }
    }
}

/// Runs a block of an agent. Does the agent stop?
fn completed<'a, F: Fn() -> bool, R: Real>(
    agent: &mut Lane<'a, F, R>,
    block: &'a Block,
) -> Result<bool, Fault> {
    match agent.block(block) {
        Flow::Next => Ok(false),
        Flow::Stop => Ok(true),
        Flow::Cancelled => Err(Fault::Cancelled),
        Flow::Break | Flow::Continue | Flow::Return(_) => {
            panic!("internal error: a jump leaves the program")
        }
    }
}
