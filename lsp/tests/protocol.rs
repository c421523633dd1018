//! An editor's side of the conversation: models typed character by character, and edits at random.

use lsp_server::{Connection, Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};
use std::{
    path::{Path, PathBuf},
    thread::{JoinHandle, spawn},
    time::{Duration, Instant},
};

const URI: &str = "file:///model.sim";

/// An editor with a server of its own.
struct Editor {
    connection: Connection,
    server: JoinHandle<std::io::Result<()>>,
    next: i32,
    version: i64,
    /// The last version that diagnostics came for, and how many they were.
    told: Option<(i64, usize)>,
}

impl Editor {
    fn open(text: &str) -> Editor {
        let (connection, far) = Connection::memory();
        let server = spawn(move || sim_lsp::serve(&far));
        let mut editor = Editor {
            connection,
            server,
            next: 0,
            version: 0,
            told: None,
        };
        let answer = editor.ask("initialize", json!({ "capabilities": {} }));
        let answer = answer.response_result.expect("the server comes up");
        assert_eq!(answer["serverInfo"]["name"], "simc");
        editor.tell("initialized", json!({}));
        let document = json!({ "uri": URI, "languageId": "sim", "version": 0, "text": text });
        editor.tell("textDocument/didOpen", json!({ "textDocument": document }));
        editor
    }

    fn tell(&self, method: &str, params: Value) {
        let message = Notification::new(method.to_owned(), params);
        self.connection
            .sender
            .send(message.into())
            .expect("the server listens");
    }

    fn ask(&mut self, method: &str, params: Value) -> Response {
        self.next += 1;
        let id = RequestId::from(self.next);
        let request = Request::new(id.clone(), method.to_owned(), params);
        self.connection
            .sender
            .send(request.into())
            .expect("the server listens");
        loop {
            match self.hear() {
                Message::Response(response) if response.id == id => return response,
                _ => continue,
            }
        }
    }

    /// The next message; diagnostics are noted.
    fn hear(&mut self) -> Message {
        let wait = Duration::from_secs(60);
        let message = self
            .connection
            .receiver
            .recv_timeout(wait)
            .expect("an answer");
        if let Message::Notification(news) = &message
            && news.method == "textDocument/publishDiagnostics"
        {
            let version = news.params["version"].as_i64().expect("a version");
            let count = news.params["diagnostics"].as_array().map_or(0, Vec::len);
            self.told = Some((version, count));
        }
        message
    }

    /// Replaces a range, in lines and UTF-16 units.
    fn change(&mut self, from: (u32, u32), to: (u32, u32), text: &str) {
        self.version += 1;
        let place = |(line, character)| json!({ "line": line, "character": character });
        let change = json!({ "range": { "start": place(from), "end": place(to) }, "text": text });
        let document = json!({ "uri": URI, "version": self.version });
        let params = json!({ "textDocument": document, "contentChanges": [change] });
        self.tell("textDocument/didChange", params);
    }

    fn ask_at(&mut self, method: &str, (line, character): (u32, u32)) -> Value {
        let place = json!({ "line": line, "character": character });
        let params = json!({ "textDocument": { "uri": URI }, "position": place });
        self.ask(method, params)
            .response_result
            .expect("no request fails")
    }

    /// Waits for the diagnostics of the last version.
    fn settled(&mut self) -> usize {
        while self.told.is_none_or(|(version, _)| version < self.version) {
            self.hear();
        }
        self.told.map_or(0, |(_, count)| count)
    }

    fn leave(mut self) {
        let left = self.ask("shutdown", Value::Null);
        assert!(left.response_result.is_ok());
        self.tell("exit", Value::Null);
        self.server.join().expect("no panic").expect("a clean end");
    }
}

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lang-examples");
    let entries = std::fs::read_dir(folder).expect("the examples are there");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "sim"))
        .collect();
    paths.sort();
    paths
}

/// The place after a text.
fn end_of(text: &str) -> (u32, u32) {
    let line = text.matches('\n').count() as u32;
    let last = text.rsplit('\n').next().unwrap_or_default();
    (line, last.encode_utf16().count() as u32)
}

#[test]
fn examples_can_be_typed() {
    for path in examples() {
        let text = std::fs::read_to_string(&path).expect("an example is text");
        let mut editor = Editor::open("");
        let (mut line, mut character) = (0, 0);
        for (count, c) in text.chars().enumerate() {
            editor.change((line, character), (line, character), &c.to_string());
            if c == '\n' {
                (line, character) = (line + 1, 0);
            } else {
                character += c.len_utf16() as u32;
            }
            if count % 23 == 0 {
                editor.ask_at("textDocument/completion", (line, character));
                editor.ask_at("textDocument/hover", (line, character));
                editor.ask_at("textDocument/semanticTokens/full", (line, character));
            }
        }
        assert_eq!(
            editor.settled(),
            0,
            "{} is right in the end",
            path.display()
        );
        editor.leave();
    }
}

#[test]
fn random_edits_are_survived() {
    let seconds = std::env::var("SIM_LSP_FUZZ_SECONDS").ok();
    let seconds: u64 = seconds.and_then(|text| text.parse().ok()).unwrap_or(3);
    let end = Instant::now() + Duration::from_secs(seconds);
    let texts: Vec<String> = (examples().iter())
        .map(|path| std::fs::read_to_string(path).expect("an example is text"))
        .collect();
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = move |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % below.max(1) as u64) as usize
    };
    let pieces = [
        "{", "}", "(", ")", "𝄞", ".", "x", "step {", "\n", "1.0", " in ", "'", "let a = ",
    ];
    let methods = [
        "completion",
        "hover",
        "definition",
        "signatureHelp",
        "documentHighlight",
    ];
    while Instant::now() < end {
        let text = &texts[random(texts.len())];
        let mut editor = Editor::open(text);
        let last = end_of(text).0 as usize + 1;
        for _ in 0..40 {
            let from = (random(last) as u32, random(60) as u32);
            let to = (from.0 + random(2) as u32, random(60) as u32);
            editor.change(from, to, pieces[random(pieces.len())]);
            let method = format!("textDocument/{}", methods[random(methods.len())]);
            editor.ask_at(&method, from);
        }
        editor.settled();
        editor.leave();
    }
}
