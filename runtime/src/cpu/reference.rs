//! Runs a population on the interpreter of the IR ([`sim_compiler::ir::interpret`]), on all cores.

use super::{Cancelled, Control};
use crate::parallel::*;
use sim_compiler::{
    RealType,
    builtin::real::Real,
    ir::interpret::{self, Fault, Interpreter, Progress},
    manifest::Manifest,
};
use std::{ops::Range, sync::atomic::Ordering};

/// Agents per parallel task.
const BLOCK: usize = 64;

/// The agents of a run: rows of words, one agent after another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Agents {
    /// The number of the first agent in the population.
    pub first: u32,
    /// The number of agents.
    pub count: u32,
    /// The number of agents in a world.
    pub members: u32,
    /// `input_words` words of the manifest per agent.
    pub inputs: Vec<u32>,
    /// `state_words` words per agent.
    pub states: Vec<u32>,
    /// `output_words` words per agent.
    pub outputs: Vec<u32>,
    /// One word per agent, see [`Progress::word`].
    pub progress: Vec<u32>,
    /// What the worlds have.
    pub world: WorldRows,
}

/// Rows of words, one world after another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorldRows {
    /// Inputs.
    pub inputs: Vec<u32>,
    /// States.
    pub states: Vec<u32>,
    /// Outputs.
    pub outputs: Vec<u32>,
}

/// The rows of a block of agents.
struct Rows<'a> {
    first: u32,
    inputs: &'a [u32],
    states: &'a mut [u32],
    outputs: &'a mut [u32],
    progress: &'a mut [u32],
}

impl Agents {
    /// Rows of zeros for agents `first..first + count`.
    pub fn zeros(manifest: &Manifest, first: u32, count: u32) -> Agents {
        let zeros = |words: u32| vec![0; words as usize * count as usize];
        Agents {
            first,
            count,
            members: 1,
            world: WorldRows::default(),
            inputs: zeros(manifest.input_words),
            states: zeros(manifest.state_words),
            outputs: zeros(manifest.output_words),
            progress: zeros(1),
        }
    }

    /// Runs all agents over a range of steps, see [`sim_compiler::ir::interpret::Machine::run`].
    ///
    /// # Errors
    /// The run was cancelled.
    pub fn run(
        &mut self,
        interpreter: &Interpreter<'_>,
        steps: Range<u32>,
        control: &Control,
    ) -> Result<(), Cancelled> {
        match interpreter.real() {
            RealType::F32 => self.run_in::<f32>(interpreter, steps, control),
            RealType::F64 => self.run_in::<f64>(interpreter, steps, control),
        }
    }

    /// The same with floats of type `R`.
    fn run_in<R: Real>(
        &mut self,
        interpreter: &Interpreter<'_>,
        steps: Range<u32>,
        control: &Control,
    ) -> Result<(), Cancelled> {
        if interpreter.has_worlds() {
            return self.run_worlds::<R>(interpreter, steps, control);
        }
        let strides = self.strides();
        self.blocks().into_par_iter().try_for_each(|rows| {
            if control.cancel.load(Ordering::Relaxed) {
                return Err(Cancelled);
            }
            let done = rows.progress.len() as u64 * steps.len() as u64;
            rows.run::<R>(interpreter, strides, steps.clone(), control)?;
            control.count(done);
            Ok(())
        })
    }

    /// Runs whole worlds, each on one core.
    fn run_worlds<R: Real>(
        &mut self,
        interpreter: &Interpreter<'_>,
        steps: Range<u32>,
        control: &Control,
    ) -> Result<(), Cancelled> {
        let members = self.members as usize;
        let first = self.first / self.members;
        let count = self.count as usize;
        let worlds = count.div_ceil(members);
        let (inputs, world_inputs) = (
            Chunks::of(&self.inputs, count, members),
            Chunks::of(&self.world.inputs, worlds, 1),
        );
        let mut states = split(&mut self.states, count, members);
        let mut outputs = split(&mut self.outputs, count, members);
        let mut progress = split(&mut self.progress, count, members);
        let mut world_states = split(&mut self.world.states, worlds, 1);
        let mut world_outputs = split(&mut self.world.outputs, worlds, 1);
        let rows = states
            .par_iter_mut()
            .zip(&mut outputs)
            .zip(&mut progress)
            .zip(&mut world_states)
            .zip(&mut world_outputs)
            .enumerate();
        rows.try_for_each_init(
            || None,
            |machine: &mut Option<(usize, _)>,
             (world, ((((states, outputs), words), world_states), world_outputs))| {
                let number = first + world as u32;
                let progress = words.iter().map(|&word| Progress::from_word(word));
                let mut progress: Vec<Progress> = progress.collect();
                let mut rows = interpret::WorldRows {
                    inputs: inputs.at(world),
                    states,
                    outputs,
                    progress: &mut progress,
                    world_inputs: world_inputs.at(world),
                    world_states,
                    world_outputs,
                };
                // The last unit of a model without worlds may have fewer agents.
                let agents = rows.progress.len();
                let cancelled = || control.cancel.load(Ordering::Relaxed);
                let new = || {
                    (
                        agents,
                        interpreter.world_machine_of::<R, _>(agents as u32, cancelled),
                    )
                };
                let (_, machine) = match machine {
                    Some(known) if known.0 == agents => known,
                    other => other.insert(new()),
                };
                match machine.run(number, steps.clone(), &mut rows) {
                    Ok(()) => {}
                    Err(Fault::Cancelled) => return Err(Cancelled),
                    Err(Fault::Diverged) => panic!("internal error: agents of a world diverge"),
                }
                for (word, progress) in words.iter_mut().zip(&progress) {
                    *word = progress.word();
                }
                let done = agents as u64 * steps.len() as u64;
                control.count(done);
                Ok(())
            },
        )
    }

    /// Computes input number `input` of `program.input_defaults` for all agents.
    pub fn input_default(&mut self, interpreter: &Interpreter<'_>, input: usize) {
        match interpreter.real() {
            RealType::F32 => self.input_default_in::<f32>(interpreter, input),
            RealType::F64 => self.input_default_in::<f64>(interpreter, input),
        }
    }

    fn input_default_in<R: Real>(&mut self, interpreter: &Interpreter<'_>, input: usize) {
        let [words, ..] = self.strides();
        if words == 0 {
            return;
        }
        let first = self.first;
        (self.inputs.par_chunks_mut(words * BLOCK).enumerate()).for_each(|(block, rows)| {
            let mut machine = interpreter.machine_of::<R, _>(1, || false);
            for (k, row) in rows.chunks_mut(words).enumerate() {
                machine.input_default(input, first + (block * BLOCK + k) as u32, row);
            }
        });
    }

    /// Words per agent of inputs, states and outputs.
    fn strides(&self) -> [usize; 3] {
        let rows = [&self.inputs, &self.states, &self.outputs];
        rows.map(|words| words.len() / (self.count as usize).max(1))
    }

    /// The agents' rows, split into blocks. `chunks` cannot do this, because a stride may be 0.
    fn blocks(&mut self) -> Vec<Rows<'_>> {
        let [input_words, state_words, output_words] = self.strides();
        let mut inputs = &self.inputs[..];
        let mut states = &mut self.states[..];
        let mut outputs = &mut self.outputs[..];
        let mut first = self.first;
        let mut blocks = Vec::new();
        for progress in self.progress.chunks_mut(BLOCK) {
            let count = progress.len();
            let rows = Rows {
                first,
                inputs: inputs.split_off(..count * input_words).expect("inputs"),
                states: states.split_off_mut(..count * state_words).expect("states"),
                outputs: outputs
                    .split_off_mut(..count * output_words)
                    .expect("outputs"),
                progress,
            };
            first += count as u32;
            blocks.push(rows);
        }
        blocks
    }
}

/// Parts of rows, `each` of them but for the last part. A row may be empty.
struct Chunks<'a> {
    words: &'a [u32],
    stride: usize,
}

impl<'a> Chunks<'a> {
    fn of(words: &'a [u32], rows: usize, each: usize) -> Chunks<'a> {
        let stride = words.len() / rows.max(1) * each;
        Chunks { words, stride }
    }

    fn at(&self, number: usize) -> &'a [u32] {
        let rest = &self.words[number * self.stride..];
        &rest[..self.stride.min(rest.len())]
    }
}

/// Splits rows into parts of `each` rows, of which the last may have fewer. A row may be empty.
fn split(mut words: &mut [u32], rows: usize, each: usize) -> Vec<&mut [u32]> {
    let stride = words.len() / rows.max(1);
    let part = |first: usize| {
        let rows = each.min(rows - first);
        words
            .split_off_mut(..stride * rows)
            .expect("all rows have this length")
    };
    (0..rows).step_by(each).map(part).collect()
}

impl Rows<'_> {
    fn run<R: Real>(
        self,
        interpreter: &Interpreter<'_>,
        [inputs, states, outputs]: [usize; 3],
        steps: Range<u32>,
        control: &Control,
    ) -> Result<(), Cancelled> {
        let mut machine =
            interpreter.machine_of::<R, _>(1, || control.cancel.load(Ordering::Relaxed));
        for (k, progress) in self.progress.iter_mut().enumerate() {
            let done = machine.run(
                self.first + k as u32,
                steps.clone(),
                Progress::from_word(*progress),
                &self.inputs[k * inputs..][..inputs],
                &mut self.states[k * states..][..states],
                &mut self.outputs[k * outputs..][..outputs],
            );
            // An agent of one lane has no other fault.
            *progress = done.map_err(|_| Cancelled)?.word();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
