//! Complaints about checkpoints (E0965–E0969).

use super::{Problem, catalog};
use std::path::Path;

catalog! {
    /// The file of `--checkpoint` exists, and the run does not go on from it.
    ///
    /// It may be the only copy of another run, so it is not replaced. `--resume FILE` goes on from it, and
    /// with `--checkpoint FILE` beside it the file is replaced as the run goes on.
    E0965 checkpoint_exists(path: &Path) {
        let path = path.display();
        Problem::new(format!("`{path}` exists already, and would be lost"))
            .help(format!(
                "go on from it with `--resume {path}`, name another file, or remove it"
            ))
    }

    /// A checkpoint is damaged, or does not belong to this run.
    ///
    /// A run goes on only with the model, the values, the seed and the numbers of agents and steps with which
    /// it began, and on the same device. Agents, steps, seed and params come from the checkpoint where the
    /// command line does not give them; what it gives is compared. Tables and inputs are read again, and
    /// compared by their values. Checkpoints are written whole or not at all; one that ends too early was
    /// copied so.
    E0966 cannot_resume(path: &Path, why: &str, help: Option<&str>) {
        let problem = Problem::new(why.to_owned()).at(path.display().to_string());
        match help {
            Some(help) => problem.help(help),
            None => problem,
        }
    }
}
