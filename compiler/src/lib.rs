//! The compiler of the Sim language: pure functions from source text to an artifact or diagnostics.

pub mod artifact;
pub mod builtin;
pub mod check;
pub mod diagnostic;
pub mod emit;
pub mod hir;
pub mod ir;
pub mod lower;
pub mod manifest;
pub mod random;
pub mod span;
pub mod syntax;
