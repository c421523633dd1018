//! Runs a population on the interpreter of the IR ([`sim_compiler::ir::interpret`]), on all cores.

use super::{Cancelled, Control};
use rayon::prelude::*;
use sim_compiler::{
    ir::interpret::{Interpreter, Progress},
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
    /// `input_words` words of the manifest per agent.
    pub inputs: Vec<u32>,
    /// `state_words` words per agent.
    pub states: Vec<u32>,
    /// `output_words` words per agent.
    pub outputs: Vec<u32>,
    /// One word per agent, see [`Progress::word`].
    pub progress: Vec<u32>,
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
        let strides = self.strides();
        self.blocks().into_par_iter().try_for_each(|rows| {
            if control.cancel.load(Ordering::Relaxed) {
                return Err(Cancelled);
            }
            let count = rows.progress.len() as u64;
            rows.run(interpreter, strides, steps.clone(), control)?;
            control.agents_done.fetch_add(count, Ordering::Relaxed);
            Ok(())
        })
    }

    /// Computes input number `input` of `program.input_defaults` for all agents.
    pub fn input_default(&mut self, interpreter: &Interpreter<'_>, input: usize) {
        let [words, ..] = self.strides();
        if words == 0 {
            return;
        }
        let first = self.first;
        (self.inputs.par_chunks_mut(words * BLOCK).enumerate()).for_each(|(block, rows)| {
            let mut machine = interpreter.machine(1, || false);
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

impl Rows<'_> {
    fn run(
        self,
        interpreter: &Interpreter<'_>,
        [inputs, states, outputs]: [usize; 3],
        steps: Range<u32>,
        control: &Control,
    ) -> Result<(), Cancelled> {
        let mut machine = interpreter.machine(1, || control.cancel.load(Ordering::Relaxed));
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
