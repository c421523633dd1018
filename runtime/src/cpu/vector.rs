//! The vector machine: the CPU backend.
//!
//! A model's program is compiled to flat code. Each instruction is a loop over a block of agents
//! ([`kernel::LANES`] of them), so the block shares the cost of dispatching an instruction and the loops use
//! the processor's vector units. All steps of a block are run before the next block, so its registers stay in
//! the caches and memory does not grow with the number of steps. A block has whole worlds; the blocks of a
//! larger world are a [`Group`], which runs phase by phase.
//!
//! [`compile::compile`] turns the IR into a [`Program`], [`Group`] runs it on a group of blocks, and
//! [`drive::run`] on a population, with all cores. The results have the same bits as those of the reference
//! interpreter on every instruction set, because kernels apply the same scalar functions (`op`).

mod compile;
pub mod drive;
mod isa;
#[cfg(target_arch = "x86_64")]
mod jit;
#[cfg(not(target_arch = "x86_64"))]
#[path = "vector/no_jit.rs"]
mod jit;
mod kernel;
mod lane;
mod machine;
mod op;
mod program;

pub use compile::{NotCompiled, compile};
pub use isa::{Isa, Work, vectorised};
pub use jit::Jit;
pub use kernel::{LANES, Lane};
pub use lane::Wide;
pub use machine::{Group, Machine, Take, Values};
pub use program::{Program, Stored};

#[cfg(test)]
mod tests;
