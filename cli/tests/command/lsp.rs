//! `simc lsp` as an editor starts it: a process, its standard input and its standard output.

#[path = "../../../lsp/tests/editor/client.rs"]
mod editor;

use crate::Place;
use editor::{Editor, URI, models};
use lsp_server::{Connection, Message};
use serde_json::Value;
use sim_lsp::analysis::{Document, problems};
use std::{
    io::{BufReader, Write},
    process::{Child, Stdio},
    thread::{JoinHandle, spawn},
    time::{Duration, Instant},
};

/// A running `simc lsp`.
struct Process {
    child: Child,
    threads: [JoinHandle<()>; 2],
    /// Where it runs.
    _place: Place,
}

impl Process {
    /// Starts the server; its messages come and go over the connection.
    fn start() -> (Connection, Process) {
        let place = Place::new();
        let mut command = place.command(&["lsp"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("simc can be started");
        let mut input = child.stdin.take().expect("it is piped");
        let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
        let (near, far) = Connection::memory();
        let (sender, receiver) = (far.sender, far.receiver);
        let write = spawn(move || {
            for message in receiver {
                if message
                    .write(&mut input)
                    .and_then(|()| input.flush())
                    .is_err()
                {
                    return;
                }
            }
        });
        let read = spawn(move || {
            while let Ok(Some(message)) = Message::read(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let process = Process {
            child,
            threads: [write, read],
            _place: place,
        };
        (near, process)
    }

    /// The exit code, once the editor is gone.
    fn ended(mut self) -> Option<i32> {
        for thread in self.threads {
            thread.join().expect("no panic");
        }
        let end = Instant::now() + Duration::from_secs(20);
        while Instant::now() < end {
            if let Some(status) = self.child.try_wait().expect("it can be asked") {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = self.child.kill();
        panic!("simc lsp did not end");
    }
}

/// Every intermediate text is sent; every few are waited for, so that some are compiled and some overtaken.
#[test]
fn examples_can_be_typed() {
    for (name, text) in models("lang-examples") {
        let (connection, process) = Process::start();
        let mut editor = Editor::open(connection, "");
        let mut at = 0;
        for (count, c) in text.chars().enumerate() {
            editor.change(at..at, c.encode_utf8(&mut [0; 4]));
            at += c.len_utf8();
            if count % 5 == 0 {
                editor.diagnostics();
            }
            if count % 29 == 0 {
                editor.at("completion", at);
                editor.at("hover", at);
                editor.at("signatureHelp", at);
                editor.about("semanticTokens/full");
            }
        }
        assert_eq!(editor.text, text);
        assert_eq!(Value::Array(editor.diagnostics()), fresh(&text), "{name}");
        assert_eq!(fresh(&text), Value::Array(Vec::new()), "{name} is right");
        editor.leave();
        assert_eq!(process.ended(), Some(0), "{name}");
    }
}

/// A model with mistakes that are removed from its end: what is published last is what is left last.
#[test]
fn the_last_diagnostics_are_those_of_the_last_text() {
    for (name, text) in models("tests/errors").into_iter().step_by(7) {
        let (connection, process) = Process::start();
        let mut editor = Editor::open(connection, &text);
        while editor.text.len() > text.len() / 2 {
            let last = editor.text.floor_char_boundary(editor.text.len() - 1);
            editor.change(last..editor.text.len(), "");
        }
        let expected = fresh(&editor.text);
        assert_eq!(Value::Array(editor.diagnostics()), expected, "{name}");
        editor.leave();
        assert_eq!(process.ended(), Some(0), "{name}");
    }
}

/// The diagnostics of a text that nobody typed.
fn fresh(text: &str) -> Value {
    let document = Document::new(text.to_owned());
    assert_eq!(document.diagnostics(), sim_compiler::complaints(text));
    let uri = URI.parse().expect("an address");
    serde_json::to_value(problems::problems(&document, &uri)).expect("plain data")
}

#[test]
fn an_editor_that_is_gone_ends_the_server() {
    let (connection, process) = Process::start();
    let editor = Editor::open(connection, "state x = 1.0\n");
    drop(editor);
    assert_eq!(process.ended(), Some(0));
    let place = Place::new();
    let silent = place
        .command(&["lsp", "--stdio"])
        .stdin(Stdio::null())
        .output();
    assert_eq!(silent.expect("simc can be started").status.code(), Some(0));
}

#[test]
fn an_editor_that_leaves_without_shutdown_ends_the_server_with_1() {
    let (connection, process) = Process::start();
    let editor = Editor::open(connection, "state x = 1.0\n");
    editor.tell("exit", Value::Null);
    drop(editor);
    assert_eq!(process.ended(), Some(1));
}
