//! Requests and their replies.

use crate::{
    build::{self, BuildOptions},
    editing,
    places::Places,
    tokens,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sim_compiler::diagnostic::catalog;
use std::cell::RefCell;

/// What may be asked; places are UTF-16 offsets.
#[derive(Deserialize)]
#[serde(tag = "ask", rename_all = "camelCase")]
enum Request {
    Check {
        source: String,
    },
    Build {
        source: String,
        options: BuildOptions,
    },
    Format {
        source: String,
    },
    Hover {
        source: String,
        at: u32,
    },
    Signature {
        source: String,
        at: u32,
    },
    Complete {
        source: String,
        at: u32,
    },
    Definition {
        source: String,
        at: u32,
    },
    References {
        source: String,
        at: u32,
    },
    Rename {
        source: String,
        at: u32,
        name: String,
    },
    Actions {
        source: String,
        from: u32,
        to: u32,
    },
    Outline {
        source: String,
    },
    Tokens {
        source: String,
    },
    Explain {
        code: String,
    },
    Version,
}

/// Why there is no answer.
#[derive(Debug, Serialize)]
pub(crate) struct Refusal {
    pub(crate) message: String,
    pub(crate) help: String,
    /// The complaints about the model, if they are the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) diagnostics: Option<Value>,
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

pub(crate) type Answer = Result<Value, Refusal>;

/// Answers one request: `{"ok": …}`, or `{"error": {"message", "help", "diagnostics"?}}`.
pub fn answer(request: &str) -> String {
    let answer = match serde_json::from_str(request) {
        Ok(request) => dispatch(request),
        Err(error) => Err(Refusal::new(
            format!("the compiler does not know this request: {error}"),
            "use the functions of the package `simc`",
        )),
    };
    match answer {
        Ok(value) => json!({ "ok": value }),
        Err(refusal) => json!({ "error": refusal }),
    }
    .to_string()
}

fn dispatch(request: Request) -> Answer {
    use Request::*;
    match request {
        Check { source } => about(source, |places| write(editing::check(places))),
        Build { source, options } => about(source, |places| build::build(places, &options)),
        Format { source } => about(source, editing::format),
        Hover { source, at } => about(source, |places| write(editing::hover(places, at))),
        Signature { source, at } => about(source, |places| write(editing::signature(places, at))),
        Complete { source, at } => about(source, |places| write(editing::complete(places, at))),
        Definition { source, at } => about(source, |places| write(editing::definition(places, at))),
        References { source, at } => about(source, |places| write(editing::references(places, at))),
        Rename { source, at, name } => about(source, |places| editing::rename(places, at, &name)),
        Actions { source, from, to } => {
            about(source, |places| write(editing::actions(places, from, to)))
        }
        Outline { source } => about(source, |places| write(editing::outline(places))),
        Tokens { source } => about(source, |places| write(tokens::tokens(places))),
        Explain { code } => write(catalog::find(&code).map(|entry| entry.explanation)),
        Version => write(env!("CARGO_PKG_VERSION")),
    }
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
    serde_json::to_value(value).map_err(|error| {
        Refusal::new(
            format!("the answer is no JSON: {error}"),
            "report it: a bug in simc",
        )
    })
}
