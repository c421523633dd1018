//! Lays a page out: where its panels stand, what room their labels take, and how large it is.

mod marks;

use super::{
    font::{self, Weight},
    panel::{Mark, Page, Panel},
    scale::{Axis, Kind, Ticks},
    shapes::{Anchor, Colour, Drawing, Point, Shape, Text},
    theme::{Ink, Theme, viridis},
};

/// Between the page's border and what stands on it.
const MARGIN: f64 = 28.0;
/// Between panels.
const GAP: f64 = 32.0;
/// Sizes of letters.
const TITLE: f64 = 19.0;
const SUBTITLE: f64 = 12.5;
const HEADING: f64 = 14.0;
const LABEL: f64 = 12.0;
const SMALL: f64 = 11.0;
/// From a line of small letters to the next.
const LINE: f64 = 16.0;
/// The colours of a heat map, and the room before them.
const BAR: f64 = 12.0;
const BEFORE_BAR: f64 = 14.0;

/// A part of the page.
#[derive(Clone, Copy, Debug)]
struct Area {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Area {
    fn width(self) -> f64 {
        self.right - self.left
    }

    fn height(self) -> f64 {
        self.bottom - self.top
    }
}

/// Draws a page; where no size is asked for, as large as its panels need.
pub(super) fn drawing(page: &Page, theme: Theme, size: Option<[u32; 2]>) -> Drawing {
    let count = page.panels.len().max(1);
    let [columns, rows] = grid(count);
    let default = match count {
        1 => [760.0, 480.0],
        _ => [
            2.0 * MARGIN + columns as f64 * 400.0 + (columns - 1) as f64 * GAP,
            2.0 * MARGIN + 48.0 + rows as f64 * 290.0 + (rows - 1) as f64 * GAP,
        ],
    };
    let [width, height] = size.map_or(default, |size| size.map(f64::from));
    let mut shapes = Vec::new();
    let top = heading(page, theme, width, &mut shapes);
    let inner = width - 2.0 * MARGIN - (columns - 1) as f64 * GAP;
    let down = height - MARGIN - top - (rows - 1) as f64 * GAP;
    let [wide, high] = [inner / columns as f64, down / rows as f64];
    for (at, panel) in page.panels.iter().enumerate() {
        let row = at / columns * columns;
        let beside = &page.panels[row..(row + columns).min(count)];
        let most = |lines: fn(&Panel, f64) -> usize| {
            let each = beside.iter().map(|panel| lines(panel, wide));
            each.max().unwrap_or_default() as f64 * LINE
        };
        let left = MARGIN + (at % columns) as f64 * (wide + GAP);
        let top = top + (at / columns) as f64 * (high + GAP);
        let area = Area {
            left,
            top,
            right: left + wide,
            bottom: top + high,
        };
        let mut plot = Plot {
            panel,
            theme,
            shapes: &mut shapes,
        };
        // Plots beside each other begin and end at the same heights.
        plot.draw(area, [most(lines_above), most(lines_below)]);
    }
    Drawing {
        size: [width, height],
        title: format!("{} ({})", page.title, page.subtitle),
        background: theme.background(),
        shapes,
    }
}

/// Columns and rows for so many panels.
fn grid(count: usize) -> [usize; 2] {
    let columns = match count {
        0..=1 => 1,
        2 | 4 => 2,
        3 | 5..=9 => 3,
        _ => 4,
    };
    [columns, count.div_ceil(columns)]
}

/// Writes title and subtitle, and says where the panels begin.
fn heading(page: &Page, theme: Theme, width: f64, shapes: &mut Vec<Shape>) -> f64 {
    let most = width - 2.0 * MARGIN;
    let title = font::cut(&page.title, TITLE, Weight::Bold, most);
    let mut at = MARGIN + 14.0;
    if !title.is_empty() {
        let style = (TITLE, Weight::Bold, theme.title());
        shapes.push(text([MARGIN, at], title, style, Anchor::Start));
        at += 22.0;
    }
    let style = (SUBTITLE, Weight::Regular, theme.note());
    let subtitle = font::cut(&page.subtitle, SUBTITLE, Weight::Regular, most);
    shapes.push(text([MARGIN, at], subtitle, style, Anchor::Start));
    at + 22.0
}

/// A panel that is being drawn.
struct Plot<'a> {
    panel: &'a Panel,
    theme: Theme,
    shapes: &'a mut Vec<Shape>,
}

impl Plot<'_> {
    fn draw(&mut self, area: Area, [above, below]: [f64; 2]) {
        self.header(area);
        if self.panel.is_empty() {
            return;
        }
        let (top, below) = (area.top + 26.0 + above, 20.0 + below);
        let high = (area.bottom - below - top).max(20.0);
        let y_ticks = self.panel.y.ticks((high / 32.0) as usize);
        let left = self.left_of(&y_ticks);
        let mut inner = Area {
            left: area.left + left,
            top,
            right: area.right - self.right_of(high),
            bottom: top + high,
        };
        inner.right = inner.right.max(inner.left + 20.0);
        let x_ticks = fitting(&self.panel.x, inner.width());
        self.grid(inner, &x_ticks, &y_ticks);
        marks::draw(self.panel, self.theme, inner, self.shapes);
        self.foot(inner, &x_ticks);
        self.side(area, inner, &y_ticks);
        self.colours(inner);
    }

    /// The title, the note and the key.
    fn header(&mut self, area: Area) {
        let (theme, most) = (self.theme, area.width());
        let title = font::cut(&self.panel.title, HEADING, Weight::Bold, most);
        let style = (HEADING, Weight::Bold, theme.title());
        let mut at = area.top + 12.0;
        self.shapes
            .push(text([area.left, at], title, style, Anchor::Start));
        let style = (SMALL, Weight::Regular, theme.note());
        for line in font::wrap(&self.panel.note, SMALL, Weight::Regular, most, 2) {
            at += LINE;
            self.shapes
                .push(text([area.left, at], line, style, Anchor::Start));
        }
        for ((row, right, name), (ink, _)) in key(self.panel, most).into_iter().zip(&self.panel.key)
        {
            let (x, y) = (area.left + right, at + LINE * (row + 1) as f64);
            let points = vec![[x, y - 4.0], [x + 14.0, y - 4.0]];
            self.shapes.push(line(points, theme.ink(*ink), 3.0));
            let style = (SMALL, Weight::Regular, theme.label());
            self.shapes
                .push(text([x + 20.0, y], name, style, Anchor::Start));
        }
    }

    /// The room that the values and the label of the upright axis take.
    fn left_of(&self, ticks: &Ticks) -> f64 {
        let label = match self.panel.y.label_with(ticks).is_empty() {
            true => 0.0,
            false => 20.0,
        };
        label + widest(&ticks.labels).min(140.0) + 8.0
    }

    /// The room right of the plot.
    fn right_of(&self, high: f64) -> f64 {
        let ends = self.panel.marks.iter().map(|mark| match mark {
            Mark::Rows { said, .. } => widest(said) + 8.0,
            _ => 0.0,
        });
        let ends = ends.fold(6.0, f64::max);
        let Some(colours) = &self.panel.colours else {
            return ends;
        };
        let ticks = colours.ticks((high / 32.0) as usize);
        let label = match colours.label_with(&ticks).is_empty() {
            true => 0.0,
            false => 18.0,
        };
        BEFORE_BAR + BAR + 6.0 + widest(&ticks.labels) + label
    }

    fn grid(&mut self, inner: Area, x_ticks: &Ticks, y_ticks: &Ticks) {
        let has = |wanted: fn(&Mark) -> bool| self.panel.marks.iter().any(wanted);
        let is_map = has(|mark| matches!(mark, Mark::Cells { .. }));
        let has_bars = has(|mark| matches!(mark, Mark::Bars { .. } | Mark::Mass { .. }));
        let has_rows = has(|mark| matches!(mark, Mark::Rows { .. }));
        let colour = self.theme.grid();
        if !is_map && !has_rows {
            for &value in &y_ticks.at {
                let y = (inner.bottom - self.panel.y.place(value) * inner.height()).round() + 0.5;
                let points = vec![[inner.left, y], [inner.right, y]];
                self.shapes.push(line(points, colour, 1.0));
            }
        }
        if !is_map && !has_bars {
            for &value in &x_ticks.at {
                let x = (inner.left + self.panel.x.place(value) * inner.width()).round() + 0.5;
                let points = vec![[x, inner.top], [x, inner.bottom]];
                self.shapes.push(line(points, colour, 1.0));
            }
        }
    }

    /// The line at the foot, and what is written below it.
    fn foot(&mut self, inner: Area, ticks: &Ticks) {
        let y = inner.bottom.round() + 0.5;
        let points = vec![[inner.left, y], [inner.right, y]];
        self.shapes.push(line(points, self.theme.axis(), 1.0));
        let style = (SMALL, Weight::Regular, self.theme.note());
        for (&value, label) in ticks.at.iter().zip(&ticks.labels) {
            let x = inner.left + self.panel.x.place(value) * inner.width();
            let place = [x, inner.bottom + 16.0];
            self.shapes
                .push(text(place, label.clone(), style, Anchor::Middle));
        }
        let label = self.panel.x.label_with(ticks);
        let style = (LABEL, Weight::Regular, self.theme.label());
        let middle = 0.5 * (inner.left + inner.right);
        for (at, label) in (1..).zip(font::wrap(&label, LABEL, Weight::Regular, inner.width(), 2)) {
            let place = [middle, inner.bottom + 18.0 + LINE * f64::from(at)];
            self.shapes.push(text(place, label, style, Anchor::Middle));
        }
    }

    /// What is written left of the plot.
    fn side(&mut self, area: Area, inner: Area, ticks: &Ticks) {
        let style = (SMALL, Weight::Regular, self.theme.note());
        for (&value, label) in ticks.at.iter().zip(&ticks.labels) {
            let y = inner.bottom - self.panel.y.place(value) * inner.height() + 4.0;
            let label = font::cut(label, SMALL, Weight::Regular, 140.0);
            self.shapes
                .push(text([inner.left - 8.0, y], label, style, Anchor::End));
        }
        let label = self.panel.y.label_with(ticks);
        self.upward(label, area.left + 10.0, inner);
    }

    /// The colours of a heat map, or of many curves.
    fn colours(&mut self, inner: Area) {
        let Some(colours) = &self.panel.colours else {
            return;
        };
        const STEPS: usize = 64;
        let is_map = |mark: &Mark| matches!(mark, Mark::Cells { .. });
        let colour = |share: f64| match self.panel.marks.iter().any(is_map) {
            true => viridis(share),
            false => self.theme.ink(Ink::Scale((share * 255.0).round() as u8)),
        };
        let left = inner.right + BEFORE_BAR;
        let y = |share: f64| inner.bottom - share * inner.height();
        for step in 0..STEPS {
            let [low, high] = [step, step + 1].map(|step| y(step as f64 / STEPS as f64));
            self.shapes.push(Shape::Rectangles {
                corners: vec![[[left, high], [left + BAR, low]]],
                colour: colour((step as f64 + 0.5) / STEPS as f64),
            });
        }
        let ticks = colours.ticks((inner.height() / 32.0) as usize);
        let style = (SMALL, Weight::Regular, self.theme.note());
        for (&value, label) in ticks.at.iter().zip(&ticks.labels) {
            let place = [left + BAR + 6.0, y(colours.place(value)) + 4.0];
            self.shapes
                .push(text(place, label.clone(), style, Anchor::Start));
        }
        let label = colours.label_with(&ticks);
        self.upward(
            label,
            left + BAR + 6.0 + widest(&ticks.labels) + 15.0,
            inner,
        );
    }

    /// A label that runs upward beside the plot.
    fn upward(&mut self, label: String, x: f64, inner: Area) {
        let label = font::cut(&label, LABEL, Weight::Regular, 0.96 * inner.height());
        self.shapes.push(Shape::Text(Text {
            at: [x, 0.5 * (inner.top + inner.bottom)],
            text: label,
            size: LABEL,
            weight: Weight::Regular,
            anchor: Anchor::Middle,
            colour: self.theme.label(),
            upward: true,
        }));
    }
}

/// Lines of small letters above a plot: its note and its key.
fn lines_above(panel: &Panel, width: f64) -> usize {
    let note = font::wrap(&panel.note, SMALL, Weight::Regular, width, 2).len();
    note + key(panel, width).last().map_or(0, |(row, ..)| row + 1)
}

/// Lines of the label below a plot.
fn lines_below(panel: &Panel, width: f64) -> usize {
    font::wrap(&panel.x.label, LABEL, Weight::Regular, width - 70.0, 2).len()
}

/// The names of the key, each with its row and how far from the left it begins.
fn key(panel: &Panel, width: f64) -> Vec<(usize, f64, String)> {
    let (mut row, mut right) = (0, 0.0);
    let place = |(_, name): &(_, String)| {
        let name = font::cut(name, SMALL, Weight::Regular, width - 40.0);
        let wide = 22.0 + font::width(&name, SMALL, Weight::Regular);
        if right > 0.0 && right + wide > width {
            (row, right) = (row + 1, 0.0);
        }
        let from = right;
        right += wide + 16.0;
        (row, from, name)
    };
    panel.key.iter().map(place).collect()
}

/// As many ticks as fit side by side.
fn fitting(axis: &Axis, width: f64) -> Ticks {
    let mut count = ((width / 44.0) as usize).clamp(2, 12);
    loop {
        let ticks = axis.ticks(count);
        let gap = match ticks.at.as_slice() {
            [first, second, ..] => (axis.place(*second) - axis.place(*first)).abs() * width,
            _ => width,
        };
        if widest(&ticks.labels) + 12.0 <= gap {
            return ticks;
        }
        if count == 2 || matches!(axis.kind, Kind::Names(_)) {
            return thinned(ticks, gap);
        }
        count -= 1;
    }
}

/// Every second of the ticks, or every third and so on, so that they fit this far apart.
fn thinned(ticks: Ticks, gap: f64) -> Ticks {
    let every = ((widest(&ticks.labels) + 12.0) / gap.max(1e-9))
        .ceil()
        .max(1.0) as usize;
    Ticks {
        at: ticks.at.into_iter().step_by(every).collect(),
        labels: ticks.labels.into_iter().step_by(every).collect(),
        power: ticks.power,
    }
}

fn widest(labels: &[String]) -> f64 {
    let widths = labels
        .iter()
        .map(|label| font::width(label, SMALL, Weight::Regular));
    widths.fold(0.0, f64::max)
}

fn line(points: Vec<Point>, colour: Colour, width: f64) -> Shape {
    Shape::Line {
        points,
        colour,
        width,
        opacity: 1.0,
    }
}

/// A level line of text.
fn text(
    at: Point,
    text: String,
    (size, weight, colour): (f64, Weight, Colour),
    anchor: Anchor,
) -> Shape {
    Shape::Text(Text {
        at,
        text,
        size,
        weight,
        anchor,
        colour,
        upward: false,
    })
}
