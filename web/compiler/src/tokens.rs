//! The class of every word of a text.

use crate::places::{Place, Places};
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
    let each = |(span, class, bits): semantic::Classified| {
        let class = legend.token_types.get(class as usize);
        let modifiers = legend.token_modifiers.iter().enumerate();
        Classified {
            place: places.place(span),
            class: class.map_or("variable", |class| class.as_str()).to_owned(),
            modifiers: modifiers
                .filter(|(bit, _)| bits >> bit & 1 == 1)
                .map(|(_, modifier)| modifier.as_str().to_owned())
                .collect(),
        }
    };
    semantic::classes(&places.document)
        .into_iter()
        .map(each)
        .collect()
}
