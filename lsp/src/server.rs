//! Messages in, answers out, one after the other on one thread.
//!
//! Changes are applied at once, but the queue is emptied before the compiler runs: a burst of keys is
//! compiled once. A request that panics is answered with an error, and the next one is served; so is an
//! invalid message (`transport`).

mod answer;
mod transport;

use crate::analysis::{Document, problems, tokens, wgsl};
use answer::Answer;
use crossbeam_channel::{Sender, bounded};
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
use serde_json::Value;
use std::{
    collections::BTreeMap,
    io::{self, BufRead, BufReader, Read, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
};
use transport::{Incoming, Messages};

/// How an editor left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Farewell {
    /// By `shutdown` and `exit`, or by closing its end of the connection.
    Orderly,
    /// By `exit` without `shutdown`.
    Abrupt,
}

/// Messages that may wait for the server.
const WAITING: usize = 16;

/// Serves the editor on standard input and output until it leaves.
///
/// # Errors
/// If a stream breaks.
pub fn serve_stdio() -> io::Result<Farewell> {
    serve_streams(io::stdin(), io::stdout())
}

/// Serves the editor at the other end of two streams until it leaves.
///
/// # Errors
/// If a stream breaks.
pub fn serve_streams(
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
) -> io::Result<Farewell> {
    let output = Arc::new(Mutex::new(output));
    let (to_server, receiver) = bounded(WAITING);
    let (sender, to_editor) = bounded(WAITING);
    let reader = thread::spawn({
        let output = Arc::clone(&output);
        move || read_messages(BufReader::new(input), &to_server, &output)
    });
    let writer = thread::spawn(move || {
        // After an error this goes on taking messages, so that the server need not wait for it.
        let mut written = Ok(());
        for message in to_editor {
            let value = transport::json_of(&message);
            written = written.and_then(|()| transport::send(&mut *held(&output), &value?));
        }
        written
    });
    let farewell = serve(&Connection { sender, receiver });
    let broken = |_| io::Error::other("a thread of the connection failed");
    writer.join().map_err(broken)??;
    reader.join().map_err(broken)??;
    Ok(farewell)
}

/// Passes messages on to the server until the editor leaves; answers what is none.
fn read_messages(
    input: impl BufRead,
    server: &Sender<Message>,
    output: &Mutex<impl Write>,
) -> io::Result<()> {
    let mut messages = Messages::new(input);
    while let Some(incoming) = messages.next()? {
        match incoming {
            Incoming::Refused(answer) => transport::send(&mut *held(output), &answer)?,
            Incoming::Message(message) => {
                let last = is_exit(&message);
                // A server that is gone reads no more.
                if server.send(message).is_err() || last {
                    break;
                }
            }
        }
    }
    Ok(())
}

/// The stream, also if another thread panicked with it.
fn held<T>(output: &Mutex<T>) -> MutexGuard<'_, T> {
    output.lock().unwrap_or_else(PoisonError::into_inner)
}

fn is_exit(message: &Message) -> bool {
    matches!(message, Message::Notification(notification) if notification.method == "exit")
}

/// Where the conversation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The editor has not said `initialize`.
    Before,
    Serving,
    /// It has said `shutdown`.
    After,
}

/// Serves one editor until it leaves or its end of the connection is closed.
pub fn serve(connection: &Connection) -> Farewell {
    let mut server = Server {
        connection,
        documents: BTreeMap::new(),
        phase: Phase::Before,
    };
    while let Ok(message) = connection.receiver.recv() {
        let mut next = Some(message);
        while let Some(message) = next {
            if is_exit(&message) {
                return match server.phase {
                    Phase::After => Farewell::Orderly,
                    Phase::Before | Phase::Serving => Farewell::Abrupt,
                };
            }
            server.take(message);
            next = connection.receiver.try_recv().ok();
        }
        server.publish();
    }
    Farewell::Orderly
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
    published: bool,
}

struct Server<'a> {
    connection: &'a Connection,
    /// By address.
    documents: BTreeMap<String, Open>,
    phase: Phase,
}

impl Server<'_> {
    fn take(&mut self, message: Message) {
        match message {
            Message::Request(request) => self.request(request),
            Message::Notification(notification) if self.phase == Phase::Serving => {
                // An invalid notification has no reply.
                let _ = catch_unwind(AssertUnwindSafe(|| self.notification(notification)));
            }
            Message::Notification(_) | Message::Response(_) => {}
        }
    }

    fn request(&mut self, request: Request) {
        let id = request.id.clone();
        let answered = catch_unwind(AssertUnwindSafe(|| self.answer(&request)));
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

    /// Answers a request by the phase of the conversation.
    fn answer(&mut self, request: &Request) -> Answer {
        match (self.phase, request.method.as_str()) {
            (Phase::Before, "initialize") => {
                self.phase = Phase::Serving;
                answer::write(InitializeResult {
                    capabilities: capabilities(),
                    server_info: Some(ServerInfo {
                        name: "simc".to_owned(),
                        version: Some(env!("CARGO_PKG_VERSION").to_owned()),
                    }),
                })
            }
            (Phase::Before, _) => {
                let message = "`initialize` comes first".to_owned();
                Err((ErrorCode::ServerNotInitialized, message))
            }
            (Phase::Serving, "initialize") => {
                let message = "`initialize` comes once".to_owned();
                Err((ErrorCode::InvalidRequest, message))
            }
            (Phase::Serving, "shutdown") => {
                self.phase = Phase::After;
                Ok(Value::Null)
            }
            (Phase::Serving, _) => answer::answer(self, request),
            (Phase::After, _) => {
                let message = "after `shutdown` there is only `exit`".to_owned();
                Err((ErrorCode::InvalidRequest, message))
            }
        }
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
                    published: false,
                };
                self.documents.insert(opened.uri.as_str().to_owned(), open);
            }
            "textDocument/didChange" => {
                let params: DidChangeTextDocumentParams = read(notification)?;
                let open = self.documents.get_mut(params.text_document.uri.as_str())?;
                open.document = open.document.changed(params.content_changes);
                open.version = params.text_document.version;
                open.published = false;
            }
            "textDocument/didClose" => {
                let params: DidCloseTextDocumentParams = read(notification)?;
                let uri = params.text_document.uri;
                self.documents.remove(uri.as_str())?;
                self.notify(uri, Vec::new(), None);
            }
            _ => {}
        }
        Some(())
    }

    /// Sends the diagnostics of the documents that have changed.
    fn publish(&mut self) {
        let mut news = Vec::new();
        for open in self.documents.values_mut().filter(|open| !open.published) {
            open.published = true;
            let found = catch_unwind(AssertUnwindSafe(|| {
                problems::problems(&open.document, &open.uri)
            }));
            news.push((open.uri.clone(), found.unwrap_or_default(), open.version));
        }
        for (uri, diagnostics, version) in news {
            self.notify(uri, diagnostics, Some(version));
        }
    }

    fn notify(&self, uri: Uri, diagnostics: Vec<lsp_types::Diagnostic>, version: Option<i32>) {
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
