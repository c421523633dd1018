//! What the compiler says to the user: one `Diagnostic` per mistake, made by the constructor functions of
//! the catalog and turned into text by `render` alone.

pub mod catalog;
pub mod render;
mod reported;

pub(crate) use reported::{Complaints, MOST_COMPLAINTS, Reported};

use crate::span::Span;
use std::collections::HashSet;

/// A complaint about the user's source, with its place, cause and fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The code that `simc explain` explains, such as `E0201`.
    pub code: &'static str,
    /// The name of the constructor in the catalog, such as `unknown_name`.
    pub slug: &'static str,
    /// How bad it is; its code says it, unless a user asked for something else.
    pub severity: Severity,
    /// One sentence: what is wrong.
    pub message: String,
    /// The places; the first is where the mistake stands, the others are its causes.
    pub labels: Vec<Label>,
    /// How to mend it, where that is known.
    pub help: Option<String>,
    /// Changes that an editor can make for the user; each mends the mistake by itself.
    pub fixes: Vec<Fix>,
}

/// How bad a complaint is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// A mistake: the model has no meaning.
    Error,
    /// The model has a meaning, but hardly the one that was intended. Codes of warnings begin with `W`.
    Warning,
}

impl Severity {
    /// That of a code.
    pub fn of(code: &str) -> Severity {
        match code.starts_with('W') {
            true => Severity::Warning,
            false => Severity::Error,
        }
    }
}

/// A change of the source that mends a mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What it does, as a command.
    pub title: String,
    /// Texts for places of the source, in its order.
    pub edits: Vec<(Span, String)>,
}

/// A place in the source and what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What is wrong there.
    pub text: String,
}

impl Diagnostic {
    /// Starts a complaint; the catalog's macro adds code and slug.
    fn new(message: impl Into<String>) -> Self {
        Diagnostic {
            code: "",
            slug: "",
            severity: Severity::Error,
            message: message.into(),
            labels: Vec::new(),
            help: None,
            fixes: Vec::new(),
        }
    }

    /// Adds a place: the first call marks the mistake, later ones its causes.
    fn at(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label {
            span,
            text: text.into(),
        });
        self
    }

    /// Adds the line that says how to mend it.
    fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Offers a text for a place.
    fn replace(mut self, span: Span, text: impl Into<String>) -> Self {
        let text = text.into();
        let title = match text.trim() {
            "" => "Remove it".to_owned(),
            shown if is_long(shown) => "Write it as Sim does".to_owned(),
            shown if span.start == span.end => format!("Add `{shown}`"),
            shown => format!("Write `{shown}`"),
        };
        let edits = vec![(span, text)];
        self.fixes.push(Fix { title, edits });
        self
    }

    /// Offers a text for a place, and says so; `otherwise` is said where the text is too long for a line.
    fn offer(self, span: Span, text: impl Into<String>, otherwise: &str) -> Self {
        let text = text.into();
        let report = match is_long(&text) {
            true => self.help(otherwise),
            false => self.help(format!("write `{text}`")),
        };
        report.replace(span, text)
    }

    /// Offers several texts, which together mend it.
    fn edit(mut self, title: impl Into<String>, edits: Vec<(Span, String)>) -> Self {
        let title = title.into();
        self.fixes.push(Fix { title, edits });
        self
    }

    /// Offers a text behind a place.
    fn append(self, span: Span, text: impl Into<String>) -> Self {
        let end = Span {
            start: span.end,
            end: span.end,
        };
        self.replace(end, text)
    }

    /// Offers a call around a value.
    fn wrap(mut self, function: &str, span: Span) -> Self {
        let at = |place| Span {
            start: place,
            end: place,
        };
        self.fixes.push(Fix {
            title: format!("Convert with `{function}(…)`"),
            edits: vec![
                (at(span.start), format!("{function}(")),
                (at(span.end), ")".to_owned()),
            ],
        });
        self
    }

    /// Where the mistake stands.
    pub fn span(&self) -> Span {
        self.labels
            .first()
            .map(|label| label.span)
            .unwrap_or_default()
    }
}

/// Is it too long for a line of a message?
fn is_long(text: &str) -> bool {
    text.len() > 100 || text.contains('\n')
}

/// The complaints of the syntax and those of the checker that are no consequence of them.
pub(crate) fn joined(
    source: &str,
    syntax: Vec<Diagnostic>,
    checker: Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    let breaks = source
        .bytes()
        .enumerate()
        .filter(|(_, byte)| *byte == b'\n');
    let breaks: Vec<usize> = breaks.map(|(at, _)| at).collect();
    let line = |span: Span| breaks.partition_point(|at| *at < span.range().start);
    let broken: HashSet<usize> = syntax.iter().map(|found| line(found.span())).collect();
    let mut diagnostics = syntax;
    diagnostics.extend(checker.into_iter().filter(|diagnostic| {
        broken.is_empty()
            || stands_alone(diagnostic)
                && !(diagnostic.labels.iter()).any(|label| broken.contains(&line(label.span)))
    }));
    diagnostics.sort_by_key(Diagnostic::span);
    diagnostics
}

/// Is this a mistake of its own even where the text has syntax errors? Names may be unknown there, and
/// paths incomplete, only because their declarations could not be read.
fn stands_alone(diagnostic: &Diagnostic) -> bool {
    !(diagnostic.code.starts_with("E02")
        || diagnostic.code.starts_with("E06")
        || diagnostic.slug == "missing_return")
}

/// A row of the catalog, for `simc explain` and the tests.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The code, such as `E0201`.
    pub code: &'static str,
    /// The constructor's name, such as `unknown_name`.
    pub slug: &'static str,
    /// The constructor's doc comment: what the mistake is, an example, and the fix.
    pub explanation: &'static str,
}
