//! Places as JavaScript counts them: in UTF-16 units from the start of the text.

use lsp_types::{Range, TextEdit};
use serde::Serialize;
use sim_compiler::span::Span;
use sim_lsp::analysis::Document;

/// A place of the text, its end excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Place {
    pub(crate) from: u32,
    pub(crate) to: u32,
}

/// A text for a place.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Edit {
    #[serde(flatten)]
    pub(crate) place: Place,
    pub(crate) insert: String,
}

/// A document and the map of its bytes to UTF-16 units.
pub(crate) struct Places {
    pub(crate) document: Document,
    /// For each character that is no ASCII: the byte behind it, and the units up to there.
    wide: Vec<(usize, usize)>,
}

impl Places {
    pub(crate) fn new(text: String) -> Places {
        let mut wide = Vec::new();
        let mut saved = 0;
        for (at, c) in text.char_indices().filter(|(_, c)| !c.is_ascii()) {
            saved += c.len_utf8() - c.len_utf16();
            let end = at + c.len_utf8();
            wide.push((end, end - saved));
        }
        Places {
            document: Document::new(text),
            wide,
        }
    }

    /// The units before a byte; a byte within a character counts as its start.
    fn units(&self, byte: usize) -> u32 {
        let byte = self.document.text().floor_char_boundary(byte);
        let after = self.wide.partition_point(|(end, _)| *end <= byte);
        let (end, units) = match after {
            0 => (0, 0),
            after => self.wide[after - 1],
        };
        (units + byte - end) as u32
    }

    /// The byte at which a unit stands; the second unit of a character counts as its first, one beyond the
    /// text as its end.
    pub(crate) fn byte(&self, unit: u32) -> usize {
        let unit = unit as usize;
        let after = self.wide.partition_point(|(_, units)| *units <= unit);
        let (end, units) = match after {
            0 => (0, 0),
            after => self.wide[after - 1],
        };
        let text = self.document.text();
        text.floor_char_boundary((end + unit - units).min(text.len()))
    }

    pub(crate) fn place(&self, span: Span) -> Place {
        let range = span.range();
        Place {
            from: self.units(range.start),
            to: self.units(range.end),
        }
    }

    pub(crate) fn place_of(&self, range: Range) -> Place {
        self.place(self.document.span(range))
    }

    pub(crate) fn edit(&self, span: Span, text: impl Into<String>) -> Edit {
        Edit {
            place: self.place(span),
            insert: text.into(),
        }
    }

    pub(crate) fn edit_of(&self, edit: TextEdit) -> Edit {
        Edit {
            place: self.place_of(edit.range),
            insert: edit.new_text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Places;

    #[test]
    fn bytes_and_units_agree() {
        let text = "a𝄞é\nb\u{20ac}c";
        let places = Places::new(text.to_owned());
        let mut units = 0;
        for (at, c) in text.char_indices() {
            assert_eq!(places.units(at), units, "{at}");
            assert_eq!(places.byte(units), at, "{units}");
            units += c.len_utf16() as u32;
        }
        assert_eq!(places.units(text.len()), units);
        assert_eq!(places.byte(units), text.len());
        assert_eq!(places.byte(units + 9), text.len());
        assert_eq!(places.byte(2), 1, "within the clef");
        assert_eq!(places.units(3), 1, "within the clef");
    }
}
