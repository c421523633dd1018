//! The compiler of the Sim language: pure functions from source text to an artifact or diagnostics.

pub mod diagnostic;
pub mod span;
pub mod syntax;
