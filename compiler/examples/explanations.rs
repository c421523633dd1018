//! All complaints of the compiler with their explanations, as JSON: by code, in Markdown.
//!
//! `cargo run --example explanations`

use sim_compiler::diagnostic::catalog;
use std::collections::BTreeMap;

/// Prints them.
pub fn main() {
    let all: BTreeMap<_, _> = catalog::entries()
        .map(|entry| (entry.code, [entry.slug, entry.explanation]))
        .collect();
    println!("{}", serde_json::json!(all));
    assert!(catalog::entries().all(|entry| !entry.explanation.trim().is_empty()));
}
