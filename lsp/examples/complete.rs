//! What an editor offers to complete a word with.
//!
//! `cargo run --example complete`

use sim_lsp::analysis::{Document, complete};

const MODEL: &str = "\
agents 10
param speed = 2.0
state x = 0.0
step { x += sp }
output x
";

/// Prints the first of what may stand where `sp` does.
pub fn main() {
    let document = Document::new(MODEL.to_owned());
    let at = MODEL.find("sp }").expect("it stands there") + 2;
    let offered = complete::complete(&document, at);
    for item in offered.iter().take(10) {
        println!(
            "{}: {}",
            item.label,
            item.detail.as_deref().unwrap_or_default()
        );
    }
    assert!(offered.iter().any(|item| item.label == "speed"));
}
