//! The catalog of the command's own complaints (`E09xx`), one constructor function each. The doc comment of a
//! constructor is what `simc explain CODE` prints.

use sim_compiler::diagnostic::{Diagnostic, Label, Severity, render::Style};
use std::{fmt::Write, io, path::Path};

mod checkpoints;
mod files;
mod gradients;
mod plots;
mod results;
mod search;
mod sweeps;
mod tables;
mod testing;
mod trace;
mod web;

pub(crate) use checkpoints::*;
pub(crate) use files::*;
pub(crate) use gradients::*;
pub(crate) use plots::*;
pub(crate) use results::*;
pub(crate) use search::*;
pub(crate) use sweeps::*;
pub(crate) use tables::*;
pub(crate) use testing::*;
pub(crate) use trace::*;
pub(crate) use web::*;

/// A complaint of the command: what is wrong, where, and how to mend it.
#[derive(Debug)]
pub(crate) struct Problem {
    code: &'static str,
    message: String,
    place: Option<String>,
    help: Option<String>,
}

/// A row of the catalog.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// The code, such as `E0901`.
    pub(crate) code: &'static str,
    /// The constructor's name.
    pub(crate) slug: &'static str,
    /// The constructor's doc comment.
    pub(crate) explanation: &'static str,
}

/// Defines constructors of problems and the list of them that `simc explain` reads.
macro_rules! catalog {
    ($(
        $(#[doc = $doc:literal])+
        $code:ident $name:ident ( $($arg:ident : $ty:ty),* $(,)? ) $body:block
    )+) => {
        $(
            $(#[doc = $doc])+
            pub(crate) fn $name($($arg: $ty),*) -> $crate::problem::Problem {
                let mut problem: $crate::problem::Problem = $body;
                problem.code = stringify!($code);
                problem
            }
        )+
        pub(super) static ENTRIES: &[$crate::problem::Entry] = &[
            $($crate::problem::Entry {
                code: stringify!($code),
                slug: stringify!($name),
                explanation: concat!($($doc, "\n"),+),
            }),+
        ];
    };
}
use catalog;

impl Problem {
    /// Starts a complaint; the catalog's macro adds the code.
    fn new(message: impl Into<String>) -> Problem {
        Problem {
            code: "",
            message: message.into(),
            place: None,
            help: None,
        }
    }

    /// Adds the place.
    fn at(mut self, place: impl Into<String>) -> Problem {
        self.place = Some(place.into());
        self
    }

    /// Adds the way out.
    fn help(mut self, text: impl Into<String>) -> Problem {
        self.help = Some(text.into());
        self
    }

    /// The same with the places of a model that it is about.
    pub(crate) fn in_model(self, labels: Vec<Label>) -> Diagnostic {
        let entry = entries().find(|entry| entry.code == self.code);
        Diagnostic {
            code: self.code,
            slug: entry.map_or("", |entry| entry.slug),
            severity: Severity::Error,
            message: self.message,
            labels,
            help: self.help,
            fixes: Vec::new(),
        }
    }

    /// As text for standard error.
    pub(crate) fn text(&self, style: Style) -> String {
        frame(
            style,
            self.code,
            &self.message,
            self.place.as_deref(),
            self.help.as_deref(),
        )
    }
}

/// A complaint that points at no model, in the spelling of those that do.
pub(crate) fn frame(
    style: Style,
    code: &str,
    message: &str,
    place: Option<&str>,
    help: Option<&str>,
) -> String {
    let (red, plain) = if style.color {
        ("\u{1b}[31m", "\u{1b}[0m")
    } else {
        ("", "")
    };
    let mut text = format!("{red}[{code}] Error:{plain} {message}\n");
    if let Some(place) = place {
        let _ = writeln!(text, "  At: {place}");
    }
    if let Some(help) = help {
        let _ = writeln!(text, "  Help: {help}");
    }
    let _ = writeln!(text, "`simc explain {code}` says more");
    text
}

/// All complaints, by code.
pub(crate) fn entries() -> impl Iterator<Item = &'static Entry> {
    [
        files::ENTRIES,
        results::ENTRIES,
        tables::ENTRIES,
        plots::ENTRIES,
        checkpoints::ENTRIES,
        sweeps::ENTRIES,
        testing::ENTRIES,
        trace::ENTRIES,
        gradients::ENTRIES,
        search::ENTRIES,
        web::ENTRIES,
    ]
    .into_iter()
    .flatten()
}

/// The complaint about a file that cannot be read.
pub(crate) fn unreadable(path: &Path, error: &io::Error) -> Problem {
    match error.kind() {
        io::ErrorKind::NotFound => no_such_file(path),
        io::ErrorKind::IsADirectory => directory_for_file(path),
        _ => unreadable_file(path, error),
    }
}

/// What the operating system says, without Rust's `(os error 2)`.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_lowercase(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::entries;

    #[test]
    fn codes_are_unique() {
        let mut codes: Vec<&str> = entries().map(|entry| entry.code).collect();
        assert!(codes.iter().all(|code| code.starts_with("E09")));
        codes.sort_unstable();
        assert!(codes.is_sorted_by(|a, b| a < b), "{codes:?}");
    }
}
