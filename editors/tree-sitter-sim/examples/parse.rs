//! Parses a model into its syntax tree.
//!
//! `cargo run --example parse`

use tree_sitter::{LanguageError, Parser};

const MODEL: &str = "agents 10\nstate x = 0.0\nstep { x += normal() }\noutput x\n";

/// Prints the tree.
pub fn main() -> Result<(), LanguageError> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_sim::LANGUAGE.into())?;
    let tree = parser
        .parse(MODEL, None)
        .expect("it has a language and no limit of time");
    println!("{}", tree.root_node().to_sexp());
    assert!(!tree.root_node().has_error());
    Ok(())
}
