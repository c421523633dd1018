//! `simc fmt`: models into the one canonical style.

use crate::{
    failure::Failure, models::models, output, problem::formatter_damages, source::Source,
    standard_output, terminal, usage,
};
use similar::TextDiff;
use std::{
    fmt::Write as _,
    io::Write as _,
    path::{Path, PathBuf},
};

/// Most lines of a difference that are shown.
const SHOWN: usize = 20;

/// Arguments of `simc fmt`.
#[derive(clap::Args)]
#[command(after_help = "\
Files are written only if that changes them. A file with syntax errors is left alone; the
others are formatted all the same, and the exit code is 1.

Examples:
  simc fmt
  simc fmt model.sim experiments/
  simc fmt --check
  simc fmt - < model.sim")]
pub(crate) struct Args {
    /// Models, and directories whose `.sim` files are formatted [default: the current directory]; `-` alone
    /// is one model from standard input, written to standard output.
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::AnyPath)]
    files: Vec<PathBuf>,
    /// Write nothing; show what would change, with exit code 1 if anything would.
    #[arg(long)]
    check: bool,
    /// The same as `-`.
    #[arg(long, conflicts_with = "files")]
    stdin: bool,
}

/// What became of the files.
#[derive(Default)]
struct Tally {
    /// All of them.
    files: usize,
    /// Those whose text is or would be another.
    changed: usize,
    /// Those that were left alone because of mistakes.
    refused: usize,
    /// Whether a directory has no models, or could not be read.
    unread: bool,
}

/// Formats all files, or shows what formatting would change, and says how many files that are.
pub(crate) fn fmt(args: &Args) -> Result<(), Failure> {
    let is_dash = |path: &PathBuf| path == Path::new("-");
    match args.files.as_slice() {
        [] if args.stdin => return standard_input(args.check),
        [one] if is_dash(one) => return standard_input(args.check),
        files if files.iter().any(is_dash) => {
            let why =
                "standard input, `-`, is formatted to standard output, and files in their places";
            return Err(usage::refused(why, "format `-` alone"));
        }
        _ => {}
    }
    let mut tally = Tally::default();
    let here = [PathBuf::from(".")];
    let paths = if args.files.is_empty() {
        &here[..]
    } else {
        &args.files
    };
    for path in paths {
        match models(path) {
            Ok(files) => {
                for file in &files {
                    tally.one(file, args.check)?;
                }
            }
            Err(failure) => {
                failure.print();
                tally.unread = true;
            }
        }
    }
    if tally.files > 0 {
        terminal::note(tally.remark(args.check));
    }
    if tally.unread || tally.refused > 0 || args.check && tally.changed > 0 {
        Err(Failure::Reported)
    } else {
        Ok(())
    }
}

impl Tally {
    /// Formats or compares one file. Only what concerns all of them is an error.
    fn one(&mut self, path: &Path, check: bool) -> Result<(), Failure> {
        let done = Source::read(path).and_then(|source| {
            let text = formatted(&source)?;
            Ok((text != source.text).then_some((source, text)))
        });
        match done {
            Ok(None) => self.files += 1,
            Ok(Some((source, text))) if check => {
                standard_output::print(difference(&source, &text))?;
                self.files += 1;
                self.changed += 1;
            }
            Ok(Some((_, text))) => {
                match output::replace(path, |out| out.write_all(text.as_bytes())) {
                    Ok(()) => {
                        self.files += 1;
                        self.changed += 1;
                    }
                    Err(failure) => self.refuse(&failure),
                }
            }
            Err(failure) => self.refuse(&failure),
        }
        Ok(())
    }

    fn refuse(&mut self, failure: &Failure) {
        failure.print();
        self.files += 1;
        self.refused += 1;
    }

    fn remark(&self, check: bool) -> String {
        let files = if self.files == 1 { "file" } else { "files" };
        let mut text = format!("{} {files}, ", self.files);
        let _ = match (check, self.changed) {
            (_, 0) if self.refused == 0 => write!(text, "all in canonical style"),
            (true, changed) => write!(text, "{changed} not in canonical style"),
            (false, changed) => write!(text, "{changed} formatted"),
        };
        if self.refused > 0 {
            let _ = write!(text, ", {} left alone", self.refused);
        }
        text.push('\n');
        text
    }
}

fn standard_input(check: bool) -> Result<(), Failure> {
    let source = Source::read(Path::new("-"))?;
    let text = formatted(&source)?;
    if !check {
        return standard_output::print(text);
    }
    if text == source.text {
        return Ok(());
    }
    standard_output::print(difference(&source, &text))?;
    Err(Failure::Reported)
}

/// The text in canonical style.
fn formatted(source: &Source) -> Result<String, Failure> {
    sim_format::format(&source.text).map_err(|error| match error {
        sim_format::Error::Syntax(diagnostics) => source.failure(diagnostics),
        sim_format::Error::Bug(what) => formatter_damages(&source.name, &what).into(),
    })
}

/// What would change, as a short difference of lines.
fn difference(source: &Source, text: &str) -> String {
    let diff = TextDiff::from_lines(&source.text, text);
    let whole = diff
        .unified_diff()
        .context_radius(1)
        .header(&source.name, "in canonical style")
        .to_string();
    let lines: Vec<&str> = whole.lines().collect();
    let mut shown = lines[..lines.len().min(SHOWN)].join("\n");
    shown.push('\n');
    if lines.len() > SHOWN {
        let _ = writeln!(shown, "… {} more lines", lines.len() - SHOWN);
    }
    shown
}
