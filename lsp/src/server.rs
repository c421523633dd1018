//! Messages in, answers out, one after the other on one thread.
//!
//! Changes are taken in at once, but what waits in the queue is read before the compiler runs: a burst of keys is
//! compiled once. A request that panics is answered with an error, and the next one is served.

mod answer;

use crate::analysis::{Document, problems, tokens, wgsl};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response};
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CompletionOptions,
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    ExecuteCommandOptions, FoldingRangeProviderCapability, HoverProviderCapability,
    InitializeResult, OneOf, PublishDiagnosticsParams, RenameOptions, SemanticTokensFullOptions,
    SemanticTokensOptions, SemanticTokensServerCapabilities, ServerCapabilities, ServerInfo,
    SignatureHelpOptions, TextDocumentSyncCapability, TextDocumentSyncKind, Uri,
};
use serde::de::DeserializeOwned;
use std::{
    collections::BTreeMap,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// Serves the editor on standard input and output until it leaves.
///
/// # Errors
/// If the streams break in the middle of a message.
pub fn serve_stdio() -> io::Result<()> {
    let (connection, threads) = Connection::stdio();
    let served = serve(&connection);
    // The writer ends when nobody can send any more.
    drop(connection);
    threads.join()?;
    served
}

/// Serves one editor until it leaves or its end of the connection is closed.
///
/// # Errors
/// If the editor does not keep to the protocol when it comes or goes.
pub fn serve(connection: &Connection) -> io::Result<()> {
    let Ok((id, _)) = connection.initialize_start() else {
        return Ok(());
    };
    let result = InitializeResult {
        capabilities: capabilities(),
        server_info: Some(ServerInfo {
            name: "simc".to_owned(),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        }),
    };
    let result = serde_json::to_value(result)?;
    if connection.initialize_finish(id, result).is_err() {
        return Ok(());
    }
    let mut server = Server {
        connection,
        documents: BTreeMap::new(),
    };
    while let Ok(message) = connection.receiver.recv() {
        let mut next = Some(message);
        while let Some(message) = next {
            if let Message::Request(request) = &message
                && connection.handle_shutdown(request).unwrap_or(true)
            {
                return Ok(());
            }
            server.take(message);
            next = connection.receiver.try_recv().ok();
        }
        server.publish();
    }
    Ok(())
}

fn capabilities() -> ServerCapabilities {
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Kind(
            TextDocumentSyncKind::INCREMENTAL,
        )),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: Default::default(),
        })),
        document_symbol_provider: Some(OneOf::Left(true)),
        folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
        semantic_tokens_provider: Some(SemanticTokensServerCapabilities::SemanticTokensOptions(
            SemanticTokensOptions {
                legend: tokens::legend(),
                full: Some(SemanticTokensFullOptions::Bool(true)),
                ..SemanticTokensOptions::default()
            },
        )),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(vec![".".to_owned()]),
            ..CompletionOptions::default()
        }),
        signature_help_provider: Some(SignatureHelpOptions {
            trigger_characters: Some(vec!["(".to_owned(), ",".to_owned()]),
            ..SignatureHelpOptions::default()
        }),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX]),
            ..CodeActionOptions::default()
        })),
        document_formatting_provider: Some(OneOf::Left(true)),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: vec![wgsl::COMMAND.to_owned()],
            ..ExecuteCommandOptions::default()
        }),
        inlay_hint_provider: Some(OneOf::Left(true)),
        ..ServerCapabilities::default()
    }
}

/// A document that is open in the editor.
struct Open {
    uri: Uri,
    version: i32,
    document: Document,
    /// Its diagnostics have been sent.
    told: bool,
}

struct Server<'a> {
    connection: &'a Connection,
    /// By address.
    documents: BTreeMap<String, Open>,
}

impl Server<'_> {
    fn take(&mut self, message: Message) {
        match message {
            Message::Request(request) => self.request(request),
            Message::Notification(notification) => {
                // A notification that makes no sense has nobody to tell.
                let _ = catch_unwind(AssertUnwindSafe(|| self.notification(notification)));
            }
            Message::Response(_) => {}
        }
    }

    fn request(&mut self, request: Request) {
        let id = request.id.clone();
        let answered = catch_unwind(AssertUnwindSafe(|| answer::answer(self, &request)));
        let response = match answered {
            Ok(Ok(value)) => Response::new_ok(id, value),
            Ok(Err((code, message))) => Response::new_err(id, code as i32, message),
            Err(_) => {
                let message = format!("a bug in simc: `{}` failed", request.method);
                Response::new_err(id, ErrorCode::InternalError as i32, message)
            }
        };
        self.send(response.into());
    }

    fn notification(&mut self, notification: Notification) -> Option<()> {
        match notification.method.as_str() {
            "textDocument/didOpen" => {
                let params: DidOpenTextDocumentParams = read(notification)?;
                let opened = params.text_document;
                let open = Open {
                    uri: opened.uri.clone(),
                    version: opened.version,
                    document: Document::new(opened.text),
                    told: false,
                };
                self.documents.insert(opened.uri.as_str().to_owned(), open);
            }
            "textDocument/didChange" => {
                let params: DidChangeTextDocumentParams = read(notification)?;
                let open = self.documents.get_mut(params.text_document.uri.as_str())?;
                open.document = open.document.changed(params.content_changes);
                open.version = params.text_document.version;
                open.told = false;
            }
            "textDocument/didClose" => {
                let params: DidCloseTextDocumentParams = read(notification)?;
                let uri = params.text_document.uri;
                self.documents.remove(uri.as_str())?;
                self.tell(uri, Vec::new(), None);
            }
            _ => {}
        }
        Some(())
    }

    /// Sends the diagnostics of the documents that have changed.
    fn publish(&mut self) {
        let mut news = Vec::new();
        for open in self.documents.values_mut().filter(|open| !open.told) {
            open.told = true;
            let found = catch_unwind(AssertUnwindSafe(|| {
                problems::problems(&open.document, &open.uri)
            }));
            news.push((open.uri.clone(), found.unwrap_or_default(), open.version));
        }
        for (uri, diagnostics, version) in news {
            self.tell(uri, diagnostics, Some(version));
        }
    }

    fn tell(&self, uri: Uri, diagnostics: Vec<lsp_types::Diagnostic>, version: Option<i32>) {
        let params = PublishDiagnosticsParams::new(uri, diagnostics, version);
        let method = "textDocument/publishDiagnostics".to_owned();
        self.send(Notification::new(method, params).into());
    }

    /// An editor that is gone ends the loop by closing its side.
    fn send(&self, message: Message) {
        let _ = self.connection.sender.send(message);
    }
}

fn read<T: DeserializeOwned>(notification: Notification) -> Option<T> {
    serde_json::from_value(notification.params).ok()
}
