//! Documents edited at random, with every kind of request in between. `SIM_LSP_FUZZ_SECONDS` says for how
//! long, `SIM_LSP_FUZZ_SEED` where to begin.

use crate::editor::{Editor, Server, URI, models, position};
use serde_json::{Value, json};
use sim_lsp::analysis::{Document, problems};
use std::{
    ops::Range,
    time::{Duration, Instant},
};

/// What people type, and what they never should.
const PIECES: [&str; 32] = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "𝄞",
    "é",
    ".",
    ",",
    ";",
    "x",
    "\n",
    "\r\n",
    " ",
    "1.0",
    "0x",
    "1e",
    " in ",
    "'",
    "= ",
    "// ",
    "/// doc\n",
    "step {",
    "let a = ",
    "for i in 0..3 {",
    "integrate rk4(",
    "match x {",
    "struct A { b: f32 }\n",
    "\u{feff}",
    "\u{0}",
    "poisson(3.0)",
];

/// A small generator with a known sequence.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }

    /// A place between two characters.
    fn place(&mut self, text: &str) -> usize {
        text.floor_char_boundary(self.below(text.len() + 1))
    }

    /// A part of a text, short more often than not.
    fn part(&mut self, text: &str) -> Range<usize> {
        let start = self.place(text);
        let most = [0, 1, 6, 60, 2_000][self.below(5)];
        start..text.ceil_char_boundary((start + self.below(most + 1)).min(text.len()))
    }

    fn edit(&mut self, editor: &mut Editor, texts: &[(String, String)]) {
        let place = self.part(&editor.text);
        match self.below(8) {
            0 => editor.change(place, ""),
            1 => {
                let other = &texts[self.below(texts.len())].1;
                let part = self.part(other);
                editor.change(place, &other[part]);
            }
            2 => {
                let again = editor.text[place.clone()].to_owned();
                editor.change(place.end..place.end, &again);
            }
            3 if self.below(20) == 0 => {
                let text = texts[self.below(texts.len())].1.clone();
                editor.text = text.clone();
                editor.send(json!({ "text": text }));
            }
            _ => editor.change(place, PIECES[self.below(PIECES.len())]),
        }
    }

    /// A request of any kind, well formed or not; the server answers each.
    fn request(&mut self, editor: &mut Editor) {
        let document = json!({ "uri": URI });
        let place = position(&editor.text, self.place(&editor.text));
        let wild = json!({ "line": self.below(400), "character": self.below(200) });
        let at = if self.below(4) == 0 { wild } else { place };
        let end = position(&editor.text, self.place(&editor.text));
        let range = json!({ "start": at, "end": end });
        let (method, params) = match self.below(18) {
            kind @ 0..=5 => {
                let names = ["hover", "definition", "signatureHelp", "documentHighlight"];
                let names = [&names[..], &["prepareRename", "completion"]].concat();
                (
                    names[kind],
                    json!({ "textDocument": document, "position": at }),
                )
            }
            kind @ 6..=8 => {
                let names = ["documentSymbol", "foldingRange", "semanticTokens/full"];
                (names[kind - 6], json!({ "textDocument": document }))
            }
            9 => (
                "inlayHint",
                json!({ "textDocument": document, "range": range }),
            ),
            10 => {
                let context = json!({ "diagnostics": [] });
                let params =
                    json!({ "textDocument": document, "range": range, "context": context });
                ("codeAction", params)
            }
            11 => {
                let context = json!({ "includeDeclaration": true });
                let params =
                    json!({ "textDocument": document, "position": at, "context": context });
                ("references", params)
            }
            12 => {
                let name = ["renamed", "x", "step", "f32", "é", ""][self.below(6)];
                let params = json!({ "textDocument": document, "position": at, "newName": name });
                ("rename", params)
            }
            13 => {
                let options = json!({ "tabSize": 4, "insertSpaces": true });
                let params = json!({ "textDocument": document, "options": options });
                ("formatting", params)
            }
            14 => ("completion", json!({ "nonsense": [at] })),
            15 => ("noSuchRequest", json!({})),
            _ => {
                let params = json!({ "command": "simc.wgsl", "arguments": [URI] });
                let response = editor.response("workspace/executeCommand", params);
                return check(response.response_result, editor);
            }
        };
        let response = editor.response(&format!("textDocument/{method}"), params);
        check(response.response_result, editor);
    }
}

/// The server may refuse, but it may not fail.
fn check(answer: Result<Value, lsp_server::ResponseError>, editor: &Editor) {
    if let Err(error) = answer {
        let failed = error.code == lsp_server::ErrorCode::InternalError as i32;
        assert!(!failed, "{} for\n{}", error.message, editor.text);
    }
}

fn number(name: &str, otherwise: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn random_edits_are_survived() {
    let end = Instant::now() + Duration::from_secs(number("SIM_LSP_FUZZ_SECONDS", 3));
    let first = number("SIM_LSP_FUZZ_SEED", 1);
    let texts = [models("lang-examples"), models("tests/language")].concat();
    let (mut documents, mut edits, mut requests) = (0, 0, 0);
    while Instant::now() < end {
        let mut random = Random((first + documents).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let (connection, server) = Server::start();
        let begin = random.below(texts.len());
        let mut editor = Editor::open(connection, &texts[begin].1);
        for _ in 0..60 {
            for _ in 0..=random.below(3) {
                random.edit(&mut editor, &texts);
                edits += 1;
            }
            for _ in 0..random.below(4) {
                random.request(&mut editor);
                requests += 1;
            }
        }
        // Nothing may be left of the texts in between.
        let published = editor.diagnostics();
        let fresh = Document::new(editor.text.clone());
        assert_eq!(fresh.diagnostics(), sim_compiler::check(&editor.text));
        let uri = URI.parse().expect("an address");
        let fresh = serde_json::to_value(problems::problems(&fresh, &uri)).expect("plain data");
        assert_eq!(Value::Array(published), fresh, "{}", editor.text);
        editor.leave();
        server.ended();
        documents += 1;
    }
    println!("{documents} documents, {edits} edits, {requests} requests");
}
