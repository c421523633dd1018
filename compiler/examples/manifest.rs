//! What a model takes and gives: the manifest, for programs that host its kernel themselves.
//!
//! `cargo run --example manifest`

use sim_compiler::{Diagnostic, compile};

const MODEL: &str = "\
agents 1_000
steps 252
/// Volatility per square root of a year.
param sigma = 0.2 in 0.01..1.0
input weights: [f32; 3] ~ normal()
state price = 100.0
step { price *= exp(sigma * normal()) }
output price
";

/// Prints the names and the places of all values, then the manifest as JSON.
pub fn main() -> Result<(), Vec<Diagnostic>> {
    let manifest = compile(MODEL)?.manifest;
    for param in &manifest.params {
        let (name, word) = (&param.field.name, param.field.word);
        println!(
            "param {name}: word {word} of the uniform block, range {:?}",
            param.range
        );
    }
    for input in &manifest.inputs {
        println!("input {}: shape {:?}", input.field.name, input.field.dims());
    }
    println!("{}", manifest.json());
    assert_eq!(
        manifest.params[0].field.doc,
        "Volatility per square root of a year."
    );
    Ok(())
}
