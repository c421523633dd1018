//! Complaints of the compiler as the protocol represents them.

use super::Document;
use lsp_types::{
    Diagnostic as Problem, DiagnosticRelatedInformation, DiagnosticSeverity, Location,
    NumberOrString, Uri,
};
use sim_compiler::Diagnostic;

/// All complaints about a document.
pub fn problems(document: &Document, uri: &Uri) -> Vec<Problem> {
    let found = document.diagnostics().iter();
    found
        .map(|diagnostic| problem(document, uri, diagnostic))
        .collect()
}

/// One complaint; its help is the end of the message, its causes are the related places.
pub fn problem(document: &Document, uri: &Uri, diagnostic: &Diagnostic) -> Problem {
    let mut message = diagnostic.message.clone();
    if let Some(label) = diagnostic.labels.first() {
        message = format!("{message}: {}", label.text);
    }
    if let Some(help) = &diagnostic.help {
        message = format!("{message}\n{help}");
    }
    let related: Vec<DiagnosticRelatedInformation> = (diagnostic.labels.iter().skip(1))
        .map(|label| DiagnosticRelatedInformation {
            location: Location::new(uri.clone(), document.range(label.span)),
            message: label.text.clone(),
        })
        .collect();
    Problem {
        range: document.range(diagnostic.span()),
        severity: Some(DiagnosticSeverity::ERROR),
        code: Some(NumberOrString::String(diagnostic.code.to_owned())),
        source: Some("sim".to_owned()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        ..Problem::default()
    }
}
