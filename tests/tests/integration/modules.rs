//! The order of modules: each crate's modules stand in layers, and none names one above itself. So there are
//! no import cycles.
//!
//! Only what follows `crate::` and `super::` outside tests counts. A module of the lists is a file of the
//! crate's `src`, or one of a folder in it, with `::`.

use super::files;
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

/// The modules of each crate, those without needs first.
const LAYERS: [(&str, &[&str]); 6] = [
    (
        "compiler",
        &[
            "span",
            "value",
            "random",
            "builtin",
            "foreign",
            "ir",
            "launch_checks",
            "manifest",
            "options",
            "testing",
            "kernel::profile",
            "kernel::schedule",
            "artifact",
            "diagnostic",
            "syntax",
            "names",
            "hir",
            "check",
            "lint",
            "passes",
            "kernel::worlds",
            "kernel::lane_layout",
            "kernel::usage",
            "kernel::limits",
            "kernel::analysis",
            "kernel::lanes",
            "kernel::per_step",
            "kernel::coarsening",
            "kernel::relax",
            "kernel::order",
            "kernel::rewrites",
            "kernel::fences",
            "kernel::step_table",
            "kernel::time_loop",
            "kernel::tailor",
            "kernel::choose",
            "emit",
            "packed",
            "lower",
            "prelude",
            "size",
            "gradient",
            "words",
        ],
    ),
    (
        "runtime",
        &[
            "parallel",
            "adapter",
            "devices",
            "telemetry",
            "clock",
            "exclusive",
            "fault",
            "error",
            "field",
            "array",
            "values",
            "control",
            "memory",
            "statistics",
            "variation",
            "cut",
            "bind",
            "series",
            "nd",
            "results",
            "cpu",
            "run",
            "compare",
            "breeding",
            "batch",
            "cancel",
            "walk",
            "shadow",
            "trace",
            "gpu::pace",
            "gpu::processors",
            "gpu::pending",
            "gpu::adapter",
            "gpu::device",
            "gpu::chunk",
            "gpu::jobs",
            "gpu::entry_point",
            "gpu::cache",
            "gpu::kernel",
            "gpu::readback",
            "gpu::results",
            "gpu::reduce",
            "gpu::submission",
            "gpu::resident",
            "gpu::buffer_set",
            "gpu::buffer_pool",
            "gpu::batch_run",
            "gpu::breeding",
            "gpu::choose",
            "gpu::session",
            "gpu",
            "no_gpu",
            "backend",
            "launches",
            "calibration",
            "select",
            "snapshot",
            "simulation",
            "fit",
            "search",
            "calibrate",
        ],
    ),
    (
        "cli",
        &[
            "problem",
            "number",
            "terminal",
            "interrupt",
            "failure",
            "usage",
            "standard_output",
            "columns",
            "place",
            "open",
            "source",
            "fault",
            "models",
            "cache",
            "costs",
            "table",
            "launch",
            "output",
            "results",
            "plot",
            "summary",
            "knobs",
            "compilation",
            "warnings",
            "calibration",
            "progress",
            "checkpoint",
            "batches",
            "prepared",
            "sweep",
            "shadow",
            "run",
            "rerun",
            "trace",
            "grad",
            "fit",
            "search",
            "test",
            "bench",
            "translate",
            "build",
            "check",
            "explain",
            "fmt",
            "inspect",
            "lsp",
            "completions",
            "doctor",
            "man",
            "new",
        ],
    ),
    ("format", &["align", "layout", "script", "print", "verify"]),
    ("lsp", &["analysis", "server"]),
    (
        "python",
        &[
            "errors",
            "interrupt",
            "values",
            "launch",
            "arrays",
            "report",
            "run",
            "sweep",
            "derive",
            "optimise",
            "model",
            "searching",
            "session",
            "tally",
        ],
    ),
];

/// A file of a crate: its path of modules, and what it names of the crate.
struct File {
    path: Vec<String>,
    names: Vec<Vec<String>>,
}

#[test]
fn modules_name_only_what_lies_below_them() {
    let mut complaints = Vec::new();
    let mut edges = 0;
    for (crate_name, layers) in LAYERS {
        let place = |module: &str| layers.iter().position(|layer| *layer == module);
        // A file that only declares modules has no place of its own.
        for file in sources(crate_name)
            .into_iter()
            .filter(|file| !file.names.is_empty())
        {
            let from = module(&file.path, layers);
            let Some(own) = place(&from) else {
                complaints.push(format!(
                    "{crate_name}: `{from}` has no place in the list of modules"
                ));
                continue;
            };
            for name in &file.names {
                let to = module(name, layers);
                let inside = to == from || from.starts_with(&format!("{to}::"));
                // What is no module is an item of the crate's own file.
                let Some(other) = place(&to).filter(|_| !inside) else {
                    continue;
                };
                edges += 1;
                if other >= own {
                    complaints.push(format!(
                        "{crate_name}: `{from}` names `{to}`, which lies above it"
                    ));
                }
            }
        }
    }
    complaints.sort();
    complaints.dedup();
    files::report("modules name what lies above them", complaints);
    assert!(edges > 500, "only {edges} names were found");
}

/// The module of the list that a path lies in.
fn module(path: &[String], layers: &[&str]) -> String {
    let two = path[..path.len().min(2)].join("::");
    match layers.contains(&two.as_str()) {
        true => two,
        false => path[0].clone(),
    }
}

fn sources(crate_name: &str) -> Vec<File> {
    let root = files::root().join(crate_name).join("src");
    let mut paths = Vec::new();
    walk(&root, &mut paths);
    let parsed = paths.iter().filter_map(|path| {
        let within = path.strip_prefix(&root).ok()?.with_extension("");
        let path_of: Vec<String> = within
            .iter()
            .map(|part| part.to_string_lossy().into_owned())
            .collect();
        let skipped = ["lib", "main", "bin", "mutants"].contains(&path_of[0].as_str());
        let tests = path_of.iter().any(|part| part == "tests");
        (!skipped && !tests).then(|| {
            let text = std::fs::read_to_string(path).expect("source is text");
            File {
                names: names(&without_tests(&text), &path_of),
                path: path_of,
            }
        })
    });
    parsed.collect()
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            walk(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The text without comments and without its module of tests.
fn without_tests(text: &str) -> String {
    let end = text.find("#[cfg(test)]\nmod ").unwrap_or(text.len());
    let lines = text[..end]
        .lines()
        .map(|line| line.split("//").next().unwrap_or(""));
    lines.collect::<Vec<_>>().join("\n")
}

/// All that a text names of its crate, as paths from the crate's root.
fn names(text: &str, path: &[String]) -> Vec<Vec<String>> {
    let mut found = BTreeSet::new();
    for start in ["crate::", "super::"] {
        for (at, _) in text.match_indices(start) {
            let before = text[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':' || c == '$') {
                continue;
            }
            tree(&[], &text[at..], &mut found);
        }
    }
    let resolved = found.iter().filter_map(|name| {
        let up = name.iter().take_while(|part| *part == "super").count();
        let from = match name[0].as_str() {
            "crate" => return Some(name[1..].to_vec()),
            _ => path.get(..path.len().checked_sub(up)?)?,
        };
        Some([from, &name[up..]].concat())
    });
    resolved.filter(|name| !name.is_empty()).collect()
}

/// Collects the paths of a `use` tree, or of a path in code; returns how long it is.
fn tree(prefix: &[String], text: &str, found: &mut BTreeSet<Vec<String>>) -> usize {
    let mut path = prefix.to_vec();
    let mut at = 0;
    loop {
        let rest = &text[at..];
        if rest.starts_with('{') {
            at += 1;
            loop {
                at += text[at..].len() - text[at..].trim_start_matches([' ', '\n', ',']).len();
                if text[at..].is_empty() || text[at..].starts_with('}') {
                    return at + 1;
                }
                at += tree(&path, &text[at..], found).max(1);
            }
        }
        let word = rest
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        path.push(rest[..word].to_owned());
        at += word;
        if !text[at..].starts_with("::") {
            found.insert(path.into_iter().filter(|part| part != "self").collect());
            // ` as other`
            let end = text[at..].find([',', '}', ';', '\n']).unwrap_or(0);
            return at
                + if text[at..].starts_with(" as ") {
                    end
                } else {
                    0
                };
        }
        at += 2;
    }
}

/// Paths that pages name in backquotes, with a folder of the repository first, are there.
#[test]
fn paths_in_documents_exist() {
    let root = files::root();
    let mut complaints = Vec::new();
    let mut found = 0;
    let pages = [
        "ARCHITECTURE.md",
        "README.md",
        "CHANGELOG.md",
        "docs",
        "benchmarks",
        "peers",
        "scripts",
    ];
    let mut texts = Vec::new();
    for page in pages {
        markdown(&root.join(page), &mut texts);
    }
    for (page, text) in &texts {
        for (k, word) in text.split('`').enumerate() {
            let known = [
                "compiler/",
                "runtime/",
                "cli/",
                "format/",
                "lsp/",
                "oracle/",
                "docs/",
                "scripts/",
                "tests/",
            ];
            let plain = word
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "/_.-".contains(c));
            if k % 2 == 0 || !plain || !known.iter().any(|start| word.starts_with(start)) {
                continue;
            }
            found += 1;
            if !root.join(word).exists() {
                complaints.push(format!("{}: `{word}` does not exist", page.display()));
            }
        }
    }
    files::report("documents name what is not there", complaints);
    assert!(found > 40, "only {found} paths were found");
}

fn markdown(path: &Path, found: &mut Vec<(PathBuf, String)>) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
            markdown(&entry.path(), found);
        }
    } else if path.extension().is_some_and(|extension| extension == "md") {
        let text = std::fs::read_to_string(path).expect("a page is text");
        found.push((path.to_owned(), text));
    }
}
