//! From a name to its declaration, to its other uses, and to another name.

use super::Document;
use lsp_types::{DocumentHighlight, DocumentHighlightKind, Range};
use sim_compiler::{
    names::{Kind, Names},
    span::Span,
    syntax::{self, Token},
};

/// The name of the declaration that a place means.
pub fn definition(document: &Document, at: usize) -> Option<Range> {
    let meant = meant(document, at)?;
    Some(document.range(document.declaration(meant).span))
}

/// Where the name at a place is used, and where it is declared if that is asked for.
pub fn references(document: &Document, at: usize, declaration: bool) -> Vec<Range> {
    let Some(meant) = meant(document, at) else {
        return Vec::new();
    };
    let spans = match declaration {
        true => occurrences(document, meant),
        false => document.names().uses_of(meant),
    };
    spans.into_iter().map(|span| document.range(span)).collect()
}

/// Where a declaration is used, and where it is.
fn occurrences(document: &Document, index: usize) -> Vec<Span> {
    let mut spans = document.names().uses_of(index);
    spans.push(document.declaration(index).span);
    spans.sort();
    spans.dedup();
    spans
}

/// The same within the file, by reads and writes.
pub fn highlights(document: &Document, at: usize) -> Vec<DocumentHighlight> {
    let Some(index) = meant(document, at) else {
        return Vec::new();
    };
    let declared = document.declaration(index).span;
    let highlight = |span: Span| DocumentHighlight {
        range: document.range(span),
        kind: Some(if span == declared || is_written(document, span) {
            DocumentHighlightKind::WRITE
        } else {
            DocumentHighlightKind::READ
        }),
    };
    occurrences(document, index)
        .into_iter()
        .map(highlight)
        .collect()
}

/// Does an assignment follow the name at once?
pub(super) fn is_written(document: &Document, span: Span) -> bool {
    let Some(index) = document.token_at(span.start as usize) else {
        return false;
    };
    let next = document.tokens().get(index + 1).map(|(token, _)| *token);
    next.is_some_and(|token| token.is_assignment() || token == Token::Prime)
}

fn meant(document: &Document, at: usize) -> Option<usize> {
    if document.in_comment(at) {
        return None;
    }
    document.meant(document.word_at(at)?.1)
}

/// The name that would be renamed at a place.
pub fn prepare_rename(document: &Document, at: usize) -> Option<Range> {
    meant(document, at)?;
    Some(document.range(document.word_at(at)?.1))
}

/// The edits that give the name at a place another text everywhere, and change nothing else.
///
/// # Errors
/// Why that cannot be done, for the user.
pub fn rename(document: &Document, at: usize, new: &str) -> Result<Vec<(Span, String)>, String> {
    let meant = meant(document, at).ok_or("there is no name of this model here")?;
    let declaration = document.declaration(meant);
    check_name(new)?;
    if new == declaration.name {
        return Ok(Vec::new());
    }
    refuse_unclear(document, meant)?;
    let names = document.names();
    let edits: Vec<(Span, String)> = (occurrences(document, meant).into_iter())
        .map(|span| {
            // `output x` also says the output's name, which others know and which stays; so does `record x`.
            let output = names
                .declared_at(span)
                .map(|index| &names.declarations[index]);
            let results = [Kind::Output, Kind::Record, Kind::Observation];
            let short = output.is_some_and(|output| results.contains(&output.kind))
                && span != declaration.span;
            let text = if short {
                format!("{} = {new}", declaration.name)
            } else {
                new.to_owned()
            };
            (span, text)
        })
        .collect();
    let after = sim_compiler::survey(&document.with(&edits));
    let mistakes = document.survey().diagnostics.len();
    if after.diagnostics.len() > mistakes || !same_meaning(names, &after.names, &edits) {
        return Err(format!(
            "`{new}` would mean something else somewhere, or is taken"
        ));
    }
    Ok(edits)
}

/// Is this a name that a model may declare?
fn check_name(name: &str) -> Result<(), String> {
    let tokens = syntax::tokens(name);
    let whole = Span::new(0, name.len());
    match tokens.as_slice() {
        [(Token::Ident, span)] if *span == whole => {}
        [(token, span)] if token.is_keyword() && *span == whole => {
            return Err(format!("`{name}` is a word of the language"));
        }
        _ => {
            return Err(format!(
                "`{name}` is not a name: letters, digits and `_` only"
            ));
        }
    }
    let types = super::hover::TYPES.iter().chain(&super::hover::LAUNCH);
    if types.into_iter().any(|(known, _)| *known == name) {
        return Err(format!("`{name}` is built in"));
    }
    Ok(())
}

/// In a broken file some names may be out of the checker's reach.
fn refuse_unclear(document: &Document, meant: usize) -> Result<(), String> {
    let names = document.names();
    let declaration = document.declaration(meant);
    for (token, span) in document.tokens() {
        let same = *token == Token::Ident && document.slice(*span) == declaration.name;
        if !same || names.meant_at(*span).is_some() {
            continue;
        }
        let dotted = document.text()[..span.start as usize]
            .trim_end()
            .ends_with('.');
        let callee = document.text()[span.end as usize..]
            .trim_start()
            .starts_with('(');
        let foreign = dotted != matches!(declaration.kind, Kind::Field | Kind::Variant)
            || callee && !matches!(declaration.kind, Kind::Function | Kind::Struct);
        if !foreign && !document.survey().diagnostics.is_empty() {
            let line = document.position(span.start as usize).line + 1;
            return Err(format!(
                "what `{}` means in line {line} is not clear while the model has mistakes",
                declaration.name
            ));
        }
    }
    Ok(())
}

/// Does every name mean after the edits what it meant before?
fn same_meaning(before: &Names, after: &Names, edits: &[(Span, String)]) -> bool {
    let moved = |span: Span| {
        let earlier = edits.iter().take_while(|(edit, _)| edit.end <= span.start);
        let shift: i64 = earlier
            .map(|(edit, text)| text.len() as i64 - (edit.end - edit.start) as i64)
            .sum();
        (i64::from(span.start) + shift) as usize
    };
    let declared = |names: &Names, index: usize| names.declarations[index].span;
    let starts: std::collections::HashMap<usize, Span> = (after.uses.iter())
        .map(|(span, meant)| (span.start as usize, declared(after, *meant)))
        .collect();
    let kept = |(place, meant): (&Span, &usize)| {
        let want = moved(declared(before, *meant));
        let edited = edits.iter().find(|(edit, _)| edit == place);
        // The use behind `output x = ` stands that much further on.
        let ahead = edited.and_then(|(_, text)| text.find(" = ").map(|at| at + 3));
        let found = starts.get(&(moved(*place) + ahead.unwrap_or(0)));
        found.is_some_and(|span| span.start as usize == want)
    };
    before.uses.len() == after.uses.len() && before.uses.iter().all(kept)
}
