//! Renames a param everywhere; a name that would mean something else is refused.
//!
//! `cargo run --example rename`

use sim_lsp::analysis::{Document, navigate};

const MODEL: &str = "\
agents 10
param speed = 2.0
state x = speed
step { x += speed }
output x
";

/// Prints the model with another name.
pub fn main() -> Result<(), String> {
    let document = Document::new(MODEL.to_owned());
    let at = MODEL.find("speed").expect("it stands there");
    let edits = navigate::rename(&document, at, "velocity")?;
    let renamed = document.with(&edits);
    print!("{renamed}");
    assert_eq!(renamed, MODEL.replace("speed", "velocity"));
    let refused = navigate::rename(&document, at, "x");
    println!("`x`: {}", refused.clone().expect_err("the name is taken"));
    Ok(())
}
