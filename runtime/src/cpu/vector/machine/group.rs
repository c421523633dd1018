//! Runs blocks together whose agents depend on one another.
//!
//! A group is one block of agents, of whole worlds if the model has any, or the blocks of one world that is
//! larger than a block. Its blocks run each phase one after another. Before a phase, what it reads of other
//! agents is copied. In a phase of the world all lanes compute the same for their world; where its agents are
//! combined ([`Instruction::Across`]), each block waits for the others. Control flow around that is the same
//! for a whole world, so that all blocks arrive at the same instruction. Worlds in one block may part: masks
//! keep them apart, and what is combined for lanes that are not active is not used.

use super::{Machine, Values};
use crate::cpu::{
    Cancelled, Control, Progress,
    vector::{
        kernel::{LANES, Lane},
        op::Tree,
        program::{Instruction, Known, Phase, Program, Register, Stored, Target},
    },
};
use sim_compiler::random::{FINISH_STEP, INIT_STEP};
use std::ops::Range;

/// Steps between two counts of the active lanes.
const GATHER_EVERY: u32 = 8;

/// Steps of a group between two reports of its progress.
const COUNT_EVERY: u32 = 256;

/// Receives a group with a sample: the number of its sampling, and its own.
pub type Take<'t, L> = dyn FnMut(&Group<'_, L>, usize, usize) + 't;

/// Runs groups of agents of one launch, one after another.
pub struct Group<'a, L = u32> {
    program: &'a Program<L>,
    members: usize,
    blocks: Vec<Machine<'a, L>>,
    /// The columns that the agents have published.
    others: Vec<L>,
    /// Work space for values that are combined.
    parts: [Vec<L>; 2],
}

impl<'a, L: Lane> Group<'a, L> {
    /// A machine for groups of so many blocks.
    pub fn new(
        program: &'a Program<L>,
        values: &Values<'a>,
        blocks: usize,
        control: &'a Control,
    ) -> Group<'a, L> {
        let lanes = if program.joint { blocks * LANES } else { 0 };
        let machine = |_| Machine::new(program, values, control);
        Group {
            program,
            members: values.members as usize,
            blocks: (0..blocks).map(machine).collect(),
            others: vec![L::ZERO; program.columns as usize * lanes],
            parts: [vec![L::ZERO; lanes], vec![L::ZERO; lanes]],
        }
    }

    /// Bytes of a group of so many blocks.
    pub fn bytes(program: &Program<L>, blocks: usize) -> u64 {
        let parts = if program.joint {
            2 * size_of::<L>() * LANES
        } else {
            0
        };
        blocks as u64 * (program.block_bytes() + parts as u64)
    }

    /// Starts with the agents `first..first + count`.
    pub fn begin(&mut self, first: u32, count: usize) {
        for (k, block) in self.blocks.iter_mut().enumerate() {
            let begun = k * LANES;
            let count = (count - begun).min(LANES);
            block.begin(first + begun as u32, count, first);
        }
    }

    /// Its blocks.
    pub fn blocks(&self) -> &[Machine<'a, L>] {
        &self.blocks
    }

    /// Loads the agents' rows.
    pub fn load(&mut self, stored: &[Stored], rows: &[u32], stride: usize) {
        for (k, block) in self.blocks.iter_mut().enumerate() {
            block.load_rows(stored, &rows[k * LANES * stride..], stride);
        }
    }

    /// Loads the worlds' rows.
    pub fn load_worlds(&mut self, stored: &[Stored], rows: &[u32], stride: usize) {
        let members = self.members;
        for block in &mut self.blocks {
            let last = block.agents - 1;
            // A block is several worlds, or a part of the only one.
            block.load(stored, rows, stride, |lane| lane.min(last) / members);
        }
    }

    /// Stores one word of all agents to every `stride`-th element of `words`.
    pub fn store(&self, stored: &Stored, words: &mut [u32], stride: usize) {
        for (k, block) in self.blocks.iter().enumerate() {
            block.store(stored, &mut words[k * LANES * stride..], stride);
        }
    }

    /// Stores one word of all worlds to every `stride`-th element of `words`.
    pub fn store_worlds(&self, stored: &Stored, words: &mut [u32], stride: usize) {
        let block = &self.blocks[0];
        let lanes = block.registers.0[stored.register as usize].all()[..block.agents].iter();
        let firsts = lanes.step_by(self.members);
        for (place, &value) in words.iter_mut().step_by(stride).zip(firsts) {
            *place = value.part(stored.part);
        }
    }

    /// The progress of each agent.
    pub fn progress(&self) -> impl Iterator<Item = &Progress> {
        self.blocks.iter().flat_map(Machine::progress)
    }

    /// Sets the progress of each agent, to continue a run.
    pub fn resume(&mut self, mut progress: impl Iterator<Item = Progress>) {
        for block in &mut self.blocks {
            let (own, beyond) = block.progress.split_at_mut(block.agents);
            for (own, progress) in own.iter_mut().zip(&mut progress) {
                *own = progress;
            }
            // Lanes beyond the last agent duplicate it.
            beyond.fill(own[own.len() - 1]);
        }
    }

    /// Computes an absent input.
    ///
    /// # Errors
    /// If the run was cancelled.
    pub fn default_input(&mut self, number: usize) -> Result<(), Cancelled> {
        let default = &self.program.defaults[number];
        self.clear(&default.inputs);
        self.part(default.entry, default.random_step)
    }

    /// Runs the group over a range of steps, from `init` if it starts at 0. Inputs must be loaded, and states
    /// unless the range starts at 0. Calls `take` with each sample: the number of its sampling, and its own.
    ///
    /// # Errors
    /// If the run was cancelled.
    pub fn run(&mut self, steps: Range<u32>, take: &mut Take<'_, L>) -> Result<(), Cancelled> {
        let program = self.program;
        self.blocks[0].check_cancelled()?;
        if steps.start == 0 {
            for block in &mut self.blocks {
                block.progress.fill(Progress::default());
            }
            self.clear(&program.states);
            self.clear(&program.world_states);
            self.part(program.init, INIT_STEP)?;
        }
        self.blocks.iter_mut().for_each(Machine::begin_steps);
        self.part(program.prologue, INIT_STEP)?;
        if steps.start == 0 {
            self.samples(0, take)?;
        }
        let mut counted = steps.start;
        for step in steps.clone() {
            if !self.goes_on(step) {
                break;
            }
            self.blocks[0].check_cancelled()?;
            self.set(Known::Step, step);
            for phase in &program.phases {
                self.phase(phase, step)?;
            }
            self.samples(step + 1, take)?;
            if step + 1 - counted == COUNT_EVERY {
                self.count(COUNT_EVERY);
                counted = step + 1;
            }
        }
        self.count(steps.end - counted);
        let ran = steps.len() as u32;
        self.blocks
            .iter_mut()
            .for_each(|block| block.end_steps(ran));
        Ok(())
    }

    /// Ends the run after the steps that were run: computes the outputs.
    ///
    /// # Errors
    /// If the run was cancelled.
    pub fn finish(&mut self) -> Result<(), Cancelled> {
        let program = self.program;
        self.clear(&program.outputs);
        self.clear(&program.world_outputs);
        for phase in program.ends.iter().chain([&program.finish]) {
            self.phase(phase, FINISH_STEP)?;
        }
        Ok(())
    }

    /// Reports so many steps as done.
    fn count(&self, steps: u32) {
        let agents = self.blocks.iter().map(|block| block.agents as u64);
        let done = agents.sum::<u64>() * u64::from(steps);
        self.blocks[0].control.count(done);
    }

    /// Whether there is anything to do in a step.
    fn goes_on(&mut self, step: u32) -> bool {
        let Some(alive) = self.program.alive else {
            return true;
        };
        // Agents of worlds keep their places.
        if !self.program.joint && step.is_multiple_of(GATHER_EVERY) {
            (self.blocks.iter_mut()).for_each(|block| block.gather_running(alive));
        }
        self.program.has_world_phases()
            || !self.program.samples.is_empty()
            || self.blocks.iter().any(|block| block.any(alive))
    }

    /// Takes the samples that are due after so many steps.
    fn samples(&mut self, done: u32, take: &mut Take<'_, L>) -> Result<(), Cancelled> {
        let program = self.program;
        for (number, sample) in program.samples.iter().enumerate() {
            if done.is_multiple_of(sample.every) {
                self.phase(&sample.phase, done)?;
                take(self, number, (done / sample.every) as usize);
            }
        }
        Ok(())
    }

    fn phase(&mut self, phase: &Phase, random_step: u32) -> Result<(), Cancelled> {
        let lanes = self.blocks.len() * LANES;
        for read in &phase.reads {
            let column = &mut self.others[read.column as usize * lanes..][..lanes];
            for (block, copy) in self.blocks.iter().zip(column.chunks_mut(LANES)) {
                copy.copy_from_slice(block.registers.0[read.register as usize].all());
            }
        }
        self.part(phase.entry, random_step)
    }

    /// Runs a part of the program with the draws of that step.
    fn part(&mut self, entry: Target, random_step: u32) -> Result<(), Cancelled> {
        self.set(Known::RandomStep, random_step);
        let mut next = entry;
        loop {
            let mut at = None;
            for (k, block) in self.blocks.iter_mut().enumerate() {
                let arrived = block.execute(next, &self.others)?;
                assert!(
                    k == 0 || arrived == at,
                    "internal error: agents of a world diverge"
                );
                at = arrived;
            }
            let Some(at) = at else {
                return Ok(());
            };
            self.combine(at);
            next = at + 1;
        }
    }

    /// Combines what the agents of each world have.
    fn combine(&mut self, at: Target) {
        let Instruction::Across { tree, to, from } = self.program.code[at as usize] else {
            unreachable!("blocks wait for this alone");
        };
        let members = self.members;
        let [words, space] = &mut self.parts;
        words.clear();
        for block in &self.blocks {
            words.extend_from_slice(block.own(from));
        }
        let worlds = combine(tree, words, space, members);
        for block in &mut self.blocks {
            let lanes = &mut block.registers.0[to as usize].all_mut()[..block.all];
            for (world, lanes) in lanes.chunks_mut(members).enumerate() {
                // Lanes beyond the last agent duplicate it.
                lanes.fill(words[world.min(worlds - 1)]);
            }
        }
    }

    /// Stores what the agents of each world or unit have for a word, combined.
    pub fn store_combined(&self, stored: &Stored, tree: Tree<L>, words: &mut [u32], stride: usize) {
        let mut parts: Vec<L> = (self.blocks.iter())
            .flat_map(|block| block.own(stored.register))
            .copied()
            .collect();
        let worlds = combine(tree, &mut parts, &mut Vec::new(), self.members);
        for (place, &value) in words.iter_mut().step_by(stride).zip(&parts[..worlds]) {
            *place = value.part(stored.part);
        }
    }

    fn set(&mut self, known: Known, value: u32) {
        for block in &mut self.blocks {
            block.set(known, value);
        }
    }

    fn clear(&mut self, stored: &[Stored]) {
        for block in &mut self.blocks {
            block.clear(stored);
        }
    }
}

/// Combines the words of each `members` agents, to the front of the words; returns how many there are then.
/// In a program without worlds the last unit may have fewer agents.
fn combine<L: Lane>(
    tree: Tree<L>,
    words: &mut Vec<L>,
    space: &mut Vec<L>,
    members: usize,
) -> usize {
    let mut last = words.split_off(words.len() / members * members);
    space.resize(words.len().max(last.len()), L::ZERO);
    let worlds = words.len() / members;
    if worlds > 0 {
        tree(words, space, members);
    }
    words.truncate(worlds);
    if last.is_empty() {
        return worlds;
    }
    let row = last.len();
    space.resize(space.len().max(row), L::ZERO);
    tree(&mut last, space, row);
    words.push(last[0]);
    worlds + 1
}

impl<L: Lane> Machine<'_, L> {
    /// What the agents of the block have in a register.
    fn own(&self, register: Register) -> &[L] {
        &self.registers.0[register as usize].all()[..self.agents]
    }

    /// Continues with the agents that have not stopped.
    fn begin_steps(&mut self) {
        let Some(alive) = self.program.alive else {
            return;
        };
        let alive = self.registers.0[alive as usize].all_mut();
        for (lane, &agent) in alive.iter_mut().zip(&self.order) {
            let stopped = self.progress[usize::from(agent)].stopped;
            *lane = if stopped { L::ZERO } else { L::TRUE };
        }
    }

    /// Counts the steps of the agents that have not stopped.
    fn end_steps(&mut self, ran: u32) {
        self.count = self.all;
        for progress in self.progress.iter_mut().filter(|lane| !lane.stopped) {
            progress.steps += ran;
        }
    }
}
