//! Makes a text smaller as long as it shows the same fault: lines first, then tokens (delta debugging).

use crate::mutants::tokens;

/// The smallest text found within so many trials for which `shows` is true; it must be so of `text`.
pub fn shrink(text: &str, trials: usize, mut shows: impl FnMut(&str) -> bool) -> String {
    let mut left = trials;
    let mut text = text.to_owned();
    loop {
        let before = text.len();
        let lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
        text = without(lines, &mut left, &mut shows);
        let pieces = tokens::split(&text);
        let pieces = pieces.iter().map(|token| token.1.to_owned()).collect();
        text = without(pieces, &mut left, &mut shows);
        if left == 0 || text.len() == before {
            return text;
        }
    }
}

/// Leaves out pieces, many at a time first.
fn without(
    mut pieces: Vec<String>,
    left: &mut usize,
    shows: &mut impl FnMut(&str) -> bool,
) -> String {
    let mut size = pieces.len().div_ceil(2).max(1);
    loop {
        let mut from = 0;
        while from < pieces.len() {
            let to = (from + size).min(pieces.len());
            let rest = pieces[..from].concat() + &pieces[to..].concat();
            if *left == 0 {
                return pieces.concat();
            }
            *left -= 1;
            if shows(&rest) {
                pieces.drain(from..to);
            } else {
                from = to;
            }
        }
        if size == 1 {
            return pieces.concat();
        }
        size = size.div_ceil(2);
    }
}
