//! Requests and their replies.

use crate::{
    build::{self, BuildOptions},
    editing::{self, Complaint},
    places::Places,
    tokens,
};
use serde::Serialize;
use sim_compiler::{Math, random::Generator};
use std::cell::RefCell;

/// A question and what it is about; places are UTF-16 offsets.
#[derive(Default)]
struct Request<'a> {
    ask: &'a str,
    source: &'a str,
    at: u32,
    from: u32,
    to: u32,
    name: &'a str,
    options: BuildOptions,
    /// How many complaints get their fixes, if not all.
    fixes: Option<u32>,
}

impl<'a> Request<'a> {
    /// Reads names and values in turn, each with a zero behind it, but for the source, which is the last.
    /// That is a tenth of the code that a reader of JSON is.
    fn read(mut text: &'a str) -> Result<Request<'a>, String> {
        let mut request = Request::default();
        while let Some((name, rest)) = text.split_once('\0') {
            if name == "source" {
                request.source = rest;
                break;
            }
            let (value, rest) = rest.split_once('\0').unwrap_or((rest, ""));
            request.set(name, value)?;
            text = rest;
        }
        Ok(request)
    }

    fn set(&mut self, name: &str, value: &'a str) -> Result<(), String> {
        let field = name.trim_start_matches("options.");
        let refused = |wanted: &str| format!("`{field}` is {wanted}, not `{value}`");
        let number = || {
            let number = value.parse::<u32>();
            number.map_err(|_| refused("a whole number from 0 to 2^32 - 1"))
        };
        let truth = || match value {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(refused("`true` or `false`")),
        };
        match name {
            "ask" => self.ask = value,
            "name" => self.name = value,
            "at" => self.at = number()?,
            "from" => self.from = number()?,
            "to" => self.to = number()?,
            "fixes" => self.fixes = Some(number()?),
            "options.world" => self.options.world = Some(number()?),
            "options.lines" => self.options.lines = truth()?,
            "options.ir" => self.options.ir = truth()?,
            "options.checks" => self.options.checks = truth()?,
            "options.generator" => {
                self.options.generator = match value {
                    "keyed-hash" => Generator::KeyedHash,
                    "philox4x32-10" => Generator::Philox4x32,
                    _ => return Err(refused("`keyed-hash` or `philox4x32-10`")),
                }
            }
            "options.math" => {
                self.options.math = match value {
                    "fast" => Math::Fast,
                    "precise" => Math::Precise,
                    _ => return Err(refused("`fast` or `precise`")),
                }
            }
            _ => return Err(format!("unknown field `{field}`")),
        }
        Ok(())
    }
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
    let answer = match Request::read(request) {
        Ok(request) => dispatch(&request),
        Err(why) => Err(unknown(&why)),
    };
    match answer {
        Ok(value) => format!("{{\"ok\":{value}}}"),
        Err(refusal) => {
            let refusal = serde_json::to_string(&refusal).expect("texts and places are JSON");
            format!("{{\"error\":{refusal}}}")
        }
    }
}

fn unknown(why: &str) -> Refusal {
    let message = format!("the compiler does not know this request: {why}");
    Refusal::new(
        message,
        "use the functions of the package `simc` and their options",
    )
}

fn dispatch(request: &Request) -> Answer {
    let Request { at, from, to, .. } = *request;
    let with_fixes = request.fixes.map_or(usize::MAX, |fixes| fixes as usize);
    if request.ask == "version" {
        return write(env!("CARGO_PKG_VERSION"));
    }
    about(request.source, |places| match request.ask {
        "check" => write(editing::check(places, with_fixes)),
        "build" => build::build(places, &request.options),
        "pack" => build::pack(places, &request.options),
        "format" => editing::format(places),
        "hover" => write(editing::hover(places, at)),
        "signature" => write(editing::signature(places, at)),
        "complete" => write(editing::complete(places, at)),
        "definition" => write(editing::definition(places, at)),
        "references" => write(editing::references(places, at)),
        "rename" => editing::rename(places, at, request.name),
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

fn about(source: &str, ask: impl FnOnce(&Places) -> Answer) -> Answer {
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
        ask(last.insert(same.unwrap_or_else(|| Places::new(source.to_owned()))))
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

#[cfg(test)]
mod tests {
    use super::answer;

    #[test]
    fn a_request_is_read_or_refused() {
        let text = "output y = z\0\n";
        let found = answer(&format!("ask\0check\0fixes\00\0source\0{text}"));
        assert!(found.starts_with("{\"ok\":[{\"code\":\"E"), "{found}");
        let version = answer("ask\0version");
        assert_eq!(
            version,
            format!("{{\"ok\":\"{}\"}}", env!("CARGO_PKG_VERSION"))
        );
        for (request, why) in [
            ("ask\0dance\0source\0", "there is no `dance`"),
            (
                "ask\0build\0options.wgsl\0true\0source\0",
                "unknown field `wgsl`",
            ),
            (
                "ask\0build\0options.ir\0maybe\0source\0",
                "`ir` is `true` or `false`, not `maybe`",
            ),
            ("ask\0hover\0at\0-1\0source\0", "`at` is a whole number"),
            (
                "ask\0build\0options.math\0\0source\0",
                "`math` is `fast` or `precise`, not ``",
            ),
        ] {
            let found = answer(request);
            assert!(
                found.starts_with("{\"error\":") && found.contains(why),
                "{found}"
            );
        }
    }
}
