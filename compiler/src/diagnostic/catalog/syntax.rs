//! Complaints about the text itself: characters, tokens, grammar (E0001–E0199).

mod declaration;
mod expression;
mod statement;
mod text;

pub use declaration::*;
pub use expression::*;
pub use statement::*;
pub use text::*;

use crate::diagnostic::Entry;

const AREAS: [&[Entry]; 4] = [
    text::ENTRIES,
    expression::ENTRIES,
    declaration::ENTRIES,
    statement::ENTRIES,
];

const COUNT: usize = AREAS[0].len() + AREAS[1].len() + AREAS[2].len() + AREAS[3].len();

pub(super) static ENTRIES: &[Entry] = &{
    let mut all = [AREAS[0][0]; COUNT];
    let (mut area, mut row, mut next) = (0, 0, 0);
    while next < COUNT {
        if row == AREAS[area].len() {
            area += 1;
            row = 0;
        } else {
            all[next] = AREAS[area][row];
            next += 1;
            row += 1;
        }
    }
    all
};

/// A piece of source in quotes, short enough for a line.
pub(super) fn short(text: &str) -> String {
    const MOST: usize = 40;
    match text.char_indices().nth(MOST) {
        _ if text.is_empty() => "the end of the file".to_owned(),
        Some((end, _)) => format!("`{}…`", &text[..end]),
        None => format!("`{text}`"),
    }
}
