//! Runs compiled Sim models.

pub mod cpu;
