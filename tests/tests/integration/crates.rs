//! The crates that are published: their examples, and what their manifests say.

use super::files;
use std::{collections::BTreeSet, fs, path::Path};

/// The published crates that are libraries.
const LIBRARIES: [&str; 5] = [
    "compiler",
    "format",
    "lsp",
    "runtime",
    "editors/tree-sitter-sim",
];

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The names after `--example` in a README.
fn listed(readme: &str) -> BTreeSet<String> {
    let after = readme.split("--example ").skip(1);
    let word = |text: &str| {
        let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
        text[..end.unwrap_or(text.len())].to_owned()
    };
    after.map(word).collect()
}

#[test]
fn the_readme_of_a_crate_lists_its_examples_and_a_test_runs_them() {
    for name in LIBRARIES {
        let folder = files::root().join(name);
        let manifest = read(&folder.join("Cargo.toml"));
        let published = |file: &String| !manifest.contains(&format!("\"examples/{file}"));
        let entries = fs::read_dir(folder.join("examples")).expect("a crate has examples");
        let examples: BTreeSet<String> = entries
            .map(|entry| entry.expect("it can be read").file_name())
            .map(|file| file.to_string_lossy().into_owned())
            .filter(published)
            .map(|file| file.trim_end_matches(".rs").to_owned())
            .collect();
        assert!(examples.len() >= 4, "{name}: {examples:?}");
        assert_eq!(listed(&read(&folder.join("README.md"))), examples, "{name}");
        let tests: String = ["tests/examples.rs", "tests/interface.rs"]
            .iter()
            .filter_map(|file| fs::read_to_string(folder.join(file)).ok())
            .collect();
        for example in examples {
            let call = format!("    {example}::main()");
            assert!(tests.contains(&call), "{name}: no test runs {example}");
        }
    }
}

#[test]
fn what_is_published_depends_on_versions() {
    let workspace = read(&files::root().join("Cargo.toml"));
    for name in LIBRARIES.into_iter().chain(["cli"]) {
        let manifest = read(&files::root().join(name).join("Cargo.toml"));
        assert!(!manifest.contains("publish = false"), "{name}");
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            let file = files::root().join(name).join(licence);
            assert_eq!(read(&file), read(&files::root().join(licence)), "{name}");
        }
    }
    for name in ["tests", "oracle"] {
        let manifest = read(&files::root().join(name).join("Cargo.toml"));
        assert!(manifest.contains("publish = false"), "{name}");
    }
    let paths = workspace.lines().filter(|line| line.contains("{ path = "));
    for line in paths.filter(|line| !line.starts_with("sim-tests")) {
        assert!(line.contains("version = \"0.1.0\""), "{line}");
    }
}
