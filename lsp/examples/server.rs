//! The whole server in a process: an editor at the other end of two streams, here two texts in memory.
//!
//! `cargo run --example server`

use sim_lsp::{Farewell, serve_streams};
use std::io::{self, Cursor, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// What the server says.
#[derive(Clone, Default)]
struct Answers(Arc<Mutex<Vec<u8>>>);

impl Write for Answers {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answers.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Greets the server and leaves.
pub fn main() -> io::Result<()> {
    let messages = [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#,
        r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"shutdown"}"#,
        r#"{"jsonrpc":"2.0","method":"exit"}"#,
    ];
    let frame = |text: &&str| format!("Content-Length: {}\r\n\r\n{text}", text.len());
    let editor: String = messages.iter().map(frame).collect();
    let answers = Answers::default();
    let farewell = serve_streams(Cursor::new(editor), answers.clone())?;
    let said = answers.0.lock().unwrap_or_else(PoisonError::into_inner);
    let said = String::from_utf8_lossy(&said);
    println!("{said}");
    assert!(matches!(farewell, Farewell::Orderly) && said.contains("hoverProvider"));
    Ok(())
}
