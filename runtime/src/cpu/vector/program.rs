//! A program of the vector machine: flat code over registers of lanes and scalars that all agents share.
//!
//! Programs are made by [`super::compile`] alone, and [`Program::check`] holds what the machine relies on.

mod check;

use super::{
    isa::Isa,
    kernel::{Kernel, TwinKernel},
    op::{Code, Scalar},
};
use sim_compiler::random::Generator;
use std::fmt;

/// A register of lanes. Register 0 is never written: it stands where an instruction takes none.
pub type Register = u32;
/// A scalar.
pub type Slot = u32;
/// A place in the code.
pub type Target = u32;

/// The scalars that the machine sets, after the words of the launch's uniform block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// What the model calls `agents`.
    Agents,
    /// What the model calls `steps`.
    Steps,
    /// The step that runs.
    Step,
    /// The same as the generator counts it.
    RandomStep,
    /// The seed's lower word.
    SeedLow,
    /// The seed's upper word.
    SeedHigh,
}

impl Known {
    /// How many there are.
    pub const COUNT: u32 = 6;

    /// Its scalar.
    pub fn slot(self, uniform_words: u32) -> Slot {
        uniform_words + self as u32
    }
}

/// An instruction.
#[derive(Clone, Copy)]
pub enum Instruction {
    /// A loop over lanes.
    Lanes {
        /// What it does, for checks.
        code: Code,
        /// The loop.
        kernel: Kernel,
        /// The destination and up to four sources; register 0 where a source is absent or a scalar.
        registers: [Register; 5],
        /// By source: which scalar it is, where it is one.
        slots: [Slot; 4],
    },
    /// The sine and the cosine of a register.
    SineAndCosine {
        /// The loop.
        kernel: TwinKernel,
        /// The destination of the sine.
        sine: Register,
        /// The destination of the cosine, another one.
        cosine: Register,
        /// The angle, a third one.
        from: Register,
    },
    /// A scalar from up to four scalars.
    Scalar {
        /// What it does.
        f: Scalar,
        /// The destination.
        to: Slot,
        /// The sources; those that it does not take are any.
        from: [Slot; 4],
    },
    /// Copies a register.
    Copy {
        /// The destination.
        to: Register,
        /// The source, another one.
        from: Register,
    },
    /// Sets registers to zero.
    Clear {
        /// The first.
        first: Register,
        /// How many.
        count: u32,
    },
    /// A scalar out of a table.
    LoadScalar {
        /// The destination.
        to: Slot,
        /// The table.
        table: u32,
        /// The element, a scalar.
        index: Slot,
        /// Words per element, and which of them.
        part: (u32, u32),
    },
    /// A word per lane out of a table.
    Gather {
        /// The destination.
        to: Register,
        /// The table.
        table: u32,
        /// The element, per lane.
        index: Register,
        /// Words per element, and which of them.
        part: (u32, u32),
    },
    /// The register of an element of the agents' own array.
    Pick {
        /// The destination.
        to: Register,
        /// The array.
        array: Own,
        /// The element, a scalar.
        index: Slot,
    },
    /// The same where each lane has its own element.
    PickLanes {
        /// The destination.
        to: Register,
        /// The array.
        array: Own,
        /// The element, per lane.
        index: Register,
    },
    /// Writes an element of the agents' own array.
    Put {
        /// The array.
        array: Own,
        /// The element, a scalar.
        index: Slot,
        /// The value.
        from: Register,
        /// The lanes that write; register 0 for all.
        mask: Register,
    },
    /// The same where each lane has its own element.
    PutLanes {
        /// The array.
        array: Own,
        /// The element, per lane.
        index: Register,
        /// The value.
        from: Register,
        /// The lanes that write; register 0 for all.
        mask: Register,
    },
    /// Goes on elsewhere. Backwards, it looks whether the run was cancelled.
    Jump(Target),
    /// Goes on elsewhere if a scalar is 0.
    JumpIfZero {
        /// The scalar.
        slot: Slot,
        /// Where.
        to: Target,
    },
    /// Goes on elsewhere if no lane of a register is true.
    JumpIfNone {
        /// The register.
        mask: Register,
        /// Where.
        to: Target,
    },
    /// These lanes have stopped in this step; register 0 for all.
    Stop {
        /// The lanes.
        mask: Register,
    },
    /// The end of a part of the program.
    End,
}

/// One word of an array that each agent has for itself: element `k` is register
/// `first + k * stride + part`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Own {
    /// The register of the first word of the first element.
    pub first: Register,
    /// How many elements, at least one.
    pub length: u32,
    /// Words per element.
    pub stride: u32,
    /// Which word of the element.
    pub part: u32,
}

/// A word of an agent's row in storage, and its register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Which word of the row.
    pub word: u32,
    /// Where it is while the block runs.
    pub register: Register,
    /// A `bool` is 1 or 0 in storage.
    pub is_bool: bool,
}

/// Where a table's words come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Table {
    /// The launch's data table of that number.
    Data(usize),
    /// Words of the uniform block.
    Uniform {
        /// The first.
        first: u32,
        /// How many.
        count: u32,
    },
    /// Known at compile time.
    Constant(Vec<u32>),
}

/// A table whose rows a program wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// The data table.
    pub data: usize,
    /// Words per row.
    pub row_words: u32,
    /// The scalar that is to hold the number of rows.
    pub slot: Slot,
}

/// Code that computes an input which the launch leaves to the model.
#[derive(Clone, Debug)]
pub struct Default {
    /// Where it begins.
    pub entry: Target,
    /// The step of its draws.
    pub random_step: u32,
    /// What it writes.
    pub inputs: Vec<Stored>,
}

/// A compiled program.
#[derive(Clone)]
pub struct Program {
    pub(super) isa: Isa,
    pub(super) generator: Generator,
    pub(super) code: Vec<Instruction>,
    pub(super) defaults: Vec<Default>,
    pub(super) init: Target,
    pub(super) prologue: Target,
    pub(super) step: Target,
    pub(super) finish: Target,
    /// How many registers a block has.
    pub(super) registers: u32,
    /// The first so many hold what lives from step to step.
    pub(super) staying: u32,
    /// The scalars as they are before the launch sets its own.
    pub(super) scalars: Vec<u32>,
    /// The words of the uniform block, which are the first scalars.
    pub(super) uniform_words: u32,
    pub(super) tables: Vec<Table>,
    pub(super) rows: Vec<Rows>,
    /// Scalars of the uniform block that are `bool`s, 1 or 0 there.
    pub(super) bools: Vec<Slot>,
    pub(super) inputs: Vec<Stored>,
    pub(super) states: Vec<Stored>,
    pub(super) outputs: Vec<Stored>,
    /// The agents' numbers.
    pub(super) agent: Register,
    /// The two words of the agents' keys.
    pub(super) keys: [Register; 2],
    /// Are the keys ever used?
    pub(super) draws: bool,
    /// The lanes that have not stopped, if lanes can stop.
    pub(super) alive: Option<Register>,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program")
            .field("isa", &self.isa)
            .field("instructions", &self.code.len())
            .field("registers", &self.registers)
            .finish_non_exhaustive()
    }
}

impl Instruction {
    /// Every register that it names by itself, the sources before the destination; not those of arrays,
    /// which keep their places.
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
            Instruction::Copy { to, from }
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
            Instruction::JumpIfNone { mask, .. } | Instruction::Stop { mask } => f(mask),
            Instruction::Clear { .. }
            | Instruction::Scalar { .. }
            | Instruction::LoadScalar { .. }
            | Instruction::Jump(_)
            | Instruction::JumpIfZero { .. }
            | Instruction::End => {}
        }
    }

    /// How many registers the array has that it names; 0 if it names none.
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

impl Program {
    /// The instruction set of its kernels.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// How many instructions it has.
    pub fn instructions(&self) -> usize {
        self.code.len()
    }

    /// How many of them are loops over lanes.
    pub fn lane_instructions(&self) -> usize {
        let lanes = |instruction: &&Instruction| {
            matches!(
                instruction,
                Instruction::Lanes { .. } | Instruction::SineAndCosine { .. }
            )
        };
        self.code.iter().filter(lanes).count()
    }

    /// How many registers of [`super::kernel::LANES`] words a block needs.
    pub fn registers(&self) -> u32 {
        self.registers
    }

    /// Bytes of a machine that runs a block.
    pub fn block_bytes(&self) -> u64 {
        4 * (super::kernel::LANES as u64 * u64::from(self.registers) + self.scalars.len() as u64)
    }

    /// Where the words of inputs, states and outputs lie.
    pub fn rows(&self) -> [&[Stored]; 3] {
        [&self.inputs, &self.states, &self.outputs]
    }
}
