//! A program of the vector machine: flat code over registers of lanes and over scalars.
//!
//! Only [`super::compile`] creates programs, and [`Program::check`] verifies what the machine relies on.

mod check;

use super::{
    isa::Isa,
    jit::{Function, Jit},
    kernel::{Kernel, Lane, Lanes, Part, TwinKernel},
    op::{Code, Scalar, Tree},
};
use sim_compiler::{ir::Owner, random::Generator, value};
use std::fmt;

/// A register of lanes. Register 0 is never written: it stands for an absent operand.
pub type Register = u32;
/// A scalar, which all agents of a block share.
pub type Slot = u32;
/// An index into the code.
pub type Target = u32;

/// The scalars that the machine sets, after the words of the launch's uniform block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// The value of `agents` in the model.
    Agents,
    /// The value of `steps` in the model.
    Steps,
    /// The current step.
    Step,
    /// The current step as the generator counts it.
    RandomStep,
    /// The seed's lower word.
    SeedLow,
    /// The seed's upper word.
    SeedHigh,
    /// The value of `len(world)` in the model.
    Members,
}

impl Known {
    /// The number of these scalars.
    pub const COUNT: u32 = 7;

    /// The scalar's index.
    pub fn slot(self, uniform_words: u32) -> Slot {
        uniform_words + self as u32
    }
}

/// An instruction.
#[derive(Clone, Copy)]
pub enum Instruction<L> {
    /// A loop over lanes.
    Lanes {
        /// The operation, for checks.
        code: Code,
        /// The loop.
        kernel: Kernel<L>,
        /// The destination and up to four sources; register 0 where a source is absent or a scalar.
        registers: [Register; 5],
        /// By source: the index of its scalar, if it is one.
        slots: [Slot; 4],
    },
    /// The sine and the cosine of a register.
    SineAndCosine {
        /// The loop.
        kernel: TwinKernel<L>,
        /// The destination of the sine.
        sine: Register,
        /// The destination of the cosine, another register.
        cosine: Register,
        /// The angle, a third register.
        from: Register,
    },
    /// A scalar from up to four scalars.
    Scalar {
        /// The operation.
        f: Scalar<L>,
        /// The destination.
        to: Slot,
        /// The sources; unused ones are arbitrary.
        from: [Slot; 4],
    },
    /// Copies a register.
    Copy {
        /// The destination.
        to: Register,
        /// The source, another register.
        from: Register,
    },
    /// Sets registers to zero.
    Clear {
        /// The first.
        first: Register,
        /// Their number.
        count: u32,
    },
    /// Loads a scalar from a table.
    LoadScalar {
        /// The destination.
        to: Slot,
        /// The table.
        table: u32,
        /// The element, a scalar.
        index: Slot,
        /// The word to load.
        word: TableWord,
    },
    /// Loads a word per lane from a table.
    Gather {
        /// The destination.
        to: Register,
        /// The table.
        table: u32,
        /// The element, per lane.
        index: Register,
        /// The word to load.
        word: TableWord,
    },
    /// Loads an element of an array of the agents.
    Pick {
        /// The destination.
        to: Register,
        /// The array.
        array: AgentArray,
        /// The element, a scalar.
        index: Slot,
    },
    /// The same with an index per lane.
    PickLanes {
        /// The destination.
        to: Register,
        /// The array.
        array: AgentArray,
        /// The element, per lane.
        index: Register,
    },
    /// Stores an element of an array of the agents.
    Put {
        /// The array.
        array: AgentArray,
        /// The element, a scalar.
        index: Slot,
        /// The value.
        from: Register,
        /// The lanes that write; register 0 for all.
        mask: Register,
    },
    /// The same with an index per lane.
    PutLanes {
        /// The array.
        array: AgentArray,
        /// The element, per lane.
        index: Register,
        /// The value.
        from: Register,
        /// The lanes that write; register 0 for all.
        mask: Register,
    },
    /// Jumps. A backward jump checks for cancellation.
    Jump(Target),
    /// Jumps if a scalar is 0.
    JumpIfZero {
        /// The scalar.
        slot: Slot,
        /// The target.
        to: Target,
    },
    /// Jumps if no lane of a register is true.
    JumpIfNone {
        /// The register.
        mask: Register,
        /// The target.
        to: Target,
    },
    /// Loads what another agent of the world had when the phase began.
    Other {
        /// The destination.
        to: Register,
        /// The word; `first` is a column of what the agents publish.
        from: AgentArray,
        /// The element, per lane; register 0 for the first.
        index: Register,
        /// The agent's place in the world, per lane; register 0 if it is a scalar.
        member: Register,
        /// The scalar.
        slot: Slot,
    },
    /// Combines what the agents of each world have. All blocks of a world wait here for one another.
    Across {
        /// How.
        tree: Tree<L>,
        /// The destination, in all lanes of a world.
        to: Register,
        /// What each agent has.
        from: Register,
    },
    /// Sets a scalar to what all lanes of a register have.
    First {
        /// The scalar.
        to: Slot,
        /// The register.
        from: Register,
    },
    /// Stops lanes in this step; register 0 for all.
    Stop {
        /// The lanes.
        mask: Register,
    },
    /// Runs a function in place of the instructions up to `next`.
    Native {
        /// The function.
        function: Function,
        /// The instruction after them.
        next: Target,
    },
    /// The end of a part of the program.
    End,
}

/// The scalar of a table's elements that an instruction loads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TableWord {
    /// Words per element.
    pub stride: u32,
    /// The index of its first word within the element.
    pub index: u32,
    /// How it is stored.
    pub scalar: value::Scalar,
}

/// One component of an array that each agent has: element `k` is register, or column,
/// `first + k * stride + part`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentArray {
    /// The register of the first component of the first element.
    pub first: Register,
    /// The number of elements, at least one.
    pub length: u32,
    /// Components per element.
    pub stride: u32,
    /// The index of the component within the element.
    pub part: u32,
}

impl AgentArray {
    /// Is the register one of its words?
    pub(super) fn holds(&self, register: Register) -> bool {
        (self.first..self.first + self.length * self.stride).contains(&register)
    }
}

/// A word of an agent's row in storage, and its register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The index of the word within the row.
    pub word: u32,
    /// Its register.
    pub register: Register,
    /// What it is of the register's lanes.
    pub part: Part,
}

/// The source of a table's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Table {
    /// A data table of the launch.
    Data(usize),
    /// Words of the uniform block.
    Uniform {
        /// The first.
        first: u32,
        /// Their number.
        count: u32,
    },
    /// Known at compile time.
    Constant(Vec<u32>),
}

/// A table whose number of rows a program reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// The data table.
    pub data: usize,
    /// Words per row.
    pub row_words: u32,
    /// The scalar for the number of rows.
    pub slot: Slot,
}

/// Code that computes an absent input.
#[derive(Clone, Debug)]
pub struct Default {
    /// Its first instruction.
    pub entry: Target,
    /// The step of its draws.
    pub random_step: u32,
    /// The inputs that it writes.
    pub inputs: Vec<Stored>,
}

/// What agents or worlds draw from.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    /// The number of the agent, or what stands for the world.
    pub number: Register,
    /// The two words of its key.
    pub keys: [Register; 2],
    /// Whether the keys are used.
    pub draws: bool,
}

/// What a lane knows of its world.
#[derive(Clone, Copy, Debug)]
pub struct World {
    /// The agent's place in the world.
    pub member: Register,
    /// The place of the world's first agent in what the agents of a group publish.
    pub origin: Register,
    /// The world's draws.
    pub stream: Stream,
}

/// A register that other agents read, and the column of its copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Published {
    /// The register.
    pub register: Register,
    /// The column.
    pub column: u32,
}

/// Code that all agents of a world complete before what follows.
#[derive(Clone, Debug)]
pub struct Phase {
    /// Its first instruction.
    pub entry: Target,
    /// Who runs it.
    pub owner: Owner,
    /// What it reads of other agents, as it is when the phase begins.
    pub reads: Vec<Published>,
}

/// Values that are taken before the first step and after each of every so many.
#[derive(Clone, Debug)]
pub struct Sample<L> {
    /// Steps between two samples.
    pub every: u32,
    /// Computes them.
    pub phase: Phase,
    /// Those of each agent.
    pub records: Vec<Stored>,
    /// Those of each world or unit; with a tree, what all its agents have is combined by it.
    pub world_records: Vec<(Stored, Option<Tree<L>>)>,
}

/// A compiled program: for floats of `f32`, or with lanes of 64 bits of `f64`.
#[derive(Clone)]
pub struct Program<L = u32> {
    pub(super) isa: Isa,
    pub(super) generator: Generator,
    pub(super) code: Vec<Instruction<L>>,
    pub(super) defaults: Vec<Default>,
    pub(super) init: Target,
    pub(super) prologue: Target,
    /// The phases of a step, in order.
    pub(super) phases: Vec<Phase>,
    /// What is sampled.
    pub(super) samples: Vec<Sample<L>>,
    /// The phases after the last step, before `finish`.
    pub(super) ends: Vec<Phase>,
    pub(super) finish: Phase,
    /// The number of registers of a block.
    pub(super) registers: u32,
    /// The number of leading registers that live across steps.
    pub(super) staying: u32,
    /// The initial scalars, before those of the launch are set.
    pub(super) scalars: Vec<L>,
    /// The number of words of the uniform block, which are the first scalars.
    pub(super) uniform_words: u32,
    pub(super) tables: Vec<Table>,
    pub(super) rows: Vec<Rows>,
    /// Scalars of the uniform block that are not stored there as lanes have them: `bool`s and `f64`. Those of
    /// two words are the first.
    pub(super) params: Vec<(Slot, value::Scalar)>,
    pub(super) inputs: Vec<Stored>,
    pub(super) states: Vec<Stored>,
    pub(super) outputs: Vec<Stored>,
    pub(super) world_inputs: Vec<Stored>,
    pub(super) world_states: Vec<Stored>,
    pub(super) world_outputs: Vec<Stored>,
    /// The agents' numbers and draws.
    pub(super) agent: Stream,
    /// If the model speaks of worlds.
    pub(super) world: Option<World>,
    /// Whether the agents of a world depend on one another, so that they must run together.
    pub(super) joint: bool,
    /// Whether a group is one world, of which all blocks have the same scalars.
    pub(super) alone: bool,
    /// The number of columns of what agents publish.
    pub(super) columns: u32,
    /// The mask of lanes that have not stopped, if lanes can stop.
    pub(super) alive: Option<Register>,
    /// The functions that stand in place of instructions.
    pub(super) jit: Jit,
}

impl<L> fmt::Debug for Program<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program")
            .field("isa", &self.isa)
            .field("instructions", &self.code.len())
            .field("registers", &self.registers)
            .finish_non_exhaustive()
    }
}

impl<L: Lane> Instruction<L> {
    /// Every register that it names directly, sources before the destination. Without those of arrays, which
    /// are not reallocated.
    pub(super) fn each_register(&mut self, mut f: impl FnMut(&mut Register)) {
        match self {
            Instruction::Lanes { registers, .. } => {
                let [to, from @ ..] = registers;
                from.iter_mut().for_each(&mut f);
                f(to);
            }
            Instruction::SineAndCosine {
                sine, cosine, from, ..
            } => {
                f(from);
                f(sine);
                f(cosine);
            }
            Instruction::Pick { to, .. } => f(to),
            Instruction::Other {
                to, index, member, ..
            } => {
                f(index);
                f(member);
                f(to);
            }
            Instruction::Copy { to, from }
            | Instruction::Across { to, from, .. }
            | Instruction::Gather {
                to, index: from, ..
            }
            | Instruction::PickLanes {
                to, index: from, ..
            } => {
                f(from);
                f(to);
            }
            Instruction::Put { from, mask, .. } => {
                f(from);
                f(mask);
            }
            Instruction::PutLanes {
                index, from, mask, ..
            } => {
                f(index);
                f(from);
                f(mask);
            }
            Instruction::JumpIfNone { mask: from, .. }
            | Instruction::Stop { mask: from }
            | Instruction::First { from, .. } => f(from),
            Instruction::Clear { .. }
            | Instruction::Scalar { .. }
            | Instruction::LoadScalar { .. }
            | Instruction::Jump(_)
            | Instruction::JumpIfZero { .. }
            | Instruction::Native { .. }
            | Instruction::End => {}
        }
    }

    /// The registers that it reads, and those that it writes in all lanes. Without those of arrays.
    pub(super) fn uses(mut self) -> (Vec<Register>, Vec<Register>) {
        let destinations = match &self {
            Instruction::Lanes { .. }
            | Instruction::Copy { .. }
            | Instruction::Gather { .. }
            | Instruction::Pick { .. }
            | Instruction::PickLanes { .. }
            | Instruction::Other { .. }
            | Instruction::Across { .. } => 1,
            Instruction::SineAndCosine { .. } => 2,
            Instruction::Scalar { .. }
            | Instruction::Clear { .. }
            | Instruction::LoadScalar { .. }
            | Instruction::Put { .. }
            | Instruction::PutLanes { .. }
            | Instruction::Jump(_)
            | Instruction::JumpIfZero { .. }
            | Instruction::JumpIfNone { .. }
            | Instruction::First { .. }
            | Instruction::Stop { .. }
            | Instruction::Native { .. }
            | Instruction::End => 0,
        };
        let mut read = Vec::new();
        self.each_register(|register| read.push(*register));
        let written = read.split_off(read.len() - destinations);
        if let Instruction::Lanes { code, .. } = self
            && code.reads_destination()
        {
            read.extend(&written);
        }
        (read, written)
    }

    /// The number of registers of the array that it names; 0 if it names none.
    pub(super) fn array_words(&self) -> u32 {
        match self {
            Instruction::Pick { array, .. }
            | Instruction::PickLanes { array, .. }
            | Instruction::Put { array, .. }
            | Instruction::PutLanes { array, .. } => array.length * array.stride,
            Instruction::Clear { count, .. } => *count,
            _ => 0,
        }
    }

    /// The first register of the array that it names.
    pub(super) fn array(&mut self) -> Option<&mut Register> {
        match self {
            Instruction::Pick { array, .. }
            | Instruction::PickLanes { array, .. }
            | Instruction::Put { array, .. }
            | Instruction::PutLanes { array, .. } => Some(&mut array.first),
            Instruction::Clear { first, .. } => Some(first),
            _ => None,
        }
    }
}

impl<L: Lane> Program<L> {
    /// The instruction set of its kernels.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// The number of instructions.
    pub fn instructions(&self) -> usize {
        self.code.len()
    }

    /// The number of instructions that are loops over lanes.
    pub fn lane_instructions(&self) -> usize {
        let lanes = |instruction: &&Instruction<L>| {
            matches!(
                instruction,
                Instruction::Lanes { .. } | Instruction::SineAndCosine { .. }
            )
        };
        self.code.iter().filter(lanes).count()
    }

    /// The functions that stand in place of instructions.
    pub fn jit(&self) -> &Jit {
        &self.jit
    }

    /// Puts functions in place of instructions, where this processor has a compiler for them and none were
    /// asked for before.
    pub fn install_functions(&mut self) {
        if matches!(self.jit, Jit::Off) {
            L::install(self);
        }
    }

    /// The number of registers of [`super::kernel::LANES`] lanes of a block.
    pub fn registers(&self) -> u32 {
        self.registers
    }

    /// Bytes of a machine that runs a block, and of what its agents publish.
    pub fn block_bytes(&self) -> u64 {
        let columns = super::kernel::LANES as u64 * u64::from(self.columns);
        let words = columns + self.scalars.len() as u64;
        size_of::<Lanes<L>>() as u64 * u64::from(self.registers) + size_of::<L>() as u64 * words
    }

    /// Whether worlds compute values of their own in each step, also when all agents have stopped.
    pub(super) fn has_world_phases(&self) -> bool {
        (self.phases.iter()).any(|phase| phase.owner == Owner::World)
    }

    /// The registers of the agents' inputs, states and outputs.
    pub fn rows(&self) -> [&[Stored]; 3] {
        [&self.inputs, &self.states, &self.outputs]
    }
}
