//! Standard output and standard error: who writes to them, and with or without colours.

use sim_compiler::diagnostic::render::Style;
use std::{
    env,
    io::{self, IsTerminal, Write},
};

/// Colours for standard error: on a terminal that is not dumb, and never with `NO_COLOR`
/// (<https://no-color.org>).
pub(crate) fn error_style() -> Style {
    let set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
    Style {
        color: io::stderr().is_terminal() && !set("NO_COLOR") && !dumb,
    }
}

/// Does a person watch standard error?
pub(crate) fn is_watched() -> bool {
    io::stderr().is_terminal()
}

/// Writes a remark to standard error. If that fails, there is nowhere to report it.
pub(crate) fn remark(text: impl AsRef<str>) {
    let _ = io::stderr().lock().write_all(text.as_ref().as_bytes());
}
