//! One request, one answer.

use super::{Open, Server};
use crate::analysis::{Document, action, complete, hover, navigate, outline, tokens, wgsl};
use lsp_server::{ErrorCode, Request};
use lsp_types::{
    CodeActionParams, ExecuteCommandParams, GotoDefinitionResponse, InlayHintParams, Location,
    ReferenceParams, RenameParams, SemanticTokens, TextDocumentIdentifier,
    TextDocumentPositionParams,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
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
            let declared = read::<ReferenceParams>(request)?
                .context
                .include_declaration;
            at(server, request, |open, at| {
                let places = navigate::references(&open.document, at, declared).into_iter();
                let places = places.map(|range| Location::new(open.uri.clone(), range));
                places.collect::<Vec<_>>()
            })
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
        "textDocument/completion" => at(server, request, |open, at| {
            complete::complete(&open.document, at)
        }),
        "textDocument/codeAction" => {
            let params: CodeActionParams = read(request)?;
            let open = find(server, params.text_document.uri.as_str())?;
            let place = open.document.span(params.range);
            write(action::actions(&open.document, &open.uri, place))
        }
        _ => answer_whole(server, request),
    }
}

/// Answers what is asked about a whole document.
fn answer_whole(server: &Server<'_>, request: &Request) -> Answer {
    match request.method.as_str() {
        "textDocument/documentSymbol" => of(server, request, outline::symbols),
        "textDocument/foldingRange" => of(server, request, outline::folds),
        "textDocument/semanticTokens/full" => of(server, request, |document| SemanticTokens {
            result_id: None,
            data: tokens::tokens(document),
        }),
        "textDocument/inlayHint" => {
            let range = read::<InlayHintParams>(request)?.range;
            of(server, request, |document| outline::hints(document, range))
        }
        "textDocument/formatting" => of(server, request, action::format),
        "workspace/executeCommand" => command(server, request),
        other => Err((ErrorCode::MethodNotFound, format!("simc has no `{other}`"))),
    }
}

fn command(server: &Server<'_>, request: &Request) -> Answer {
    let params: ExecuteCommandParams = read(request)?;
    if params.command != wgsl::COMMAND {
        let message = format!("simc has no command `{}`", params.command);
        return Err((ErrorCode::InvalidParams, message));
    }
    let [Value::String(address)] = params.arguments.as_slice() else {
        let message = format!("`{}` takes the address of a model", wgsl::COMMAND);
        return Err((ErrorCode::InvalidParams, message));
    };
    match wgsl::wgsl(&find(server, address)?.document) {
        Ok(kernel) => write(kernel),
        Err(why) => Err((ErrorCode::RequestFailed, why)),
    }
}

fn rename(server: &Server<'_>, request: &Request) -> Answer {
    let params: RenameParams = read(request)?;
    let (open, at) = place(server, request)?;
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
    let (open, at) = place(server, request)?;
    write(ask(open, at))
}

/// Answers what is asked about a document.
fn of<T: Serialize>(
    server: &Server<'_>,
    request: &Request,
    ask: impl FnOnce(&Document) -> T,
) -> Answer {
    let params: DocumentParams = read(request)?;
    write(ask(
        &find(server, params.text_document.uri.as_str())?.document
    ))
}

/// What all requests about a document say.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DocumentParams {
    text_document: TextDocumentIdentifier,
}

/// The place that a request is about.
fn place<'a>(
    server: &'a Server<'_>,
    request: &Request,
) -> Result<(&'a Open, usize), (ErrorCode, String)> {
    let params: TextDocumentPositionParams = read(request)?;
    let open = find(server, params.text_document.uri.as_str())?;
    Ok((open, open.document.offset(params.position)))
}

fn find<'a>(server: &'a Server<'_>, address: &str) -> Result<&'a Open, (ErrorCode, String)> {
    let found = server.documents.get(address);
    found.ok_or_else(|| {
        let message = format!("`{address}` is not open");
        (ErrorCode::InvalidParams, message)
    })
}

fn read<T: DeserializeOwned>(request: &Request) -> Result<T, (ErrorCode, String)> {
    serde_json::from_value(request.params.clone())
        .map_err(|error| (ErrorCode::InvalidParams, error.to_string()))
}

pub(super) fn write<T: Serialize>(value: T) -> Answer {
    serde_json::to_value(value).map_err(|error| (ErrorCode::InternalError, error.to_string()))
}
