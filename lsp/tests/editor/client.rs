//! An editor's side of the conversation. It keeps its own text and counts UTF-16 units by itself, so that a
//! mistake in the server's counting shows.
#![allow(dead_code, reason = "each test and benchmark uses its own part")]

use lsp_server::{Connection, Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};
use std::{
    ops::Range,
    path::{Path, PathBuf},
    thread::{JoinHandle, spawn},
    time::Duration,
};

/// The address of the document.
pub const URI: &str = "file:///model.sim";

/// Longer than any answer takes, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(120);

/// An editor with one open document.
pub struct Editor {
    connection: Connection,
    next: i32,
    version: i64,
    /// The document's text.
    pub text: String,
    /// The last version that diagnostics came for, and these.
    published: Option<(i64, Vec<Value>)>,
}

/// A server on a thread of its own.
pub struct Server(JoinHandle<sim_lsp::Farewell>);

impl Server {
    /// A server, and the editor's end of the line.
    pub fn start() -> (Connection, Server) {
        let (near, far) = Connection::memory();
        (near, Server(spawn(move || sim_lsp::serve(&far))))
    }

    /// The server has ended, and well.
    pub fn ended(self) {
        assert_eq!(self.0.join().expect("no panic"), sim_lsp::Farewell::Orderly);
    }
}

impl Editor {
    /// An editor that greets the server and opens a document.
    pub fn open(connection: Connection, text: &str) -> Editor {
        let mut editor = Editor {
            connection,
            next: 0,
            version: 0,
            text: text.to_owned(),
            published: None,
        };
        let answer = editor.ask("initialize", json!({ "capabilities": {} }));
        assert_eq!(answer["serverInfo"]["name"], "simc");
        editor.tell("initialized", json!({}));
        let document = json!({ "uri": URI, "languageId": "sim", "version": 0, "text": text });
        editor.tell("textDocument/didOpen", json!({ "textDocument": document }));
        editor
    }

    /// Sends a notification.
    pub fn tell(&self, method: &str, params: Value) {
        let message = Notification::new(method.to_owned(), params);
        let sent = self.connection.sender.send(message.into());
        sent.expect("the server listens");
    }

    /// Sends a request and waits for its answer, which must be one.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let response = self.response(method, params);
        let answer = response.response_result;
        answer.unwrap_or_else(|error| panic!("{method}: {} for\n{}", error.message, self.text))
    }

    /// Sends a request and waits for its answer, good or bad.
    pub fn response(&mut self, method: &str, params: Value) -> Response {
        self.next += 1;
        let id = RequestId::from(self.next);
        let request = Request::new(id.clone(), method.to_owned(), params);
        let sent = self.connection.sender.send(request.into());
        sent.expect("the server listens");
        loop {
            match self.hear() {
                Message::Response(response) if response.id == id => return response,
                _ => continue,
            }
        }
    }

    /// Asks about the document.
    pub fn about(&mut self, method: &str) -> Value {
        let method = format!("textDocument/{method}");
        self.ask(&method, json!({ "textDocument": { "uri": URI } }))
    }

    /// Asks about a place.
    pub fn at(&mut self, method: &str, at: usize) -> Value {
        let method = format!("textDocument/{method}");
        let position = position(&self.text, at);
        let params = json!({ "textDocument": { "uri": URI }, "position": position });
        self.ask(&method, params)
    }

    /// The code actions for a range.
    pub fn actions(&mut self, range: &Value) -> Vec<Value> {
        let params = json!({
            "textDocument": { "uri": URI }, "range": range, "context": { "diagnostics": [] },
        });
        let found = self.ask("textDocument/codeAction", params);
        found.as_array().cloned().expect("a list of actions")
    }

    /// The next message; diagnostics are noted.
    fn hear(&mut self) -> Message {
        let heard = self.connection.receiver.recv_timeout(PATIENCE);
        let message = heard.unwrap_or_else(|error| panic!("{error} after\n{}", self.text));
        if let Message::Notification(news) = &message
            && news.method == "textDocument/publishDiagnostics"
        {
            let version = news.params["version"].as_i64().expect("a version");
            let found = news.params["diagnostics"].as_array().cloned();
            self.published = Some((version, found.expect("a list of diagnostics")));
        }
        message
    }

    /// Puts a text in the stead of another.
    pub fn change(&mut self, place: Range<usize>, text: &str) {
        let range = json!({
            "start": position(&self.text, place.start),
            "end": position(&self.text, place.end),
        });
        self.text.replace_range(place, text);
        self.send(json!({ "range": range, "text": text }));
    }

    /// Sends a change of the document, after which its text must be the editor's.
    pub fn send(&mut self, change: Value) {
        self.version += 1;
        let document = json!({ "uri": URI, "version": self.version });
        let params = json!({ "textDocument": document, "contentChanges": [change] });
        self.tell("textDocument/didChange", params);
    }

    /// Waits for the diagnostics of the text as it is.
    pub fn diagnostics(&mut self) -> Vec<Value> {
        loop {
            match &self.published {
                Some((version, found)) if *version == self.version => return found.clone(),
                _ => self.hear(),
            };
        }
    }

    /// Says farewell.
    pub fn leave(mut self) {
        assert_eq!(self.ask("shutdown", Value::Null), Value::Null);
        self.tell("exit", Value::Null);
    }
}

/// The position of a byte: line, and UTF-16 units within it.
pub fn position(text: &str, at: usize) -> Value {
    let before = &text[..at];
    let line = before.matches('\n').count();
    let last = before.rsplit('\n').next().unwrap_or_default();
    json!({ "line": line, "character": last.encode_utf16().count() })
}

/// The byte of a position that lies in the text.
pub fn byte(text: &str, position: &Value) -> usize {
    let number = |name: &str| position[name].as_u64().expect("a number") as usize;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let start: usize = lines[..number("line")].iter().map(|line| line.len()).sum();
    let rest: Vec<u16> = text[start..].encode_utf16().collect();
    let before = String::from_utf16(&rest[..number("character")]).expect("no half character");
    assert!(!before.contains('\n'), "{position} lies beyond its line");
    start + before.len()
}

/// A text after edits, which must not overlap.
pub fn edited(text: &str, edits: &Value) -> String {
    let edits = edits.as_array().expect("a list of edits");
    let mut edits: Vec<(Range<usize>, &str)> = (edits.iter())
        .map(|edit| {
            let range = &edit["range"];
            let place = byte(text, &range["start"])..byte(text, &range["end"]);
            (place, edit["newText"].as_str().expect("a text"))
        })
        .collect();
    edits.sort_by_key(|(place, _)| place.start);
    let overlap = edits.windows(2).any(|pair| pair[0].0.end > pair[1].0.start);
    assert!(!overlap, "{edits:?}");
    let mut text = text.to_owned();
    for (place, new) in edits.into_iter().rev() {
        text.replace_range(place, new);
    }
    text
}

/// The models of a folder of the repository: name and text.
pub fn models(folder: &str) -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(folder);
    let entries = std::fs::read_dir(path).expect("the folder is there");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "sim"))
        .collect();
    paths.sort();
    let read = |path: PathBuf| {
        let name = path.file_stem().and_then(|stem| stem.to_str());
        let text = std::fs::read_to_string(&path).expect("a model is text");
        (name.unwrap_or_default().to_owned(), text)
    };
    paths.into_iter().map(read).collect()
}
