//! Time and blocking. No other file reads the system's clock, sleeps, or blocks on a future, so that a driver
//! for targets where a thread must not block has one file to replace.
//!
//! Runs are futures. Natively these never wait: they block their thread instead. In a browser, which forbids
//! that, those of a GPU do.
//!
//! `wasm32-unknown-unknown` has no clock: [`std::time::Instant`] panics there. With the feature `web` the
//! clock is JavaScript's; without it time stands still.

#[cfg(any(
    not(all(target_family = "wasm", target_os = "unknown")),
    feature = "web"
))]
use std::sync::OnceLock;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
use std::time::Instant;
use std::{
    future::Future,
    pin::pin,
    task::{Context, Poll, Waker},
    time::Duration,
};
#[cfg(all(target_family = "wasm", target_os = "unknown", feature = "web"))]
use web_time::Instant;

/// The time since the first call in this process.
#[cfg(any(
    not(all(target_family = "wasm", target_os = "unknown")),
    feature = "web"
))]
pub(crate) fn now() -> Duration {
    static EPOCH: OnceLock<Instant> = OnceLock::new();
    EPOCH.get_or_init(Instant::now).elapsed()
}

/// Always 0.
#[cfg(all(target_family = "wasm", target_os = "unknown", not(feature = "web")))]
pub(crate) fn now() -> Duration {
    Duration::ZERO
}

/// The value of a future that does not wait; `None` if it does.
pub(crate) fn at_once<F: Future>(future: F) -> Option<F::Output> {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut context) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

/// Measures the time since its start.
pub(crate) struct Stopwatch(Duration);

impl Stopwatch {
    pub(crate) fn start() -> Stopwatch {
        Stopwatch(now())
    }

    pub(crate) fn seconds(&self) -> f64 {
        (now() - self.0).as_secs_f64()
    }
}

#[cfg(all(feature = "gpu", not(target_family = "wasm")))]
pub(crate) use blocking::{block_on, sleep};

#[cfg(all(feature = "gpu", not(target_family = "wasm")))]
mod blocking {
    use std::{future::Future, thread, time::Duration};

    /// Suspends this thread.
    pub(crate) fn sleep(duration: Duration) {
        thread::sleep(duration);
    }

    /// Blocks this thread until the future is ready.
    pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
        pollster::block_on(future)
    }
}
