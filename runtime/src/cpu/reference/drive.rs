//! Runs a population on all cores.

use super::{Cancelled, Control, Interpreter, Progress};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::Ordering;

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

impl Interpreter<'_> {
    /// Rows of zeros for agents `first..first + count`.
    pub fn agents(&self, first: u32, count: u32) -> Agents {
        let zeros = |words: u32| vec![0; words as usize * count as usize];
        let manifest = self.launch.manifest;
        Agents {
            first,
            count,
            inputs: zeros(manifest.input_words),
            states: zeros(manifest.state_words),
            outputs: zeros(manifest.output_words),
            progress: zeros(1),
        }
    }

    /// Runs all agents over a range of steps, see [`super::Machine::run`].
    pub fn run(
        &self,
        agents: &mut Agents,
        steps: Range<u32>,
        control: &Control,
    ) -> Result<(), Cancelled> {
        self.blocks(agents).into_par_iter().try_for_each(|rows| {
            if control.cancel.load(Ordering::Relaxed) {
                return Err(Cancelled);
            }
            let count = rows.progress.len() as u64;
            self.run_block(rows, steps.clone(), control)?;
            control.agents_done.fetch_add(count, Ordering::Relaxed);
            Ok(())
        })
    }

    fn run_block(
        &self,
        rows: Rows<'_>,
        steps: Range<u32>,
        control: &Control,
    ) -> Result<(), Cancelled> {
        let mut machine = self.machine().under(control);
        let [inputs, states, outputs] = self.strides();
        for (k, progress) in rows.progress.iter_mut().enumerate() {
            let done = machine.run(
                rows.first + k as u32,
                steps.clone(),
                Progress::from_word(*progress),
                &rows.inputs[k * inputs..][..inputs],
                &mut rows.states[k * states..][..states],
                &mut rows.outputs[k * outputs..][..outputs],
            );
            *progress = done.ok_or(Cancelled)?.word();
        }
        Ok(())
    }

    /// Computes input number `input` of `program.input_defaults` for all agents.
    pub fn input_default(&self, agents: &mut Agents, input: usize) {
        let [words, ..] = self.strides();
        if words == 0 {
            return;
        }
        let first = agents.first;
        (agents.inputs.par_chunks_mut(words * BLOCK).enumerate()).for_each(|(block, rows)| {
            let mut machine = self.machine();
            for (k, row) in rows.chunks_mut(words).enumerate() {
                machine.input_default(input, first + (block * BLOCK + k) as u32, row);
            }
        });
    }

    /// Words per agent of inputs, states and outputs.
    fn strides(&self) -> [usize; 3] {
        let manifest = self.launch.manifest;
        [
            manifest.input_words as usize,
            manifest.state_words as usize,
            manifest.output_words as usize,
        ]
    }

    /// The agents' rows, split into blocks. `chunks` cannot do this, because a stride may be 0.
    fn blocks<'b>(&self, agents: &'b mut Agents) -> Vec<Rows<'b>> {
        let [input_words, state_words, output_words] = self.strides();
        let mut inputs = &agents.inputs[..];
        let mut states = &mut agents.states[..];
        let mut outputs = &mut agents.outputs[..];
        let mut first = agents.first;
        let mut blocks = Vec::new();
        for progress in agents.progress.chunks_mut(BLOCK) {
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
