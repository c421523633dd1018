//! Mutual exclusion between the runs of one simulation. A run waits for the run before it and then reuses its
//! device, unless waiting could deadlock.

use crate::parallel;
use std::{
    sync::{Condvar, Mutex, PoisonError},
    thread::{self, ThreadId},
};

/// A lock that refuses to block where that could deadlock.
#[derive(Debug, Default)]
pub(crate) struct Exclusive {
    holder: Mutex<Option<ThreadId>>,
    released: Condvar,
}

/// Releases the lock when it is dropped.
pub(crate) struct ExclusiveGuard<'a>(&'a Exclusive);

impl Exclusive {
    /// Acquires the lock. `None` if waiting could last forever: this thread holds the lock already (a
    /// callback of a run started another run), or this is a thread of rayon's pool, which may have suspended
    /// work of the holder to run this.
    pub(crate) fn acquire(&self) -> Option<ExclusiveGuard<'_>> {
        let own = thread::current().id();
        let mut holder = self.holder.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match *holder {
                None => {
                    *holder = Some(own);
                    return Some(ExclusiveGuard(self));
                }
                Some(other) if other == own || parallel::in_pool() => {
                    return None;
                }
                Some(_) => {
                    holder = (self.released.wait(holder)).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }
}

impl Drop for ExclusiveGuard<'_> {
    fn drop(&mut self) {
        let mut holder = (self.0.holder.lock()).unwrap_or_else(PoisonError::into_inner);
        *holder = None;
        self.0.released.notify_one();
    }
}
