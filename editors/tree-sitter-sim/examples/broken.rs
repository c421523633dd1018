//! Parses a model with a mistake: the tree has an error node, and the rest of the model all the same.
//!
//! `cargo run --example broken`

use tree_sitter::{LanguageError, Parser};

const MODEL: &str = "agents 10\nstate x = = 0.0\nstep { x += normal() }\noutput x\n";

/// Prints what each part of the model is.
pub fn main() -> Result<(), LanguageError> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_sim::LANGUAGE.into())?;
    let tree = parser
        .parse(MODEL, None)
        .expect("it has a language and no limit of time");
    let root = tree.root_node();
    for part in root.children(&mut root.walk()) {
        let mark = if part.has_error() {
            ", with an error"
        } else {
            ""
        };
        println!(
            "line {}: {}{mark}",
            part.start_position().row + 1,
            part.kind()
        );
    }
    assert!(root.has_error());
    Ok(())
}
