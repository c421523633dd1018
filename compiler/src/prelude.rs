//! Functions that builtins call, written in the language itself: one meaning for all backends.

use crate::builtin::Draw;

/// A text of the prelude, its comments as blanks: no program that is shipped needs them.
macro_rules! program {
    ($path:literal) => {{
        const TEXT: &[u8; include_bytes!($path).len()] = &without_comments(include_bytes!($path));
        match str::from_utf8(TEXT) {
            Ok(text) => text,
            Err(_) => panic!("the prelude is UTF-8"),
        }
    }};
}

const fn without_comments<const N: usize>(text: &[u8; N]) -> [u8; N] {
    let mut text = *text;
    let mut k = 0;
    let mut within = false;
    while k < N {
        within = match text[k] {
            b'\n' => false,
            b'/' if k + 1 < N && text[k + 1] == b'/' => true,
            _ => within,
        };
        if within {
            text[k] = b' ';
        }
        k += 1;
    }
    text
}

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
        program!("prelude/chance.sim"),
    ),
    (&[Draw::Categorical], program!("prelude/categorical.sim")),
    (
        &[Draw::Poisson, Draw::Binomial],
        program!("prelude/poisson.sim"),
    ),
    (
        &[
            Draw::Poisson,
            Draw::Binomial,
            Draw::Gamma,
            Draw::ChiSquared,
            Draw::Beta,
        ],
        program!("prelude/fixed.sim"),
    ),
    (&[Draw::RandInt], program!("prelude/randint.sim")),
    (&[Draw::Binomial], program!("prelude/binomial.sim")),
    (&[Draw::Geometric], program!("prelude/geometric.sim")),
    (
        &[Draw::Gamma, Draw::ChiSquared, Draw::Beta],
        program!("prelude/gamma.sim"),
    ),
    (
        &[Draw::LogNormal, Draw::Cauchy, Draw::Laplace, Draw::StudentT],
        program!("prelude/floats.sim"),
    ),
    (&[Draw::NormalBetween], program!("prelude/truncated.sim")),
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
