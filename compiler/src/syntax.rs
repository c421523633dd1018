//! Text to tree: tokens (logos), then the grammar (chumsky). Never fails: what could not be read is an
//! `Error` node in the tree and a diagnostic beside it.

pub mod ast;
