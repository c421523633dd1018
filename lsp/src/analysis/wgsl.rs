//! The kernel that a model becomes.

use super::Document;
use serde::{Deserialize, Serialize};

/// The parameters of `sim/wgsl`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WgslParams {
    /// The model.
    pub text_document: lsp_types::TextDocumentIdentifier,
}

/// The answer to `sim/wgsl`.
#[derive(Debug, Serialize, Deserialize)]
pub struct Wgsl {
    /// The kernel's text; null while the model has mistakes.
    pub wgsl: Option<String>,
    /// How many mistakes it has.
    pub mistakes: usize,
}

/// The kernel of a model. The optimised program has no places of the source, so there is no map of lines.
pub fn wgsl(document: &Document) -> Wgsl {
    match sim_compiler::compile(document.text()) {
        Ok(artifact) => Wgsl {
            wgsl: Some(artifact.wgsl),
            mistakes: 0,
        },
        Err(diagnostics) => Wgsl {
            wgsl: None,
            mistakes: diagnostics.len(),
        },
    }
}
