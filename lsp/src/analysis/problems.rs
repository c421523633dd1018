//! Complaints of the compiler as the protocol represents them.

use super::Document;
use lsp_types::{
    Diagnostic as Problem, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag,
    Location, NumberOrString, Uri,
};
use sim_compiler::{Diagnostic, diagnostic::Severity};

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
    let unnecessary = matches!(
        diagnostic.slug,
        "unused_name" | "unread_value" | "unused_allow"
    );
    Problem {
        range: document.range(diagnostic.span()),
        severity: Some(match diagnostic.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
        }),
        tags: unnecessary.then(|| vec![DiagnosticTag::UNNECESSARY]),
        code: Some(NumberOrString::String(diagnostic.code.to_owned())),
        source: Some("sim".to_owned()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        ..Problem::default()
    }
}
