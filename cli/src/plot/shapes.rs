//! What a picture consists of once all is laid out: shapes in points from its upper left corner.

use super::font::Weight;

/// Red, green and blue.
pub(super) type Colour = [u8; 3];

/// A place, to the right and down.
pub(super) type Point = [f64; 2];

/// A picture.
#[derive(Debug)]
pub(super) struct Drawing {
    /// Its width and height.
    pub(super) size: Point,
    /// What it shows, for those who do not see it.
    pub(super) title: String,
    /// The colour behind all shapes.
    pub(super) background: Colour,
    /// From the hindmost to the foremost.
    pub(super) shapes: Vec<Shape>,
}

/// A shape.
#[derive(Debug)]
pub(super) enum Shape {
    /// A line through points.
    Line {
        points: Vec<Point>,
        colour: Colour,
        width: f64,
        opacity: f64,
    },
    /// The inside of a line through points.
    Area {
        points: Vec<Point>,
        colour: Colour,
        opacity: f64,
    },
    /// Rectangles of one colour, by their least and greatest coordinates.
    Rectangles {
        corners: Vec<[Point; 2]>,
        colour: Colour,
    },
    /// Discs.
    Dots {
        centres: Vec<Point>,
        colour: Colour,
        radius: f64,
        opacity: f64,
    },
    /// A line of text.
    Text(Text),
}

/// A line of text.
#[derive(Debug)]
pub(super) struct Text {
    /// The point of its base line that `anchor` says.
    pub(super) at: Point,
    pub(super) text: String,
    pub(super) size: f64,
    pub(super) weight: Weight,
    pub(super) anchor: Anchor,
    pub(super) colour: Colour,
    /// Does it run upward?
    pub(super) upward: bool,
}

/// Which point of a line of text is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}
