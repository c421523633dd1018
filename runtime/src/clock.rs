//! How long things take. The standard clock panics on `wasm32-unknown-unknown`, which has none: there
//! everything takes no time.

use std::time::Instant;

/// Counts from its start.
pub(crate) struct Stopwatch(Option<Instant>);

impl Stopwatch {
    /// Starts to count.
    pub(crate) fn start() -> Stopwatch {
        let no_clock = cfg!(all(target_family = "wasm", target_os = "unknown"));
        Stopwatch((!no_clock).then(Instant::now))
    }

    /// Seconds since the start.
    pub(crate) fn seconds(&self) -> f64 {
        self.0
            .map_or(0.0, |started| started.elapsed().as_secs_f64())
    }
}
