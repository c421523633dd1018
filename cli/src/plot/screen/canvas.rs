//! The inside of a plot on a terminal: letters, each of which may be two by four dots.

use super::{Ink, Screen};
use crate::plot::panel::{Mark, Panel};

/// Dots of a letter, across and down.
const DOTS: [usize; 2] = [2, 4];
/// Bits of a braille letter, by column and row of its dots.
const BRAILLE: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
/// Signs of curves where colours do not tell them apart.
const SIGNS: [char; 7] = ['*', 'o', '+', 'x', '#', '@', '%'];
/// From few to many.
const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];
const ASCII_SHADES: [char; 5] = [' ', '.', ':', '*', '#'];

/// A letter that is not yet one.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    dots: u8,
    letter: Option<char>,
    ink: Option<Ink>,
}

/// Letters of a plot.
#[derive(Debug)]
pub(super) struct Canvas {
    size: [usize; 2],
    cells: Vec<Cell>,
    screen: Screen,
    /// Do signs tell curves apart?
    has_signs: bool,
}

impl Canvas {
    /// An empty one of so many letters. Has it several curves?
    pub(super) fn new(size: [usize; 2], screen: Screen, several: bool) -> Canvas {
        Canvas {
            size,
            cells: vec![Cell::default(); size[0] * size[1]],
            screen,
            has_signs: several && !screen.has_colours,
        }
    }

    /// What a curve is drawn with.
    pub(super) fn sign(&self, number: usize) -> String {
        match (self.has_signs, self.screen.is_unicode) {
            (true, _) => SIGNS[number % SIGNS.len()].to_string(),
            (false, true) => "⠒⠒".to_owned(),
            (false, false) => "--".to_owned(),
        }
    }

    /// The shades of a heat map, from its least to its greatest value.
    pub(super) fn shades(&self) -> String {
        self.shade_letters().iter().collect()
    }

    fn shade_letters(&self) -> [char; 5] {
        match self.screen.is_unicode {
            true => SHADES,
            false => ASCII_SHADES,
        }
    }

    /// Draws the marks of a panel.
    pub(super) fn draw(&mut self, panel: &Panel) {
        for mark in &panel.marks {
            match mark {
                // Single agents would hide what is said of all.
                Mark::Line {
                    ink: Ink::Faint, ..
                } => {}
                Mark::Line { points, ink, .. } => self.line_through(panel, points, *ink, 1),
                Mark::Band {
                    x, low, high, ink, ..
                } => {
                    for edge in [low, high] {
                        let points: Vec<[f64; 2]> =
                            x.iter().zip(edge).map(|(&x, &y)| [x, y]).collect();
                        self.line_through(panel, &points, *ink, 3);
                    }
                }
                Mark::Bars { bars, ink } => {
                    for bar in bars {
                        self.bar(panel, [bar.from, bar.to], bar.height, *ink);
                    }
                }
                Mark::Mass { at, height, .. } => {
                    self.bar(panel, [*at, *at], *height, Ink::Accent);
                }
                Mark::Points { points, ink } => {
                    for &point in points {
                        self.dot(panel, point, *ink);
                    }
                }
                Mark::Cells { x, y, values } => self.shade(panel, [x, y], values),
                Mark::Rows { .. } => {}
            }
        }
    }

    /// The dots of a line, or every so many of them.
    fn line_through(&mut self, panel: &Panel, points: &[[f64; 2]], ink: Ink, every: usize) {
        let wide = (self.size[0] * DOTS[0]) as f64;
        let high = (self.size[1] * DOTS[1]) as f64;
        if let [only] = points {
            self.dot(panel, *only, ink);
        }
        let mut drawn = 0;
        for pair in points.windows(2) {
            let [a, b] = [pair[0], pair[1]];
            if !a.iter().chain(&b).all(|it| it.is_finite()) {
                continue;
            }
            let across = (panel.x.place(b[0]) - panel.x.place(a[0])).abs() * wide;
            let down = (panel.y.place(b[1]) - panel.y.place(a[1])).abs() * high;
            let count = across.max(down).ceil().clamp(1.0, 1000.0) as usize;
            for at in 0..=count {
                drawn += 1;
                let part = at as f64 / count as f64;
                let point = [0, 1].map(|side| a[side] + part * (b[side] - a[side]));
                if drawn % every == 0 {
                    self.dot(panel, point, ink);
                }
            }
        }
    }

    fn dot(&mut self, panel: &Panel, [x, y]: [f64; 2], ink: Ink) {
        let places = [panel.x.place(x), 1.0 - panel.y.place(y)];
        if !places.iter().all(|place| (0.0..=1.0).contains(place)) {
            return;
        }
        let dot = [0, 1].map(|side| {
            let count = self.size[side] * DOTS[side];
            ((places[side] * count as f64) as usize).min(count - 1)
        });
        let [column, row] = [dot[0] / DOTS[0], dot[1] / DOTS[1]];
        let (signs, is_unicode) = (self.has_signs, self.screen.is_unicode);
        let cell = &mut self.cells[row * self.size[0] + column];
        cell.ink = Some(ink);
        match (signs, is_unicode, ink) {
            (true, _, Ink::Series(number)) => cell.letter = Some(SIGNS[number % SIGNS.len()]),
            (_, true, _) => cell.dots |= BRAILLE[dot[0] % DOTS[0]][dot[1] % DOTS[1]],
            (_, false, _) => cell.letter = Some('*'),
        }
    }

    /// An upright bar of blocks.
    fn bar(&mut self, panel: &Panel, ends: [f64; 2], height: f64, ink: Ink) {
        let wide = self.size[0];
        let [from, to] =
            ends.map(|end| (panel.x.place(end) * wide as f64).round().max(0.0) as usize);
        let from = from.min(wide - 1);
        let to = to.clamp(from + 1, wide);
        let share = panel.y.place(height);
        let eighths = (share.min(1.0) * (self.size[1] * 8) as f64).round() as usize;
        // What is there is to be seen.
        let eighths = eighths.max(usize::from(height > 0.0));
        for column in from..to {
            for row in 0..self.size[1] {
                let level = eighths.saturating_sub(8 * row).min(8);
                if level == 0 {
                    break;
                }
                let letter = match (
                    self.screen.is_unicode,
                    share > 1.0 && row == self.size[1] - 1,
                ) {
                    (true, true) => '▲',
                    (false, true) => '^',
                    (true, false) => BLOCKS[level],
                    (false, false) if level < 4 && row > 0 => break,
                    (false, false) => '#',
                };
                let down = self.size[1] - 1 - row;
                let cell = &mut self.cells[down * wide + column];
                (cell.letter, cell.ink) = (Some(letter), Some(ink));
            }
        }
    }

    fn shade(&mut self, panel: &Panel, [x, y]: [&[f64]; 2], values: &[f64]) {
        let Some(colours) = &panel.colours else {
            return;
        };
        let shades = self.shade_letters();
        let [columns, rows] = [x, y].map(|borders| borders.len().saturating_sub(1));
        let [wide, high] = self.size;
        for down in 0..high {
            for across in 0..wide {
                let column = across * columns / wide;
                let row = (high - 1 - down) * rows / high;
                let value = values.get(column * rows + row).copied().unwrap_or(f64::NAN);
                let share = colours.place(value).clamp(0.0, 1.0);
                if value.is_finite() {
                    let shade = (share * (shades.len() - 1) as f64).ceil() as usize;
                    let cell = &mut self.cells[down * wide + across];
                    (cell.letter, cell.ink) = (Some(shades[shade]), Some(Ink::Series(0)));
                }
            }
        }
    }

    /// A line of the plot, with colours.
    pub(super) fn line(&self, row: usize) -> String {
        let cells = &self.cells[row * self.size[0]..(row + 1) * self.size[0]];
        let parts = cells.chunk_by(|a, b| a.ink == b.ink).map(|part| {
            let letters: String = part.iter().map(|cell| cell.shown()).collect();
            match part[0].ink {
                Some(ink) => self.screen.inked(&letters, ink),
                None => letters,
            }
        });
        parts.collect()
    }
}

/// Blocks of no to eight eighths, from below.
const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A level bar of so many eighths of letters.
pub(super) fn level(eighths: usize) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    "█".repeat(eighths / 8) + PARTS[eighths % 8]
}

impl Cell {
    fn shown(&self) -> char {
        match (self.letter, self.dots) {
            (Some(letter), _) => letter,
            (None, 0) => ' ',
            (None, dots) => char::from_u32(0x2800 + u32::from(dots)).unwrap_or(' '),
        }
    }
}
