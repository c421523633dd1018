//! The tree as text, for `--emit ast`.

use super::ast::Model;

/// The tree of a model, one node a line.
pub fn ast(model: &Model) -> String {
    format!("{model:#?}\n")
}
