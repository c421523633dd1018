//! Runs work without holding the interpreter lock, so that Ctrl-C ends it and its progress is shown.

use crate::errors::run_error;
use pyo3::prelude::*;
use sim_runtime::Control;
use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    process,
    sync::{
        Condvar, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

/// Interval between two looks at signals, each followed by a report of progress.
const INTERVAL: Duration = Duration::from_millis(50);

/// The process in which the first run was.
static PROCESS: OnceLock<u32> = OnceLock::new();

/// Refuses to run in a child that was forked after a run: it has the memory of the threads that compute, but
/// not the threads, and would wait for them for ever.
///
/// # Errors
/// `RunError`
pub(crate) fn refuse_fork() -> PyResult<()> {
    let own = process::id();
    match *PROCESS.get_or_init(|| own) == own {
        true => Ok(()),
        false => Err(run_error(
            "fork",
            "this process was forked after its parent had run a model, and has none of the threads that \
             compute",
            Some(
                "start processes by `multiprocessing.get_context(\"spawn\")`, or fork before the first run",
            ),
        )),
    }
}

/// How a call is watched.
pub(crate) struct Watched<'a> {
    /// Whether this is the main thread, which alone handles signals.
    pub(crate) handles_signals: bool,
    /// Whether the work is known to be so short that signals can wait for its end.
    pub(crate) is_short: bool,
    /// Called with the agent-steps that are done, and all.
    pub(crate) progress: Option<&'a Bound<'a, PyAny>>,
}

/// Runs `work` without holding the interpreter lock. On the main thread, or with progress, another thread
/// does it, and this one handles signals meanwhile: what a handler raises (`KeyboardInterrupt` by Ctrl-C)
/// cancels the work. That costs two switches of threads, which short work is spared.
///
/// # Errors
/// What a handler of a signal raised, or the callback for progress.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    watched: &Watched<'_>,
    work: impl FnOnce(&Control<'_>) -> T + Send,
) -> PyResult<T> {
    refuse_fork()?;
    let signals = watched.handles_signals && !watched.is_short;
    if !signals && watched.progress.is_none() {
        return Ok(py.detach(|| work(&Control::default())));
    }
    let shared = Shared {
        result: Mutex::new(None),
        done: Condvar::new(),
    };
    let (cancel, so_far, all) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    let report = |done: u64, total: u64| {
        so_far.store(done, Ordering::Relaxed);
        all.store(total, Ordering::Relaxed);
    };
    let control = Control {
        cancel: Some(&cancel),
        progress: watched
            .progress
            .map(|_| &report as &(dyn Fn(u64, u64) + Sync)),
        timing: None,
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            let result = catch_unwind(AssertUnwindSafe(|| work(&control)));
            *shared.lock() = Some(result);
            shared.done.notify_one();
        });
        let mut raised = None;
        let result = loop {
            if let Some(result) = py.detach(|| shared.wait()) {
                break result;
            }
            if raised.is_none() {
                let progress = watched.progress.map_or(Ok(()), |progress| {
                    let now = [&so_far, &all].map(|number| number.load(Ordering::Relaxed));
                    progress.call1((now[0], now[1])).map(drop)
                });
                if let Err(error) = py.check_signals().and(progress) {
                    cancel.store(true, Ordering::Relaxed);
                    raised = Some(error);
                }
            }
        };
        match (raised, result) {
            (Some(error), _) => Err(error),
            (None, Ok(result)) => Ok(result),
            (None, Err(panic)) => resume_unwind(panic),
        }
    })
}

/// Where the result is left.
struct Shared<T> {
    result: Mutex<Option<thread::Result<T>>>,
    done: Condvar,
}

impl<T> Shared<T> {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<thread::Result<T>>> {
        self.result.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The result, if there is one within the interval.
    fn wait(&self) -> Option<thread::Result<T>> {
        let waited = self
            .done
            .wait_timeout_while(self.lock(), INTERVAL, |result| result.is_none());
        let (mut result, _) = waited.unwrap_or_else(PoisonError::into_inner);
        result.take()
    }
}
