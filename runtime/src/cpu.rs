//! Two machines for the IR that give the same bits: [`vector`] is fast, and [`reference`](mod@reference) runs
//! the interpreter that defines what is correct.

pub mod reference;
pub mod vector;

pub use sim_compiler::ir::interpret::Progress;
use std::sync::atomic::{AtomicBool, AtomicU64};

/// What a run shares with the thread that controls it.
#[derive(Debug, Default)]
pub struct Control {
    /// Set to cancel the run.
    pub cancel: AtomicBool,
    /// The number of agents times the number of their steps that are done.
    pub agent_steps_done: AtomicU64,
}

/// The run was cancelled. The agents' rows are partly updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the run was cancelled")]
pub struct Cancelled;
