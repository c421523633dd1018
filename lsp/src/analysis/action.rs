//! Changes of a text: fixes of its mistakes, and its canonical style.

use super::{Document, problems};
use lsp_types::{CodeAction, CodeActionKind, TextEdit, Uri, WorkspaceEdit};
use sim_compiler::{
    Diagnostic,
    diagnostic::{Fix, Severity},
    span::Span,
};
use std::collections::HashMap;

/// The fixes of a complaint that do mend it: afterwards it is gone, and there are no more mistakes than
/// before.
pub fn fixes(document: &Document, diagnostic: &Diagnostic) -> Vec<Fix> {
    let own = diagnostic.fixes.iter().cloned();
    own.chain(from_text(document, diagnostic))
        .filter(|fix| mends(document, diagnostic, fix))
        .collect()
}

fn mends(document: &Document, diagnostic: &Diagnostic, fix: &Fix) -> bool {
    let same = |found: &[Diagnostic]| {
        let same = found
            .iter()
            .filter(|other| other.code == diagnostic.code && other.message == diagnostic.message);
        same.count()
    };
    let (before, text) = (document.diagnostics(), document.with(&fix.edits));
    let after = sim_compiler::check(&text);
    match diagnostic.severity {
        Severity::Error => after.len() <= before.len() && same(&after) < same(before),
        Severity::Warning => {
            after.is_empty() && same(&sim_compiler::warnings(&text)) < same(before)
        }
    }
}

/// Fixes that need to see the text.
fn from_text(document: &Document, diagnostic: &Diagnostic) -> Option<Fix> {
    let text = document.text();
    match diagnostic.slug {
        // `let x = …` that is assigned later.
        "cannot_assign" => {
            let declared = diagnostic.labels.get(1)?.span.start as usize;
            let before = text.get(..declared)?.trim_end();
            let start = before.strip_suffix("let")?.len();
            Some(Fix {
                title: "Declare it with `var`".to_owned(),
                edits: vec![(Span::new(start, start + 3), "var".to_owned())],
            })
        }
        "not_exhaustive" => {
            let span = diagnostic.span().range();
            let inner = text.get(span.clone())?.strip_suffix('}')?.trim_end();
            let last = span.start + inner.len();
            let comma = if inner.ends_with(['{', '}', ',']) {
                ""
            } else {
                ","
            };
            let line = text[..last].rfind('\n').map_or(0, |at| at + 1);
            let indent: String = text[line..].chars().take_while(|c| *c == ' ').collect();
            let arm = format!("{comma}\n{indent}_ => {{}}");
            Some(Fix {
                title: "Add an arm for the rest".to_owned(),
                edits: vec![(Span::new(last, last), arm)],
            })
        }
        _ => None,
    }
}

/// The fixes of all complaints that touch a place.
pub fn actions(document: &Document, uri: &Uri, place: Span) -> Vec<CodeAction> {
    let touched = document.diagnostics().iter().filter(|diagnostic| {
        let span = diagnostic.span();
        span.start <= place.end && place.start <= span.end
    });
    let mut found = Vec::new();
    for diagnostic in touched {
        for (index, fix) in fixes(document, diagnostic).into_iter().enumerate() {
            let edits = fix.edits.iter();
            let edits = edits.map(|(span, text)| document.edit(*span, text.clone()));
            found.push(CodeAction {
                title: fix.title,
                kind: Some(CodeActionKind::QUICKFIX),
                diagnostics: Some(vec![problems::problem(document, uri, diagnostic)]),
                edit: Some(in_file(uri, edits.collect())),
                is_preferred: Some(index == 0),
                ..CodeAction::default()
            });
        }
    }
    found
}

/// Edits of one file as the protocol says them.
#[allow(
    clippy::mutable_key_type,
    reason = "the protocol's map is by address, which nobody changes"
)]
pub fn in_file(uri: &Uri, edits: Vec<TextEdit>) -> WorkspaceEdit {
    WorkspaceEdit::new(HashMap::from([(uri.clone(), edits)]))
}

/// The edits into canonical style; none for a file with syntax errors.
pub fn format(document: &Document) -> Vec<TextEdit> {
    match sim_format::edit(document.text()) {
        Ok(Some(edit)) => vec![document.edit(edit.span, edit.text)],
        Ok(None) | Err(_) => Vec::new(),
    }
}
