//! The mistakes of models for tools: a plain JSON array, or SARIF 2.1.0.

use serde_json::{Value, json};
use sim_compiler::{Diagnostic, diagnostic::catalog, span::Span};

/// A file and its mistakes.
pub(crate) struct Checked {
    /// As the user called it.
    pub(crate) name: String,
    /// Its text.
    pub(crate) text: String,
    /// What the compiler says.
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// An array with an object per mistake: `file`, `code`, `severity`, `message`, `help`, and `labels`, the first
/// of which is where the mistake stands. Lines and columns start at 1; columns count characters.
pub(crate) fn json(files: &[Checked]) -> String {
    let mistakes = files.iter().flat_map(|file| {
        file.diagnostics.iter().map(move |diagnostic| {
            let labels = diagnostic.labels.iter().map(|label| {
                let mut place = region(&file.text, label.span);
                place["text"] = json!(label.text);
                place
            });
            json!({
                "file": file.name,
                "code": diagnostic.code,
                "severity": "error",
                "message": diagnostic.message,
                "help": diagnostic.help,
                "labels": labels.collect::<Vec<Value>>(),
            })
        })
    });
    format!("{:#}\n", Value::Array(mistakes.collect()))
}

/// One run of SARIF 2.1.0.
pub(crate) fn sarif(files: &[Checked]) -> String {
    let results = files.iter().flat_map(|file| {
        let result = |diagnostic| result(file, diagnostic);
        file.diagnostics.iter().map(result)
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
    let location = |span: Span, text: &str| {
        json!({
            "physicalLocation": {
                "artifactLocation": { "uri": address(&file.name) },
                "region": region(&file.text, span),
            },
            "message": { "text": text },
        })
    };
    let mut places = diagnostic.labels.iter();
    let main: Vec<Value> = (places.by_ref().take(1))
        .map(|label| location(label.span, &label.text))
        .collect();
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
    json!({
        "ruleId": diagnostic.code,
        "level": "error",
        "message": { "text": text },
        "locations": main,
        "relatedLocations": related,
    })
}

/// Where a span stands; lines and columns start at 1.
fn region(text: &str, span: Span) -> Value {
    let (line, column) = place(text, span.start as usize);
    let (end_line, end_column) = place(text, span.end as usize);
    json!({
        "startLine": line,
        "startColumn": column,
        "endLine": end_line,
        "endColumn": end_column,
    })
}

fn place(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(at.min(text.len()))];
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    (line, before[start..].chars().count() + 1)
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
