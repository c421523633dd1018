//! One request, one answer.

use super::{Open, Server};
use crate::analysis::{action, complete, hover, navigate, outline, tokens, wgsl};
use lsp_server::{ErrorCode, Request};
use lsp_types::{
    CodeActionParams, CompletionParams, DocumentFormattingParams, DocumentSymbolParams,
    FoldingRangeParams, GotoDefinitionResponse, InlayHintParams, Location, ReferenceParams,
    RenameParams, SemanticTokens, SemanticTokensParams, TextDocumentIdentifier,
    TextDocumentPositionParams,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// An answer, or a code and a message.
pub(super) type Answer = Result<Value, (ErrorCode, String)>;

/// Answers a request.
pub(super) fn answer(server: &Server<'_>, request: &Request) -> Answer {
    match request.method.as_str() {
        "textDocument/hover" => at(server, request, |open, at| hover::hover(&open.document, at)),
        "textDocument/definition" => at(server, request, |open, at| {
            let range = navigate::definition(&open.document, at)?;
            let place = Location::new(open.uri.clone(), range);
            Some(GotoDefinitionResponse::Scalar(place))
        }),
        "textDocument/references" => {
            let params: ReferenceParams = read(request)?;
            let open = find(server, &params.text_document_position.text_document)?;
            let at = open.document.offset(params.text_document_position.position);
            let declared = params.context.include_declaration;
            let places = navigate::references(&open.document, at, declared).into_iter();
            let places = places.map(|range| Location::new(open.uri.clone(), range));
            write(places.collect::<Vec<_>>())
        }
        "textDocument/documentHighlight" => at(server, request, |open, at| {
            navigate::highlights(&open.document, at)
        }),
        "textDocument/prepareRename" => at(server, request, |open, at| {
            navigate::prepare_rename(&open.document, at)
        }),
        "textDocument/rename" => rename(server, request),
        "textDocument/signatureHelp" => at(server, request, |open, at| {
            hover::signature(&open.document, at)
        }),
        "textDocument/completion" => {
            let params: CompletionParams = read(request)?;
            let open = find(server, &params.text_document_position.text_document)?;
            let at = open.document.offset(params.text_document_position.position);
            write(complete::complete(&open.document, at))
        }
        "textDocument/codeAction" => {
            let params: CodeActionParams = read(request)?;
            let open = find(server, &params.text_document)?;
            let place = open.document.span(params.range);
            write(action::actions(&open.document, &open.uri, place))
        }
        _ => answer_whole(server, request),
    }
}

/// Answers what is asked about a whole document.
fn answer_whole(server: &Server<'_>, request: &Request) -> Answer {
    match request.method.as_str() {
        "textDocument/documentSymbol" => {
            let params: DocumentSymbolParams = read(request)?;
            let open = find(server, &params.text_document)?;
            write(outline::symbols(&open.document))
        }
        "textDocument/foldingRange" => {
            let params: FoldingRangeParams = read(request)?;
            write(outline::folds(
                &find(server, &params.text_document)?.document,
            ))
        }
        "textDocument/semanticTokens/full" => {
            let params: SemanticTokensParams = read(request)?;
            let open = find(server, &params.text_document)?;
            write(SemanticTokens {
                result_id: None,
                data: tokens::tokens(&open.document),
            })
        }
        "textDocument/inlayHint" => {
            let params: InlayHintParams = read(request)?;
            let open = find(server, &params.text_document)?;
            write(outline::hints(&open.document, params.range))
        }
        "textDocument/formatting" => {
            let params: DocumentFormattingParams = read(request)?;
            write(action::format(
                &find(server, &params.text_document)?.document,
            ))
        }
        "sim/wgsl" => {
            let params: wgsl::WgslParams = read(request)?;
            write(wgsl::wgsl(&find(server, &params.text_document)?.document))
        }
        other => Err((ErrorCode::MethodNotFound, format!("simc has no `{other}`"))),
    }
}

fn rename(server: &Server<'_>, request: &Request) -> Answer {
    let params: RenameParams = read(request)?;
    let open = find(server, &params.text_document_position.text_document)?;
    let at = open.document.offset(params.text_document_position.position);
    match navigate::rename(&open.document, at, &params.new_name) {
        Ok(edits) => {
            let edits = edits.into_iter();
            let edits = edits.map(|(span, text)| open.document.edit(span, text));
            write(action::in_file(&open.uri, edits.collect()))
        }
        Err(why) => Err((ErrorCode::RequestFailed, why)),
    }
}

/// Answers what is asked about a place.
fn at<T: Serialize>(
    server: &Server<'_>,
    request: &Request,
    ask: impl FnOnce(&Open, usize) -> T,
) -> Answer {
    let params: TextDocumentPositionParams = read(request)?;
    let open = find(server, &params.text_document)?;
    write(ask(open, open.document.offset(params.position)))
}

fn find<'a>(
    server: &'a Server<'_>,
    id: &TextDocumentIdentifier,
) -> Result<&'a Open, (ErrorCode, String)> {
    let found = server.documents.get(id.uri.as_str());
    found.ok_or_else(|| {
        let message = format!("`{}` is not open", id.uri.as_str());
        (ErrorCode::InvalidParams, message)
    })
}

fn read<T: DeserializeOwned>(request: &Request) -> Result<T, (ErrorCode, String)> {
    serde_json::from_value(request.params.clone())
        .map_err(|error| (ErrorCode::InvalidParams, error.to_string()))
}

fn write<T: Serialize>(value: T) -> Answer {
    serde_json::to_value(value).map_err(|error| (ErrorCode::InternalError, error.to_string()))
}
