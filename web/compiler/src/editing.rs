//! What an editor asks about a model.

use crate::{
    places::{Edit, Place, Places},
    request::{Answer, Refusal, write},
};
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionTextEdit, DocumentSymbol, Documentation,
    HoverContents, InsertTextFormat, ParameterInformation, ParameterLabel, SymbolKind,
};
use serde::Serialize;
use sim_compiler::{
    Diagnostic,
    diagnostic::{Fix, Severity},
};
use sim_lsp::analysis::{
    action, complete as completion, hover as hovering, navigate, outline as outlines,
};

/// A complaint.
#[derive(Debug, Serialize)]
pub(crate) struct Complaint {
    code: &'static str,
    name: &'static str,
    severity: &'static str,
    message: String,
    #[serde(flatten)]
    place: Place,
    labels: Vec<Label>,
    help: Option<String>,
    fixes: Vec<Change>,
}

#[derive(Debug, Serialize)]
struct Label {
    #[serde(flatten)]
    place: Place,
    text: String,
}

/// Edits that belong together.
#[derive(Debug, Serialize)]
pub(crate) struct Change {
    title: String,
    edits: Vec<Edit>,
}

/// Complaints that get their fixes where a refusal lists them.
pub(crate) const SOME_FIXES: usize = 10;

fn change(places: &Places, fix: Fix) -> Change {
    let edits = fix.edits.into_iter();
    Change {
        title: fix.title,
        edits: edits.map(|(span, text)| places.edit(span, text)).collect(),
    }
}

/// All complaints, each with the fixes that do mend it. A fix costs a compilation: only so many get theirs.
pub(crate) fn check(places: &Places, with_fixes: usize) -> Vec<Complaint> {
    complaints(places, places.document.diagnostics(), with_fixes)
}

/// Complaints, the first ones with their fixes.
pub(crate) fn complaints(
    places: &Places,
    found: &[Diagnostic],
    with_fixes: usize,
) -> Vec<Complaint> {
    let label = |label: &sim_compiler::diagnostic::Label| Label {
        place: places.place(label.span),
        text: label.text.clone(),
    };
    let fixes = |index: usize, diagnostic: &Diagnostic| match index < with_fixes {
        true => action::fixes(&places.document, diagnostic),
        false => Vec::new(),
    };
    let complaint = |(index, diagnostic): (usize, &Diagnostic)| Complaint {
        code: diagnostic.code,
        name: diagnostic.slug,
        severity: match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        message: diagnostic.message.clone(),
        place: places.place(diagnostic.span()),
        labels: diagnostic.labels.iter().map(label).collect(),
        help: diagnostic.help.clone(),
        fixes: fixes(index, diagnostic)
            .into_iter()
            .map(|fix| change(places, fix))
            .collect(),
    };
    found.iter().enumerate().map(complaint).collect()
}

/// The fixes of all complaints that touch a place.
pub(crate) fn actions(places: &Places, from: u32, to: u32) -> Vec<Change> {
    let (from, to) = (places.byte(from), places.byte(to));
    let touched = places.document.diagnostics().iter().filter(|diagnostic| {
        let span = diagnostic.span().range();
        span.start <= to && from <= span.end
    });
    touched
        .flat_map(|diagnostic| action::fixes(&places.document, diagnostic))
        .map(|fix| change(places, fix))
        .collect()
}

/// The text in canonical style, and the edit that makes it.
pub(crate) fn format(places: &Places) -> Answer {
    let edit = match sim_format::edit(places.document.text()) {
        Ok(edit) => edit,
        Err(sim_format::Error::Syntax(found)) => {
            let mut refusal = Refusal::new(
                "a model with syntax errors is not formatted",
                "mend what the diagnostics show first",
            );
            refusal.diagnostics = Some(complaints(places, &found, SOME_FIXES));
            return Err(refusal);
        }
        Err(error @ sim_format::Error::Bug(_)) => {
            return Err(Refusal::new(error.to_string(), "report it: a bug in simc"));
        }
    };
    let edit = edit.map(|edit| places.edit(edit.span, edit.text));
    write(edit)
}

/// What stands at a place.
#[derive(Debug, Serialize)]
pub(crate) struct Hover {
    #[serde(flatten)]
    place: Place,
    markdown: String,
}

/// What stands at a place, as Markdown.
pub(crate) fn hover(places: &Places, at: u32) -> Option<Hover> {
    let hover = hovering::hover(&places.document, places.byte(at))?;
    let HoverContents::Markup(markup) = hover.contents else {
        return None;
    };
    Some(Hover {
        place: places.place_of(hover.range?),
        markdown: markup.value,
    })
}

/// A call, and which of its parameters is being written.
#[derive(Debug, Serialize)]
pub(crate) struct Signature {
    label: String,
    markdown: Option<String>,
    parameters: Vec<Parameter>,
    active: Option<u32>,
}

/// A parameter: its text, or where in the label it stands.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Parameter {
    Text(String),
    Place([u32; 2]),
}

/// The call that a place lies in.
pub(crate) fn signature(places: &Places, at: u32) -> Option<Signature> {
    let help = hovering::signature(&places.document, places.byte(at))?;
    let signature = help.signatures.into_iter().next()?;
    let parameters = signature.parameters.unwrap_or_default().into_iter();
    let parameter = |parameter: ParameterInformation| match parameter.label {
        ParameterLabel::Simple(text) => Parameter::Text(text),
        ParameterLabel::LabelOffsets(place) => Parameter::Place(place),
    };
    Some(Signature {
        label: signature.label,
        markdown: signature.documentation.map(markdown),
        parameters: parameters.map(parameter).collect(),
        active: help.active_parameter,
    })
}

fn markdown(documentation: Documentation) -> String {
    match documentation {
        Documentation::String(text) => text,
        Documentation::MarkupContent(markup) => markup.value,
    }
}

/// What may be written at a place.
#[derive(Debug, Serialize)]
pub(crate) struct Proposal {
    label: String,
    kind: &'static str,
    detail: Option<String>,
    markdown: Option<String>,
    #[serde(flatten)]
    edit: Edit,
    snippet: bool,
}

/// What may be written at a place, best first.
pub(crate) fn complete(places: &Places, at: u32) -> Vec<Proposal> {
    let mut items = completion::complete(&places.document, places.byte(at));
    items.sort_by(|a, b| a.sort_text.cmp(&b.sort_text));
    items
        .into_iter()
        .filter_map(|item| proposal(places, item))
        .collect()
}

fn proposal(places: &Places, item: CompletionItem) -> Option<Proposal> {
    let CompletionTextEdit::Edit(edit) = item.text_edit? else {
        return None;
    };
    Some(Proposal {
        label: item.label,
        kind: item.kind.map_or("text", kind),
        detail: item.detail,
        markdown: item.documentation.map(markdown),
        edit: places.edit_of(edit),
        snippet: item.insert_text_format == Some(InsertTextFormat::SNIPPET),
    })
}

fn kind(kind: CompletionItemKind) -> &'static str {
    match kind {
        CompletionItemKind::FUNCTION => "function",
        CompletionItemKind::METHOD => "method",
        CompletionItemKind::CONSTANT => "constant",
        CompletionItemKind::VARIABLE => "variable",
        CompletionItemKind::PROPERTY => "property",
        CompletionItemKind::FIELD => "field",
        CompletionItemKind::STRUCT => "struct",
        CompletionItemKind::ENUM => "enum",
        CompletionItemKind::ENUM_MEMBER => "variant",
        CompletionItemKind::KEYWORD => "keyword",
        CompletionItemKind::SNIPPET => "snippet",
        CompletionItemKind::CLASS | CompletionItemKind::TYPE_PARAMETER => "type",
        _ => "text",
    }
}

/// Where the name at a place is declared.
pub(crate) fn definition(places: &Places, at: u32) -> Option<Place> {
    let range = navigate::definition(&places.document, places.byte(at))?;
    Some(places.place_of(range))
}

/// Where the name at a place is declared and used.
pub(crate) fn references(places: &Places, at: u32) -> Vec<Place> {
    let found = navigate::references(&places.document, places.byte(at), true);
    found
        .into_iter()
        .map(|range| places.place_of(range))
        .collect()
}

/// The edits that give the name at a place another text.
pub(crate) fn rename(places: &Places, at: u32, name: &str) -> Answer {
    match navigate::rename(&places.document, places.byte(at), name) {
        Ok(edits) => {
            let edits = edits.into_iter();
            write(
                edits
                    .map(|(span, text)| places.edit(span, text))
                    .collect::<Vec<Edit>>(),
            )
        }
        Err(why) => Err(Refusal::new(why, "choose another name, or another place")),
    }
}

/// A declaration or block, and what stands in it.
#[derive(Debug, Serialize)]
pub(crate) struct Symbol {
    name: String,
    detail: Option<String>,
    kind: &'static str,
    place: Place,
    name_place: Place,
    children: Vec<Symbol>,
}

/// The declarations and blocks of the model.
pub(crate) fn outline(places: &Places) -> Vec<Symbol> {
    let symbols = outlines::symbols(&places.document).into_iter();
    symbols.map(|found| symbol(places, found)).collect()
}

fn symbol(places: &Places, found: DocumentSymbol) -> Symbol {
    let children = found.children.unwrap_or_default().into_iter();
    Symbol {
        name: found.name,
        detail: found.detail,
        kind: match found.kind {
            SymbolKind::CONSTANT => "constant",
            SymbolKind::PROPERTY => "launch",
            SymbolKind::INTERFACE => "result",
            SymbolKind::EVENT => "block",
            SymbolKind::FUNCTION => "function",
            SymbolKind::STRUCT => "struct",
            SymbolKind::ENUM => "enum",
            SymbolKind::FIELD => "field",
            SymbolKind::ENUM_MEMBER => "variant",
            _ => "variable",
        },
        place: places.place_of(found.range),
        name_place: places.place_of(found.selection_range),
        children: children.map(|child| symbol(places, child)).collect(),
    }
}
