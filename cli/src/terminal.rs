//! Standard output and standard error: who writes to them, and with or without colours.

use sim_compiler::diagnostic::render::Style;
use std::{
    env,
    io::{self, IsTerminal, Write},
    sync::atomic::{AtomicBool, Ordering},
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

/// Was `--quiet` given?
static QUIET: AtomicBool = AtomicBool::new(false);

/// From now on nothing is noted.
pub(crate) fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Does a person watch standard error, who wants to see what happens?
pub(crate) fn is_watched() -> bool {
    io::stderr().is_terminal() && !QUIET.load(Ordering::Relaxed)
}

/// Writes to standard error what is neither a result nor an error, unless `--quiet` was given.
pub(crate) fn note(text: impl AsRef<str>) {
    if !QUIET.load(Ordering::Relaxed) {
        remark(text);
    }
}

/// Writes a remark to standard error. If that fails, there is nowhere to report it.
pub(crate) fn remark(text: impl AsRef<str>) {
    let _ = io::stderr().lock().write_all(text.as_ref().as_bytes());
}
