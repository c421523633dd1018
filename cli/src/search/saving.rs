//! `--checkpoint` and `--resume` of searches. Between two generations, a search is a few arrays.

use crate::{
    checkpoint::{how_to_go_on, same, write},
    failure::Failure,
    output, problem, terminal,
};
use sim_runtime::{Error, SavedSearch, Search, Searching, Simulation};
use std::{
    fs::File,
    io::BufReader,
    path::PathBuf,
    time::{Duration, Instant},
};

/// Time between two checkpoints.
const EVERY: Duration = Duration::from_secs(60);

/// Arguments of searches that can be interrupted.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Long searches")]
pub(super) struct Saving {
    /// Save the search in FILE every minute, and when it ends.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    checkpoint: Option<PathBuf>,
    /// Go on with a search that was saved in FILE, by the same command line; more generations may be asked
    /// for.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    resume: Option<PathBuf>,
}

impl Saving {
    /// Reads the search to go on with, and looks whether checkpoints can be written.
    ///
    /// # Errors
    /// A file that cannot be read or written, or that would be lost.
    pub(super) fn open(&self) -> Result<Option<SavedSearch>, Failure> {
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
        if path.is_dir() {
            return Err(problem::directory_for_file(path).into());
        }
        let file = File::open(path).map_err(|error| problem::unreadable(path, &error))?;
        let read = SavedSearch::read(BufReader::new(file));
        read.map(Some)
            .map_err(|error| self.refusal(error, Failure::from))
    }

    /// Begins the search, or goes on with it; `other` makes the complaint of an error that is not about the
    /// checkpoint.
    ///
    /// # Errors
    /// Those of both.
    pub(super) fn begin(
        &self,
        simulation: &Simulation,
        search: &Search,
        saved: Option<SavedSearch>,
        other: impl FnOnce(Error) -> Failure,
    ) -> Result<Searching, Failure> {
        let begun = match saved {
            Some(saved) => simulation.resume_search(search, saved),
            None => simulation.begin_search(search),
        };
        begun.map_err(|error| self.refusal(error, other))
    }

    fn refusal(&self, error: Error, other: impl FnOnce(Error) -> Failure) -> Failure {
        match (&error, &self.resume) {
            (
                Error::SnapshotBroken { .. } | Error::SnapshotModel | Error::SnapshotDiffers { .. },
                Some(path),
            ) => {
                let help = "go on with the options with which the search began, or begin a new one";
                problem::cannot_resume(path, &error.to_string(), Some(help)).into()
            }
            _ => other(error),
        }
    }

    /// Saves the search, if it is to be. If that fails, the search goes on.
    pub(super) fn save(&self, searching: &mut Searching) {
        let Some(path) = &self.checkpoint else { return };
        let saved = searching.save().map_err(|error| error.to_string());
        let written = saved.and_then(|saved| {
            write(path, |out| saved.write(out)).map_err(|error| problem::reason(&error).to_string())
        });
        if let Err(why) = written {
            let path = path.display();
            terminal::note(format!(
                "warning: the checkpoint `{path}` cannot be written: {why}; the search goes on\n"
            ));
        }
    }

    /// The same, if the last time is long ago.
    pub(super) fn save_now_and_then(&self, searching: &mut Searching, last: &mut Instant) {
        if last.elapsed() >= EVERY {
            self.save(searching);
            *last = Instant::now();
        }
    }

    /// The failure, with the command that goes on where there is a checkpoint.
    pub(super) fn resumable(&self, failure: Failure, writes: bool) -> Failure {
        let Some(path) = self.checkpoint.as_ref().filter(|path| path.exists()) else {
            return failure;
        };
        let command = how_to_go_on(path);
        // The file of the best is there already.
        let replaces = writes && !command.contains("--force");
        failure.resumable(command + if replaces { " --force" } else { "" })
    }
}
