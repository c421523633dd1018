//! Finds what there is to jump to, by the query of tags.
//!
//! `cargo run --example tags`

use tree_sitter::{Parser, Query, QueryCursor, StreamingIterator};

const MODEL: &str =
    "const DT = 0.1\nfn twice(a: f32) -> f32 { return 2.0 * a }\noutput x = twice(DT)\n";

/// Prints the names that are declared, and the calls.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let language = tree_sitter_sim::LANGUAGE.into();
    let mut parser = Parser::new();
    parser.set_language(&language)?;
    let tree = parser
        .parse(MODEL, None)
        .expect("it has a language and no limit of time");
    let query = Query::new(&language, tree_sitter_sim::TAGS_QUERY)?;
    let mut cursor = QueryCursor::new();
    let mut matches = cursor.matches(&query, tree.root_node(), MODEL.as_bytes());
    let mut names = Vec::new();
    while let Some(found) = matches.next() {
        for capture in found.captures() {
            if query.capture_names()[capture.index as usize] == "name" {
                names.push(capture.node.utf8_text(MODEL.as_bytes())?);
            }
        }
    }
    println!("{names:?}");
    assert!(names.contains(&"DT") && names.contains(&"twice"));
    Ok(())
}
