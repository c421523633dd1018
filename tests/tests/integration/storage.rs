//! `compiler/src/value.rs` alone knows how many words of storage a scalar has and how many bytes a word has,
//! so that numbers of another width have one place.
//!
//! Other code that lays out or reads storage may therefore neither count scalars (`components`) nor calculate
//! with a literal 4. What it does with them is listed here, with the reason.

use super::files::{self, report};
use std::{collections::BTreeSet, fs, path::Path};

/// The modules that lay out and read storage. `runtime/src/cpu` is left out: its registers have 32 bits.
const STORAGE: [&str; 20] = [
    "compiler/src/emit/wgsl/bindings.rs",
    "compiler/src/emit/wgsl/columns.rs",
    "compiler/src/emit/wgsl/exchange.rs",
    "compiler/src/emit/wgsl/step_table.rs",
    "compiler/src/emit/wgsl/reserve.rs",
    "compiler/src/emit/wgsl/storage.rs",
    "compiler/src/emit/wgsl/support.rs",
    "compiler/src/ir/interpret",
    "compiler/src/ir/verify.rs",
    "compiler/src/kernel",
    "compiler/src/lower/compensated.rs",
    "compiler/src/lower/layout.rs",
    "compiler/src/manifest.rs",
    "runtime/src/array.rs",
    "runtime/src/backend",
    "runtime/src/bind.rs",
    "runtime/src/gpu",
    "runtime/src/memory.rs",
    "runtime/src/results.rs",
    "cli/src/table",
];

/// Forms of a literal 4 in arithmetic, and of counts of scalars.
const FORBIDDEN: [&str; 9] = [
    " * 4",
    " 4 * ",
    "(4 * ",
    " / 4",
    " % 4",
    "(4)",
    "size_of::<u32>",
    "components()",
    ".components ",
];

/// The end of a file's path, a piece of a line, and why it stands there.
const ALLOWED: [(&str, &str, &str); 15] = [
    (
        "wgsl/step_table.rs",
        "\"xyzw\"",
        "the parts of a vector, by name",
    ),
    (
        "wgsl/step_table.rs",
        "literal::unsigned(",
        "the type of a vector",
    ),
    ("wgsl/storage.rs", "let parts =", "the parts of a vector"),
    (
        "wgsl/support.rs",
        "match ty.components()",
        "the parts of a vector",
    ),
    (
        "wgsl/support.rs",
        "literal::unsigned(",
        "the type of a vector",
    ),
    (
        "kernel/lanes.rs",
        "Value::from_floats",
        "a literal of a vector's type",
    ),
    (
        "lower/layout.rs",
        "components: leaf",
        "the manifest says it",
    ),
    (
        "src/manifest.rs",
        "self.components > 1",
        "the dimensions of a vector",
    ),
    (
        "src/manifest.rs",
        "let components =",
        "the parts of a vector, by name",
    ),
    (
        "gpu/reduce.rs",
        "4 * EXPONENTS",
        "a square has four pieces of 16 bits",
    ),
    ("gpu/reduce.rs", "squares.chunks_exact(4)", "the same"),
    (
        "gpu/readback.rs",
        "MANY / 4",
        "the parts of a parallel copy",
    ),
    (
        "gpu/pace.rs",
        "steps / 4",
        "a shorter dispatch, and a short submission",
    ),
    (
        "table/columns.rs",
        "field.components",
        "the columns of a vector",
    ),
    ("table/npy.rs", "exact(4)", "the length of a file's header"),
];

#[test]
fn one_module_knows_the_words_of_a_scalar() {
    let mut complaints = Vec::new();
    let mut used = BTreeSet::new();
    for folder in STORAGE {
        for (path, text) in sources(&files::root().join(folder)) {
            let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
            let code = &text[..end];
            for (number, line) in code.lines().enumerate() {
                let line = line.split("//").next().unwrap_or_default();
                if !FORBIDDEN.iter().any(|form| has(line, form)) {
                    continue;
                }
                let is_allowed = |&(file, piece, _): &(&str, &str, &str)| {
                    path.ends_with(file) && line.contains(piece)
                };
                match ALLOWED.iter().position(is_allowed) {
                    Some(at) => drop(used.insert(at)),
                    None => complaints.push(format!("{path}:{}: {}", number + 1, line.trim())),
                }
            }
        }
    }
    report("lines count words of storage by themselves", complaints);
    assert_eq!(used.len(), ALLOWED.len(), "an exception that nobody needs");
}

/// Whether a line has a form, and not as the beginning of a longer number.
fn has(line: &str, form: &str) -> bool {
    let mut found = line.match_indices(form);
    found.any(|(at, _)| !line[at + form.len()..].starts_with(|next: char| next.is_ascii_digit()))
}

/// A file, or all files of a folder but tests and other languages, by their paths.
fn sources(path: &Path) -> Vec<(String, String)> {
    let is_rust = path.is_dir() || path.extension().is_some_and(|extension| extension == "rs");
    if !is_rust || path.ends_with("tests") || path.ends_with("tests.rs") {
        return Vec::new();
    }
    if path.is_dir() {
        let entries = fs::read_dir(path).expect("a folder that can be read");
        let paths = entries.map(|entry| entry.expect("a folder that can be read").path());
        return paths.flat_map(|path| sources(&path)).collect();
    }
    let text =
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    vec![(path.to_string_lossy().into_owned(), text)]
}
