//! What is drawn, whatever draws it: panels with axes, and marks in their coordinates.

use super::{
    scale::{Axis, Kind},
    theme::Ink,
};

/// A page of panels.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) title: String,
    /// Of what run it is.
    pub(super) subtitle: String,
    pub(super) panels: Vec<Panel>,
}

/// A plot.
#[derive(Debug)]
pub(super) struct Panel {
    pub(super) title: String,
    /// What else is to be said, in small letters.
    pub(super) note: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    /// From the hindmost to the foremost.
    pub(super) marks: Vec<Mark>,
    /// What the colours are, where there are several.
    pub(super) key: Vec<(Ink, String)>,
    /// Of a heat map, and of curves in `Ink::Scale`: what the colours are.
    pub(super) colours: Option<Axis>,
}

/// A mark. What is not finite is left out.
#[derive(Debug)]
pub(super) enum Mark {
    /// Between two curves over the same places.
    Band {
        x: Vec<f64>,
        low: Vec<f64>,
        high: Vec<f64>,
        ink: Ink,
        opacity: f64,
    },
    /// A curve.
    Line {
        points: Vec<[f64; 2]>,
        ink: Ink,
        width: f64,
        opacity: f64,
    },
    /// Upright bars from 0.
    Bars { bars: Vec<Bar>, ink: Ink },
    /// Bars from the left, at 0, 1, 2 and so on up the other axis, with what is written at their ends.
    Rows {
        lengths: Vec<f64>,
        said: Vec<String>,
        ink: Ink,
    },
    /// The weight of one value, whose bar may be higher than the plot.
    Mass { at: f64, height: f64, said: String },
    /// Points.
    Points { points: Vec<[f64; 2]>, ink: Ink },
    /// A heat map: column by column from the left, each from below; NaN is left blank.
    Cells {
        /// The borders of columns, one more than there are, and those of rows.
        x: Vec<f64>,
        y: Vec<f64>,
        values: Vec<f64>,
    },
}

/// An upright bar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bar {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) height: f64,
}

impl Panel {
    /// A panel without marks.
    pub(super) fn new(title: impl Into<String>, x: Axis, y: Axis) -> Panel {
        Panel {
            title: title.into(),
            note: String::new(),
            x,
            y,
            marks: Vec::new(),
            key: Vec::new(),
            colours: None,
        }
    }

    /// Is there nothing in it?
    pub(super) fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }
}

/// The least and the greatest of the finite values, if there are any.
pub(super) fn extent(values: impl IntoIterator<Item = f64>) -> Option<[f64; 2]> {
    let finite = values.into_iter().filter(|value| value.is_finite());
    finite.fold(None, |found, value| match found {
        None => Some([value, value]),
        Some([low, high]) => Some([value.min(low), value.max(high)]),
    })
}

/// An axis over values; one of an empty plot if none is finite.
pub(super) fn axis_over(label: &str, values: impl IntoIterator<Item = f64>) -> Axis {
    let [low, high] = extent(values).unwrap_or([0.0, 1.0]);
    Axis::new(label, low, high)
}

/// A curve of means over one param or over steps. The band about it reaches as far as `spread` says, which
/// may be errors or deviations, or empty; otherwise all columns are of one length.
pub(super) fn curve(
    title: &str,
    labels: [&str; 2],
    x: &[f64],
    mean: &[f64],
    spread: &[f64],
) -> Panel {
    let spread = |at: usize| spread.get(at).copied().unwrap_or_default();
    let edge = |sign: f64| -> Vec<f64> {
        let each = mean.iter().enumerate();
        each.map(|(at, mean)| mean + sign * spread(at)).collect()
    };
    let (low, high) = (edge(-1.0), edge(1.0));
    let all = low.iter().chain(&high).chain(mean).copied();
    let (across, up) = (
        axis_over(labels[0], x.iter().copied()),
        axis_over(labels[1], all),
    );
    let mut panel = Panel::new(title, across, up.with_room());
    let ink = Ink::Series(0);
    if low != high {
        let x = x.to_vec();
        panel.marks.push(Mark::Band {
            x,
            low,
            high,
            ink,
            opacity: 0.2,
        });
    }
    let points = x.iter().zip(mean).map(|(&x, &y)| [x, y]).collect();
    panel.marks.push(Mark::Line {
        points,
        ink,
        width: 2.0,
        opacity: 1.0,
    });
    panel
}

/// A map of a value over two params, or a count over two values. `values` has a column for each place in `x`,
/// each with a value for each place in `y`; NaN where there is none. Places at equal distances are an axis of
/// numbers; others have columns of equal widths, with their places as names.
pub(super) fn heat_map(
    title: &str,
    labels: [&str; 2],
    x: &[f64],
    y: &[f64],
    values: Vec<f64>,
    value: Axis,
) -> Panel {
    let (across, columns) = of_cells(labels[0], x);
    let (up, rows) = of_cells(labels[1], y);
    let mut panel = Panel::new(title, across, up);
    panel.marks.push(Mark::Cells {
        x: columns,
        y: rows,
        values,
    });
    panel.colours = Some(value);
    panel
}

/// The axis of cells in these places, and their borders.
fn of_cells(label: &str, places: &[f64]) -> (Axis, Vec<f64>) {
    let count = places.len();
    let gap = match places {
        [first, .., last] => (last - first) / (count - 1) as f64,
        _ => 1.0,
    };
    let even = |pair: &[f64]| ((pair[1] - pair[0]) / gap - 1.0).abs() < 1e-3;
    let is_even = gap > 0.0 && places.windows(2).all(even);
    let (first, gap) = match (is_even, places.first()) {
        (true, Some(first)) => (*first, gap),
        _ => (0.0, 1.0),
    };
    let border = |at: usize| first + (at as f64 - 0.5) * gap;
    let axis = Axis::new(label, border(0), border(count));
    let names = || {
        places
            .iter()
            .map(|&place| super::scale::short(place))
            .collect()
    };
    let axis = match is_even {
        true => axis,
        false => axis.of(Kind::Names(names())),
    };
    (axis, (0..=count).map(border).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(panel: &Panel) -> [&[f64]; 3] {
        match panel.marks.as_slice() {
            [Mark::Cells { x, y, values }] => [x, y, values],
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_heat_map_has_numbers_along_even_places_and_names_along_others() {
        let values = vec![1.0, 2.0, f64::NAN, 4.0, 5.0, 6.0];
        let colours = Axis::new("mean", 1.0, 6.0);
        let [x, y] = [[0.1, 0.2], [1.0, 10.0]];
        let y = [y[0], y[1], 1000.0];
        let panel = heat_map("call", ["sigma", "strike"], &x, &y, values, colours);
        let [columns, rows, values] = cells(&panel);
        assert_eq!((columns.len(), rows.len(), values.len()), (3, 4, 6));
        assert!((columns[0] - 0.05).abs() < 1e-12 && (columns[2] - 0.25).abs() < 1e-12);
        assert_eq!(panel.x.kind, Kind::Numbers);
        let names = ["1", "10", "1,000"].map(str::to_owned).to_vec();
        assert_eq!(panel.y.kind, Kind::Names(names));
    }

    #[test]
    fn a_map_of_one_place_or_none_has_an_axis() {
        for x in [&[][..], &[0.2], &[0.2, 0.2]] {
            let values = vec![1.0; x.len()];
            let panel = heat_map("", ["", ""], x, &[1.0], values, Axis::new("", 1.0, 1.0));
            let [low, high] = panel.x.range;
            assert!(low < high && panel.x.place(0.5 * (low + high)) == 0.5);
        }
    }

    #[test]
    fn a_curve_has_a_band_only_where_its_means_have_errors() {
        let x = [1.0, 2.0, 3.0];
        let panel = curve("", ["n", ""], &x, &[4.0, 5.0, 6.0], &[0.5, f64::NAN, 0.5]);
        let [Mark::Band { low, high, .. }, Mark::Line { points, .. }] = &panel.marks[..] else {
            panic!("{:?}", panel.marks);
        };
        assert_eq!((low[0], high[2]), (3.5, 6.5));
        assert_eq!(points[1], [2.0, 5.0]);
        let alone = curve("", ["n", ""], &x, &[4.0, 5.0, 6.0], &[]);
        assert_eq!(alone.marks.len(), 1);
    }
}
