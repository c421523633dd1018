//! Machine code that is made at run time, for x86-64 with AVX2 or AVX-512.
//!
//! The vector machine runs each instruction as a loop over the lanes of a block, and so loads and stores a
//! register of the machine for every operand. Here a run of instructions, a [segment](segment), becomes one
//! function: a loop over vectors of lanes, in which values stay in the registers of the processor, and only
//! what is read later is stored. Elements of arrays at an index that all lanes share are read, and set, where
//! they are. All else stays the machine's: control flow, tables, elements at an index per lane, draws of
//! Philox, functions that compute in `f64`. So every program runs, whatever part of it becomes functions.
//!
//! 1. [`segment`] finds the runs and what of their results is read later.
//! 2. [`lower`] and [`math`] take instructions apart into [values](body): the same operations in the same
//!    order as the functions that define them, so that the results have the same bits.
//! 3. [`order`] schedules them, and [`emit`] allocates registers and writes the code by [`encode`]; [`rare`]
//!    has the slow paths: functions that the code calls where an argument needs them.
//! 4. [`memory`] makes it executable. No page is writable and executable at once; where the system forbids
//!    such code, the program runs as it was, and says so.

mod body;
mod constants;
mod emit;
mod encode;
mod lower;
mod math;
mod memory;
mod order;
mod rare;
mod segment;
#[cfg(test)]
mod tests;

use super::{
    isa::Isa,
    kernel::{Lane, Lanes},
    program::{Instruction, Program, Target},
};
use body::Loop;
use constants::Constants;
use memory::Executable;
use sim_compiler::kernel::schedule::Decision;
use std::sync::Arc;

/// A constant in all lanes of the widest vectors.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Constant([u32; 16]);

/// A function: runs a segment on so many bytes of the lanes of a block's registers, with its scalars.
///
/// # Safety
/// The registers, scalars and constants must be those of the program for which it was made, the processor
/// must have its instruction set, and the bytes must be those of a multiple of [`super::kernel::GROUP`]
/// lanes.
pub type Function = unsafe extern "sysv64" fn(
    registers: *mut Lanes<u32>,
    scalars: *const u32,
    bytes: usize,
    constants: *const Constant,
);

/// The functions of a program.
#[derive(Clone, Debug)]
pub struct Functions {
    /// What the functions read; they keep the address.
    constants: Arc<[Constant]>,
    /// Keeps the code in memory.
    memory: Arc<Executable>,
    /// How many instructions of the machine they replace.
    instructions: usize,
}

/// What there is of machine code in a program.
#[derive(Clone, Debug)]
pub enum Jit {
    /// It was not asked for, or the instruction set has none.
    Off,
    /// Nothing in the program would be faster by it.
    Nothing,
    /// The functions.
    Made(Functions),
    /// The system forbids it, and how it says so.
    Forbidden(String),
}

impl Jit {
    /// What was decided, for reports; nothing if there was nothing to decide.
    pub fn decision(&self) -> Option<Decision> {
        let (what, why) = match self {
            Jit::Off => return None,
            Jit::Nothing => (
                "no machine code made at run time".to_owned(),
                "no operations that it has stand one after another".to_owned(),
            ),
            Jit::Made(functions) => (
                format!(
                    "machine code made at run time: {} bytes, in place of {} instructions",
                    functions.memory.len(),
                    functions.instructions
                ),
                "between them values stay in the processor's registers".to_owned(),
            ),
            Jit::Forbidden(error) => (
                "no machine code made at run time".to_owned(),
                format!("the system forbids it ({error})"),
            ),
        };
        Some(Decision { what, why })
    }
}

/// Calls a function on so many lanes of a block.
///
/// # Safety
/// See [`Function`].
#[inline(always)]
pub unsafe fn call<L: Lane>(
    function: Function,
    registers: *mut Lanes<L>,
    scalars: &[L],
    count: usize,
    jit: &Jit,
) {
    if let Jit::Made(functions) = jit {
        // SAFETY: by the caller; only programs of lanes of 32 bits have functions.
        unsafe {
            function(
                registers.cast(),
                scalars.as_ptr().cast(),
                count * size_of::<u32>(),
                functions.constants.as_ptr(),
            );
        }
    }
}

/// Replaces segments of a program by functions.
pub fn install(program: &mut Program) {
    if program.isa == Isa::Portable {
        return;
    }
    let segments = segment::find(program);
    let mut constants = Constants::default();
    let mut code = Vec::new();
    let mut made = Vec::new();
    for segment in &segments {
        let loops = Loop::all(&segment.body, &segment.stores, program.isa);
        // Several copies may need too much of the stack.
        let function = emit::emit(&loops, program.isa, &mut constants).or_else(|| {
            let one = Loop::with_copies(&segment.body, &segment.stores, 1);
            emit::emit(&[one], program.isa, &mut constants)
        });
        if let Some(function) = function {
            code.resize(code.len().next_multiple_of(64), 0);
            made.push((segment, code.len()));
            code.extend(function);
        }
    }
    if made.is_empty() {
        program.jit = Jit::Nothing;
        return;
    }
    let memory = match Executable::new(&code) {
        Ok(memory) => memory,
        Err(error) => {
            program.jit = Jit::Forbidden(error.to_string());
            return;
        }
    };
    let mut instructions = 0;
    for (segment, at) in made {
        instructions += segment.end - segment.start;
        program.code[segment.start] = Instruction::Native {
            // SAFETY: the code at this address is a whole function with these parameters.
            function: unsafe { std::mem::transmute::<*const u8, Function>(memory.at(at)) },
            next: segment.end as Target,
        };
    }
    program.jit = Jit::Made(Functions {
        constants: constants
            .bits
            .iter()
            .map(|&bits| Constant([bits; 16]))
            .collect(),
        memory: Arc::new(memory),
        instructions,
    });
}
