//! The class of every word of a text.

use crate::places::{Place, Places};
use lsp_types::{Position, Range};
use serde::Serialize;
use sim_lsp::analysis::tokens as semantic;

/// A word and its class.
#[derive(Debug, Serialize)]
pub(crate) struct Classified {
    #[serde(flatten)]
    place: Place,
    class: String,
    modifiers: Vec<String>,
}

/// All words with the names of their classes, as in the Language Server Protocol.
pub(crate) fn tokens(places: &Places) -> Vec<Classified> {
    let legend = semantic::legend();
    let mut at = Position::default();
    let each = |token: lsp_types::SemanticToken| {
        if token.delta_line > 0 {
            at = Position::new(at.line + token.delta_line, 0);
        }
        at.character += token.delta_start;
        let end = Position::new(at.line, at.character + token.length);
        let class = legend.token_types.get(token.token_type as usize);
        let bits = token.token_modifiers_bitset;
        let modifiers = legend.token_modifiers.iter().enumerate();
        Classified {
            place: places.place_of(Range::new(at, end)),
            class: class.map_or("variable", |class| class.as_str()).to_owned(),
            modifiers: modifiers
                .filter(|(bit, _)| bits >> bit & 1 == 1)
                .map(|(_, modifier)| modifier.as_str().to_owned())
                .collect(),
        }
    };
    semantic::tokens(&places.document)
        .into_iter()
        .map(each)
        .collect()
}
