//! Messages from a stream of bytes and to one, in the protocol's framing: a header, an empty line, JSON.
//!
//! Whatever comes in, the server continues: an invalid message is answered with the protocol's error, and the
//! next message is looked for. Nothing is allocated for lengths that a header only claims.

use lsp_server::{ErrorCode, Message, Notification, Request, RequestId};
use serde_json::{Value, json};
use std::io::{self, BufRead, Read, Write};

/// The longest message that is read; a document of that size is no model.
const MOST_BYTES: u64 = 1 << 28;
/// The longest line of a header.
const MOST_LINE: u64 = 1 << 12;
/// The name of the one header field that is read, in lower case. Its first letter stands nowhere else in it.
const LENGTH: &[u8] = b"content-length:";

/// What came in.
#[derive(Debug)]
pub(super) enum Incoming {
    Message(Message),
    /// No message; the answer says why.
    Refused(Value),
}

/// The messages in a stream.
pub(super) struct Messages<R> {
    input: R,
    /// The search for the next header has read its `Content-Length:`.
    named: bool,
}

impl<R: BufRead> Messages<R> {
    pub(super) fn new(input: R) -> Self {
        Messages {
            input,
            named: false,
        }
    }

    /// The next message, or why there is none; nothing at the end of the stream.
    pub(super) fn next(&mut self) -> io::Result<Option<Incoming>> {
        let length = match self.header()? {
            None => return Ok(None),
            Some(Ok(length)) => length,
            Some(Err(why)) => {
                self.find_header()?;
                return Ok(Some(refused(ErrorCode::ParseError, &Value::Null, why)));
            }
        };
        let mut bytes = Vec::new();
        (&mut self.input).take(length).read_to_end(&mut bytes)?;
        if (bytes.len() as u64) < length {
            return Ok(None);
        }
        Ok(Some(match parse(&bytes) {
            Ok(value) => message(value),
            Err(error) => {
                let why = format!("a message is no JSON: {error}");
                refused(ErrorCode::ParseError, &Value::Null, &why)
            }
        }))
    }

    /// The length of the next message, or what is wrong with its header; nothing at the end of the stream.
    fn header(&mut self) -> io::Result<Option<Result<u64, &'static str>>> {
        let mut found = None;
        loop {
            let mut line = Vec::new();
            if std::mem::take(&mut self.named) {
                line.extend(LENGTH);
            }
            let rest = (&mut self.input).take(MOST_LINE);
            if { rest }.read_until(b'\n', &mut line)? == 0 {
                return Ok(None);
            }
            if !line.ends_with(b"\n") {
                return Ok(Some(Err("a line of a header does not end")));
            }
            let line = line.trim_ascii();
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_at(LENGTH.len().min(line.len()));
            if name.eq_ignore_ascii_case(LENGTH) {
                found = Some(value.trim_ascii().to_vec());
            }
        }
        let number = found.map(|value| String::from_utf8(value).unwrap_or_default().parse::<u64>());
        Ok(Some(match number {
            Some(Ok(length)) if length <= MOST_BYTES => Ok(length),
            Some(Ok(_)) => Err("a message is longer than 256 MiB"),
            Some(Err(_)) => Err("the length of a message is not a number"),
            None => Err("a header lacks `Content-Length`"),
        }))
    }

    /// Skips what lies before the next header.
    fn find_header(&mut self) -> io::Result<()> {
        let mut matched = 0;
        while matched < LENGTH.len() {
            let Some(byte) = self.input.fill_buf()?.first().copied() else {
                return Ok(());
            };
            self.input.consume(1);
            let byte = byte.to_ascii_lowercase();
            matched = match byte {
                _ if byte == LENGTH[matched] => matched + 1,
                _ => usize::from(byte == LENGTH[0]),
            };
        }
        self.named = true;
        Ok(())
    }
}

/// Writes a message with its header.
pub(super) fn send(output: &mut impl Write, message: &Value) -> io::Result<()> {
    let text = message.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}

/// A message of the server's as JSON.
pub(super) fn json_of(message: &Message) -> io::Result<Value> {
    let mut value = serde_json::to_value(message)?;
    if let Some(object) = value.as_object_mut() {
        object.insert("jsonrpc".to_owned(), json!("2.0"));
    }
    Ok(value)
}

/// JSON as editors write it: half of a surrogate pair, or what is no UTF-8, stands for a sign that nobody
/// knows. Either half is one unit of UTF-16, as `\u{fffd}` is, so that positions stay what they are.
fn parse(bytes: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(bytes).or_else(|_| {
        let text = String::from_utf8_lossy(bytes);
        serde_json::from_str(&text).or_else(|_| serde_json::from_slice(&whole(text.as_bytes())))
    })
}

/// The text with `\ufffd` for every half of a surrogate pair.
fn whole(text: &[u8]) -> Vec<u8> {
    let unit = |at: usize| {
        let escape = text
            .get(at..at + 6)
            .filter(|escape| escape.starts_with(b"\\u"));
        let digits = escape.and_then(|escape| std::str::from_utf8(&escape[2..]).ok());
        digits.and_then(|digits| u16::from_str_radix(digits, 16).ok())
    };
    let (mut mended, mut at) = (Vec::with_capacity(text.len()), 0);
    while at < text.len() {
        let (length, half) = match (unit(at), unit(at + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => (12, false),
            (Some(0xd800..=0xdfff), _) => (6, true),
            _ if text[at] == b'\\' => (2, false),
            _ => (1, false),
        };
        let end = (at + length).min(text.len());
        mended.extend(if half { b"\\ufffd" } else { &text[at..end] });
        at = end;
    }
    mended
}

/// A message, if the JSON is one.
fn message(value: Value) -> Incoming {
    let Value::Object(mut object) = value else {
        let why = "a message is an object; there are no batches";
        return refused(ErrorCode::InvalidRequest, &Value::Null, why);
    };
    let params = object.remove("params").unwrap_or_default();
    let id = object.remove("id");
    match (object.remove("method"), id) {
        (Some(Value::String(method)), None) => {
            Incoming::Message(Notification { method, params }.into())
        }
        (Some(Value::String(method)), Some(id)) => {
            match serde_json::from_value::<RequestId>(id.clone()) {
                Ok(id) => Incoming::Message(Request { id, method, params }.into()),
                Err(_) => {
                    let why = "the id of a request is a string or a 32-bit integer";
                    refused(ErrorCode::InvalidRequest, &id, why)
                }
            }
        }
        // The server makes no requests, so it expects no responses.
        (None, Some(_)) if object.contains_key("result") || object.contains_key("error") => {
            let method = "$/answer".to_owned();
            Incoming::Message(Notification { method, params }.into())
        }
        (_, id) => {
            let why = "a message has a `method`, which is a string";
            refused(ErrorCode::InvalidRequest, &id.unwrap_or_default(), why)
        }
    }
}

/// The response to an invalid message; its id is null where that of the request cannot be known.
fn refused(code: ErrorCode, id: &Value, why: &str) -> Incoming {
    let id = match id {
        Value::String(_) | Value::Number(_) => id,
        _ => &Value::Null,
    };
    let error = json!({ "code": code as i32, "message": why });
    Incoming::Refused(json!({ "jsonrpc": "2.0", "id": id, "error": error }))
}
