//! `simc check`: the mistakes of models.

mod report;

use crate::{failure::Failure, source::Source, standard_output, terminal};
use report::Checked;
use sim_lsp::analysis::Document;
use std::path::PathBuf;

/// Arguments of `simc check`.
#[derive(clap::Args)]
#[command(after_help = "\
Mistakes go to standard error, and the exit code is 1 if there is any.

Examples:
  simc check model.sim
  simc check models/*.sim
  simc check --sarif models/*.sim > mistakes.sarif")]
pub(crate) struct Args {
    /// Models to check; `-` is standard input.
    #[arg(required = true, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    files: Vec<PathBuf>,
    /// Print the mistakes as JSON on standard output.
    #[arg(long, conflicts_with = "sarif")]
    json: bool,
    /// Print the mistakes as SARIF 2.1.0 on standard output.
    #[arg(long)]
    sarif: bool,
}

/// Reports the mistakes of all files, then how many files have any.
pub(crate) fn check(args: &Args) -> Result<(), Failure> {
    if args.json || args.sarif {
        return for_tools(args);
    }
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
            failure.print();
            wrong += 1;
        }
    }
    let count = args.files.len();
    let files = if count == 1 { "file" } else { "files" };
    if wrong == 0 {
        terminal::note(format!("{count} {files} checked, no mistakes\n"));
        Ok(())
    } else {
        terminal::note(format!("{count} {files} checked, {wrong} with mistakes\n"));
        Err(Failure::Reported)
    }
}

/// Prints the mistakes of all files in a form for tools; the exit code is that of the report for people.
fn for_tools(args: &Args) -> Result<(), Failure> {
    let mut files = Vec::new();
    let mut unread = false;
    for path in &args.files {
        match Source::read(path) {
            Ok(source) => files.push(Checked {
                name: source.name,
                document: Document::new(source.text),
            }),
            Err(failure) => {
                failure.print();
                unread = true;
            }
        }
    }
    standard_output::print(if args.json {
        report::json(&files)
    } else {
        report::sarif(&files)
    })?;
    if unread
        || files
            .iter()
            .any(|file| !file.document.diagnostics().is_empty())
    {
        return Err(Failure::Reported);
    }
    Ok(())
}
