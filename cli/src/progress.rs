//! The progress of a long run on standard error: a bar for people, lines of JSON for tools.

use crate::terminal;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;
use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// Shorter runs have no bar.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time between two lines of JSON.
const PAUSE: Duration = Duration::from_millis(250);

/// Arguments that say how progress is shown.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct ProgressArgs {
    /// Print the progress to standard error as JSON, an object a line, for tools.
    #[arg(long)]
    json_progress: bool,
}

impl ProgressArgs {
    /// Is it printed as JSON?
    pub(crate) fn is_json(self) -> bool {
        self.json_progress
    }
}

/// The progress of one run.
#[derive(Debug)]
pub(crate) struct Progress {
    started: Instant,
    shown: Mutex<Shown>,
}

/// What is shown, and of what.
#[derive(Debug)]
struct Shown {
    form: Form,
    /// The agent-steps that were done when the run went on.
    before: Option<u64>,
    done: u64,
    total: u64,
}

#[derive(Debug)]
enum Form {
    Nothing,
    /// A bar, once the run has been long enough.
    Bar(Option<ProgressBar>),
    /// Lines; when the last one was written.
    Lines(Option<Instant>),
}

impl Progress {
    /// Starts the clock. Without arguments, people who watch standard error see a bar.
    pub(crate) fn start(args: ProgressArgs) -> Progress {
        let form = match (args.json_progress, terminal::is_watched()) {
            (true, _) => Form::Lines(None),
            (false, true) => Form::Bar(None),
            (false, false) => Form::Nothing,
        };
        Progress {
            started: Instant::now(),
            shown: Mutex::new(Shown {
                form,
                before: None,
                done: 0,
                total: 0,
            }),
        }
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the agent-steps done and those to do.
    pub(crate) fn update(&self, done: u64, total: u64) {
        let shown = &mut *self.shown();
        // A GPU's run may start again with shorter dispatches.
        shown.before = Some(shown.before.map_or(done, |before| before.min(done)));
        (shown.done, shown.total) = (done, total);
        let elapsed = self.started.elapsed();
        match &mut shown.form {
            Form::Nothing => {}
            Form::Bar(None) if elapsed < PATIENCE => {}
            Form::Bar(bar) => {
                let bar = bar.get_or_insert_with(|| new_bar(total));
                bar.set_position(done);
                bar.set_message(message(shown.before, done, total, elapsed));
            }
            Form::Lines(last) => {
                if last.is_none_or(|last| last.elapsed() >= PAUSE) {
                    *last = Some(Instant::now());
                    line(shown, elapsed);
                }
            }
        }
    }

    /// Says that a checkpoint was written.
    pub(crate) fn saved(&self, file: &str, step: u32, steps: u32) {
        let shown = self.shown();
        if let Form::Lines(_) = shown.form {
            let event =
                json!({ "event": "checkpoint", "file": file, "step": step, "steps": steps });
            terminal::remark(format!("{event}\n"));
        }
    }

    /// Prints a note above the bar.
    pub(crate) fn note(&self, text: &str) {
        match &self.shown().form {
            Form::Bar(Some(bar)) => bar.suspend(|| terminal::note(text)),
            Form::Bar(None) | Form::Lines(_) | Form::Nothing => terminal::note(text),
        }
    }

    /// Wipes the bar away, or writes the last line.
    pub(crate) fn finish(&self) {
        let shown = &*self.shown();
        match &shown.form {
            Form::Bar(Some(bar)) => bar.finish_and_clear(),
            Form::Lines(Some(_)) => line(shown, self.started.elapsed()),
            Form::Bar(None) | Form::Lines(None) | Form::Nothing => {}
        }
    }
}

fn new_bar(total: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:14} {percent:>3} % {wide_msg}");
    let style = style
        .expect("the template is a constant")
        .progress_chars("━╸ ");
    ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr()).with_style(style)
}

/// Agent-steps per second, and the seconds that are left, if they are known.
fn rate(before: Option<u64>, done: u64, total: u64, elapsed: Duration) -> Option<(f64, f64)> {
    let own = done.saturating_sub(before?) as f64;
    let rate = own / elapsed.as_secs_f64().max(1e-9);
    let left = total.saturating_sub(done) as f64 / rate;
    (own > 0.0).then_some((rate, left))
}

fn message(before: Option<u64>, done: u64, total: u64, elapsed: Duration) -> String {
    let counts = format!(
        "{} of {} agent-steps",
        short(done as f64),
        short(total as f64)
    );
    match rate(before, done, total, elapsed) {
        Some((rate, left)) => format!("{counts}, {}/s, {} left", short(rate), time(left)),
        None => counts,
    }
}

fn line(shown: &Shown, elapsed: Duration) {
    let Shown {
        before,
        done,
        total,
        ..
    } = *shown;
    let (rate, left) = rate(before, done, total, elapsed).unzip();
    let event = json!({
        "event": "progress",
        "done": done,
        "total": total,
        "unit": "agent-steps",
        "seconds": elapsed.as_secs_f64(),
        "rate": rate,
        "seconds_left": left,
    });
    terminal::remark(format!("{event}\n"));
}

/// Three digits and a unit: `12.3 M`.
fn short(number: f64) -> String {
    let units = ["", " k", " M", " G", " T", " P", " E"];
    let mut rest = number;
    for unit in units {
        if rest < 999.5 {
            let digits = match rest {
                _ if unit.is_empty() => 0,
                ..9.995 => 2,
                ..99.95 => 1,
                _ => 0,
            };
            return format!("{rest:.digits$}{unit}");
        }
        rest /= 1000.0;
    }
    format!("{number:.2e}")
}

/// `9 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`.
fn time(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => format!("{minutes} min {} s", seconds % 60),
        (0, _, _) => format!("{hours} h {} min", minutes % 60),
        _ => format!("{days} d {} h", hours % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_extrapolates_what_this_process_did() {
        let two = Duration::from_secs(2);
        let fresh = message(Some(0), 250_000, 1_000_000, two);
        assert_eq!(fresh, "250 k of 1.00 M agent-steps, 125 k/s, 6 s left");
        let resumed = message(Some(200_000), 250_000, 1_000_000, two);
        assert_eq!(resumed, "250 k of 1.00 M agent-steps, 25.0 k/s, 30 s left");
        assert_eq!(message(Some(7), 7, 1000, two), "7 of 1.00 k agent-steps");
    }

    #[test]
    fn numbers_are_short() {
        let all = [0.0, 999.0, 999.6, 9_994.0, 99_960.0, 1e9, 2.5e20];
        let all = all.map(short);
        assert_eq!(
            all,
            ["0", "999", "1.00 k", "9.99 k", "100 k", "1.00 G", "250 E"]
        );
        let all = [9.4, 200.0, 7500.0, 273_600.0].map(time);
        assert_eq!(all, ["9 s", "3 min 20 s", "2 h 5 min", "3 d 4 h"]);
    }
}
