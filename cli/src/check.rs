//! `simc check`: the mistakes of models, and warnings about them.

mod report;

use crate::{
    failure::Failure,
    source::Source,
    standard_output, terminal,
    warnings::{Warnings, has_mistakes},
};
use report::Checked;
use sim_lsp::analysis::Document;
use std::path::PathBuf;

/// Arguments of `simc check`.
#[derive(clap::Args)]
#[command(after_help = "\
Mistakes and warnings go to standard error, and the exit code is 1 if there is any mistake. A comment
`// allow(W0201)` silences a warning for the declaration or statement behind it.

Examples:
  simc check model.sim
  simc check models/*.sim --deny warnings
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
    #[command(flatten)]
    warnings: Warnings,
}

/// Reports the mistakes of all files, then how many files have any.
pub(crate) fn check(args: &Args) -> Result<(), Failure> {
    if args.json || args.sarif {
        return for_tools(args);
    }
    let (mut wrong, mut warnings) = (0, 0);
    for path in &args.files {
        let checked = Source::read(path).and_then(|source| {
            let mistakes = sim_compiler::check(&source.text);
            match mistakes.is_empty() {
                true => args.warnings.show(&source),
                false => Err(source.failure(mistakes)),
            }
        });
        match checked {
            Ok(shown) => warnings += shown,
            Err(failure) => {
                failure.print();
                wrong += 1;
            }
        }
    }
    let count = args.files.len();
    let files = if count == 1 { "file" } else { "files" };
    let also = match warnings {
        0 => String::new(),
        1 => ", 1 warning".to_owned(),
        more => format!(", {more} warnings"),
    };
    if wrong == 0 {
        terminal::note(format!("{count} {files} checked, no mistakes{also}\n"));
        Ok(())
    } else {
        terminal::note(format!(
            "{count} {files} checked, {wrong} with mistakes{also}\n"
        ));
        Err(Failure::Reported)
    }
}

/// Prints the mistakes of all files in a form for tools; the exit code is that of the report for people.
fn for_tools(args: &Args) -> Result<(), Failure> {
    let mut files = Vec::new();
    let mut unread = false;
    for path in &args.files {
        match Source::read(path) {
            Ok(source) => {
                let document = Document::new(source.text);
                files.push(Checked {
                    name: source.name,
                    complaints: args.warnings.among(document.diagnostics().to_vec()),
                    document,
                });
            }
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
    if unread || files.iter().any(|file| has_mistakes(&file.complaints)) {
        return Err(Failure::Reported);
    }
    Ok(())
}
