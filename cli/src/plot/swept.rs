//! Panels of a sweep: an output's mean over one param as a curve, over two params of a grid as a heat map,
//! over others as points against each param; and curves of series, one for each point.

use super::{
    choice::{Quantity, Source, Subject},
    distribution::sampled,
    label,
    panel::{Mark, Panel, axis_over, curve, extent, heat_map},
    scale::{Axis, Kind, percent, separated, short},
    theme::{Ink, SERIES},
};
use sim_compiler::manifest::{Field, SeriesOf};

/// Values of an output that have statistics of their own; a larger one has one row over all of them.
const MOST_ROWS: usize = 16;
/// Elements of an output or series that have panels of their own.
const MOST_ELEMENTS: usize = 4;
/// Points of a sweep that are marked on a curve.
const MARKED: usize = 60;
/// Points of a scatter plot, about.
const MOST_POINTS: usize = 4000;
/// Curves of a series, and samples of each.
const MOST_CURVES: usize = 60;
const MOST_SAMPLES: usize = 400;
/// Parts of the points in which means are taken, and points that each has at least on average.
const PARTS: usize = 10;
const POINTS_OF_PART: usize = 5;
/// The share of an axis that is left free at its ends, so that points there are whole.
const ROOM: f64 = 0.02;

/// What a sweep gave.
pub(crate) struct Swept<'a> {
    pub(crate) axes: Vec<SweptAxis<'a>>,
    /// Are the points all combinations of values?
    pub(crate) is_grid: bool,
    /// The outputs, of agents and then of worlds.
    pub(crate) fields: Vec<&'a Field>,
    /// By row of them.
    pub(crate) outputs: Vec<Means>,
    /// By series and then by row of one: by point.
    pub(crate) series: Vec<Vec<Vec<Curve>>>,
    /// How large the sweep is.
    pub(crate) subtitle: String,
    /// What a mean is of: `1,000 agents`, `50 worlds`.
    pub(crate) owners: [String; 2],
}

/// A param that was swept.
pub(crate) struct SweptAxis<'a> {
    /// `sigma`, `w[3]`.
    pub(crate) name: String,
    pub(crate) field: &'a Field,
    /// By point.
    pub(crate) values: Vec<f64>,
}

/// Means of an output with their standard errors, by point; NaN where there is none.
pub(crate) struct Means {
    pub(crate) mean: Vec<f64>,
    pub(crate) error: Vec<f64>,
}

/// A value over steps, at one point; empty where it has no results.
#[derive(Default)]
pub(crate) struct Curve {
    pub(crate) steps: Vec<u32>,
    pub(crate) values: Vec<f64>,
}

impl SweptAxis<'_> {
    fn label(&self) -> String {
        match label::label(&self.field.doc) {
            none if none.is_empty() => self.name.clone(),
            label => format!("{} · {label}", self.name),
        }
    }

    /// Names of its values 0, 1 and so on, if they have names.
    fn names(&self) -> Option<Vec<String>> {
        match self.field.scalar {
            sim_compiler::manifest::Scalar::Bool => {
                Some(vec!["false".to_owned(), "true".to_owned()])
            }
            _ if self.field.variants.is_empty() => None,
            _ => Some(self.field.variants.clone()),
        }
    }

    /// A value as it is said.
    fn said(&self, value: f64) -> String {
        let named = self.names();
        let name = named.and_then(|names| names.get(value as usize).cloned());
        name.unwrap_or_else(|| short(value))
    }

    /// Its values in order, each once.
    fn places(&self) -> Vec<f64> {
        let mut places = self.values.clone();
        places.sort_by(f64::total_cmp);
        places.dedup();
        places
    }

    /// The axis of a plot.
    fn axis(&self) -> Axis {
        let axis = axis_over(&self.label(), self.values.iter().copied());
        match self.names() {
            Some(names) => {
                let last = names.len() as f64 - 1.0;
                Axis::new(self.label(), -0.5, last + 0.5).of(Kind::Names(names))
            }
            None if is_geometric(&self.places()) => {
                let [low, high] = axis.range;
                let room = (high / low).powf(ROOM);
                let mut axis = axis.of(Kind::Logarithms);
                axis.range = [low / room, high * room];
                axis
            }
            None => {
                let [low, high] = axis.range;
                let room = ROOM * (high - low);
                let mut axis = axis;
                axis.range = [low - room, high + room];
                axis
            }
        }
    }

    /// That of the colours of its values.
    fn colours(&self) -> Axis {
        match self.axis() {
            named @ Axis {
                kind: Kind::Names(_),
                ..
            } => named,
            axis => {
                let values = axis_over(&self.label(), self.values.iter().copied());
                values.of(axis.kind)
            }
        }
    }
}

/// Are these positive numbers at equal ratios, over a decade or more?
fn is_geometric(places: &[f64]) -> bool {
    let [first, second, .., last] = *places else {
        return false;
    };
    let ratio = second / first;
    let is_equal = |pair: &[f64]| (pair[1] / pair[0] / ratio - 1.0).abs() < 0.02;
    first > 0.0 && last / first >= 10.0 && places.windows(2).all(is_equal)
}

/// The panels of a subject.
pub(super) fn panels(swept: &Swept<'_>, subject: &Subject) -> Vec<Panel> {
    let fields = &swept.fields;
    match subject {
        Subject::Alone(quantity) => match quantity.source {
            Source::Output | Source::WorldOutput => of_output(swept, quantity, fields),
            Source::Series { number, of, .. } => of_series(swept, quantity, (number, of)),
        },
        Subject::Pair(pair) => against(swept, pair, fields).into_iter().collect(),
        // Refused before the sweep.
        Subject::Together(_) => Vec::new(),
    }
}

/// The rows of a quantity among those of all outputs, and what each is called.
fn rows(quantity: &Quantity, fields: &[&Field]) -> Vec<(usize, String)> {
    let count = |field: &Field| match field.values() as usize {
        many if many > MOST_ROWS => 1,
        few => few,
    };
    let is_own = |field: &&&Field| field.name == quantity.field.name;
    let before = fields.iter().take_while(|field| !is_own(field));
    let first: usize = before.map(|field| count(field)).sum();
    match (count(&quantity.field), quantity.element) {
        (1, _) => vec![(first, quantity.field.name.clone())],
        (_, Some(element)) => vec![(first + element, quantity.name())],
        (_, None) => (quantity.elements().iter().enumerate())
            .map(|(at, element)| (first + at, element.name()))
            .collect(),
    }
}

/// What an element is: the comment about all of them, or its name.
fn label_of(quantity: &Quantity, name: &str) -> String {
    match label::label(&quantity.field.doc) {
        none if none.is_empty() => name.to_owned(),
        label => label,
    }
}

/// The panels of an output.
fn of_output(swept: &Swept<'_>, quantity: &Quantity, fields: &[&Field]) -> Vec<Panel> {
    let rows = rows(quantity, fields);
    if let ([axis], true) = (swept.axes.as_slice(), rows.len() > MOST_ELEMENTS) {
        return vec![of_elements(swept, axis, quantity, &rows)];
    }
    let owner = match quantity.source {
        Source::WorldOutput => &swept.owners[1],
        Source::Output | Source::Series { .. } => &swept.owners[0],
    };
    let mut panels = Vec::new();
    for (row, name) in rows.iter().take(MOST_ELEMENTS) {
        let means = &swept.outputs[*row];
        let of = format!("mean of {owner}");
        let label = &label_of(quantity, name);
        match swept.axes.as_slice() {
            [axis] => panels.push(over_one(axis, name, label, &of, means)),
            [x, y] if swept.is_grid => panels.push(over_two([x, y], name, label, &of, means)),
            all => panels.extend(all.iter().map(|axis| over_each(axis, name, label, means))),
        }
    }
    panels
}

/// A mean over one param, with a band of two standard errors to each side.
fn over_one(axis: &SweptAxis<'_>, name: &str, label: &str, of: &str, means: &Means) -> Panel {
    let mut order: Vec<usize> = (0..axis.values.len()).collect();
    order.sort_by(|&a, &b| axis.values[a].total_cmp(&axis.values[b]));
    let sorted = |values: &[f64]| -> Vec<f64> { order.iter().map(|&at| values[at]).collect() };
    let [x, mean, error] = [&axis.values, &means.mean, &means.error].map(|it| sorted(it));
    let spread: Vec<f64> = error.iter().map(|error| 2.0 * error).collect();
    let mut panel = curve(name, [&axis.label(), label], &x, &mean, &spread);
    panel.x = axis.axis();
    let ends = mean.iter().zip(&spread);
    let said = match ends.clone().any(|(_, spread)| *spread > 0.0) {
        true if axis.names().is_some() => " · the lines are ± 2 standard errors",
        true => " · the band is ± 2 standard errors",
        false => "",
    };
    panel.note = format!("{of}{said}");
    let points: Vec<[f64; 2]> = x.iter().zip(&mean).map(|(&x, &y)| [x, y]).collect();
    if axis.names().is_some() {
        // Between names there is nothing that a line could go through.
        let bars = points
            .iter()
            .zip(&spread)
            .map(|([x, y], spread)| Mark::Line {
                points: vec![[*x, y - spread], [*x, y + spread]],
                ink: Ink::Series(0),
                width: 2.0,
                opacity: 0.6,
            });
        panel.marks = bars.collect();
    }
    if points.len() <= MARKED {
        let ink = Ink::Series(0);
        panel.marks.push(Mark::Points { points, ink });
    }
    without_numbers(panel, &mean)
}

/// A panel that says so where all points lack a number.
fn without_numbers(mut panel: Panel, values: &[f64]) -> Panel {
    if !values.iter().any(|value| value.is_finite()) {
        panel.marks.clear();
        "no point has a number".clone_into(&mut panel.note);
    }
    panel
}

/// A mean over two params.
fn over_two(
    [x, y]: [&SweptAxis<'_>; 2],
    name: &str,
    label: &str,
    of: &str,
    means: &Means,
) -> Panel {
    let values = |axis: &SweptAxis<'_>| match axis.names() {
        Some(names) => (0..names.len()).map(|at| at as f64).collect(),
        None => axis.places(),
    };
    let [columns, lines]: [Vec<f64>; 2] = [values(x), values(y)];
    let mut cells = vec![f64::NAN; columns.len() * lines.len()];
    for (at, mean) in means.mean.iter().enumerate() {
        let place = |places: &[f64], value: f64| {
            let found = places.binary_search_by(|place| place.total_cmp(&value));
            found.unwrap_or_default()
        };
        let [column, line] = [place(&columns, x.values[at]), place(&lines, y.values[at])];
        cells[column * lines.len() + line] = *mean;
    }
    let colours = axis_over(label, cells.iter().copied());
    let labels = [x.label(), y.label()];
    let labels = [labels[0].as_str(), labels[1].as_str()];
    let mut panel = heat_map(name, labels, &columns, &lines, cells, colours);
    for (axis, drawn) in [(x, &mut panel.x), (y, &mut panel.y)] {
        if let Some(names) = axis.names() {
            drawn.kind = Kind::Names(names);
        }
    }
    panel.note = match extent(means.error.iter().copied()) {
        Some([_, most]) if most > 0.0 => {
            format!("{of} · standard error at most {}", short(most))
        }
        Some(_) | None => of.to_owned(),
    };
    without_numbers(panel, &means.mean)
}

/// A mean over one of several params, whatever the others are: a point each, and means in parts of the range.
fn over_each(axis: &SweptAxis<'_>, name: &str, label: &str, means: &Means) -> Panel {
    let known = |at: &usize| axis.values[*at].is_finite() && means.mean[*at].is_finite();
    let points = (0..axis.values.len()).filter(known);
    let points: Vec<[f64; 2]> = points.map(|at| [axis.values[at], means.mean[at]]).collect();
    let up = axis_over(label, points.iter().map(|point| point[1])).with_room();
    let across = axis.axis();
    let title = format!("{name} by {}", axis.name);
    let mut panel = Panel::new(title, across, up);
    let trend = trend(axis, &points);
    panel.note = match (&trend, share_explained(&trend, &points)) {
        (Some(_), Some(share)) => format!(
            "means {} explain {} of the variance",
            if axis.places().len() <= PARTS {
                "at each value"
            } else {
                "of tenths of the points"
            },
            percent(share)
        ),
        (_, None) | (None, _) => format!("{} points", separated(&points.len().to_string())),
    };
    let values: Vec<f64> = points.iter().map(|point| point[1]).collect();
    panel.marks.push(scatter(points, &mut panel.note));
    if let Some(trend) = trend {
        let middles: Vec<[f64; 2]> = trend.iter().map(|part| part.middle).collect();
        let lines = match axis.names() {
            None => vec![middles],
            // Between names there is nothing that a line could go through.
            Some(_) => (middles.iter())
                .map(|&[x, y]| vec![[x - 0.2, y], [x + 0.2, y]])
                .collect(),
        };
        let line = |points| Mark::Line {
            points,
            ink: Ink::Accent,
            width: 2.5,
            opacity: 1.0,
        };
        panel.marks.extend(lines.into_iter().map(line));
    }
    without_numbers(panel, &values)
}

/// Points, or some of them where there are many, which the note says then.
fn scatter(points: Vec<[f64; 2]>, note: &mut String) -> Mark {
    let all = points.len();
    let shown: Vec<[f64; 2]> = sampled(points.into_iter(), all, MOST_POINTS).collect();
    if shown.len() < all {
        let count = separated(&shown.len().to_string());
        note.push_str(&format!(" · {count} of the points are shown"));
    }
    Mark::Points {
        points: shown,
        ink: Ink::Series(0),
    }
}

/// Points in a part of a param's range.
struct Part {
    /// Their mean, each way.
    middle: [f64; 2],
    count: usize,
    /// The sum of squared distances from their mean, upward.
    squares: f64,
}

/// Means in parts of the range with equally many points, or at each value where there are few; none where
/// parts would have too few points to say anything.
fn trend(axis: &SweptAxis<'_>, points: &[[f64; 2]]) -> Option<Vec<Part>> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let few = axis.places().len() <= PARTS;
    if points.len() < PARTS * POINTS_OF_PART && !few {
        return None;
    }
    let border = |part: usize| part * sorted.len() / PARTS;
    let groups: Vec<&[[f64; 2]]> = match few {
        true => sorted.chunk_by(|a, b| a[0] == b[0]).collect(),
        false => (0..PARTS)
            .map(|part| &sorted[border(part)..border(part + 1)])
            .collect(),
    };
    let part = |points: &&[[f64; 2]]| {
        let count = points.len() as f64;
        let mean = |side: usize| points.iter().map(|it| it[side]).sum::<f64>() / count;
        let middle = [mean(0), mean(1)];
        let square = |point: &[f64; 2]| (point[1] - middle[1]).powi(2);
        Part {
            middle,
            count: points.len(),
            squares: points.iter().map(square).sum(),
        }
    };
    let is_less = groups.len() > 1 && groups.len() < points.len();
    is_less.then(|| groups.iter().map(part).collect())
}

/// The share of the variance that the means of parts explain, without what they would explain by chance; none
/// where the parts have too few points, or the points are all alike.
fn share_explained(trend: &Option<Vec<Part>>, points: &[[f64; 2]]) -> Option<f64> {
    let parts = trend.as_ref()?;
    let count = points.len() as f64;
    let free = count - parts.len() as f64;
    let mean = points.iter().map(|point| point[1]).sum::<f64>() / count;
    let all: f64 = points.iter().map(|point| (point[1] - mean).powi(2)).sum();
    let within: f64 = parts.iter().map(|part| part.squares).sum();
    let has_enough = parts.iter().all(|part| part.count >= POINTS_OF_PART);
    let share = 1.0 - (within / free) / (all / (count - 1.0));
    (has_enough && free >= 1.0 && all > 0.0).then(|| share.max(0.0))
}

/// Means of many elements over one param.
fn of_elements(
    swept: &Swept<'_>,
    axis: &SweptAxis<'_>,
    quantity: &Quantity,
    rows: &[(usize, String)],
) -> Panel {
    let places: Vec<f64> = (0..rows.len()).map(|at| at as f64).collect();
    let columns = match axis.names() {
        Some(names) => (0..names.len()).map(|at| at as f64).collect(),
        None => axis.places(),
    };
    let value = |place: f64, row: usize| {
        let at = axis.values.iter().position(|&value| value == place);
        at.map_or(f64::NAN, |at| swept.outputs[row].mean[at])
    };
    let cells: Vec<f64> = columns
        .iter()
        .flat_map(|&place| rows.iter().map(move |(row, _)| value(place, *row)))
        .collect();
    let colours = axis_over(&label::of_field(&quantity.field), cells.iter().copied());
    let up = format!("element of {}", quantity.field.name);
    let across = axis.label();
    let labels = [across.as_str(), up.as_str()];
    let mut panel = heat_map(&quantity.name(), labels, &columns, &places, cells, colours);
    panel.y.kind = Kind::Whole;
    if let Some(names) = axis.names() {
        panel.x.kind = Kind::Names(names);
    }
    panel.note = format!("mean of {}", swept.owners[0]);
    panel
}

/// The mean of one output against that of another, a point each.
fn against(swept: &Swept<'_>, pair: &[Quantity; 2], fields: &[&Field]) -> Option<Panel> {
    let mut means = Vec::new();
    for quantity in pair {
        let (row, _) = rows(quantity, fields).into_iter().next()?;
        means.push(&swept.outputs[row].mean);
    }
    let all = means[0].iter().zip(means[1]);
    let points: Vec<[f64; 2]> = all.map(|(&x, &y)| [x, y]).collect();
    let [across, up] = [0, 1].map(|side| {
        let label = label::of_field(&pair[side].field);
        axis_over(&label, points.iter().map(|point| point[side])).with_room()
    });
    let title = format!("{} and {}", pair[0].name(), pair[1].name());
    let mut panel = Panel::new(title, across, up);
    panel.note = format!("means at {} points", separated(&points.len().to_string()));
    panel.marks.push(scatter(points, &mut panel.note));
    Some(panel)
}

/// Curves of a series over steps, one for each point, coloured by the value of the first param.
fn of_series(
    swept: &Swept<'_>,
    quantity: &Quantity,
    (number, owner): (usize, SeriesOf),
) -> Vec<Panel> {
    let of = match owner {
        SeriesOf::Population => "observed".to_owned(),
        SeriesOf::Agents => format!("mean of {}", swept.owners[0]),
        SeriesOf::Worlds => format!("mean of {}", swept.owners[1]),
    };
    let elements = quantity.elements();
    let named = elements.iter().map(|element| {
        let row = element.element.unwrap_or_default();
        (row, element.name())
    });
    let few = named.take(MOST_ELEMENTS);
    few.filter_map(|(row, name)| {
        let label = label_of(quantity, &name);
        let curves = swept.series.get(number)?.get(row)?;
        Some(of_curves(swept, (&name, &label, &of), curves))
    })
    .collect()
}

fn of_curves(swept: &Swept<'_>, (name, label, of): (&str, &str, &str), curves: &[Curve]) -> Panel {
    let Some(first) = swept.axes.first() else {
        return Panel::new(name, axis_over("", []), axis_over("", []));
    };
    let mut order: Vec<usize> = (0..curves.len())
        .filter(|&point| !curves[point].steps.is_empty())
        .collect();
    order.sort_by(|&a, &b| first.values[a].total_cmp(&first.values[b]));
    let all = order.len();
    let every = all.div_ceil(MOST_CURVES).max(1);
    let order: Vec<usize> = order.into_iter().step_by(every).collect();
    let lines: Vec<Vec<[f64; 2]>> = order.iter().map(|&at| line(&curves[at])).collect();
    let x = axis_over("step", lines.iter().flatten().map(|it| it[0])).of(Kind::Whole);
    let y = axis_over(label, lines.iter().flatten().map(|it| it[1])).with_room();
    let mut panel = Panel::new(name, x, y);
    let are_named = all <= SERIES;
    let [low, high] = extent(first.values.iter().copied()).unwrap_or([0.0, 1.0]);
    let scale = first.colours();
    for (number, (&point, points)) in order.iter().zip(lines).enumerate() {
        let ink = match are_named {
            true => Ink::Series(number),
            // Values are equally bright steps of the scale from its lower to its upper end.
            false => Ink::Scale((scale.place(first.values[point]).clamp(0.0, 1.0) * 255.0) as u8),
        };
        panel.marks.push(Mark::Line {
            points,
            ink,
            width: if are_named { 1.8 } else { 1.2 },
            opacity: 1.0,
        });
        if are_named {
            let axes = swept.axes.iter();
            let said = axes.map(|axis| format!("{} {}", axis.name, axis.said(axis.values[point])));
            panel.key.push((ink, said.collect::<Vec<_>>().join(", ")));
        }
    }
    if !are_named && low < high {
        panel.colours = Some(scale);
    }
    let counted = |count: usize| separated(&count.to_string());
    let points = match order.len() < all {
        true => format!("{} of {} points", counted(order.len()), counted(all)),
        false => format!("{} points", counted(all)),
    };
    panel.note = format!("{of} at {points}, a curve each");
    panel
}

/// The samples of a curve that are drawn, the last among them.
fn line(curve: &Curve) -> Vec<[f64; 2]> {
    let all = curve.steps.iter().zip(&curve.values);
    let points: Vec<[f64; 2]> = all.map(|(&step, &value)| [step.into(), value]).collect();
    let every = points.len().div_ceil(MOST_SAMPLES).max(1);
    let last = points.len().saturating_sub(1);
    let chosen = points.iter().enumerate();
    chosen
        .filter(|(at, _)| at % every == 0 || *at == last)
        .map(|(_, point)| *point)
        .collect()
}
