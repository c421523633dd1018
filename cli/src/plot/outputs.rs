//! Panels of outputs: how values are distributed over agents or worlds, and one output against another.

use super::{
    choice::{Quantity, Source},
    distribution::{Distribution, Form, distribution, sampled},
    label,
    panel::{Bar, Mark, Panel, axis_over, extent, heat_map},
    scale::{Axis, Kind, percent, separated, short},
    series::fan,
    theme::Ink,
};
use sim_runtime::{Column, Error, Run, Values};

/// Elements of an output that have panels of their own.
const MOST_ELEMENTS: usize = 4;
/// Points of a scatter plot; of more agents the density is shown.
const MOST_POINTS: usize = 5000;
/// Names of an enum that have rows.
const MOST_NAMES: usize = 24;

/// A value as a number; a `bool` is 0 or 1.
pub(super) fn number(values: &Values, at: usize) -> f64 {
    values.number(at)
}

/// The values of one element of an output, agent by agent.
#[derive(Clone, Copy)]
struct Of<'a> {
    column: &'a Column,
    element: usize,
}

impl<'a> Of<'a> {
    fn values(self) -> impl Iterator<Item = f64> + 'a {
        let width = self.column.field.values() as usize;
        let places = (self.element..self.column.values.len()).step_by(width.max(1));
        places.map(move |at| number(&self.column.values, at))
    }

    fn count(self) -> usize {
        self.column.shape[0]
    }
}

/// What has the values.
fn owner(quantity: &Quantity) -> &'static str {
    match quantity.source {
        Source::WorldOutput => "worlds",
        Source::Output | Source::Series { .. } => "agents",
    }
}

/// The panels of an output.
pub(super) fn panels(run: &Run, quantity: &Quantity) -> Result<Vec<Panel>, Error> {
    let column = run.column(&quantity.field.name)?;
    if quantity.width() > MOST_ELEMENTS {
        return Ok(vec![profile(column, quantity)]);
    }
    let panel = |quantity: &Quantity| {
        let element = quantity.element.unwrap_or_default();
        of_values(Of { column, element }, quantity)
    };
    Ok(quantity.elements().iter().map(panel).collect())
}

/// One output against another.
pub(super) fn pair(run: &Run, pair: &[Quantity; 2]) -> Result<Panel, Error> {
    let of = |quantity: &Quantity| -> Result<(&Column, usize), Error> {
        let element = quantity.element.unwrap_or_default();
        Ok((run.column(&quantity.field.name)?, element))
    };
    let [x, y] = [of(&pair[0])?, of(&pair[1])?].map(|(column, element)| Of { column, element });
    let points = || x.values().zip(y.values()).map(|(x, y)| [x, y]);
    let is_finite = |point: &[f64; 2]| point.iter().all(|it| it.is_finite());
    let finite = || points().filter(is_finite);
    let count = finite().count();
    let labels = [&pair[0], &pair[1]].map(label_of);
    let labels = [labels[0].as_str(), labels[1].as_str()];
    let title = format!("{} and {}", pair[0].name(), pair[1].name());
    let mut panel = match count > MOST_POINTS {
        true => density(&title, labels, finite, owner(&pair[0])),
        false => {
            let [across, up] =
                [0, 1].map(|side| axis_over(labels[side], finite().map(|it| it[side])));
            let mut panel = Panel::new(title, across.with_room(), up.with_room());
            if count > 0 {
                let points = finite().collect();
                panel.marks.push(Mark::Points {
                    points,
                    ink: Ink::Series(0),
                });
            }
            panel
        }
    };
    let mut notes = vec![format!(
        "{} {}",
        separated(&count.to_string()),
        owner(&pair[0])
    )];
    notes.extend(
        correlation(finite).map(|r| format!("correlation {}", separated(&format!("{r:.3}")))),
    );
    if x.count() > count {
        let left = separated(&(x.count() - count).to_string());
        notes.push(format!("{left} with NaN or infinity left out"));
    }
    panel.note = notes.join(" · ");
    Ok(panel)
}

/// Pearson's; none of fewer than two points or of a constant.
fn correlation<I: Iterator<Item = [f64; 2]>>(points: impl Fn() -> I) -> Option<f64> {
    let count = points().count() as f64;
    let mean = |side: usize| points().map(|it| it[side]).sum::<f64>() / count;
    let means = [mean(0), mean(1)];
    let [mut xx, mut xy, mut yy] = [0.0; 3];
    for [x, y] in points() {
        let [x, y] = [x - means[0], y - means[1]];
        (xx, xy, yy) = (xx + x * x, xy + x * y, yy + y * y);
    }
    let r = xy / (xx * yy).sqrt();
    r.is_finite().then_some(r)
}

/// How many points lie where.
fn density<I: Iterator<Item = [f64; 2]>>(
    title: &str,
    labels: [&str; 2],
    points: impl Fn() -> I,
    owner: &str,
) -> Panel {
    const CELLS: [usize; 2] = [72, 54];
    let range = [0, 1].map(|side| {
        let [low, high] = extent(points().map(|it| it[side])).unwrap_or([0.0, 1.0]);
        // One value alone lies in the middle.
        Axis::new("", low, high).range
    });
    let mut counts = vec![0_u64; CELLS[0] * CELLS[1]];
    for point in points() {
        let [column, row] = [0, 1].map(|side| {
            let [low, high] = range[side];
            let share = (point[side] - low) / (high - low);
            ((share * CELLS[side] as f64) as usize).min(CELLS[side] - 1)
        });
        counts[column * CELLS[1] + row] += 1;
    }
    let places = |side: usize| -> Vec<f64> {
        let [low, high] = range[side];
        let cell = (high - low) / CELLS[side] as f64;
        (0..CELLS[side])
            .map(|at| low + (at as f64 + 0.5) * cell)
            .collect()
    };
    let most = counts.iter().copied().max().unwrap_or_default() as f64;
    let value = Axis::new(format!("{owner} in a cell"), 0.0, most).of(Kind::Whole);
    let shown = counts.iter().map(|&count| match count {
        0 => f64::NAN,
        count => count as f64,
    });
    heat_map(
        title,
        labels,
        &places(0),
        &places(1),
        shown.collect(),
        value,
    )
}

fn label_of(quantity: &Quantity) -> String {
    match quantity.element {
        // The comment is about all elements alike.
        Some(_) => quantity.name(),
        None => label::of_field(&quantity.field),
    }
}

/// How the values of an element are distributed.
fn of_values(of: Of<'_>, quantity: &Quantity) -> Panel {
    let field = &quantity.field;
    let is_truth = matches!(of.column.values, Values::Bool(_));
    if is_truth || !field.variants.is_empty() {
        let names = match is_truth {
            true => vec!["false".to_owned(), "true".to_owned()],
            false => field.variants.clone(),
        };
        return of_names(of, quantity, &names);
    }
    let is_whole = !field.scalar.is_float();
    let found = distribution(|| of.values(), is_whole);
    let owner = owner(quantity);
    let mut panel = match &found.form {
        Form::Values(values) => of_few(values, &found, is_whole),
        Form::Bins { .. } => of_bins(&found),
    };
    panel.title = quantity.name();
    panel.x.label = label::label(&field.doc);
    panel.y.label = format!("share of {owner}");
    panel.note = note(&found, owner);
    panel
}

fn note(found: &Distribution, owner: &str) -> String {
    let count = |number: u64| separated(&number.to_string());
    let mut notes = Vec::new();
    if found.finite > 0 {
        notes.push(format!("mean {}", short(found.mean)));
    }
    if found.deviation > 0.0 {
        notes.push(format!("sd {}", short(found.deviation)));
    }
    if let Form::Bins { edges, outside, .. } = &found.form {
        let ends = [("below", edges[0]), ("above", edges[edges.len() - 1])];
        for (&number, (side, end)) in outside.iter().zip(ends) {
            if number > 0 {
                let share = percent(number as f64 / found.finite as f64);
                notes.push(format!(
                    "{} {side} {} not shown ({share})",
                    count(number),
                    short(end)
                ));
            }
        }
    }
    for (number, what) in [(found.nan, "NaN"), (found.infinite, "infinite")] {
        if number > 0 {
            notes.push(format!("{} {what} left out", count(number)));
        }
    }
    if found.finite == 0 {
        notes.push(format!("no {owner} with a number"));
    }
    notes.join(" · ")
}

/// A bar for each value.
fn of_few(values: &[(f64, u64)], found: &Distribution, is_whole: bool) -> Panel {
    let total = found.finite as f64;
    let share = |count: u64| count as f64 / total;
    let most = values
        .iter()
        .map(|&(_, count)| share(count))
        .fold(0.0, f64::max);
    let gaps = values.windows(2).map(|pair| pair[1].0 - pair[0].0);
    let (first, last) = match values {
        [(first, _), .., (last, _)] => (*first, *last),
        [(only, _)] => (*only, *only),
        [] => (0.0, 0.0),
    };
    let least_gap = gaps.fold(f64::INFINITY, f64::min);
    let gap = match least_gap.is_finite() {
        true => least_gap,
        false if is_whole => 1.0,
        false => 0.5 * first.abs().max(1e-30),
    };
    // Values that are far apart still have bars to be seen.
    let half = 0.4 * gap.max((last - first) / 100.0);
    let room = match values.len() {
        1 => 4.0 * gap,
        _ => 1.6 * half,
    };
    let kind = if is_whole { Kind::Whole } else { Kind::Numbers };
    let x = Axis::new("", first - room, last + room).of(kind);
    let y = Axis::new("", 0.0, 1.1 * most.max(1e-9)).of(Kind::Shares);
    let mut panel = Panel::new("", x, y);
    match values {
        [] => {}
        &[(only, count)] => {
            let height = share(count);
            let said = match count {
                1 => format!("the only value is {}", short(only)),
                _ => format!("all are {}", short(only)),
            };
            panel.y.range = [0.0, 1.1];
            panel.marks.push(Mark::Mass {
                at: only,
                height,
                said,
            });
        }
        several => {
            let bars = several.iter().map(|&(value, count)| Bar {
                from: value - half,
                to: value + half,
                height: share(count),
            });
            let bars = bars.collect();
            panel.marks.push(Mark::Bars {
                bars,
                ink: Ink::Series(0),
            });
        }
    }
    panel
}

/// Bars of bins, and those of point masses.
fn of_bins(found: &Distribution) -> Panel {
    let Form::Bins {
        edges,
        counts,
        logarithmic,
        masses,
        ..
    } = &found.form
    else {
        unreachable!("the caller has bins")
    };
    let total = found.finite.max(1) as f64;
    let bars: Vec<Bar> = (edges.windows(2).zip(counts))
        .map(|(edges, &count)| Bar {
            from: edges[0],
            to: edges[1],
            height: count as f64 / total,
        })
        .collect();
    let most = bars.iter().map(|bar| bar.height).fold(0.0, f64::max);
    let ends = edges
        .iter()
        .copied()
        .chain(masses.iter().map(|&(value, _)| value));
    let x = axis_over("", ends);
    let x = match (logarithmic, masses.is_empty()) {
        (true, _) => x.of(Kind::Logarithms),
        // The bar of a mass needs room on both sides.
        (false, false) => {
            let room = 0.02 * (x.range[1] - x.range[0]);
            let [low, high] = x.range;
            Axis::new("", low - room, high + room)
        }
        (false, true) => x,
    };
    let heaviest = masses
        .iter()
        .map(|&(_, count)| count as f64 / total)
        .fold(0.0, f64::max);
    // A mass that is no more than twice as high is drawn whole.
    let whole = if heaviest <= 2.0 * most {
        most.max(heaviest)
    } else {
        most
    };
    let room = 1.08 + 0.1 * masses.len() as f64;
    let y = Axis::new("", 0.0, room * whole.max(1e-9)).of(Kind::Shares);
    let mut panel = Panel::new("", x, y);
    panel.marks.push(Mark::Bars {
        bars,
        ink: Ink::Series(0),
    });
    for &(at, count) in masses {
        let height = count as f64 / total;
        let said = format!("{} are exactly {}", percent(height), short(at));
        panel.marks.push(Mark::Mass { at, height, said });
    }
    panel
}

/// A row for each name, the first at the top.
fn of_names(of: Of<'_>, quantity: &Quantity, names: &[String]) -> Panel {
    let mut counts = vec![0_u64; names.len()];
    for value in of.values() {
        if let Some(count) = counts.get_mut(value as usize) {
            *count += 1;
        }
    }
    let total = of.count().max(1) as f64;
    let mut rows: Vec<(&String, u64)> = names.iter().zip(counts).collect();
    let left = rows.len().saturating_sub(MOST_NAMES);
    if left > 0 {
        rows.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        rows.truncate(MOST_NAMES);
    }
    rows.reverse();
    let lengths: Vec<f64> = rows
        .iter()
        .map(|&(_, count)| count as f64 / total)
        .collect();
    let most = lengths.iter().copied().fold(0.01, f64::max);
    let owner = owner(quantity);
    let x = Axis::new(format!("share of {owner}"), 0.0, most).of(Kind::Shares);
    let names = rows.iter().map(|(name, _)| (*name).clone()).collect();
    let y = Axis::new("", -0.6, rows.len() as f64 - 0.4).of(Kind::Names(names));
    let mut panel = Panel::new(quantity.name(), x, y);
    let mut notes = vec![label::label(&quantity.field.doc)];
    if left > 0 {
        notes.push(format!("the {left} rarest are not shown"));
    }
    notes.retain(|note| !note.is_empty());
    if of.count() == 0 {
        panel.note = format!("no {owner}");
        return panel;
    }
    panel.note = notes.join(" · ");
    let said = lengths.iter().map(|&share| percent(share)).collect();
    panel.marks.push(Mark::Rows {
        lengths,
        said,
        ink: Ink::Series(0),
    });
    panel
}

/// The elements of an array side by side: of each the median and how far the agents spread.
fn profile(column: &Column, quantity: &Quantity) -> Panel {
    let width = quantity.width();
    let agents = column.shape[0];
    let places: Vec<f64> = (0..width).map(|at| at as f64).collect();
    let of_element = |element: usize| {
        let all = Of { column, element }.values();
        sampled(all, agents, super::series::BAND_ROWS).collect()
    };
    let doc = label::of_field(&quantity.field);
    let across = format!("element of {}", quantity.field.name);
    let mut panel = fan(&quantity.name(), [&across, &doc], &places, of_element);
    panel.x = panel.x.of(Kind::Whole);
    let agents = separated(&agents.to_string());
    panel.note = format!(
        "median, middle half and middle 90 % of {agents} {}",
        owner(quantity)
    );
    panel
}
