//! `--deny` and `--allow`: what becomes of warnings.

use crate::{failure::Failure, source::Source, terminal};
use sim_compiler::diagnostic::{Diagnostic, Severity, catalog, render};
use std::path::Path;

/// Arguments that say what becomes of warnings.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Warnings {
    /// Take a warning for a mistake, by its code; `warnings` for all.
    #[arg(long, value_name = "CODE", value_delimiter = ',', value_parser = denied)]
    deny: Vec<Which>,
    /// Leave a warning out, by its code.
    #[arg(long, value_name = "CODE", value_delimiter = ',', value_parser = one)]
    allow: Vec<Which>,
}

/// All warnings, or one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    All,
    Code(&'static str),
}

fn denied(text: &str) -> Result<Which, String> {
    match text {
        "warnings" => Ok(Which::All),
        code => one(code),
    }
}

fn one(code: &str) -> Result<Which, String> {
    let entry = catalog::find(code).filter(|entry| Severity::of(entry.code) == Severity::Warning);
    entry.map(|entry| Which::Code(entry.code)).ok_or_else(|| {
        "no warning has this code; `simc explain` lists them, with codes like W0201".to_owned()
    })
}

impl Warnings {
    /// What the user wants to see of these complaints, and how: mistakes stay what they are.
    pub(crate) fn among(&self, mut complaints: Vec<Diagnostic>) -> Vec<Diagnostic> {
        complaints.retain(|complaint| !self.allow.contains(&Which::Code(complaint.code)));
        for complaint in &mut complaints {
            let own = Which::Code(complaint.code);
            if Severity::of(complaint.code) == Severity::Warning
                && self
                    .deny
                    .iter()
                    .any(|which| *which == Which::All || *which == own)
            {
                complaint.severity = Severity::Error;
            }
        }
        complaints
    }

    /// Reads a model, and shows the warnings about it.
    ///
    /// # Errors
    /// If it cannot be read, or one of them is denied.
    pub(crate) fn read(&self, path: &Path) -> Result<Source, Failure> {
        let source = Source::read(path)?;
        self.show(&source)?;
        Ok(source)
    }

    /// Shows the warnings about a model, and says how many there are.
    ///
    /// # Errors
    /// If one of them is denied.
    pub(crate) fn show(&self, source: &Source) -> Result<usize, Failure> {
        let warnings = self.among(sim_compiler::warnings(&source.text));
        if has_mistakes(&warnings) {
            return Err(source.failure(warnings));
        }
        let style = terminal::error_style();
        terminal::note(render::render(&source.name, &source.text, &warnings, style));
        Ok(warnings.len())
    }
}

/// Is any of these more than a warning?
pub(crate) fn has_mistakes(complaints: &[Diagnostic]) -> bool {
    complaints
        .iter()
        .any(|complaint| complaint.severity == Severity::Error)
}
