//! Runs on the CPU, watched: another thread looks at the caller's wishes meanwhile.

use crate::{control::Control, cpu, error::Error};
use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

/// How often a run looks whether it was cancelled, and says how far it is.
const WATCH: Duration = Duration::from_millis(20);

/// Runs `work` while another thread watches the caller's wishes.
pub(crate) fn watched(
    agents: u32,
    steps: u32,
    control: Control<'_>,
    work: impl FnOnce(&cpu::Control) -> Result<(), cpu::Cancelled> + Send,
) -> Result<(), Error> {
    control.check()?;
    let inner = cpu::Control::default();
    let total = u64::from(agents) * u64::from(steps);
    let done = || {
        let agents = inner.agents_done.load(Ordering::Relaxed);
        control.report(agents * u64::from(steps), total);
    };
    // Where there are no threads, nobody could watch.
    let alone = cfg!(target_family = "wasm");
    if alone || (control.cancel.is_none() && control.progress.is_none()) {
        return work(&inner).map_err(|cpu::Cancelled| Error::Cancelled);
    }
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        // Not the other way round: if this is a thread of rayon's, it must not wait for one that asks rayon for help.
        let watcher = scope.spawn(|| {
            while !over.load(Ordering::Acquire) {
                thread::park_timeout(WATCH);
                if control.check().is_err() {
                    inner.cancel.store(true, Ordering::Relaxed);
                }
                done();
            }
        });
        let _over = Over(&over, watcher.thread());
        work(&inner)
    })
    .map_err(|cpu::Cancelled| Error::Cancelled)?;
    done();
    Ok(())
}

/// Tells the watcher, when it is dropped, that the work is over: also after a panic.
struct Over<'a>(&'a AtomicBool, &'a thread::Thread);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
        self.1.unpark();
    }
}
