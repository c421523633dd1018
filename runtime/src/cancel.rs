//! Cancellation and progress of runs on the CPU. A second thread polls the caller's [`Control`] while the run
//! computes. Where there are no threads, the run itself does between its steps.

use crate::{clock, control::Control, cpu, error::Error};
use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
    time::Duration,
};

/// Interval between two polls of the cancel flag, each followed by a progress report.
const INTERVAL: Duration = Duration::from_millis(20);

/// Runs `work` of `total` agent-steps on this thread while another thread forwards cancellation to it and
/// reports its progress.
///
/// # Errors
/// [`Error::Cancelled`], and those of `work`.
pub(crate) fn cancellable(
    total: u64,
    control: Control<'_>,
    work: impl FnOnce(&cpu::Control) -> Result<(), Error>,
) -> Result<(), Error> {
    control.check()?;
    if control.cancel.is_none() && control.progress.is_none() {
        return work(&cpu::Control::default());
    }
    if cfg!(target_family = "wasm") {
        return on_one_thread(total, control, work);
    }
    let inner = cpu::Control::default();
    let report = || control.report(inner.agent_steps_done.load(Ordering::Relaxed), total);
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
    })?;
    report();
    Ok(())
}

/// The error of a machine that was told to end.
pub(crate) fn cancelled(_: cpu::Cancelled) -> Error {
    Error::Cancelled
}

/// Runs `work` of `total` agent-steps, which looks after itself.
fn on_one_thread(
    total: u64,
    control: Control<'_>,
    work: impl FnOnce(&cpu::Control) -> Result<(), Error>,
) -> Result<(), Error> {
    let due = AtomicU64::new(0);
    let watch = |inner: &cpu::Control<'_>| {
        let now = clock::now();
        if (now.as_millis() as u64) < due.load(Ordering::Relaxed) {
            return;
        }
        due.store((now + INTERVAL).as_millis() as u64, Ordering::Relaxed);
        if control.check().is_err() {
            inner.cancel.store(true, Ordering::Relaxed);
        }
        control.report(inner.agent_steps_done.load(Ordering::Relaxed), total);
    };
    let inner = cpu::Control {
        watch: Some(&watch),
        ..cpu::Control::default()
    };
    work(&inner)?;
    control.report(total, total);
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
