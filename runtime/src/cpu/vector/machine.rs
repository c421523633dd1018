//! The machine: the registers of one block of agents, and the loop over its steps. `execute` runs the
//! instructions; `registers` has all unsafe code.

mod execute;
mod registers;

use super::{
    kernel::{GROUP, LANES, Lanes},
    program::{Known, Program, Register, Stored, Table},
};
use crate::cpu::{Cancelled, Control, Progress};
use registers::Registers;
use sim_compiler::random::{FINISH_STEP, Generator, INIT_STEP};
use std::{ops::Range, sync::atomic::Ordering};

/// Steps between two counts of the active lanes.
const GATHER_EVERY: u32 = 8;

/// The values of one launch, beside the program.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a> {
    /// The seed of all draws.
    pub seed: u64,
    /// The value of `agents` in the model.
    pub population: u32,
    /// The value of `steps` in the model.
    pub steps: u32,
    /// The words of the kernel's uniform block.
    pub uniform: &'a [u32],
    /// The words of each table of `program.data`.
    pub data: &'a [&'a [u32]],
}

/// Runs blocks of agents, one after another.
pub struct Machine<'a> {
    program: &'a Program,
    registers: Registers,
    scalars: Vec<u32>,
    tables: Vec<&'a [u32]>,
    steps: u32,
    /// The number of lanes that are computed.
    count: usize,
    /// The number of lanes of the block, including stopped ones.
    all: usize,
    /// By lane: its agent within the block. The identity unless `moved`.
    order: [u16; LANES],
    moved: bool,
    /// By agent of the block.
    progress: Box<[Progress; LANES]>,
    control: &'a Control,
    backward_jumps: u32,
}

impl<'a> Machine<'a> {
    /// A machine for one launch.
    pub fn new(program: &'a Program, values: &Values<'a>, control: &'a Control) -> Machine<'a> {
        let mut scalars = program.scalars.clone();
        let uniform = program.uniform_words as usize;
        scalars[..uniform].copy_from_slice(&values.uniform[..uniform]);
        for &slot in &program.bools {
            let word = &mut scalars[slot as usize];
            *word = if *word == 0 { 0 } else { u32::MAX };
        }
        let tables = (program.tables.iter())
            .map(|table| match table {
                Table::Data(number) => values.data[*number],
                Table::Uniform { first, count } => {
                    &values.uniform[*first as usize..][..*count as usize]
                }
                Table::Constant(words) => &words[..],
            })
            .collect();
        let mut machine = Machine {
            program,
            registers: Registers(vec![Lanes::ZERO; program.registers as usize]),
            scalars,
            tables,
            steps: values.steps,
            count: LANES,
            all: LANES,
            order: [0; LANES],
            moved: false,
            progress: Box::new([Progress::default(); LANES]),
            control,
            backward_jumps: 0,
        };
        machine.set(Known::Agents, values.population);
        machine.set(Known::Steps, values.steps);
        machine.set(Known::SeedLow, values.seed as u32);
        machine.set(Known::SeedHigh, (values.seed >> 32) as u32);
        for rows in &program.rows {
            let count = values.data[rows.data].len() / rows.row_words as usize;
            machine.scalars[rows.slot as usize] = count as u32;
        }
        machine
    }

    /// Starts with the block of agents `first..first + count`, at most [`LANES`] agents.
    pub fn begin(&mut self, first: u32, count: usize) {
        // Lanes beyond the last agent duplicate it.
        self.all = count.next_multiple_of(GROUP).min(LANES);
        self.count = self.all;
        self.order = std::array::from_fn(|lane| lane as u16);
        self.moved = false;
        let last = count as u32 - 1;
        let agents = self.registers.0[self.program.agent as usize].all_mut();
        for (lane, agent) in agents.iter_mut().enumerate() {
            *agent = first + last.min(lane as u32);
        }
        if self.program.draws && self.program.generator == Generator::KeyedHash {
            self.agent_keys();
        }
    }

    /// Loads the agents' rows.
    pub fn load(&mut self, stored: &[Stored], rows: &[u32], stride: usize) {
        if stored.is_empty() {
            return;
        }
        let last = rows.len() / stride - 1;
        for word in stored {
            let register = self.registers.0[word.register as usize].all_mut();
            for (lane, value) in register[..self.count].iter_mut().enumerate() {
                let stored = rows[lane.min(last) * stride + word.word as usize];
                *value = match word.is_bool {
                    true if stored != 0 => u32::MAX,
                    _ => stored,
                };
            }
        }
    }

    /// Stores one word of `count` agents to every `stride`-th element of `words`.
    pub fn store(&self, stored: &Stored, words: &mut [u32], stride: usize, count: usize) {
        let register = self.registers.0[stored.register as usize].all();
        let stored = |value: u32| if stored.is_bool { value & 1 } else { value };
        if self.moved {
            for (&agent, &value) in self.order.iter().zip(&register[..self.all]) {
                // Lanes beyond the last agent are not stored.
                if usize::from(agent) < count {
                    words[usize::from(agent) * stride] = stored(value);
                }
            }
        } else {
            for (place, &value) in words.iter_mut().step_by(stride).zip(&register[..count]) {
                *place = stored(value);
            }
        }
    }

    /// Computes an absent input.
    ///
    /// # Errors
    /// If the run was cancelled.
    pub fn default_input(&mut self, number: usize) -> Result<(), Cancelled> {
        let program = self.program;
        let default = &program.defaults[number];
        self.clear(&default.inputs);
        self.part(default.entry, default.random_step)
    }

    /// Runs the block over a range of steps: from `init` if it starts at 0, up to `finish` if it ends with
    /// the run. Inputs must be loaded, and states unless the range starts at 0.
    ///
    /// # Errors
    /// If the run was cancelled.
    pub fn run(&mut self, steps: Range<u32>) -> Result<(), Cancelled> {
        let program = self.program;
        if steps.start == 0 {
            self.progress.fill(Progress::default());
            self.clear(&program.states);
            self.part(program.init, INIT_STEP)?;
        }
        if let Some(alive) = program.alive {
            let alive = self.registers.0[alive as usize].all_mut();
            for (lane, &agent) in alive.iter_mut().zip(&self.order) {
                let stopped = self.progress[usize::from(agent)].stopped;
                *lane = if stopped { 0 } else { u32::MAX };
            }
        }
        self.part(program.prologue, INIT_STEP)?;
        for step in steps.clone() {
            if let Some(alive) = program.alive {
                if step.is_multiple_of(GATHER_EVERY) {
                    self.gather_running(alive);
                }
                if !self.any(alive) {
                    break;
                }
            }
            self.check_cancelled()?;
            self.set(Known::Step, step);
            for &phase in &program.phases {
                self.part(phase, step)?;
            }
        }
        self.count = self.all;
        let ran = steps.len() as u32;
        for progress in self.progress.iter_mut().filter(|lane| !lane.stopped) {
            progress.steps += ran;
        }
        if steps.end == self.steps {
            self.clear(&program.outputs);
            self.part(program.finish, FINISH_STEP)?;
        }
        Ok(())
    }

    /// The progress of each lane.
    pub fn progress(&self) -> &[Progress; LANES] {
        &self.progress
    }

    /// The same, to continue a run.
    pub fn progress_mut(&mut self) -> &mut [Progress; LANES] {
        &mut self.progress
    }

    /// Checks for cancellation.
    ///
    /// # Errors
    /// If the run was cancelled.
    pub fn check_cancelled(&self) -> Result<(), Cancelled> {
        match self.control.cancel.load(Ordering::Relaxed) {
            true => Err(Cancelled),
            false => Ok(()),
        }
    }

    /// Compacts the active lanes to the front if at most half of the lanes are then computed: agents can stop
    /// after different numbers of steps. Stopped lanes move behind them, with all registers that live across
    /// steps.
    fn gather_running(&mut self, alive: Register) {
        let lanes = &self.registers.0[alive as usize].all()[..self.count];
        let running = lanes.iter().filter(|&&lane| lane != 0).count();
        let needed = running.next_multiple_of(GROUP);
        if needed * 2 > self.count {
            return;
        }
        let (mut running, stopped): (Vec<usize>, Vec<usize>) =
            (0..self.count).partition(|&lane| lanes[lane] != 0);
        running.extend(stopped);
        let mut old = [0; LANES];
        for register in &mut self.registers.0[1..self.program.staying as usize] {
            old.copy_from_slice(register.all());
            for (new, &from) in register.all_mut().iter_mut().zip(&running) {
                *new = old[from];
            }
        }
        let order = self.order;
        for (new, &from) in self.order.iter_mut().zip(&running) {
            *new = order[from];
        }
        self.count = needed;
        self.moved = true;
    }

    fn set(&mut self, known: Known, value: u32) {
        let slot = known.slot(self.program.uniform_words);
        self.scalars[slot as usize] = value;
    }

    fn clear(&mut self, stored: &[Stored]) {
        for word in stored {
            self.registers.0[word.register as usize].all_mut().fill(0);
        }
    }

    fn agent_keys(&mut self) {
        use super::op::Plain;
        let [low, high] =
            [Known::SeedLow, Known::SeedHigh].map(|known| known.slot(self.program.uniform_words));
        for (key, plain) in [Plain::AgentKey0, Plain::AgentKey1].into_iter().enumerate() {
            let code = super::op::Code::Plain(plain);
            // The second and third operands are the words of the seed.
            let kernel = code.kernel(6, self.program.isa).expect("a kernel for keys");
            self.lanes(
                kernel,
                &[self.program.keys[key], self.program.agent, 0, 0, 0],
                &[0, low, high, 0],
            );
        }
    }
}
