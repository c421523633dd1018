//! The machine: the registers of one block of agents. `execute` runs the instructions, `group` the steps of
//! blocks whose agents depend on one another; `registers` has all unsafe code.

mod execute;
mod group;
mod registers;

use super::{
    kernel::{GROUP, LANES, Lane, Lanes},
    program::{Known, Program, Register, Stored, Stream, Table},
};
use crate::cpu::{Cancelled, Control, Progress};
pub use group::{Group, Take};
use registers::Registers;
use sim_compiler::random::{FIRST_WORLD, Generator};
use std::sync::atomic::Ordering;

/// The values of one launch, beside the program.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a> {
    /// The seed of all draws.
    pub seed: u64,
    /// The value of `agents` in the model.
    pub population: u32,
    /// The value of `steps` in the model.
    pub steps: u32,
    /// The value of `len(world)` in the model; 1 without worlds.
    pub members: u32,
    /// The words of the kernel's uniform block.
    pub uniform: &'a [u32],
    /// The words of each table of `program.data`.
    pub data: &'a [&'a [u32]],
}

/// Runs blocks of agents, one after another.
pub struct Machine<'a, L = u32> {
    program: &'a Program<L>,
    registers: Registers<L>,
    scalars: Vec<L>,
    tables: Vec<&'a [u32]>,
    members: u32,
    /// The number of agents of the block.
    agents: usize,
    /// The number of lanes that are computed.
    count: usize,
    /// The number of lanes of the block, including stopped ones.
    all: usize,
    /// By lane: its agent within the block. The identity unless `moved`.
    order: [u16; LANES],
    moved: bool,
    /// By agent of the block.
    progress: Box<[Progress; LANES]>,
    control: &'a Control<'a>,
    backward_jumps: u32,
}

impl<'a, L: Lane> Machine<'a, L> {
    /// A machine for one launch.
    pub fn new(
        program: &'a Program<L>,
        values: &Values<'a>,
        control: &'a Control,
    ) -> Machine<'a, L> {
        let mut scalars = program.scalars.clone();
        let uniform = &values.uniform[..program.uniform_words as usize];
        for (scalar, &word) in scalars.iter_mut().zip(uniform) {
            *scalar = L::of_word(word);
        }
        for &(slot, scalar) in &program.params {
            scalars[slot as usize] = L::load(scalar, &uniform[slot as usize..]);
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
            members: values.members,
            agents: 0,
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
        machine.set(Known::Members, values.members);
        machine.set(Known::SeedLow, values.seed as u32);
        machine.set(Known::SeedHigh, (values.seed >> 32) as u32);
        for rows in &program.rows {
            let count = values.data[rows.data].len() / rows.row_words as usize;
            machine.scalars[rows.slot as usize] = L::of_word(count as u32);
        }
        machine
    }

    /// Starts with the agents `first..first + count`, at most [`LANES`], of a group whose first agent is
    /// `origin`.
    fn begin(&mut self, first: u32, count: usize, origin: u32) {
        // Lanes beyond the last agent duplicate it.
        self.agents = count;
        self.all = count.next_multiple_of(GROUP).min(LANES);
        self.count = self.all;
        self.order = std::array::from_fn(|lane| lane as u16);
        self.moved = false;
        let last = count as u32 - 1;
        let agent = |lane: usize| first + last.min(lane as u32);
        let program = self.program;
        self.set_lanes(program.agent.number, agent);
        self.begin_draws(program.agent);
        if let Some(world) = &program.world {
            let members = self.members;
            self.set_lanes(world.member, |lane| agent(lane) % members);
            self.set_lanes(world.origin, |lane| {
                (agent(lane) / members * members).saturating_sub(origin)
            });
            self.set_lanes(world.stream.number, |lane| {
                FIRST_WORLD | (agent(lane) / members)
            });
            self.begin_draws(world.stream);
        }
    }

    fn set_lanes(&mut self, register: Register, value: impl Fn(usize) -> u32) {
        let lanes = self.registers.0[register as usize].all_mut();
        for (lane, word) in lanes.iter_mut().enumerate() {
            *word = L::of_word(value(lane));
        }
    }

    /// Loads words of the rows that lanes have.
    fn load(
        &mut self,
        stored: &[Stored],
        rows: &[u32],
        stride: usize,
        row: impl Fn(usize) -> usize,
    ) {
        for word in stored {
            let register = self.registers.0[word.register as usize].all_mut();
            for (lane, value) in register[..self.count].iter_mut().enumerate() {
                let stored = rows[row(lane) * stride + word.word as usize];
                *value = value.with(word.part, stored);
            }
        }
    }

    /// Loads words of the rows of all agents; lanes beyond the last one have its values.
    fn load_rows(&mut self, stored: &[Stored], rows: &[u32], stride: usize) {
        for word in stored {
            let register = self.registers.0[word.register as usize].all_mut();
            let (own, beyond) = register[..self.count].split_at_mut(self.agents);
            let rows = &rows[word.word as usize..];
            let put = |(value, &stored): (&mut L, &u32)| *value = value.with(word.part, stored);
            match stride {
                1 => own.iter_mut().zip(rows).for_each(put),
                _ => (own.iter_mut().zip(rows.iter().step_by(stride))).for_each(put),
            }
            beyond.fill(own[own.len() - 1]);
        }
    }

    /// Stores one word of all agents to every `stride`-th element of `words`.
    pub fn store(&self, stored: &Stored, words: &mut [u32], stride: usize) {
        let register = self.registers.0[stored.register as usize].all();
        if self.moved {
            for (&agent, &value) in self.order.iter().zip(&register[..self.all]) {
                // Lanes beyond the last agent are not stored.
                if usize::from(agent) < self.agents {
                    words[usize::from(agent) * stride] = value.part(stored.part);
                }
            }
        } else {
            let lanes = &register[..self.agents];
            for (place, &value) in words.iter_mut().step_by(stride).zip(lanes) {
                *place = value.part(stored.part);
            }
        }
    }

    /// The number of agents of the block.
    pub fn agents(&self) -> usize {
        self.agents
    }

    /// The progress of each agent.
    pub fn progress(&self) -> &[Progress] {
        &self.progress[..self.agents]
    }

    /// Checks for cancellation.
    ///
    /// # Errors
    /// If the run was cancelled.
    fn check_cancelled(&self) -> Result<(), Cancelled> {
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
        let running = lanes.iter().filter(|&&lane| lane != L::ZERO).count();
        let needed = running.next_multiple_of(GROUP);
        if needed * 2 > self.count {
            return;
        }
        let (mut running, stopped): (Vec<usize>, Vec<usize>) =
            (0..self.count).partition(|&lane| lanes[lane] != L::ZERO);
        running.extend(stopped);
        let mut old = [L::ZERO; LANES];
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
        self.scalars[slot as usize] = L::of_word(value);
    }

    fn clear(&mut self, stored: &[Stored]) {
        for word in stored {
            self.registers.0[word.register as usize]
                .all_mut()
                .fill(L::ZERO);
        }
    }

    /// Computes the keys of a stream, if it has any.
    fn begin_draws(&mut self, stream: Stream) {
        use super::op::Plain;
        if !stream.draws || self.program.generator != Generator::KeyedHash {
            return;
        }
        let [low, high] =
            [Known::SeedLow, Known::SeedHigh].map(|known| known.slot(self.program.uniform_words));
        for (key, plain) in [Plain::AgentKey0, Plain::AgentKey1].into_iter().enumerate() {
            let code = super::op::Code::Plain(plain);
            // The second and third operands are the words of the seed.
            let kernel = code.kernel(6, self.program.isa).expect("a kernel for keys");
            self.lanes(
                kernel,
                &[stream.keys[key], stream.number, 0, 0, 0],
                &[0, low, high, 0],
            );
        }
    }
}
