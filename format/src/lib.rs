//! The one canonical style of Sim models: text in, text out. No options, no I/O.
//!
//! ```text
//! source ─ syntax ─► tree ──┐
//!        └ script ─► words ─┴ print ─► pieces ─ layout ─► lines ─ align ─► text ─ verify ─► text
//! ```
//!
//! The tree says what belongs together, but every word is taken from the text, in order and with the comments
//! before it (`script`), so formatting can only move white space and separators. White space that the style
//! does not keep is dropped before anything is printed: formatting is idempotent. `verify` compares the
//! result with the source before it is returned.

mod align;
mod layout;
mod print;
mod script;
mod verify;

use script::Script;
use sim_compiler::{Diagnostic, span::Span, syntax};
use std::fmt;

/// Why a text was not formatted.
#[derive(Clone, Debug)]
pub enum Error {
    /// It has syntax errors: the compiler's complaints, at least one.
    Syntax(Vec<Diagnostic>),
    /// The result would not say what the source says. A bug of this crate; the text says where.
    Bug(String),
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Syntax(_) => out.write_str("the text has syntax errors"),
            Error::Bug(what) => write!(out, "formatting would damage the text: {what}"),
        }
    }
}

impl std::error::Error for Error {}

/// A text for a place of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What it replaces.
    pub span: Span,
    /// The text.
    pub text: String,
}

/// A model in canonical style. Lines end as the first line of the source does.
///
/// # Errors
/// The syntax errors of the source, or a bug.
pub fn format(source: &str) -> Result<String, Error> {
    let parsed = syntax::parse(source);
    if !parsed.diagnostics.is_empty() {
        return Err(Error::Syntax(parsed.diagnostics));
    }
    let script = Script::read(source);
    let pieces = print::print(&script, &parsed.model).map_err(Error::Bug)?;
    let text = align::join(layout::lay_out(&pieces));
    verify::verify(&script, &parsed.model, &Script::read(&text), &text).map_err(Error::Bug)?;
    // Block comments have line breaks of their own.
    let text = text.replace("\r\n", "\n");
    Ok(match source.split_once('\n') {
        Some((first, _)) if first.ends_with('\r') => text.replace('\n', "\r\n"),
        _ => text,
    })
}

/// The smallest edit that brings a model into canonical style; none if it is.
///
/// # Errors
/// As for [`format()`].
pub fn edit(source: &str) -> Result<Option<Edit>, Error> {
    let text = format(source)?;
    if text == source {
        return Ok(None);
    }
    let same = |(left, right): &((usize, char), char)| left.1 == *right;
    let start = source.char_indices().zip(text.chars()).take_while(same);
    let start: usize = start.map(|((_, c), _)| c.len_utf8()).sum();
    let (old, new) = (&source[start..], &text[start..]);
    let end = old.chars().rev().zip(new.chars().rev());
    let end: usize = end
        .take_while(|(left, right)| left == right)
        .map(|(c, _)| c.len_utf8())
        .sum();
    Ok(Some(Edit {
        span: Span::new(start, source.len() - end),
        text: new[..new.len() - end].to_owned(),
    }))
}

/// The README's code.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
