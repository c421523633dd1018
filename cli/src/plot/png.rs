//! A drawing as a PNG file: the same shapes as in SVG, painted here, with the embedded font.

use super::{
    font,
    shapes::{Anchor, Colour, Drawing, Point, Shape, Text},
};
use tiny_skia::{
    Color, FillRule, LineJoin, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, Transform,
};

/// Pixels of a point: screens with fine pixels show two where others show one.
pub(super) const PIXELS: f64 = 2.0;

/// The bytes of the file.
///
/// # Errors
/// In words, if there is not enough memory.
pub(super) fn png(drawing: &Drawing) -> Result<Vec<u8>, String> {
    let [width, height] = drawing.size.map(|length| (length * PIXELS).round() as u32);
    let canvas = Pixmap::new(width, height);
    let mut canvas = canvas.ok_or_else(|| format!("{width} by {height} pixels are too many"))?;
    let [red, green, blue] = drawing.background;
    canvas.fill(Color::from_rgba8(red, green, blue, 255));
    for shape in &drawing.shapes {
        draw(shape, &mut canvas);
    }
    canvas.encode_png().map_err(|error| error.to_string())
}

fn draw(shape: &Shape, canvas: &mut Pixmap) {
    let scale = Transform::from_scale(PIXELS as f32, PIXELS as f32);
    match shape {
        Shape::Line {
            points,
            colour,
            width,
            opacity,
        } => {
            let stroke = Stroke {
                width: *width as f32,
                line_join: LineJoin::Round,
                ..Stroke::default()
            };
            if let Some(path) = path(points, false) {
                canvas.stroke_path(&path, &paint(*colour, *opacity), &stroke, scale, None);
            }
        }
        Shape::Area {
            points,
            colour,
            opacity,
        } => {
            if let Some(path) = path(points, true) {
                let paint = paint(*colour, *opacity);
                canvas.fill_path(&path, &paint, FillRule::Winding, scale, None);
            }
        }
        Shape::Rectangles { corners, colour } => {
            let mut paint = paint(*colour, 1.0);
            // Neighbours share their edges: a pixel belongs to one of them.
            paint.anti_alias = false;
            for &[low, high] in corners {
                let [[left, top], [right, bottom]] =
                    [low, high].map(|corner| corner.map(|it| (it * PIXELS).round() as f32));
                if let Some(rectangle) = Rect::from_ltrb(left, top, right, bottom) {
                    canvas.fill_rect(rectangle, &paint, Transform::identity(), None);
                }
            }
        }
        Shape::Dots {
            centres,
            colour,
            radius,
            opacity,
        } => {
            let paint = paint(*colour, *opacity);
            for [x, y] in centres {
                let disc = PathBuilder::from_circle(*x as f32, *y as f32, *radius as f32);
                if let Some(disc) = disc {
                    canvas.fill_path(&disc, &paint, FillRule::Winding, scale, None);
                }
            }
        }
        Shape::Text(text) => write(text, canvas),
    }
}

fn write(text: &Text, canvas: &mut Pixmap) {
    let mut outline = Outline(PathBuilder::new());
    font::outline(&text.text, text.weight, &mut outline);
    let Some(path) = outline.0.finish() else {
        return;
    };
    let width = font::width(&text.text, text.size, text.weight);
    let before = match text.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => width / 2.0,
        Anchor::End => width,
    };
    let [x, y] = text.at.map(|it| (it * PIXELS) as f32);
    let turn = if text.upward { -90.0 } else { 0.0 };
    let size = (text.size * PIXELS) as f32;
    let placed = Transform::from_translate(x, y)
        .pre_rotate(turn)
        .pre_translate((-before * PIXELS) as f32, 0.0)
        .pre_scale(size, -size);
    let paint = paint(text.colour, 1.0);
    canvas.fill_path(&path, &paint, FillRule::Winding, placed, None);
}

/// The outline of a text as a path.
struct Outline(PathBuilder);

impl ttf_parser::OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        self.0.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.0.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.0.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.0.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.0.close();
    }
}

fn path(points: &[Point], closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (at, [x, y]) in points.iter().enumerate() {
        let (x, y) = (*x as f32, *y as f32);
        match at {
            0 => path.move_to(x, y),
            _ => path.line_to(x, y),
        }
    }
    if closed {
        path.close();
    }
    path.finish()
}

fn paint([red, green, blue]: Colour, opacity: f64) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(red, green, blue, (opacity * 255.0).round() as u8);
    paint.anti_alias = true;
    paint
}
