//! Runs a program on the processor, in two ways that give the same bits: [`vector`] is the fast one, and
//! [`reference`](mod@reference) the one that says what is right.

pub mod reference;
pub mod vector;

use sim_compiler::manifest::STOPPED;
use std::sync::atomic::{AtomicBool, AtomicU64};

/// How far an agent has come; the `progress` word of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Steps that it really ran, the one in which it stopped included.
    pub steps: u32,
    /// Has it stopped?
    pub stopped: bool,
}

impl Progress {
    /// As a kernel stores it.
    pub fn word(self) -> u32 {
        self.steps | if self.stopped { STOPPED } else { 0 }
    }

    /// From what a kernel stores.
    pub fn from_word(word: u32) -> Self {
        Progress {
            steps: word & !STOPPED,
            stopped: word & STOPPED != 0,
        }
    }
}

/// What a run shares with whoever waits for it.
#[derive(Debug, Default)]
pub struct Control {
    /// Set it to end the run early.
    pub cancel: AtomicBool,
    /// Counts the agents that are done with the range of steps.
    pub agents_done: AtomicU64,
}

/// The run was cancelled; the agents' rows are a mixture of before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the run was cancelled")]
pub struct Cancelled;
