//! The rows.

use super::Builtin;

/// All builtins, by area.
pub fn rows() -> &'static [Builtin] {
    &[]
}
