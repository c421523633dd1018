//! Cancellation and progress of runs on the CPU. A second thread polls the caller's [`Control`] while the run
//! computes.

use crate::{control::Control, cpu, error::Error};
use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

/// Interval between two polls of the cancel flag, each followed by a progress report.
const INTERVAL: Duration = Duration::from_millis(20);

/// Runs `work` on this thread while another thread forwards cancellation to it and reports its progress.
///
/// # Errors
/// [`Error::Cancelled`]
pub(crate) fn cancellable(
    agents: u64,
    steps: u32,
    control: Control<'_>,
    work: impl FnOnce(&cpu::Control) -> Result<(), cpu::Cancelled>,
) -> Result<(), Error> {
    control.check()?;
    let inner = cpu::Control::default();
    let total = agents * u64::from(steps);
    let report = || control.report(inner.agent_steps_done.load(Ordering::Relaxed), total);
    let has_threads = !cfg!(target_family = "wasm");
    if !has_threads || (control.cancel.is_none() && control.progress.is_none()) {
        return work(&inner).map_err(|cpu::Cancelled| Error::Cancelled);
    }
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        // The watcher is the new thread, not `work`: a thread of rayon's pool must not wait for a thread that
        // asks rayon for work.
        let watcher = scope.spawn(|| {
            while !over.load(Ordering::Acquire) {
                thread::park_timeout(INTERVAL);
                if control.check().is_err() {
                    inner.cancel.store(true, Ordering::Relaxed);
                }
                report();
            }
        });
        let _stop = StopOnDrop {
            over: &over,
            watcher: watcher.thread(),
        };
        work(&inner)
    })
    .map_err(|cpu::Cancelled| Error::Cancelled)?;
    report();
    Ok(())
}

/// Ends the watcher when it is dropped, also by a panic.
struct StopOnDrop<'a> {
    over: &'a AtomicBool,
    watcher: &'a thread::Thread,
}

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        self.watcher.unpark();
    }
}
