//! What an editor shows for the word under the pointer.
//!
//! `cargo run --example hover`

use sim_lsp::analysis::{Document, hover};

const MODEL: &str = "\
agents 10
/// How fast it goes.
param speed = 2.0
state x = 0.0
step { x += speed }
output x
";

/// Prints the text for the use of `speed` in the step.
pub fn main() {
    let document = Document::new(MODEL.to_owned());
    let at = MODEL.rfind("speed").expect("it stands there");
    let shown = hover::hover(&document, at).expect("it is a name");
    println!("{:#?}", shown.contents);
    assert!(format!("{shown:?}").contains("How fast it goes."));
}
