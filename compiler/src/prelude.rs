//! Functions that builtins call, written in the language itself: one meaning for all backends.

use crate::builtin::Draw;

/// The draws that need each text; a text whose draws the source names nowhere is not read.
const TEXTS: [(&[Draw], &str); 4] = [
    (
        &[Draw::Bernoulli, Draw::Poisson],
        include_str!("prelude/chance.sim"),
    ),
    (
        &[Draw::Categorical],
        include_str!("prelude/categorical.sim"),
    ),
    (&[Draw::Poisson], include_str!("prelude/poisson.sim")),
    (&[Draw::RandInt], include_str!("prelude/randint.sim")),
];

/// The texts that a source may need, behind as many blanks as it has bytes, so that their places are never
/// mistaken for the source's own. None if it needs nothing.
pub(crate) fn text(source: &str) -> Option<String> {
    let mut all = String::new();
    for (draws, text) in TEXTS {
        if draws.iter().any(|draw| source.contains(draw.name())) {
            if all.is_empty() {
                all = " ".repeat(source.len());
            }
            all.push_str(text);
        }
    }
    (!all.is_empty()).then_some(all)
}
