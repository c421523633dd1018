//! Two interpreters of the IR that give the same bits: [`vector`] is fast, and [`reference`](mod@reference)
//! defines what is correct.

pub mod reference;
pub mod vector;

use sim_compiler::manifest::STOPPED;
use std::sync::atomic::{AtomicBool, AtomicU64};

/// The steps of an agent; the progress word of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The number of steps that it ran, including the one in which it stopped.
    pub steps: u32,
    /// Whether it stopped.
    pub stopped: bool,
}

impl Progress {
    /// Encodes it as a kernel does.
    pub fn word(self) -> u32 {
        self.steps | if self.stopped { STOPPED } else { 0 }
    }

    /// Decodes what a kernel stores.
    pub fn from_word(word: u32) -> Self {
        Progress {
            steps: word & !STOPPED,
            stopped: word & STOPPED != 0,
        }
    }
}

/// What a run shares with the thread that controls it.
#[derive(Debug, Default)]
pub struct Control {
    /// Set to cancel the run.
    pub cancel: AtomicBool,
    /// The number of agents that have completed the range of steps.
    pub agents_done: AtomicU64,
}

/// The run was cancelled. The agents' rows are partly updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the run was cancelled")]
pub struct Cancelled;
