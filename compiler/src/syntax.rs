//! Text to tree: tokens (logos), then the grammar (chumsky). Never fails: what could not be parsed is an
//! `Error` node in the tree and a diagnostic beside it.
//!
//! ```text
//! source ─ lex ─► tokens ─ bracket ─► balanced tokens ─ parse ─► tree + faults ─ slip ─► diagnostics
//! ```
//!
//! All of it is linear in the length of the source and needs a bounded stack, whatever the source is.

pub mod ast;
mod bracket;
mod lex;
mod parse;
pub mod print;
mod slip;
mod token;

pub use bracket::MAX_NESTING;
pub use token::Token;

use crate::{
    diagnostic::{Diagnostic, catalog::syntax as say},
    span::Span,
};
use ast::Model;
use chumsky::Parser;
use parse::{Grammar, Script, item::doc_text};
use std::cell::Cell;

/// A source file as far as it could be read.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The tree, with `Error` nodes where the text could not be read.
    pub model: Model,
    /// What was wrong, in the order of the source; empty exactly if the tree has no `Error` node.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a source file.
pub fn parse(source: &str) -> Parsed {
    if let Some(at) = source.find('\0') {
        return Parsed {
            model: Model::default(),
            diagnostics: vec![say::not_text(Span::new(at, at + 1))],
        };
    }
    let lexed = lex::lex(source);
    let balanced = bracket::balance(source, &lexed);
    let script = Script {
        source,
        tokens: &balanced.tokens,
        marks: &balanced.marks,
        docs: &lexed.docs,
        noted: Cell::new(0),
        ifs: Cell::new(0),
    };
    let grammar = Grammar { script: &script };
    let (items, faults) = grammar.items().parse(script.tokens).into_output_errors();
    let mut diagnostics: Vec<Diagnostic> = faults
        .into_iter()
        .take(4 * lex::MAX_DIAGNOSTICS)
        .filter(|fault| !excused(&balanced, fault.at))
        .filter_map(|fault| slip::complaint(grammar, fault))
        .collect();
    diagnostics.extend(balanced.diagnostics);
    diagnostics.extend(lexed.diagnostics);
    Parsed {
        model: Model {
            doc: doc_text(source, &lexed.model_docs),
            items: items.unwrap_or_default(),
        },
        diagnostics: ordered(diagnostics),
    }
}

/// The tokens of a source file, comments left out, and their places.
pub fn tokens(source: &str) -> Vec<(Token, Span)> {
    let lexed = lex::lex(source);
    let spans = lexed.marks.iter().map(|mark| mark.span);
    lexed.tokens.iter().copied().zip(spans).collect()
}

/// The comments of a source file, documentation included, in order; each from its `//` to the end of its
/// line, or from its `/*` to its `*/`.
pub fn comments(source: &str) -> Vec<Span> {
    lex::lex(source).comments
}

/// Whether a missing or surplus bracket has been reported and the fault is its consequence.
fn excused(balanced: &bracket::Balanced, at: usize) -> bool {
    let ranges = &balanced.excused;
    ranges.iter().any(|range| range.contains(&at))
}

/// By place, and no more than a person reads.
fn ordered(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    diagnostics.sort_by_key(|diagnostic| diagnostic.span().start);
    // An `else` after an `if` whose block had no braces is a part of that mistake.
    diagnostics.dedup_by(|next, last| {
        next == last || next.slug == "else_without_if" && last.slug == "missing_braces"
    });
    // What closes the brackets before a comment without an end may stand in it.
    if diagnostics
        .iter()
        .any(|found| found.slug == "unclosed_comment")
    {
        diagnostics.retain(|found| found.slug != "unclosed_bracket");
    }
    let surplus = diagnostics.len().saturating_sub(lex::MAX_DIAGNOSTICS);
    if surplus > 0 {
        let last = diagnostics[lex::MAX_DIAGNOSTICS].span();
        diagnostics.truncate(lex::MAX_DIAGNOSTICS);
        diagnostics.push(say::too_many_mistakes(lex::MAX_DIAGNOSTICS, last));
    }
    diagnostics
}
