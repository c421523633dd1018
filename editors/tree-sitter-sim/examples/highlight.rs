//! Says how each word of a model is highlighted, by the query of highlights.
//!
//! `cargo run --example highlight`

use tree_sitter::{Parser, Query, QueryCursor, StreamingIterator};

const MODEL: &str = "param speed = 2.0 // fast\nstate x = speed\noutput x\n";

/// Prints each word with its kind.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let language = tree_sitter_sim::LANGUAGE.into();
    let mut parser = Parser::new();
    parser.set_language(&language)?;
    let tree = parser
        .parse(MODEL, None)
        .expect("it has a language and no limit of time");
    let query = Query::new(&language, tree_sitter_sim::HIGHLIGHTS_QUERY)?;
    let mut cursor = QueryCursor::new();
    let mut captures = cursor.captures(&query, tree.root_node(), MODEL.as_bytes());
    let mut kinds = Vec::new();
    while let Some((found, at)) = captures.next() {
        let capture = found.captures()[*at];
        let kind = query.capture_names()[capture.index as usize];
        println!("{:12} {kind}", capture.node.utf8_text(MODEL.as_bytes())?);
        kinds.push(kind);
    }
    assert!(kinds.iter().any(|kind| kind.starts_with("comment")));
    Ok(())
}
