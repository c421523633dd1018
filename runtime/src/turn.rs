//! Whose turn it is: runs of one simulation from several threads follow one another, so that each finds what the last
//! has made. But a run must not wait for one that waits for it.

use std::{
    sync::{Condvar, Mutex, PoisonError},
    thread::{self, ThreadId},
};

/// Who is running, if anybody is.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    running: Mutex<Option<ThreadId>>,
    over: Condvar,
}

/// Somebody's turn, until it is dropped.
pub(crate) struct Turn<'a>(&'a Turns);

impl Turns {
    /// Waits for the turn of this thread. None if it could wait forever: if the run whose turn it is has called this
    /// one, or if this is a thread of rayon's, which may have interrupted work of that run for this one.
    pub(crate) fn take(&self) -> Option<Turn<'_>> {
        let own = thread::current().id();
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match *running {
                None => {
                    *running = Some(own);
                    return Some(Turn(self));
                }
                Some(other) if other == own || rayon::current_thread_index().is_some() => {
                    return None;
                }
                Some(_) => {
                    running = (self.over.wait(running)).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut running = (self.0.running.lock()).unwrap_or_else(PoisonError::into_inner);
        *running = None;
        self.0.over.notify_one();
    }
}
