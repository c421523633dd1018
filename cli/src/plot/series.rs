//! Panels of what was observed and recorded: curves over steps, with bands.

use super::{
    choice::{Quantity, Source},
    distribution::sampled,
    label,
    outputs::number,
    panel::{Mark, Panel, axis_over, curve, heat_map},
    scale::{Axis, Kind, separated, short},
    theme::{Ink, SERIES},
};
use sim_compiler::manifest::{Number, SeriesFold, SeriesOf};
use sim_runtime::{Run, Series, Values};

/// Agents or worlds that quantiles are taken of.
pub(super) const BAND_ROWS: usize = 4096;
/// Agents or worlds that are counted by name.
const COUNTED_ROWS: usize = 1 << 15;
/// Samples of a curve, and of each of many thin lines.
const MOST_SAMPLES: usize = 600;
const THIN_SAMPLES: usize = 240;
/// Thin lines.
const LINES: usize = 24;
/// Trajectories in the plane of two records.
const MOST_ORBITS: usize = 12;

/// The panels of a series. `spread` is the series that has its deviation, if there is one.
pub(super) fn panels(run: &Run, quantity: &Quantity, spread: Option<&Quantity>) -> Vec<Panel> {
    let (series, of, fold) = of(run, quantity);
    match (of, fold) {
        (SeriesOf::Population, Some(SeriesFold::Quantiles(shares)))
            if quantity.element.is_none() =>
        {
            vec![quantiles(series, quantity, shares)]
        }
        (SeriesOf::Population, Some(SeriesFold::Histogram { low, high, bins }))
            if quantity.element.is_none() =>
        {
            let width = (high.0 - low.0) / f64::from(*bins);
            let place = |bin: u32| low.0 + (f64::from(bin) + 0.5) * width;
            let places: Vec<f64> = (0..*bins).map(place).collect();
            vec![map(series, quantity, &places, "agents")]
        }
        (SeriesOf::Population, _) if quantity.width() > SERIES => {
            let places: Vec<f64> = (0..quantity.width()).map(|at| at as f64).collect();
            vec![map(series, quantity, &places, "")]
        }
        (SeriesOf::Population, _) if quantity.width() > 1 => {
            vec![together(run, &quantity.elements())]
        }
        (SeriesOf::Population, _) => vec![single(run, quantity, spread)],
        (SeriesOf::Agents | SeriesOf::Worlds, _) => {
            let elements = quantity.elements();
            let few = elements.iter().take(SERIES);
            few.map(|element| of_rows(run, element)).collect()
        }
    }
}

/// The series of a quantity, whose values it has, and how they were combined.
fn of<'a>(run: &'a Run, quantity: &'a Quantity) -> (&'a Series, SeriesOf, Option<&'a SeriesFold>) {
    let Source::Series { number, of, fold } = &quantity.source else {
        unreachable!("outputs have panels of their own")
    };
    (&run.series()[*number], *of, fold.as_ref())
}

/// Which samples are drawn, where there are many.
fn chosen(series: &Series, most: usize) -> Vec<usize> {
    let samples = series.steps.len();
    let every = samples.div_ceil(most).max(1);
    let mut chosen: Vec<usize> = (0..samples).step_by(every).collect();
    // The last one is what the run ended with.
    if chosen.last() != Some(&(samples.saturating_sub(1))) {
        chosen.push(samples - 1);
    }
    chosen
}

fn steps(series: &Series, samples: &[usize]) -> Vec<f64> {
    samples.iter().map(|&at| series.steps[at].into()).collect()
}

/// A value of a sample: of one row and one element.
fn value(series: &Series, sample: usize, row: usize, element: usize) -> f64 {
    let width = series.column.field.values() as usize;
    let at = sample * series.width() + row * width + element;
    number(&series.column.values, at)
}

/// What is written along the steps.
const STEP: &str = "step";

/// One number per sample.
fn single(run: &Run, quantity: &Quantity, spread: Option<&Quantity>) -> Panel {
    let (series, ..) = of(run, quantity);
    let samples = chosen(series, MOST_SAMPLES);
    let values = |quantity: &Quantity| -> Vec<f64> {
        let (series, ..) = of(run, quantity);
        let element = quantity.element.unwrap_or_default();
        samples
            .iter()
            .map(|&at| value(series, at, 0, element))
            .collect()
    };
    let deviations = spread.map(values).unwrap_or_default();
    let label = label::of_field(&quantity.field);
    let x = steps(series, &samples);
    let means = values(quantity);
    let mut panel = curve(&quantity.name(), [STEP, &label], &x, &means, &deviations);
    panel.x = panel.x.of(Kind::Whole);
    panel.note = match spread {
        Some(spread) => format!("the band is ± {}", spread.name()),
        None => String::new(),
    };
    if let (Some(first), Some(last)) = (means.first(), means.last()) {
        let ends = format!("from {} to {}", short(*first), short(*last));
        panel.note = match panel.note.is_empty() {
            true => ends,
            false => format!("{ends} · {}", panel.note),
        };
    }
    panel
}

/// Several curves with a colour each.
pub(super) fn together(run: &Run, quantities: &[Quantity]) -> Panel {
    let mut curves = Vec::new();
    for quantity in quantities {
        let (series, ..) = of(run, quantity);
        let samples = chosen(series, MOST_SAMPLES);
        let element = quantity.element.unwrap_or_default();
        let curve: Vec<[f64; 2]> = (steps(series, &samples).into_iter().zip(&samples))
            .map(|(step, &at)| [step, value(series, at, 0, element)])
            .collect();
        curves.push(curve);
    }
    let names: Vec<String> = quantities.iter().map(Quantity::name).collect();
    let label = match quantities {
        [first, ..] if first.element.is_some() => label::of_field(&first.field),
        _ => String::new(),
    };
    let title = match quantities {
        [first, ..] if first.element.is_some() => first.field.name.clone(),
        _ => names.join(", "),
    };
    lines(title, &label, curves, names)
}

/// Curves over steps with names.
fn lines(title: String, label: &str, curves: Vec<Vec<[f64; 2]>>, names: Vec<String>) -> Panel {
    let points = || curves.iter().flatten();
    let x = axis_over(STEP, points().map(|point| point[0])).of(Kind::Whole);
    let y = axis_over(label, points().map(|point| point[1])).with_room();
    let mut panel = Panel::new(title, x, y);
    for (number, (points, name)) in curves.into_iter().zip(names).enumerate() {
        let ink = Ink::Series(number);
        panel.marks.push(Mark::Line {
            points,
            ink,
            width: 1.8,
            opacity: 1.0,
        });
        panel.key.push((ink, name));
    }
    panel
}

/// Quantiles: the middle one as a curve, the others as bands about it.
fn quantiles(series: &Series, quantity: &Quantity, shares: &[Number]) -> Panel {
    let samples = chosen(series, MOST_SAMPLES);
    let mut order: Vec<usize> = (0..shares.len()).collect();
    order.sort_by(|&a, &b| shares[a].0.total_cmp(&shares[b].0));
    let column = |element: usize| -> Vec<f64> {
        samples
            .iter()
            .map(|&at| value(series, at, 0, element))
            .collect()
    };
    let columns: Vec<Vec<f64>> = order.iter().map(|&element| column(element)).collect();
    let label = label::of_field(&quantity.field);
    let x = steps(series, &samples);
    let mut panel = banded(&quantity.name(), [STEP, &label], &x, columns);
    panel.x = panel.x.of(Kind::Whole);
    let names = order
        .iter()
        .map(|&at| format!("{} %", short(100.0 * shares[at].0)));
    panel.note = format!("quantiles {}", names.collect::<Vec<_>>().join(", "));
    panel
}

/// Columns of quantiles in order, over the same places.
fn banded(title: &str, labels: [&str; 2], x: &[f64], columns: Vec<Vec<f64>>) -> Panel {
    let across = axis_over(labels[0], x.iter().copied());
    let up = axis_over(labels[1], columns.iter().flatten().copied()).with_room();
    let mut panel = Panel::new(title, across, up);
    let ink = Ink::Series(0);
    let count = columns.len();
    for outer in 0..count / 2 {
        let [low, high] = [outer, count - 1 - outer].map(|at| columns[at].clone());
        let x = x.to_vec();
        panel.marks.push(Mark::Band {
            x,
            low,
            high,
            ink,
            opacity: 0.18,
        });
    }
    if let Some(middle) = columns.get(count / 2).filter(|_| count % 2 == 1) {
        let points = x.iter().zip(middle).map(|(&x, &y)| [x, y]).collect();
        panel.marks.push(Mark::Line {
            points,
            ink,
            width: 2.0,
            opacity: 1.0,
        });
    }
    panel
}

/// The median of values at each place, with bands of the middle half and the middle nine tenths.
pub(super) fn fan(
    title: &str,
    labels: [&str; 2],
    x: &[f64],
    values: impl Fn(usize) -> Vec<f64>,
) -> Panel {
    const SHARES: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];
    let mut columns = vec![Vec::with_capacity(x.len()); SHARES.len()];
    for place in 0..x.len() {
        let mut found = values(place);
        found.retain(|value| value.is_finite());
        found.sort_by(f64::total_cmp);
        for (column, share) in columns.iter_mut().zip(SHARES) {
            column.push(between(&found, share));
        }
    }
    banded(title, labels, x, columns)
}

/// A quantile of sorted values, by linear interpolation; NaN of none.
fn between(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let place = share * last as f64;
    let below = place.floor() as usize;
    let [a, b] = [sorted[below], sorted[(below + 1).min(last)]];
    a + (place - below as f64) * (b - a)
}

/// Values of many elements over steps, as a heat map.
fn map(series: &Series, quantity: &Quantity, places: &[f64], what: &str) -> Panel {
    let samples = chosen(series, THIN_SAMPLES);
    // Columns of a heat map are equally wide, so the last sample has one only where it follows in turn.
    let every = samples.get(1).copied().unwrap_or(1);
    let samples: Vec<usize> = samples.into_iter().filter(|at| at % every == 0).collect();
    let x = steps(series, &samples);
    let values: Vec<f64> = samples
        .iter()
        .flat_map(|&sample| (0..places.len()).map(move |at| value(series, sample, 0, at)))
        .collect();
    let label = label::of_field(&quantity.field);
    let colours = axis_over(what, values.iter().copied());
    let labels = [STEP, label.as_str()];
    let mut panel = heat_map(&quantity.name(), labels, &x, places, values, colours);
    panel.x = panel.x.of(Kind::Whole);
    panel
}

/// A number of each agent or world over steps.
fn of_rows(run: &Run, quantity: &Quantity) -> Panel {
    let (series, of, _) = of(run, quantity);
    let rows = series.column.shape[1];
    let (owner, one, first) = match of {
        SeriesOf::Worlds => ("worlds", "world", 0),
        SeriesOf::Agents | SeriesOf::Population => ("agents", "agent", run.report().first_agent),
    };
    let variants = &quantity.field.variants;
    let is_truth = matches!(series.column.values, Values::Bool(_));
    if is_truth || !variants.is_empty() {
        return shares(series, quantity, owner);
    }
    let element = quantity.element.unwrap_or_default();
    let label = label::of_field(&quantity.field);
    let name = quantity.name();
    let line = |row: usize, most: usize| -> Vec<[f64; 2]> {
        let samples = chosen(series, most);
        let x = steps(series, &samples).into_iter().zip(&samples);
        x.map(|(step, &at)| [step, value(series, at, row, element)])
            .collect()
    };
    if rows <= SERIES {
        let names = (0..rows).map(|row| format!("{one} {}", first as usize + row));
        let curves = (0..rows).map(|row| line(row, MOST_SAMPLES)).collect();
        return lines(name, &label, curves, names.collect());
    }
    let samples = chosen(series, THIN_SAMPLES);
    let banded: Vec<usize> = sampled(0..rows, rows, BAND_ROWS).collect();
    let values = |place: usize| {
        let sample = samples[place];
        banded
            .iter()
            .map(|&row| value(series, sample, row, element))
            .collect()
    };
    let mut panel = fan(&name, [STEP, &label], &steps(series, &samples), values);
    let thin: Vec<Mark> = (sampled(0..rows, rows, LINES).take(LINES))
        .map(|row| Mark::Line {
            points: line(row, THIN_SAMPLES),
            ink: Ink::Faint,
            width: 0.8,
            opacity: 0.4,
        })
        .collect();
    let all = separated(&rows.to_string());
    let of = match banded.len() < rows {
        true => format!("{} of {all}", separated(&banded.len().to_string())),
        false => all,
    };
    panel.note = format!(
        "median, middle half and middle 90 % of {of} {owner}; {} of them as thin lines",
        thin.len()
    );
    let ends = thin.iter().flat_map(|mark| match mark {
        Mark::Line { points, .. } => points.as_slice(),
        _ => &[],
    });
    let bands = panel.y.range;
    let all = ends.map(|point| point[1]).chain(bands);
    panel.y = axis_over(&label, all);
    panel.x = panel.x.of(Kind::Whole);
    panel.marks.splice(0..0, thin);
    panel
}

/// Of names or truth values: which share of the rows has each.
fn shares(series: &Series, quantity: &Quantity, owner: &str) -> Panel {
    let all = series.column.shape[1];
    let rows: Vec<usize> = sampled(0..all, all, COUNTED_ROWS).collect();
    let element = quantity.element.unwrap_or_default();
    let samples = chosen(series, THIN_SAMPLES);
    let names = match quantity.field.variants.as_slice() {
        [] => vec!["false".to_owned(), "true".to_owned()],
        names => names.to_vec(),
    };
    let mut curves = vec![Vec::new(); names.len()];
    for &sample in &samples {
        let mut counts = vec![0_u64; names.len()];
        for &row in &rows {
            let name = value(series, sample, row, element) as usize;
            counts[name.min(names.len() - 1)] += 1;
        }
        let step = f64::from(series.steps[sample]);
        for (curve, count) in curves.iter_mut().zip(counts) {
            curve.push([step, count as f64 / rows.len().max(1) as f64]);
        }
    }
    // The share that is false says no more than the one that is true.
    let is_truth = quantity.field.variants.is_empty();
    let from = usize::from(is_truth);
    let (curves, names) = (curves.split_off(from), names[from..].to_vec());
    let mut panel = lines(quantity.name(), "", curves, names);
    panel.y = Axis::new(format!("share of {owner}"), 0.0, 1.0).of(Kind::Shares);
    let of = match rows.len() < all {
        true => format!(
            "of {} of {} {owner}",
            separated(&rows.len().to_string()),
            separated(&all.to_string())
        ),
        false => String::new(),
    };
    let mut notes = vec![label::label(&quantity.field.doc), of];
    notes.retain(|note| !note.is_empty());
    panel.note = notes.join(" · ");
    panel
}

/// One series against another, as steps go on.
pub(super) fn pair(run: &Run, pair: &[Quantity; 2]) -> Panel {
    let [(x, of_x, _), (y, ..)] = [of(run, &pair[0]), of(run, &pair[1])];
    let [across, up] = [0, 1].map(|side| pair[side].element.unwrap_or_default());
    let rows = match of_x {
        SeriesOf::Population => 1,
        SeriesOf::Agents | SeriesOf::Worlds => x.column.shape[1],
    };
    let samples = chosen(x, 4 * MOST_SAMPLES);
    // Only steps that both have are points.
    let places = samples.iter().filter_map(|&at| {
        let other = y.steps.binary_search(&x.steps[at]).ok()?;
        Some((at, other))
    });
    let places: Vec<(usize, usize)> = places.collect();
    let orbit = |row: usize| -> Vec<[f64; 2]> {
        let point =
            |&(at, other): &(usize, usize)| [value(x, at, row, across), value(y, other, row, up)];
        places.iter().map(point).collect()
    };
    let chosen: Vec<usize> = sampled(0..rows, rows, MOST_ORBITS)
        .take(MOST_ORBITS)
        .collect();
    let orbits: Vec<Vec<[f64; 2]>> = chosen.iter().map(|&row| orbit(row)).collect();
    let axis = |side: usize| {
        let label = label::of_field(&pair[side].field);
        axis_over(&label, orbits.iter().flatten().map(|point| point[side])).with_room()
    };
    let title = format!("{} and {}", pair[0].name(), pair[1].name());
    let mut panel = Panel::new(title, axis(0), axis(1));
    panel.note = match rows {
        1 => "over steps".to_owned(),
        rows => format!(
            "{} of {} over steps",
            chosen.len(),
            separated(&rows.to_string())
        ),
    };
    for (number, points) in orbits.into_iter().enumerate() {
        let ink = Ink::Series(number);
        panel.marks.push(Mark::Line {
            points,
            ink,
            width: 1.1,
            opacity: 0.9,
        });
    }
    panel
}
