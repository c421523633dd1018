//! The vector machine: the CPU backend.
//!
//! The program of a model is compiled to flat code whose every instruction is one loop over a block of
//! agents ([`kernel::LANES`] of them), so that what an instruction costs to start is shared by the block
//! and the loops run on the processor's vector units. All steps of a block are run before the next block
//! begins: its registers stay in the processor's caches, and no memory grows with the number of steps.
//!
//! [`compile::compile`] makes a [`Program`] from the IR, [`Machine`] runs it on one block, and
//! [`drive::run`] a population on all cores. The results are those of the reference interpreter to the
//! bit, on every instruction set: kernels are made of the same scalar functions (`op`).

mod compile;
pub mod drive;
mod isa;
mod kernel;
mod machine;
mod op;
mod program;

pub use compile::{TooLarge, compile};
pub use isa::Isa;
pub use kernel::LANES;
pub use machine::{Machine, Values};
pub use program::{Program, Stored};

#[cfg(test)]
mod tests;
