//! A drawing as SVG text. Equal drawings give equal text.

use super::{
    font::Weight,
    shapes::{Anchor, Colour, Drawing, Point, Shape, Text},
};
use std::fmt::Write;

/// The embedded font first, for whoever has it; then those that are about as wide.
const FAMILY: &str = "Inter, 'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif";

/// The text of the file.
pub(super) fn svg(drawing: &Drawing) -> String {
    let [width, height] = drawing.size.map(number);
    let title = escaped(&drawing.title);
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 \
         {width} {height}\" font-family=\"{FAMILY}\" role=\"img\">\n<title>{title}</title>\n<rect \
         width=\"{width}\" height=\"{height}\" fill=\"{}\"/>",
        hex(drawing.background)
    );
    for shape in &drawing.shapes {
        let _ = match shape {
            Shape::Line {
                points,
                colour,
                width,
                opacity,
            } => writeln!(
                out,
                "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" \
                 stroke-linejoin=\"round\"{}/>",
                path(points),
                hex(*colour),
                number(*width),
                faint("stroke-opacity", *opacity)
            ),
            Shape::Area {
                points,
                colour,
                opacity,
            } => writeln!(
                out,
                "<path d=\"{}Z\" fill=\"{}\"{}/>",
                path(points),
                hex(*colour),
                faint("fill-opacity", *opacity)
            ),
            Shape::Rectangles { corners, colour } => writeln!(
                out,
                "<path d=\"{}\" fill=\"{}\" shape-rendering=\"crispEdges\"/>",
                corners.iter().map(rectangle).collect::<String>(),
                hex(*colour)
            ),
            Shape::Dots {
                centres,
                colour,
                radius,
                opacity,
            } => writeln!(
                // A line of no length with round ends is a disc, and shorter than a circle's element.
                out,
                "<path d=\"{}\" stroke=\"{}\" stroke-width=\"{}\" stroke-linecap=\"round\"{}/>",
                centres.iter().map(dot).collect::<String>(),
                hex(*colour),
                number(2.0 * radius),
                faint("stroke-opacity", *opacity)
            ),
            Shape::Text(text) => writeln!(out, "{}", line_of_text(text)),
        };
    }
    out.push_str("</svg>\n");
    out
}

fn line_of_text(text: &Text) -> String {
    let [x, y] = text.at.map(number);
    let anchor = match text.anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let weight = match text.weight {
        Weight::Regular => "",
        Weight::Bold => " font-weight=\"600\"",
    };
    let turned = match text.upward {
        true => format!(" transform=\"rotate(-90 {x} {y})\""),
        false => String::new(),
    };
    format!(
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\" fill=\"{}\"{anchor}{weight}{turned}>{}</text>",
        number(text.size),
        hex(text.colour),
        escaped(&text.text)
    )
}

fn path(points: &[Point]) -> String {
    let mut text = String::with_capacity(points.len() * 12);
    for (at, [x, y]) in points.iter().enumerate() {
        let word = if at == 0 { 'M' } else { 'L' };
        let _ = write!(text, "{word}{} {}", number(*x), number(*y));
    }
    text
}

fn rectangle([low, high]: &[Point; 2]) -> String {
    let [x, y] = low.map(number);
    let (width, height) = (number(high[0] - low[0]), number(high[1] - low[1]));
    format!("M{x} {y}h{width}v{height}h-{width}z")
}

fn dot([x, y]: &Point) -> String {
    format!("M{} {}h0", number(*x), number(*y))
}

fn faint(name: &str, opacity: f64) -> String {
    match opacity < 1.0 {
        true => format!(" {name}=\"{}\"", number(opacity)),
        false => String::new(),
    }
}

fn hex([red, green, blue]: Colour) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// With at most two digits after the point, and no zeros there.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match text {
        "-0" => "0".to_owned(),
        text => text.to_owned(),
    }
}

/// As a document of XML may have it, which has no control characters.
fn escaped(text: &str) -> String {
    let mut found = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => found.push_str("&amp;"),
            '<' => found.push_str("&lt;"),
            '>' => found.push_str("&gt;"),
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => {
                found.push(' ')
            }
            letter => found.push(letter),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(number(12.0), "12");
        assert_eq!(number(-0.001), "0");
        assert_eq!(number(0.125), "0.12");
        assert_eq!(number(1234.5), "1234.5");
    }

    #[test]
    fn text_of_a_model_is_no_markup() {
        assert_eq!(escaped("a < b && c\u{1}"), "a &lt; b &amp;&amp; c ");
    }
}
