//! The table of knobs in `docs/kernels.md` says what the compiler's table says; `SIM_UPDATE=1` writes it.

use super::files;
use sim_compiler::kernel::schedule::{KNOBS, Scope};
use std::fmt::Write;

/// What stands around the table.
const MARKS: [&str; 2] = ["<!-- knobs: SIM_UPDATE=1 writes them -->\n", "<!-- end -->"];

/// The table.
fn table() -> String {
    let mut text = String::from(
        "| option | values | `--tune` tries | of | meaning |\n|---|---|---|---|---|\n",
    );
    for knob in KNOBS {
        let commands = match knob.scope {
            Scope::Kernel => "`build`, `run`, `bench`",
            Scope::Dispatch => "`run`, `bench`",
            Scope::Statistics => "`run`",
        };
        writeln!(
            text,
            "| `--{}` | {} | {} | {commands} | {} |",
            knob.name,
            knob.values,
            knob.tried.join(", "),
            knob.help()
        )
        .expect("a string takes all");
    }
    text
}

#[test]
fn the_knobs_of_the_manual_are_current() {
    let path = files::root().join("docs/kernels.md");
    let page = std::fs::read_to_string(&path).expect("the page is there");
    let (before, rest) = page.split_once(MARKS[0]).expect("the table's begin");
    let (kept, after) = rest.split_once(MARKS[1]).expect("the table's end");
    let table = table();
    if std::env::var_os("SIM_UPDATE").is_some() {
        let page = [before, MARKS[0], &table, MARKS[1], after].concat();
        std::fs::write(&path, page).expect("docs/ is writable");
        return;
    }
    assert_eq!(
        kept, table,
        "docs/kernels.md is out of date: run the tests with SIM_UPDATE=1"
    );
}
