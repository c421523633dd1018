//! Requests and their replies.

use crate::{
    build::{self, BuildOptions},
    editing::{self, Complaint},
    places::Places,
    tokens,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sim_compiler::diagnostic::catalog;
use std::cell::RefCell;

/// A question and what it is about; places are UTF-16 offsets. One struct for all questions: an enum would
/// take a reader for each in the module.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    ask: String,
    #[serde(default)]
    source: String,
    #[serde(default)]
    at: u32,
    #[serde(default)]
    from: u32,
    #[serde(default)]
    to: u32,
    #[serde(default)]
    name: String,
    #[serde(default)]
    code: String,
    #[serde(default)]
    options: BuildOptions,
    /// How many complaints get their fixes, if not all.
    fixes: Option<u32>,
}

/// Why there is no answer.
#[derive(Debug, Serialize)]
pub(crate) struct Refusal {
    pub(crate) message: String,
    pub(crate) help: String,
    /// The complaints about the model, if they are the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) diagnostics: Option<Vec<Complaint>>,
}

impl Refusal {
    pub(crate) fn new(message: impl Into<String>, help: impl Into<String>) -> Refusal {
        Refusal {
            message: message.into(),
            help: help.into(),
            diagnostics: None,
        }
    }
}

/// The answer as JSON: not as a tree of values, which a text of a million words would fill the memory with.
pub(crate) type Answer = Result<String, Refusal>;

/// Answers one request: `{"ok": …}`, or `{"error": {"message", "help", "diagnostics"?}}`.
pub fn answer(request: &str) -> String {
    let answer = match serde_json::from_str(request) {
        Ok(request) => dispatch(request),
        Err(error) => Err(unknown(&error.to_string())),
    };
    match answer {
        Ok(value) => format!("{{\"ok\":{value}}}"),
        Err(refusal) => json!({ "error": refusal }).to_string(),
    }
}

fn unknown(why: &str) -> Refusal {
    let message = format!("the compiler does not know this request: {why}");
    Refusal::new(
        message,
        "use the functions of the package `simc` and their options",
    )
}

fn dispatch(request: Request) -> Answer {
    let Request { at, from, to, .. } = request;
    let with_fixes = request.fixes.map_or(usize::MAX, |fixes| fixes as usize);
    match request.ask.as_str() {
        "explain" => return write(catalog::find(&request.code).map(|entry| entry.explanation)),
        "version" => return write(env!("CARGO_PKG_VERSION")),
        _ => {}
    }
    about(request.source, |places| match request.ask.as_str() {
        "check" => write(editing::check(places, with_fixes)),
        "build" => build::build(places, &request.options),
        "pack" => build::pack(places, &request.options),
        "format" => editing::format(places),
        "hover" => write(editing::hover(places, at)),
        "signature" => write(editing::signature(places, at)),
        "complete" => write(editing::complete(places, at)),
        "definition" => write(editing::definition(places, at)),
        "references" => write(editing::references(places, at)),
        "rename" => editing::rename(places, at, &request.name),
        "actions" => write(editing::actions(places, from, to)),
        "outline" => write(editing::outline(places)),
        "tokens" => write(tokens::tokens(places)),
        other => Err(unknown(&format!("there is no `{other}`"))),
    })
}

thread_local! {
    /// The text of the last request: the next one is mostly about the same, of which much is known then.
    static LAST: RefCell<Option<Places>> = const { RefCell::new(None) };
}

fn about(source: String, ask: impl FnOnce(&Places) -> Answer) -> Answer {
    // A span has 32 bits.
    if u32::try_from(source.len()).is_err() {
        let message = format!(
            "the model has {} bytes, and may have 2^32 - 1",
            source.len()
        );
        return Err(Refusal::new(message, "split it up"));
    }
    LAST.with_borrow_mut(|last| {
        let same = last.take_if(|last| last.document.text() == source);
        ask(last.insert(same.unwrap_or_else(|| Places::new(source))))
    })
}

pub(crate) fn write(value: impl Serialize) -> Answer {
    serde_json::to_string(&value).map_err(|error| {
        Refusal::new(
            format!("the answer is no JSON: {error}"),
            "report it: a bug in simc",
        )
    })
}
