//! What every name of a model refers to, as editors ask; it works on broken models, too.
//!
//! `cargo run --example names`

use sim_compiler::survey;

const MODEL: &str = "\
agents 10
const DT = 1.0 / 252.0
/// How fast it goes.
param speed = 2.0
state x = 0.0
step { x += speed * DT }
output x
output y = unknown
";

/// Prints each declaration with its type and its uses.
pub fn main() {
    let survey = survey(MODEL);
    for (index, declaration) in survey.names.declarations.iter().enumerate() {
        let ty = declaration.ty.as_deref().unwrap_or("?");
        let (line, _) = declaration.span.position(MODEL);
        let uses = survey.names.uses_of(index).len();
        println!(
            "line {line}: {:?} {}: {ty}, used {uses} times",
            declaration.kind, declaration.name
        );
    }
    println!("{} mistake", survey.diagnostics.len());
    let speed = survey.names.visible("speed", MODEL.len());
    let speed = &survey.names.declarations[speed.expect("it is declared")];
    assert_eq!(speed.doc, "How fast it goes.");
}
