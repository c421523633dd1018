//! How long an editor waits: models typed character by character, with what an editor asks after each key.
//!
//! A reply is the time from a message to its answer: from the change to the diagnostics of that text, and
//! from each request to its response. Run with `cargo bench -p sim-lsp`; a word picks models by name.

#[path = "../tests/editor/client.rs"]
mod editor;

use editor::{Editor, Server, URI, models, position};
use serde_json::json;
use std::{
    fmt::Write,
    time::{Duration, Instant},
};

/// Keys that are typed into the long model, in each of three places.
const KEYS: &str =
    "\n    let rate = move_7(s_3, 0.25) * 2.0 + max(s_1, rate_3)\n    s_4 += rate - s_5 * 0.5\n";

fn main() {
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let wanted = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word));
    println!("{:27} diagnostics, ms {:8} all replies, ms", "", "");
    println!("model                  keys   median      max  replies   median      max  slowest");
    for (name, text) in models("lang-examples") {
        if wanted(&name) {
            let mut typing = Typing::new("");
            typing.keys(0, &text);
            typing.report(&name);
        }
    }
    if wanted("long") {
        let text = long_model(5_000);
        assert_eq!(sim_compiler::check(&text), []);
        let mut typing = Typing::new(&text);
        let lines = text.matches('\n').count();
        for place in [
            "    let d_4 =",
            "    let b = max(total, a)",
            "\noutput s_0\n",
        ] {
            let at = typing.editor.text.rfind(place).expect("the model has it");
            let at = if place.starts_with('\n') { at } else { at - 1 };
            typing.keys(at, KEYS);
        }
        typing.report(&format!("{lines} lines"));
    }
}

/// An editor, and how long it has waited.
struct Typing {
    editor: Editor,
    server: Server,
    waits: Vec<(Duration, &'static str)>,
    keys: usize,
}

impl Typing {
    fn new(text: &str) -> Typing {
        let (connection, server) = Server::start();
        let mut editor = Editor::open(connection, text);
        editor.diagnostics();
        Typing {
            editor,
            server,
            waits: Vec::new(),
            keys: 0,
        }
    }

    fn time<T>(&mut self, what: &'static str, ask: impl FnOnce(&mut Editor) -> T) -> T {
        let start = Instant::now();
        let answer = ask(&mut self.editor);
        self.waits.push((start.elapsed(), what));
        answer
    }

    /// Types a text at a place.
    fn keys(&mut self, mut at: usize, text: &str) {
        for c in text.chars() {
            let mut buffer = [0; 4];
            let key = c.encode_utf8(&mut buffer);
            self.time("diagnostics", |editor| {
                editor.change(at..at, key);
                editor.diagnostics()
            });
            at += c.len_utf8();
            self.keys += 1;
            self.time("semantic tokens", |editor| {
                editor.about("semanticTokens/full")
            });
            if c.is_alphanumeric() || ".(, ".contains(c) {
                self.time("completion", |editor| editor.at("completion", at));
            }
            if "(,".contains(c) {
                self.time("signature help", |editor| editor.at("signatureHelp", at));
            }
            if c == '\n' {
                let end = position(&self.editor.text, self.editor.text.len());
                let range = json!({ "start": { "line": 0, "character": 0 }, "end": end });
                let params = json!({ "textDocument": { "uri": URI }, "range": range });
                self.time("inlay hints", |editor| {
                    editor.ask("textDocument/inlayHint", params)
                });
                self.time("symbols", |editor| editor.about("documentSymbol"));
                self.time("folding", |editor| editor.about("foldingRange"));
                self.time("hover", |editor| editor.at("hover", at.saturating_sub(2)));
            }
        }
    }

    fn report(mut self, name: &str) {
        self.waits.sort();
        let told = self.waits.iter().filter(|(_, what)| *what == "diagnostics");
        let told: Vec<Duration> = told.map(|(wait, _)| *wait).collect();
        let all: Vec<Duration> = self.waits.iter().map(|(wait, _)| *wait).collect();
        let ms = |wait: Duration| format!("{:.2}", wait.as_secs_f64() * 1e3);
        let cell = |waits: &[Duration]| {
            let (median, most) = (waits[waits.len() / 2], waits[waits.len() - 1]);
            format!("{:>8} {:>8}", ms(median), ms(most))
        };
        let slowest = self.waits[all.len() - 1].1;
        let (keys, count) = (self.keys, all.len());
        println!(
            "{name:<20} {keys:>6} {} {count:>8} {}  {slowest}",
            cell(&told),
            cell(&all)
        );
        self.editor.leave();
        self.server.ended();
    }
}

/// A model of about this many lines, with functions, params, states and a long step.
fn long_model(lines: usize) -> String {
    let groups = lines / 19;
    let mut text = String::from("/// Many groups that move.\nagents 1000\nsteps 100\n");
    let mut put = |line: std::fmt::Arguments<'_>| text.write_fmt(line).expect("a string takes all");
    for k in 0..200 {
        put(format_args!("param rate_{k} = 0.{k:03} in 0.0..10.0\n"));
    }
    for k in 0..20 {
        put(format_args!("state s_{k} = {k}.0\n"));
    }
    for k in 0..groups {
        put(format_args!(
            "\n/// How group {k} moves.\nfn move_{k}(x: f32, dt: f32) -> f32 {{\n"
        ));
        put(format_args!(
            "    let a = x * rate_{} + {k}.5\n    var total = 0.0\n",
            k % 200
        ));
        put(format_args!(
            "    for i in 0..8 {{\n        total += sin(a * f32(i)) * dt\n"
        ));
        put(format_args!(
            "        if total > 10.0 {{ total = total * 0.5 }}\n    }}\n"
        ));
        put(format_args!("    let b = max(total, a) - min(total, a)\n"));
        put(format_args!(
            "    return if x > 0.0 {{ b }} else {{ -b }}\n}}\n"
        ));
    }
    put(format_args!("\nstep {{\n"));
    for k in 0..groups {
        let s = k % 20;
        put(format_args!(
            "    let d_{k} = move_{k}(s_{s}, 0.01)\n    // Group {k}.\n"
        ));
        put(format_args!(
            "    s_{s} += d_{k} * 0.5\n    if s_{s} > 100.0 {{\n"
        ));
        put(format_args!("        s_{s} = 0.0\n    }}\n"));
    }
    put(format_args!("}}\n\n"));
    for k in 0..20 {
        put(format_args!("output s_{k}\n"));
    }
    text
}
