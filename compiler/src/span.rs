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
}

impl From<Range<usize>> for Span {
    fn from(range: Range<usize>) -> Self {
        Span::new(range.start, range.end)
    }
}
