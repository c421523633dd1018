//! Functions that builtins call, written in the language itself: one meaning for all backends.

use crate::builtin::Draw;

/// The draws that need each text; a text whose draws the source calls nowhere is not read.
const TEXTS: [(&[Draw], &str); 10] = [
    (
        &[
            Draw::Bernoulli,
            Draw::Poisson,
            Draw::Binomial,
            Draw::Geometric,
            Draw::Gamma,
            Draw::ChiSquared,
            Draw::Beta,
        ],
        include_str!("prelude/chance.sim"),
    ),
    (
        &[Draw::Categorical],
        include_str!("prelude/categorical.sim"),
    ),
    (
        &[Draw::Poisson, Draw::Binomial],
        include_str!("prelude/poisson.sim"),
    ),
    (
        &[
            Draw::Poisson,
            Draw::Binomial,
            Draw::Gamma,
            Draw::ChiSquared,
            Draw::Beta,
        ],
        include_str!("prelude/fixed.sim"),
    ),
    (&[Draw::RandInt], include_str!("prelude/randint.sim")),
    (&[Draw::Binomial], include_str!("prelude/binomial.sim")),
    (&[Draw::Geometric], include_str!("prelude/geometric.sim")),
    (
        &[Draw::Gamma, Draw::ChiSquared, Draw::Beta],
        include_str!("prelude/gamma.sim"),
    ),
    (
        &[Draw::LogNormal, Draw::Cauchy, Draw::Laplace, Draw::StudentT],
        include_str!("prelude/floats.sim"),
    ),
    (
        &[Draw::NormalBetween],
        include_str!("prelude/truncated.sim"),
    ),
];

/// The texts that a source may need, behind as many blanks as it has bytes, so that their places are never
/// mistaken for the source's own. None if it needs nothing.
pub(crate) fn text(source: &str) -> Option<String> {
    let mut all = String::new();
    for (draws, text) in TEXTS {
        if draws.iter().any(|draw| calls(source, draw.name())) {
            if all.is_empty() {
                all = " ".repeat(source.len());
            }
            all.push_str(text);
        }
    }
    (!all.is_empty()).then_some(all)
}

/// Does a source call this name anywhere? It may say so where there is no call, never the other way round.
fn calls(source: &str, name: &str) -> bool {
    source.match_indices(name).any(|(at, _)| {
        let rest = source[at + name.len()..].trim_start();
        rest.starts_with('(') || rest.starts_with("//")
    })
}
