//! Functions that builtins call, written in the language itself: one meaning for all backends.

/// The words that call for each text; a text whose word the source has nowhere is not read.
const TEXTS: [(&[&str], &str); 4] = [
    (
        &["bernoulli", "poisson"],
        include_str!("prelude/chance.sim"),
    ),
    (&["categorical"], include_str!("prelude/categorical.sim")),
    (&["poisson"], include_str!("prelude/poisson.sim")),
    (&["randint"], include_str!("prelude/randint.sim")),
];

/// The texts that a source may need, behind as many blanks as it has bytes: nobody takes their places for the
/// source's own. None if it needs nothing.
pub(crate) fn text(source: &str) -> Option<String> {
    let mut all = String::new();
    for (words, text) in TEXTS {
        if words.iter().any(|word| source.contains(word)) {
            if all.is_empty() {
                all = " ".repeat(source.len());
            }
            all.push_str(text);
        }
    }
    (!all.is_empty()).then_some(all)
}
