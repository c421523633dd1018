//! Time and blocking. No other file reads the system's clock, sleeps, or blocks on a future, so that a driver
//! for targets where a thread must not block has one file to replace.
//!
//! `wasm32-unknown-unknown` has no clock: [`std::time::Instant`] panics there. Time stands still there
//! instead.

use std::time::Duration;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
use std::{sync::OnceLock, time::Instant};

/// The time since the first call in this process.
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub(crate) fn now() -> Duration {
    static EPOCH: OnceLock<Instant> = OnceLock::new();
    EPOCH.get_or_init(Instant::now).elapsed()
}

/// Always 0.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub(crate) fn now() -> Duration {
    Duration::ZERO
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

#[cfg(feature = "gpu")]
pub(crate) use blocking::{HAS_CLOCK, block_on, sleep};

#[cfg(feature = "gpu")]
mod blocking {
    use std::{future::Future, thread, time::Duration};

    /// Whether [`super::now`] advances.
    pub(crate) const HAS_CLOCK: bool = !cfg!(all(target_family = "wasm", target_os = "unknown"));

    /// Suspends this thread.
    pub(crate) fn sleep(duration: Duration) {
        thread::sleep(duration);
    }

    /// Blocks this thread until the future is ready.
    pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
        pollster::block_on(future)
    }
}
