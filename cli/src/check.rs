//! `simc check`: the mistakes of models.

use crate::{failure::Failure, source::Source, terminal};
use std::path::PathBuf;

/// Arguments of `simc check`.
#[derive(clap::Args)]
#[command(after_help = "\
Mistakes go to standard error, and the exit code is 1 if there is any.

Examples:
  simc check model.sim
  simc check models/*.sim")]
pub(crate) struct Args {
    /// Models to check.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Reports the mistakes of all files, then how many files have any.
pub(crate) fn check(args: &Args) -> Result<(), Failure> {
    let mut wrong = 0;
    for path in &args.files {
        let checked = Source::read(path).and_then(|source| {
            let diagnostics = sim_compiler::check(&source.text);
            if diagnostics.is_empty() {
                Ok(())
            } else {
                Err(source.failure(diagnostics))
            }
        });
        if let Err(failure) = checked {
            failure.tell();
            wrong += 1;
        }
    }
    let count = args.files.len();
    let files = if count == 1 { "file" } else { "files" };
    if wrong == 0 {
        terminal::remark(format!("{count} {files} checked, no mistakes\n"));
        Ok(())
    } else {
        terminal::remark(format!("{count} {files} checked, {wrong} with mistakes\n"));
        Err(Failure::Reported)
    }
}
