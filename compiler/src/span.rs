//! Places in the source text.

use std::ops::Range;

/// A half-open range of byte offsets into the source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// Byte offset of the first character.
    pub start: u32,
    /// Byte offset just after the last character.
    pub end: u32,
}

impl Span {
    /// The span from `start` to `end`, both in bytes.
    pub fn new(start: usize, end: usize) -> Self {
        let clip = |offset| u32::try_from(offset).unwrap_or(u32::MAX);
        Span {
            start: clip(start),
            end: clip(end),
        }
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        Span {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }

    /// The same as a range of byte offsets.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The line and the column in which it begins, both counted from 1; a column is a character.
    pub fn position(self, source: &str) -> (usize, usize) {
        let start = source.floor_char_boundary(self.start as usize);
        let before = &source[..start];
        let line = before.rfind('\n').map_or(0, |at| at + 1);
        (
            before.matches('\n').count() + 1,
            before[line..].chars().count() + 1,
        )
    }
}

impl From<Range<usize>> for Span {
    fn from(range: Range<usize>) -> Self {
        Span::new(range.start, range.end)
    }
}

#[cfg(test)]
mod tests {
    use super::Span;

    #[test]
    fn positions_count_characters_from_one() {
        let source = "α = 1\nβ == 2";
        let at = |place| Span::new(place, place).position(source);
        assert_eq!(at(0), (1, 1));
        assert_eq!(at(2), (1, 2));
        assert_eq!(at(7), (2, 1));
        assert_eq!(at(10), (2, 3));
        assert_eq!(at(1000), (2, 7));
    }
}
