//! Two machines for the IR that give the same bits: [`vector`] is fast, and [`reference`](mod@reference) runs
//! the interpreter that defines what is correct.

pub mod reference;
pub mod vector;

pub use sim_compiler::ir::interpret::Progress;
use std::{
    fmt,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};

/// Looks after a run on its own thread.
pub type Watch<'a> = &'a (dyn Fn(&Control<'_>) + Sync);

/// What a run shares with the thread that controls it.
#[derive(Default)]
pub struct Control<'a> {
    /// Set to cancel the run.
    pub cancel: AtomicBool,
    /// The number of agents times the number of their steps that are done.
    pub agent_steps_done: AtomicU64,
    /// Called now and then by the run itself, where no other thread can watch it.
    pub watch: Option<Watch<'a>>,
}

impl Control<'_> {
    /// Counts agent-steps as done.
    pub(crate) fn count(&self, agent_steps: u64) {
        (self.agent_steps_done).fetch_add(agent_steps, Ordering::Relaxed);
        if let Some(watch) = self.watch {
            watch(self);
        }
    }
}

impl fmt::Debug for Control<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let done = self.agent_steps_done.load(Ordering::Relaxed);
        f.debug_struct("Control")
            .field("cancel", &self.cancel)
            .field("agent_steps_done", &done)
            .finish_non_exhaustive()
    }
}

/// The run was cancelled. The agents' rows are partly updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the run was cancelled")]
pub struct Cancelled;
