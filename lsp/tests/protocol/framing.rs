//! What comes in as bytes: broken messages are answered, and the conversation goes on; it ends as the
//! protocol says.

use serde_json::{Value, json};
use sim_lsp::Farewell;
use std::{
    io::{Cursor, Write},
    sync::{Arc, Mutex},
};

/// A stream that can be read after the server has let go of it.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no panic").extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn framed(body: &str) -> Vec<u8> {
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

fn request(id: i32, method: &str, params: Value) -> Vec<u8> {
    framed(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string())
}

fn notification(method: &str, params: Value) -> Vec<u8> {
    framed(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string())
}

fn hello() -> Vec<u8> {
    let initialized = notification("initialized", json!({}));
    [
        request(1, "initialize", json!({ "capabilities": {} })),
        initialized,
    ]
    .concat()
}

fn farewell() -> Vec<u8> {
    [
        request(99, "shutdown", Value::Null),
        notification("exit", Value::Null),
    ]
    .concat()
}

/// Serves these bytes; the messages that came back, and how the editor left.
fn served(bytes: Vec<u8>) -> (Vec<Value>, Farewell) {
    let output = Written::default();
    let left = sim_lsp::serve_streams(Cursor::new(bytes), output.clone()).expect("sound streams");
    let bytes = std::mem::take(&mut *output.0.lock().expect("no panic"));
    let mut text = String::from_utf8(bytes).expect("text");
    let mut messages = Vec::new();
    while let Some((header, rest)) = text.split_once("\r\n\r\n") {
        let length: usize = header["Content-Length: ".len()..]
            .parse()
            .expect("a length");
        messages.push(serde_json::from_str(&rest[..length]).expect("JSON"));
        text = rest[length..].to_owned();
    }
    (messages, left)
}

/// The answers with an id of null, which are those to what is no message.
fn refusals(messages: &[Value]) -> Vec<i64> {
    let refused = messages
        .iter()
        .filter(|message| message.get("id") == Some(&Value::Null));
    refused
        .map(|message| message["error"]["code"].as_i64().expect("a code"))
        .collect()
}

fn answer(messages: &[Value], id: i32) -> &Value {
    let found = messages.iter().find(|message| message["id"] == id);
    found.unwrap_or_else(|| panic!("no answer to {id} in {messages:?}"))
}

/// Says hello, these bytes and farewell; all but the bytes must be answered as ever.
fn between(bytes: &[u8]) -> Vec<Value> {
    let (messages, left) = served([&hello(), bytes, &farewell()].concat());
    assert_eq!(answer(&messages, 1)["result"]["serverInfo"]["name"], "simc");
    assert_eq!(answer(&messages, 99)["result"], Value::Null);
    assert!(answer(&messages, 99).get("error").is_none());
    assert_eq!(left, Farewell::Orderly);
    messages
}

#[test]
fn broken_messages_are_answered_and_the_next_is_served() {
    const PARSE_ERROR: i64 = -32700;
    const INVALID_REQUEST: i64 = -32600;
    let header = |line: &str| format!("{line}\r\n\r\n").into_bytes();
    let claimed = [
        header("Content-Length: 1000000000000"),
        b"{\"id\": 7}".to_vec(),
    ]
    .concat();
    let nested = "[".repeat(100_000);
    for (bytes, code) in [
        (claimed, PARSE_ERROR),
        (header("Content-Length: 18446744073709551616"), PARSE_ERROR),
        (header("Content-Length: -1"), PARSE_ERROR),
        (header("Content-Length: many"), PARSE_ERROR),
        (header("Content-Type: none"), PARSE_ERROR),
        (b"\r\nnoise without an end, then".to_vec(), PARSE_ERROR),
        (vec![b'x'; 100_000], PARSE_ERROR),
        (framed(""), PARSE_ERROR),
        (framed("{\"id\": 1,"), PARSE_ERROR),
        (framed(&nested), PARSE_ERROR),
        (framed("3"), INVALID_REQUEST),
        (framed("[]"), INVALID_REQUEST),
        (framed("{}"), INVALID_REQUEST),
        (
            framed("{\"jsonrpc\": \"2.0\", \"method\": 3}"),
            INVALID_REQUEST,
        ),
        (
            framed("{\"id\": null, \"method\": \"shutdown\"}"),
            INVALID_REQUEST,
        ),
        (
            framed("{\"id\": [1], \"method\": \"shutdown\"}"),
            INVALID_REQUEST,
        ),
    ] {
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).into_owned();
        assert_eq!(refusals(&between(&bytes)), [code], "{shown}");
    }
}

#[test]
fn malformed_parameters_are_refused() {
    let hover = |params: Value| request(5, "textDocument/hover", params);
    for params in [
        json!(3),
        json!([]),
        Value::Null,
        json!({ "textDocument": { "uri": 1 } }),
    ] {
        let messages = between(&hover(params));
        assert_eq!(answer(&messages, 5)["error"]["code"], -32602);
    }
    // Nobody waits for an answer to a notification.
    let bytes = notification("textDocument/didOpen", json!({ "textDocument": 7 }));
    assert_eq!(refusals(&between(&bytes)), [0i64; 0]);
    let odd = framed("{\"id\": 4294967296, \"method\": \"shutdown\"}");
    let messages = between(&odd);
    let refused = messages
        .iter()
        .find(|message| message["id"] == 4_294_967_296_u64);
    assert_eq!(refused.expect("an answer")["error"]["code"], -32600);
    // An answer that nobody asked for.
    assert_eq!(
        refusals(&between(&framed("{\"id\": 3, \"result\": null}"))),
        [0i64; 0]
    );
}

/// An editor may cut a pair of surrogates in two; the positions after it stay right.
#[test]
fn half_a_surrogate_is_a_sign_like_any_other() {
    let open = |text: &str| {
        framed(&format!(
            "{{\"method\":\"textDocument/didOpen\",\"params\":{{\"textDocument\":{{\"uri\":\
             \"file:///m.sim\",\"languageId\":\"sim\",\"version\":1,\"text\":\"{text}\"}}}}}}"
        ))
    };
    let symbols = request(
        6,
        "textDocument/documentSymbol",
        json!({ "textDocument": { "uri": "file:///m.sim" } }),
    );
    for sign in [
        "\\ud800",
        "\\uDFFF",
        "\\udc00\\ud800",
        "\\ud800\\u0041",
        "\\\\\\ud800",
    ] {
        let text = format!("// {sign}\\nstate x = 1.0\\n");
        let messages = between(&[open(&text), symbols.clone()].concat());
        assert_eq!(refusals(&messages), [0i64; 0], "{sign}");
        assert_eq!(answer(&messages, 6)["result"][0]["name"], "x", "{sign}");
    }
    // A whole pair is one sign.
    let messages = between(&[open("// \\ud834\\udd1e\\nstate x = 1.0\\n"), symbols].concat());
    assert_eq!(answer(&messages, 6)["result"][0]["name"], "x");
    let bytes = [
        open("// ").as_slice(),
        b"Content-Length: 8\r\n\r\n\"\xff\xfe\x80\"   ",
    ]
    .concat();
    assert_eq!(refusals(&between(&bytes)), [-32600]);
}

#[test]
fn the_conversation_ends_as_the_protocol_says() {
    let exit = notification("exit", Value::Null);
    let (messages, left) = served([hello(), exit.clone()].concat());
    assert_eq!((messages.len(), left), (1, Farewell::Abrupt));
    assert_eq!(served(exit.clone()), (Vec::new(), Farewell::Abrupt));
    assert_eq!(served(hello()).1, Farewell::Orderly, "the stream ends");

    let early = request(2, "textDocument/hover", json!({}));
    let (messages, _) = served([early, hello(), farewell()].concat());
    assert_eq!(answer(&messages, 2)["error"]["code"], -32002);
    assert_eq!(answer(&messages, 1)["result"]["serverInfo"]["name"], "simc");

    let late = [
        request(98, "shutdown", Value::Null),
        request(3, "textDocument/hover", json!({})),
        request(4, "shutdown", Value::Null),
        request(5, "initialize", json!({ "capabilities": {} })),
        notification("textDocument/didOpen", json!({})),
        exit,
    ];
    let (messages, left) = served([hello(), late.concat()].concat());
    for id in [3, 4, 5] {
        assert_eq!(answer(&messages, id)["error"]["code"], -32600);
    }
    assert_eq!(left, Farewell::Orderly);
    let again = between(&request(7, "initialize", json!({ "capabilities": {} })));
    assert_eq!(answer(&again, 7)["error"]["code"], -32600);
}
