//! The backends that write text: from the IR to what a device compiles.

pub mod limits;
mod usage;
mod wgsl;

pub use wgsl::{Origin, origins, wgsl};

use crate::ir::Program;

/// How many words of inputs a kernel of this program keeps for its whole run.
pub(crate) fn input_words(program: &Program) -> u32 {
    usage::usage(program)
        .inputs
        .keys()
        .map(|(_, var, _)| program[*var].ty.components() as u32)
        .sum()
}
