//! `--checkpoint`, `--every` and `--resume`: runs that survive the end of their process.
//!
//! Such a run is computed in parts of about a second. Between two of them its state may be written, and a
//! signal is obeyed.

use crate::{failure::Failure, interrupt::Temporary, output, problem, progress::Progress};
use sim_runtime::{Control, Error, Run, Simulation, Snapshot};
use std::{
    env,
    ffi::OsString,
    fs::{self, File},
    io::{self, BufReader, BufWriter, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

/// The intended time of a part.
const PART: Duration = Duration::from_secs(1);
/// Largest ratio of the steps of two parts in a row, since a measured time may not scale.
const GROWTH: f64 = 8.0;

/// Arguments of runs that can be interrupted.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Long runs")]
pub(crate) struct CheckpointArgs {
    /// Save the run in FILE now and then, and when Ctrl-C ends it; FILE is removed when the run is complete.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    checkpoint: Option<PathBuf>,
    /// How often: a time, as 90s, 10min or 2h, or a number of steps, as 1000steps [default: 60s].
    #[arg(long, value_name = "TIME", value_parser = Every::parse, requires = "checkpoint")]
    every: Option<Every>,
    /// Go on with a run that was saved in FILE. Agents, steps, seed and params are those of that run; tables
    /// and inputs are given again.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    resume: Option<PathBuf>,
}

/// `--every`.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Every {
    Time(Duration),
    Steps(u32),
}

impl Every {
    fn parse(text: &str) -> Result<Every, String> {
        let end = text
            .find(|c: char| c.is_ascii_alphabetic())
            .unwrap_or(text.len());
        // The `e` of an exponent is no unit.
        let end = match text[end..].strip_prefix(['e', 'E']) {
            Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit()) => {
                let unit = rest.find(|c: char| c.is_ascii_alphabetic());
                end + 1 + unit.unwrap_or(rest.len())
            }
            _ => end,
        };
        let (number, unit) = text.split_at(end);
        let seconds = match unit.trim() {
            "step" | "steps" => {
                let steps = crate::number::count(number.trim()).map_err(|why| why.to_string())?;
                return match steps {
                    0 => Err("there must be at least one step".to_owned()),
                    steps => Ok(Every::Steps(steps)),
                };
            }
            "ms" => 0.001,
            "s" => 1.0,
            "min" => 60.0,
            "h" => 3600.0,
            "" => return Err("it needs a unit: ms, s, min, h or steps".to_owned()),
            unit => return Err(format!("`{unit}` is no unit: ms, s, min, h and steps are")),
        };
        let number = number.trim().parse::<f64>().ok();
        let time = number.and_then(|number| Duration::try_from_secs_f64(number * seconds).ok());
        match time {
            Some(time) if !time.is_zero() => Ok(Every::Time(time)),
            Some(_) | None => Err(format!("`{}` is no time above 0", number_text(text, end))),
        }
    }
}

fn number_text(text: &str, end: usize) -> &str {
    text[..end].trim()
}

impl CheckpointArgs {
    /// Is the run to be saved, or one to go on that was?
    pub(crate) fn is_given(&self) -> bool {
        self.checkpoint.is_some() || self.resume.is_some()
    }

    /// Reads the run to go on with, and looks whether checkpoints can be written.
    ///
    /// # Errors
    /// A file that cannot be read or written, or that would be lost.
    pub(crate) fn open(&self) -> Result<Option<Snapshot>, Failure> {
        if let Some(path) = &self.checkpoint {
            output::check_place(path)?;
            let is_own = (self.resume.as_deref()).is_some_and(|from| same(from, path));
            if path.exists() && !is_own {
                return Err(problem::checkpoint_exists(path).into());
            }
        }
        let Some(path) = &self.resume else {
            return Ok(None);
        };
        let file = File::open(path).map_err(|error| problem::unreadable(path, &error))?;
        if path.is_dir() {
            return Err(problem::directory_for_file(path).into());
        }
        let read = Snapshot::read(BufReader::with_capacity(1 << 20, file));
        read.map(Some)
            .map_err(|error| self.refusal(error, Failure::from))
    }

    /// The complaint about a checkpoint with which the run cannot go on; `other` makes that of other errors.
    pub(crate) fn refusal(&self, error: Error, other: impl FnOnce(Error) -> Failure) -> Failure {
        match (&error, &self.resume) {
            (
                Error::SnapshotBroken { .. }
                | Error::SnapshotModel
                | Error::SnapshotDiffers { .. }
                | Error::SnapshotDevice { .. },
                Some(path),
            ) => problem::cannot_resume(path, &error.to_string(), error.help().as_deref()).into(),
            _ => other(error),
        }
    }

    /// Runs a simulation to its end, from a snapshot if there is one; `other` makes the complaint of an error
    /// that is not about a checkpoint.
    ///
    /// # Errors
    /// As of a run; and if a signal has ended it, or a device was lost, how to go on.
    pub(crate) fn run(
        &self,
        (other, simulation): (&dyn Fn(Error) -> Failure, &Simulation),
        from: Option<Snapshot>,
        control: &Control<'_>,
        progress: &Progress,
    ) -> Result<Run, Failure> {
        let refusal = |error| self.refusal(error, other);
        let Some(path) = &self.checkpoint else {
            let run = match from {
                Some(snapshot) => simulation.finish(snapshot, control),
                None => simulation.run_with(control),
            };
            return run.map_err(refusal);
        };
        let snapshot = match from {
            Some(snapshot) => snapshot,
            None => simulation.begin().map_err(refusal)?,
        };
        let mut parts = Parts {
            path,
            every: self.every.unwrap_or(Every::Time(Duration::from_secs(60))),
            saved: None,
            last: Instant::now(),
            progress,
        };
        if self.resume.as_deref().is_some_and(|from| same(from, path)) {
            parts.saved = Some(snapshot.step());
        }
        let ran = parts.run(simulation, snapshot, control);
        let ended = |stop| match stop {
            Stop::Error(error) => refusal(error),
            Stop::Unwritable(error) => problem::unwritable(path, &error).into(),
            Stop::Asked(step, steps) => Failure::Suspended { step, steps },
        };
        ran.map_err(|stop| match (ended(stop), parts.saved) {
            (failure, Some(_)) => failure.resumable(how_to_go_on(path)),
            (failure, None) => failure,
        })
    }

    /// Removes the checkpoint of a run whose results are out. If they could not be written, the failure says
    /// how to go on from the checkpoint, if there is one.
    pub(crate) fn close(&self, done: Result<(), Failure>) -> Result<(), Failure> {
        let Some(path) = &self.checkpoint else {
            return done;
        };
        match done {
            Ok(()) => {
                // They may never have been written.
                let _ = fs::remove_file(path);
                let _ = fs::remove_file(unfinished(path));
                Ok(())
            }
            Err(failure) if path.exists() => Err(failure.resumable(how_to_go_on(path))),
            Err(failure) => Err(failure),
        }
    }
}

/// Why a run in parts has ended early.
enum Stop {
    Error(Error),
    Unwritable(io::Error),
    /// By a signal, after so many steps of all.
    Asked(u32, u32),
}

/// A run in parts.
struct Parts<'a> {
    path: &'a Path,
    every: Every,
    /// The step of the checkpoint, if there is one.
    saved: Option<u32>,
    /// When it was written.
    last: Instant,
    progress: &'a Progress,
}

impl Parts<'_> {
    fn run(
        &mut self,
        simulation: &Simulation,
        mut snapshot: Snapshot,
        control: &Control<'_>,
    ) -> Result<Run, Stop> {
        // A part is completed, so that what it computed can be saved. A second signal ends the process.
        let asked = |flag: Option<&AtomicBool>| flag.is_some_and(|it| it.load(Ordering::Relaxed));
        let own = Control {
            cancel: None,
            ..*control
        };
        let mut steps = 1;
        loop {
            let until = self.until(&snapshot, steps);
            if until >= snapshot.steps() {
                return simulation.finish(snapshot, &own).map_err(Stop::Error);
            }
            let started = Instant::now();
            let advanced = simulation.advance(&mut snapshot, until, &own);
            let is_asked = asked(control.cancel);
            if let Err(error) = advanced {
                // What was computed before it is not lost.
                let _ = self.save(&snapshot);
                return Err(Stop::Error(error));
            }
            if is_asked {
                self.save(&snapshot).map_err(Stop::Unwritable)?;
                return Err(Stop::Asked(snapshot.step(), snapshot.steps()));
            }
            steps = next(steps, started.elapsed(), self.every);
            if self.is_due(&snapshot)
                && let Err(error) = self.save(&snapshot)
            {
                let why = problem::reason(&error);
                let path = self.path.display();
                self.progress.note(&format!(
                    "warning: the checkpoint `{path}` cannot be written: {why}; the run goes on\n"
                ));
            }
        }
    }

    /// The end of the next part.
    fn until(&self, snapshot: &Snapshot, steps: u32) -> u32 {
        let until = snapshot.step().saturating_add(steps);
        match self.every {
            Every::Steps(each) => until.min((snapshot.step() / each + 1).saturating_mul(each)),
            Every::Time(_) => until,
        }
    }

    fn is_due(&self, snapshot: &Snapshot) -> bool {
        match self.every {
            Every::Steps(each) => snapshot.step().is_multiple_of(each),
            Every::Time(time) => self.last.elapsed() >= time,
        }
    }

    /// Writes a checkpoint; the one before it stays until the new one is complete on the disk.
    fn save(&mut self, snapshot: &Snapshot) -> io::Result<()> {
        self.last = Instant::now();
        if snapshot.step() == 0 || self.saved == Some(snapshot.step()) {
            return Ok(());
        }
        write(self.path, |out| snapshot.write(out))?;
        self.saved = Some(snapshot.step());
        let path = self.path.display().to_string();
        self.progress
            .saved(&path, snapshot.step(), snapshot.steps());
        Ok(())
    }
}

/// Writes a checkpoint beside its place, brings it to the disk, and gives it its name.
///
/// # Errors
/// What the operating system says; the checkpoint before it is still there then.
pub(crate) fn write(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let (fresh, file) = Temporary::create(unfinished(path))?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    content(&mut out)?;
    out.flush()?;
    out.get_ref().sync_all()?;
    let kept = Temporary::keep_all(vec![(fresh, path.to_owned())]);
    kept.map_err(|(_, error)| error)?;
    sync_directory(path);
    Ok(())
}

/// Where a checkpoint is written. Always the same place, so that processes that were killed leave one such
/// file at most.
fn unfinished(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.part"))
}

/// The steps of a part, after one of `steps` steps that took `time`.
fn next(steps: u32, time: Duration, every: Every) -> u32 {
    let wanted = match every {
        Every::Time(every) => PART.min(every),
        Every::Steps(_) => PART,
    };
    let ratio = wanted.as_secs_f64() / time.as_secs_f64().max(1e-6);
    (f64::from(steps) * ratio.min(GROWTH)).max(1.0) as u32
}

/// Makes the new name of a file permanent, where the system can.
fn sync_directory(path: &Path) {
    if let Some(directory) = path.parent().filter(|_| cfg!(unix)) {
        let directory = match directory.as_os_str().is_empty() {
            true => Path::new("."),
            false => directory,
        };
        // The file itself is on the disk.
        let _ = File::open(directory).and_then(|directory| directory.sync_all());
    }
}

pub(crate) fn same(a: &Path, b: &Path) -> bool {
    match (fs::canonicalize(a), fs::canonicalize(b)) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    }
}

/// The command of this process, which goes on from a checkpoint.
pub(crate) fn how_to_go_on(path: &Path) -> String {
    command(env::args_os(), path)
}

fn command(args: impl Iterator<Item = OsString>, path: &Path) -> String {
    let mut words = Vec::new();
    let mut args = args.map(|arg| arg.to_string_lossy().into_owned());
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--resume" => drop(args.next()),
            _ if arg.starts_with("--resume=") => {}
            _ => words.push(quoted(&arg)),
        }
    }
    words.push("--resume".to_owned());
    words.push(quoted(&path.to_string_lossy()));
    words.join(" ")
}

/// A word as shells take it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=,@%+".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_times_or_steps() {
        let time = |seconds| Ok(Every::Time(Duration::from_secs_f64(seconds)));
        let cases = [
            ("60s", time(60.0)),
            ("1.5 min", time(90.0)),
            ("2h", time(7200.0)),
            ("250ms", time(0.25)),
            ("1_000steps", Ok(Every::Steps(1000))),
            ("1e3 steps", Ok(Every::Steps(1000))),
        ];
        for (text, expected) in cases {
            assert_eq!(Every::parse(text), expected, "{text}");
        }
        for text in [
            "", "60", "s", "0s", "-1s", "0steps", "1.5steps", "5days", "infs", "1e400s",
        ] {
            assert!(Every::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_command_goes_on_from_the_last_checkpoint() {
        let args = [
            "simc",
            "run",
            "my model.sim",
            "--resume=a",
            "--resume",
            "b",
            "-p",
            "x=1",
        ];
        let found = command(args.iter().map(OsString::from), Path::new("it's.ckpt"));
        assert_eq!(
            found,
            r"simc run 'my model.sim' -p x=1 --resume 'it'\''s.ckpt'"
        );
    }

    #[test]
    fn parts_grow_towards_a_second_and_no_faster() {
        let minute = Every::Time(Duration::from_secs(60));
        let ms = Duration::from_millis;
        assert_eq!(next(1, ms(0), minute), 8);
        assert_eq!(next(100, ms(500), minute), 200);
        assert_eq!(next(100, ms(4000), minute), 25);
        assert_eq!(next(1, ms(4000), minute), 1);
        assert_eq!(next(100, ms(500), Every::Time(ms(250))), 50);
    }
}
