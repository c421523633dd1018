//! The mistakes of models for tools: a plain JSON array, or SARIF 2.1.0.

use serde_json::{Value, json};
use sim_compiler::{
    Diagnostic,
    diagnostic::{Fix, Severity, catalog},
    span::Span,
};
use sim_lsp::analysis::{Document, action};

/// A file and its mistakes.
pub(crate) struct Checked {
    /// As the user called it.
    pub(crate) name: String,
    /// Its text.
    pub(crate) document: Document,
    /// Its mistakes, or the warnings about it.
    pub(crate) complaints: Vec<Diagnostic>,
}

impl Checked {
    fn text(&self) -> &str {
        self.document.text()
    }
}

/// An array with an object per mistake. Lines and columns start at 1; columns count characters.
pub(crate) fn json(files: &[Checked]) -> String {
    let mistakes = files.iter().flat_map(|file| {
        let found = file.complaints.iter();
        found.map(move |diagnostic| mistake(file, diagnostic))
    });
    format!("{:#}\n", Value::Array(mistakes.collect()))
}

fn mistake(file: &Checked, diagnostic: &Diagnostic) -> Value {
    let mut places = diagnostic.labels.iter();
    let label = places.next().map(|label| &label.text);
    let related: Vec<Value> = places
        .map(|label| json!({ "message": label.text, "span": region(file.text(), label.span) }))
        .collect();
    let edit = |(span, text): &(Span, String)| {
        let span = region(file.text(), *span);
        json!({ "span": span, "text": text })
    };
    let fix = |fix: Fix| {
        let edits: Vec<Value> = fix.edits.iter().map(edit).collect();
        json!({ "title": fix.title, "edits": edits })
    };
    let fixes = action::fixes(&file.document, diagnostic).into_iter();
    json!({
        "file": file.name,
        "code": diagnostic.code,
        "severity": severity(diagnostic),
        "message": diagnostic.message,
        "label": label,
        "span": region(file.text(), diagnostic.span()),
        "related": related,
        "help": diagnostic.help,
        "fixes": fixes.map(fix).collect::<Vec<Value>>(),
    })
}

/// One run of SARIF 2.1.0.
pub(crate) fn sarif(files: &[Checked]) -> String {
    let results = files.iter().flat_map(|file| {
        let result = |diagnostic| result(file, diagnostic);
        file.complaints.iter().map(result)
    });
    let results: Vec<Value> = results.collect();
    let used = |code: &str| results.iter().any(|result| result["ruleId"] == code);
    let rules: Vec<Value> = catalog::entries()
        .filter(|entry| used(entry.code))
        .map(|entry| {
            json!({
                "id": entry.code,
                "name": entry.slug,
                "fullDescription": { "text": entry.explanation.trim() },
            })
        })
        .collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "simc",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    format!("{log:#}\n")
}

fn result(file: &Checked, diagnostic: &Diagnostic) -> Value {
    let artifact = json!({ "uri": address(&file.name) });
    let location = |span: Span, text: &str| {
        let region = region(file.text(), span);
        json!({
            "physicalLocation": { "artifactLocation": artifact, "region": region },
            "message": { "text": text },
        })
    };
    let mut places = diagnostic.labels.iter();
    let label = places.next().map_or("", |label| label.text.as_str());
    let related: Vec<Value> = places
        .enumerate()
        .map(|(id, label)| {
            let mut place = location(label.span, &label.text);
            place["id"] = json!(id);
            place
        })
        .collect();
    let text = match &diagnostic.help {
        Some(help) => format!("{}\n{help}", diagnostic.message),
        None => diagnostic.message.clone(),
    };
    let replacement = |(span, text): &(Span, String)| {
        json!({
            "deletedRegion": region(file.text(), *span),
            "insertedContent": { "text": text },
        })
    };
    let fix = |fix: Fix| {
        let replacements: Vec<Value> = fix.edits.iter().map(replacement).collect();
        json!({
            "description": { "text": fix.title },
            "artifactChanges": [{ "artifactLocation": artifact, "replacements": replacements }],
        })
    };
    let fixes = action::fixes(&file.document, diagnostic).into_iter();
    json!({
        "ruleId": diagnostic.code,
        "level": severity(diagnostic),
        "message": { "text": text },
        "locations": [location(diagnostic.span(), label)],
        "relatedLocations": related,
        "fixes": fixes.map(fix).collect::<Vec<Value>>(),
    })
}

/// What both forms call it.
fn severity(diagnostic: &Diagnostic) -> &'static str {
    match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

/// Where a span stands; lines and columns start at 1.
fn region(text: &str, span: Span) -> Value {
    let (line, column) = span.position(text);
    let end = Span {
        start: span.end,
        ..span
    };
    let (end_line, end_column) = end.position(text);
    json!({
        "startLine": line,
        "startColumn": column,
        "endLine": end_line,
        "endColumn": end_column,
    })
}

/// A path as a relative or absolute URI reference.
fn address(path: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~/".contains(&b);
    path.replace('\\', "/")
        .bytes()
        .map(|b| match plain(b) {
            true => char::from(b).to_string(),
            false => format!("%{b:02X}"),
        })
        .collect()
}
