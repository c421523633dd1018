//! Complaints about the text itself: characters, tokens, grammar (E0001–E0199).

use super::catalog;
use crate::{diagnostic::Diagnostic, span::Span};

catalog! {
    /// A character that no token of the language starts with.
    ///
    /// Sim source is plain text; outside comments only ASCII letters, digits and the operators of the
    /// language may stand.
    E0001 unexpected_character(found: char, span: Span) {
        Diagnostic::new(format!("unexpected character `{}`", found.escape_default()))
            .at(span, "no token starts with this")
    }
}
