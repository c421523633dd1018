//! A progress line of a long run on standard error. Only for terminals.

use crate::terminal;
use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Short runs have no line.
const PATIENCE: Duration = Duration::from_millis(500);
/// Time between two updates.
const PAUSE: Duration = Duration::from_millis(100);

/// The line.
#[derive(Debug)]
pub(crate) struct Progress {
    started: Instant,
    /// When it was last written, if ever; none if standard error is not a terminal.
    written: Option<Mutex<Option<Instant>>>,
}

impl Progress {
    /// Starts the clock.
    pub(crate) fn start() -> Progress {
        Progress {
            started: Instant::now(),
            written: terminal::is_watched().then(Mutex::default),
        }
    }

    /// Takes the agent-steps done and those to do.
    pub(crate) fn update(&self, done: u64, total: u64) {
        let now = Instant::now();
        let elapsed = now - self.started;
        let Some(written) = &self.written else { return };
        if elapsed < PATIENCE {
            return;
        }
        let mut written = written.lock().unwrap_or_else(PoisonError::into_inner);
        if written.is_some_and(|last| now - last < PAUSE) {
            return;
        }
        *written = Some(now);
        terminal::remark(format!(
            "\r{}\u{1b}[K",
            line(done, total, elapsed.as_secs_f64())
        ));
    }

    /// Wipes the line away.
    pub(crate) fn finish(&self) {
        let Some(written) = &self.written else { return };
        let written = written.lock().unwrap_or_else(PoisonError::into_inner);
        if written.is_some() {
            terminal::remark("\r\u{1b}[K");
        }
    }
}

fn line(done: u64, total: u64, seconds: f64) -> String {
    let share = done as f64 / total.max(1) as f64;
    let speed = done as f64 / seconds.max(1e-9);
    let left = if done == 0 {
        String::new()
    } else {
        format!(", {:.0} s left", seconds * (1.0 - share) / share)
    };
    format!("{:3.0} %, {speed:.2e} agent-steps/s{left}", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn the_line_extrapolates() {
        assert_eq!(
            line(250, 1000, 2.0),
            " 25 %, 1.25e2 agent-steps/s, 6 s left"
        );
        assert_eq!(line(0, 1000, 2.0), "  0 %, 0.00e0 agent-steps/s");
    }
}
