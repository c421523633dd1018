//! Reports the mistakes of a model, with their places.
//!
//! `cargo run --example check`

use sim_compiler::{check, diagnostic::render};

const MODEL: &str = "\
agents 100
param sigma = 0.2
state x = 0.0
step { x += sgima * normal() }
output x
";

/// Prints the report that `simc check` would print, and mends the mistake.
pub fn main() {
    let found = check(MODEL);
    print!(
        "{}",
        render::render("model.sim", MODEL, &found, render::Style::default())
    );
    let [mistake] = found.as_slice() else {
        panic!("there is one mistake: {found:?}");
    };
    let (line, column) = mistake.span().position(MODEL);
    println!(
        "{} in line {line}, column {column}: {}",
        mistake.code, mistake.message
    );
    let mut mended = MODEL.to_owned();
    for (span, text) in mistake.fixes[0].edits.iter().rev() {
        mended.replace_range(span.range(), text);
    }
    assert!(check(&mended).is_empty(), "{mended}");
}
