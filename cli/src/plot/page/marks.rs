//! Draws the marks of a panel into its plot.

use super::{Area, LINE, SMALL, line, text};
use crate::plot::{
    font::Weight,
    panel::{Bar, Mark, Panel},
    shapes::{Anchor, Colour, Point, Shape},
    theme::{Ink, Theme, viridis},
};
use std::collections::BTreeMap;

/// Width of the bar of a point mass.
const MASS: f64 = 7.0;

/// A plot, and where values lie in it.
struct Place<'a> {
    panel: &'a Panel,
    theme: Theme,
    inner: Area,
}

/// Draws them all.
pub(super) fn draw(panel: &Panel, theme: Theme, inner: Area, shapes: &mut Vec<Shape>) {
    let place = Place {
        panel,
        theme,
        inner,
    };
    let mut masses = 0;
    for mark in &panel.marks {
        match mark {
            Mark::Band {
                x,
                low,
                high,
                ink,
                opacity,
            } => place.band(x, [low, high], (*ink, *opacity), shapes),
            Mark::Line {
                points,
                ink,
                width,
                opacity,
            } => place.line(points, *ink, [*width, *opacity], shapes),
            Mark::Bars { bars, ink } => place.bars(bars, *ink, shapes),
            Mark::Rows { lengths, said, ink } => place.rows(lengths, said, *ink, shapes),
            Mark::Mass { at, height, said } => {
                place.mass(*at, *height, (said, masses), shapes);
                masses += 1;
            }
            Mark::Points { points, ink } => place.points(points, *ink, shapes),
            Mark::Cells { x, y, values } => place.cells(x, y, values, shapes),
        }
    }
}

impl Place<'_> {
    fn x(&self, value: f64) -> f64 {
        self.inner.left + self.panel.x.place(value) * self.inner.width()
    }

    fn y(&self, value: f64) -> f64 {
        self.inner.bottom - self.panel.y.place(value) * self.inner.height()
    }

    fn at(&self, [x, y]: [f64; 2]) -> Point {
        [self.x(x), self.y(y)]
    }

    fn colour(&self, ink: Ink) -> Colour {
        self.theme.ink(ink)
    }

    fn band(
        &self,
        x: &[f64],
        [low, high]: [&Vec<f64>; 2],
        (ink, opacity): (Ink, f64),
        shapes: &mut Vec<Shape>,
    ) {
        let known = |at: &usize| low[*at].is_finite() && high[*at].is_finite();
        for part in runs((0..x.len()).map(|at| known(&at).then_some(at))) {
            let there = part.iter().map(|&at| self.at([x[at], high[at]]));
            let back = part.iter().rev().map(|&at| self.at([x[at], low[at]]));
            shapes.push(Shape::Area {
                points: there.chain(back).collect(),
                colour: self.colour(ink),
                opacity,
            });
        }
    }

    fn line(
        &self,
        points: &[[f64; 2]],
        ink: Ink,
        [width, opacity]: [f64; 2],
        shapes: &mut Vec<Shape>,
    ) {
        let colour = self.colour(ink);
        let known = |point: &[f64; 2]| point.iter().all(|it| it.is_finite());
        for part in runs(points.iter().map(|point| known(point).then_some(*point))) {
            let points: Vec<Point> = part.into_iter().map(|point| self.at(point)).collect();
            shapes.push(match points.len() {
                1 => Shape::Dots {
                    centres: points,
                    colour,
                    radius: 1.5 * width,
                    opacity,
                },
                _ => Shape::Line {
                    points,
                    colour,
                    width,
                    opacity,
                },
            });
        }
    }

    fn bars(&self, bars: &[Bar], ink: Ink, shapes: &mut Vec<Shape>) {
        let corners = bars.iter().filter(|bar| bar.height > 0.0).map(|bar| {
            let [left, right] = [bar.from, bar.to].map(|it| self.x(it));
            // A line of background between bars, unless they are too narrow for it.
            let gap = if right - left > 4.0 { 1.0 } else { 0.0 };
            let top = self.y(bar.height).min(self.inner.bottom - 0.5);
            [
                [left, top],
                [(right - gap).max(left + 0.5), self.inner.bottom],
            ]
        });
        shapes.push(Shape::Rectangles {
            corners: corners.collect(),
            colour: self.colour(ink),
        });
    }

    fn rows(&self, lengths: &[f64], said: &[String], ink: Ink, shapes: &mut Vec<Shape>) {
        let high = self.y(0.0) - self.y(1.0);
        let half = (0.36 * high).min(16.0);
        let (left, middle) = (self.inner.left, |row: usize| self.y(row as f64));
        let some = lengths
            .iter()
            .enumerate()
            .filter(|(_, length)| **length > 0.0);
        let corners = some.map(|(row, &length)| {
            let right = self.x(length).max(left + 0.5);
            [[left, middle(row) - half], [right, middle(row) + half]]
        });
        shapes.push(Shape::Rectangles {
            corners: corners.collect(),
            colour: self.colour(ink),
        });
        let style = (SMALL, Weight::Regular, self.theme.label());
        for (row, (&length, said)) in lengths.iter().zip(said).enumerate() {
            let place = [self.x(length) + 6.0, middle(row) + 4.0];
            shapes.push(text(place, said.clone(), style, Anchor::Start));
        }
    }

    /// The bar of a point mass, with a gap in it where it is higher than the plot.
    fn mass(
        &self,
        value: f64,
        height: f64,
        (said, before): (&str, usize),
        shapes: &mut Vec<Shape>,
    ) {
        let x = self.x(value);
        let top = self.y(height).max(self.inner.top);
        let colour = self.colour(Ink::Accent);
        let [left, right] = [x - 0.5 * MASS, x + 0.5 * MASS];
        shapes.push(Shape::Area {
            points: vec![
                [left, self.inner.bottom],
                [left, top],
                [right, top],
                [right, self.inner.bottom],
            ],
            colour,
            opacity: 1.0,
        });
        if height > self.panel.y.range[1] {
            let gap = top + 22.0;
            let slope = vec![[left - 4.0, gap + 4.0], [right + 4.0, gap - 4.0]];
            shapes.push(line(slope, self.theme.background(), 4.0));
        }
        let is_left = self.panel.x.place(value) < 0.5;
        let (anchor, beside) = match is_left {
            true => (Anchor::Start, right + 6.0),
            false => (Anchor::End, left - 6.0),
        };
        let style = (SMALL, Weight::Bold, colour);
        let place = [beside, self.inner.top + 10.0 + LINE * before as f64];
        shapes.push(text(place, said.to_owned(), style, anchor));
    }

    fn points(&self, points: &[[f64; 2]], ink: Ink, shapes: &mut Vec<Shape>) {
        let known = points
            .iter()
            .filter(|point| point.iter().all(|it| it.is_finite()));
        let centres: Vec<Point> = known.map(|&point| self.at(point)).collect();
        let (radius, opacity) = match centres.len() {
            0..=300 => (2.6, 0.85),
            301..=1500 => (2.0, 0.6),
            _ => (1.5, 0.4),
        };
        shapes.push(Shape::Dots {
            centres,
            colour: self.colour(ink),
            radius,
            opacity,
        });
    }

    /// The cells of a heat map, those of one colour together.
    fn cells(&self, x: &[f64], y: &[f64], values: &[f64], shapes: &mut Vec<Shape>) {
        let Some(colours) = &self.panel.colours else {
            return;
        };
        // Colours that are nearer to each other look the same.
        const COLOURS: f64 = 64.0;
        let rows = y.len().saturating_sub(1);
        let mut found: BTreeMap<u32, Vec<[Point; 2]>> = BTreeMap::new();
        for (column, edges) in x.windows(2).enumerate() {
            let colour = |row: usize| {
                let value = *values.get(column * rows + row)?;
                let share = colours.place(value).clamp(0.0, 1.0);
                value
                    .is_finite()
                    .then_some((share * (COLOURS - 1.0)).round() as u32)
            };
            let [left, right] = [edges[0], edges[1]].map(|it| self.x(it));
            let mut row = 0;
            while row < rows {
                let first = row;
                let same = colour(first);
                while row < rows && colour(row) == same {
                    row += 1;
                }
                if let Some(same) = same {
                    let corners = [[left, self.y(y[row])], [right, self.y(y[first])]];
                    found.entry(same).or_default().push(corners);
                }
            }
        }
        shapes.extend(
            found
                .into_iter()
                .map(|(colour, corners)| Shape::Rectangles {
                    corners,
                    colour: viridis(f64::from(colour) / (COLOURS - 1.0)),
                }),
        );
    }
}

/// The runs of values without a gap.
fn runs<T>(values: impl Iterator<Item = Option<T>>) -> Vec<Vec<T>> {
    let mut all = vec![Vec::new()];
    for value in values {
        match (value, all.last_mut()) {
            (Some(value), Some(last)) => last.push(value),
            (Some(_), None) => {}
            (None, _) => all.push(Vec::new()),
        }
    }
    all.retain(|run| !run.is_empty());
    all
}
