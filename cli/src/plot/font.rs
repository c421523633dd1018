//! The font of pictures: how wide a text is, and the outlines of its glyphs.
//!
//! It is a part of the program, so that a picture is the same on every machine and needs no fonts there.

use std::sync::OnceLock;
use ttf_parser::{Face, OutlineBuilder};

/// How heavy a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    /// For labels and notes.
    Regular,
    /// For titles.
    Bold,
}

static REGULAR: &[u8] = include_bytes!("font/regular.otf");
static BOLD: &[u8] = include_bytes!("font/semibold.otf");

fn face(weight: Weight) -> &'static Face<'static> {
    static FACES: OnceLock<[Face<'static>; 2]> = OnceLock::new();
    let parse =
        |data| Face::parse(data, 0).expect("the embedded font is valid, which a test holds");
    let [regular, bold] = FACES.get_or_init(|| [parse(REGULAR), parse(BOLD)]);
    match weight {
        Weight::Regular => regular,
        Weight::Bold => bold,
    }
}

/// The width of a text of this size.
pub(super) fn width(text: &str, size: f64, weight: Weight) -> f64 {
    let face = face(weight);
    let advances = text.chars().map(|letter| advance(face, letter));
    f64::from(advances.sum::<u32>()) * size / f64::from(face.units_per_em())
}

/// The text, or as much of it as is no wider than `most`, with dots for the rest.
pub(super) fn cut(text: &str, size: f64, weight: Weight, most: f64) -> String {
    if width(text, size, weight) <= most {
        return text.to_owned();
    }
    let face = face(weight);
    let unit = size / f64::from(face.units_per_em());
    let mut left = most - width("…", size, weight);
    let fits = |letter: &char| {
        left -= f64::from(advance(face, *letter)) * unit;
        left >= 0.0
    };
    let kept: String = text.chars().take_while(fits).collect();
    format!("{}…", kept.trim_end())
}

/// The text in at most `lines` lines that are no wider than `most`, broken between words.
pub(super) fn wrap(text: &str, size: f64, weight: Weight, most: f64, lines: usize) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let joined = found.last().map(|line| format!("{line} {word}"));
        match joined {
            Some(joined) if width(&joined, size, weight) <= most || found.len() == lines => {
                found.pop();
                found.push(joined);
            }
            Some(_) | None => found.push(word.to_owned()),
        }
    }
    let cut = |line: String| cut(&line, size, weight, most);
    found.into_iter().map(cut).collect()
}

/// The first letter of a text that the font does not have.
pub(super) fn missing(text: &str) -> Option<char> {
    let known = |letter: char| face(Weight::Regular).glyph_index(letter).is_some();
    text.chars().find(|&letter| !known(letter))
}

/// Draws a text from the origin to the right, in units of its size, upward.
pub(super) fn outline(text: &str, weight: Weight, builder: &mut impl OutlineBuilder) {
    let face = face(weight);
    let unit = 1.0 / f32::from(face.units_per_em());
    let mut moved = Moved {
        builder,
        unit,
        right: 0.0,
    };
    for letter in text.chars() {
        if let Some(glyph) = face.glyph_index(letter).or(Some(ttf_parser::GlyphId(0))) {
            face.outline_glyph(glyph, &mut moved);
        }
        moved.right += advance(face, letter) as f32 * unit;
    }
}

/// The units that a letter takes of a line.
fn advance(face: &Face<'_>, letter: char) -> u32 {
    let glyph = face.glyph_index(letter).unwrap_or_default();
    u32::from(face.glyph_hor_advance(glyph).unwrap_or_default())
}

/// Scales an outline and moves it along the line.
struct Moved<'a, Builder> {
    builder: &'a mut Builder,
    unit: f32,
    right: f32,
}

impl<Builder: OutlineBuilder> Moved<'_, Builder> {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.right + x * self.unit, y * self.unit)
    }
}

impl<Builder: OutlineBuilder> OutlineBuilder for Moved<'_, Builder> {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.builder.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.builder.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.builder.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let (a, b, (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.builder.curve_to(a.0, a.1, b.0, b.1, x, y);
    }

    fn close(&mut self) {
        self.builder.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_measured_cut_and_wrapped() {
        let whole = width("Price at expiry", 12.0, Weight::Regular);
        assert!((70.0..110.0).contains(&whole), "{whole}");
        assert!(width("Price at expiry", 12.0, Weight::Bold) > whole);
        let short = cut("Price at expiry", 12.0, Weight::Regular, 60.0);
        assert!(
            short.ends_with('…') && short.starts_with("Price"),
            "{short}"
        );
        assert!(width(&short, 12.0, Weight::Regular) <= 60.0);
        let lines = wrap("one two three four", 12.0, Weight::Regular, 50.0, 2);
        assert_eq!(lines.len(), 2);
        assert!(lines[1].ends_with('…'), "{lines:?}");
    }

    #[test]
    fn the_font_has_what_labels_need() {
        assert_eq!(missing("×10⁻⁵ · 50 % – [m/s²] σ µ Ä, ≥ … √ ж"), None);
        assert_eq!(missing("a 日"), Some('日'));
    }
}
