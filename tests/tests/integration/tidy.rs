//! The rules of the code base, as tests: layers, sizes, heads.

use super::files::{self, sources};
use sim_compiler::builtin::{Meaning, table};
use std::path::PathBuf;

fn all() -> Vec<(PathBuf, String)> {
    [
        "compiler",
        "format",
        "lsp",
        "runtime",
        "cli",
        "web/compiler",
        "web/runtime",
        "python",
        "tests",
        "oracle",
    ]
    .into_iter()
    .flat_map(sources)
    .collect()
}

#[test]
fn files_are_short_and_say_what_they_are() {
    let mut complaints = Vec::new();
    for (path, text) in all() {
        let lines = text.lines().count();
        if lines > 600 {
            complaints.push(format!("{}: {lines} lines, at most 600", path.display()));
        }
        if !text.starts_with("//!") {
            complaints.push(format!("{}: no `//!` head", path.display()));
        }
        if path.file_name().is_some_and(|name| name == "mod.rs") {
            complaints.push(format!(
                "{}: a stage is `stage.rs` beside `stage/`",
                path.display()
            ));
        }
    }
    files::report("files break the rules", complaints);
}

/// Columns of a line.
const WIDTH: usize = 110;

/// Rows of tables may be longer, and so may a line with a word that fits no line.
#[test]
fn lines_are_short() {
    let mut complaints = Vec::new();
    for (path, text) in files::texts("", &["md", "rs", "wgsl"]) {
        // Generated: a paragraph or a message is a line.
        if path.ends_with("docs/builtins.md") || path.ends_with("docs/mistakes.md") {
            continue;
        }
        for (k, line) in text.lines().enumerate() {
            let is_row = line.trim_start_matches(['/', '!', ' ']).starts_with('|');
            let fits = |word: &str| word.chars().count() < WIDTH - 10;
            let columns = line.chars().count();
            if columns > WIDTH && !is_row && line.split(' ').all(fits) {
                let place = path.display();
                complaints.push(format!(
                    "{place}:{}: {columns} columns, at most {WIDTH}",
                    k + 1
                ));
            }
        }
    }
    files::report("lines are too long", complaints);
}

/// Functions as rustfmt writes them: from a line with `fn` to the closing brace of the same indentation.
#[test]
fn functions_are_short() {
    let mut complaints = Vec::new();
    for (path, text) in all() {
        let lines: Vec<&str> = text.lines().collect();
        for (start, line) in lines.iter().enumerate() {
            let code = line.trim_start();
            let indent = line.len() - code.len();
            let is_fn = ["fn ", "pub fn ", "pub(crate) fn ", "pub(super) fn "]
                .iter()
                .any(|head| code.starts_with(head));
            if !is_fn || code.ends_with(';') || code.ends_with('}') {
                continue;
            }
            let close = format!("{:indent$}}}", "");
            let length = lines[start..]
                .iter()
                .position(|line| *line == close)
                .unwrap_or(0)
                + 1;
            if length > 70 {
                complaints.push(format!(
                    "{}:{}: {length} lines, at most 70",
                    path.display(),
                    start + 1
                ));
            }
        }
    }
    files::report("functions are too long", complaints);
}

#[test]
fn layers_hold() {
    let mut complaints = Vec::new();
    let mut forbid = |folder: &str, words: &[&str], except: &[&str]| {
        for (path, text) in sources(folder) {
            if except.iter().any(|name| path.ends_with(name)) {
                continue;
            }
            for word in words {
                if text
                    .lines()
                    .any(|line| !line.trim_start().starts_with("//") && line.contains(word))
                {
                    complaints.push(format!("{}: `{word}` does not belong here", path.display()));
                }
            }
        }
    };
    forbid(
        "compiler/src",
        &[
            "std::fs",
            "std::net",
            "std::env",
            "println!",
            "eprintln!",
            "wgpu",
            "unsafe {",
        ],
        &["builtin/math/tests.rs", "passes/tests.rs"],
    );
    let outside = ["std::fs", "std::env", "println!", "sim_runtime", "unsafe {"];
    forbid("format/src", &outside, &[]);
    forbid("lsp/src", &outside, &[]);
    // The evaluator shares nothing with what it is compared with.
    let ours = ["sim_compiler", "sim_format", "sim_runtime"];
    forbid("oracle/src/language", &ours, &[]);
    forbid("compiler/src", &["ariadne"], &["diagnostic/render.rs"]);
    forbid("runtime/src", &["println!"], &[]);
    forbid("cli/src", &["wgpu", "ariadne"], &[]);
    files::report("layers are crossed", complaints);
}

/// Names of builtins that mean other things as well: draws, operations of lanes, sections, made-up variables,
/// extensions of processors.
const AMBIGUOUS: [&str; 6] = ["fma", "gamma", "max", "min", "round", "step"];

/// What a pass or a backend must know of a builtin stands in its row, or is found by its constant.
#[test]
fn builtins_are_named_by_their_constants() {
    let mut complaints = Vec::new();
    let names: Vec<String> = table::rows()
        .iter()
        .filter(|row| matches!(row.meaning, Meaning::Pure(_)) && !AMBIGUOUS.contains(&row.name))
        .map(|row| format!("\"{}\"", row.name))
        .collect();
    for (path, text) in ["compiler/src", "runtime/src"]
        .into_iter()
        .flat_map(sources)
    {
        let place = path.to_string_lossy();
        if place.contains("builtin/") && place.contains("compiler/src") || place.contains("tests") {
            continue;
        }
        let code = text.split("#[cfg(test)]\nmod").next().unwrap_or_default();
        for (k, line) in code.lines().enumerate() {
            let is_code = !line.trim_start().starts_with("//");
            if let Some(name) = names.iter().find(|name| is_code && line.contains(*name)) {
                complaints.push(format!("{}:{}: {name} by its string", place, k + 1));
            }
        }
    }
    files::report("builtins are named by strings", complaints);
}

#[test]
fn no_snapshot_is_orphaned() {
    let mut complaints = Vec::new();
    for folder in ["tests/errors", "tests/language", "format/tests/specimens"] {
        let specimens: Vec<String> = files::models(folder)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        for entry in std::fs::read_dir(files::root().join(folder).join("snapshots"))
            .into_iter()
            .flatten()
            .flatten()
        {
            let name = entry.file_name().to_string_lossy().into_owned();
            if let Some(stem) = name.strip_suffix(".snap")
                && !specimens.iter().any(|specimen| specimen == stem)
            {
                complaints.push(format!("{folder}/snapshots/{name}"));
            }
        }
    }
    files::report("snapshots have no specimen", complaints);
}
