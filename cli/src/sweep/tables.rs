//! The tables of a sweep: which there are, which columns they have, and how they are written.

use super::{
    forms,
    measure::{Measure, Measures, Plan},
    points::Points,
    sampled,
    table::{Cells, Column, Table},
};
use crate::{
    results::{Form, TableOf},
    summary::rows,
};
use sim_compiler::manifest::Manifest;
use sim_runtime::Statistics;
use std::{
    fs::File,
    io::{self, BufWriter, Write},
};

/// The tables of a sweep.
pub(crate) struct Tables {
    /// By row of the outputs: its name.
    pub(crate) outputs: Vec<String>,
    /// That of the points first.
    pub(crate) all: Vec<(TableOf, Table)>,
}

/// The tables that there will be, each with the number of its columns.
pub(crate) fn planned(manifest: &Manifest, axes: usize, plan: &Plan<'_>) -> Vec<(TableOf, usize)> {
    let statistics = 7 + plan.quantiles.len();
    let others = 2 + axes + usize::from(plan.covariance.is_some());
    let outputs = outputs(manifest).len();
    let mut all = vec![(TableOf::Points, others + outputs * statistics)];
    if plan.samples {
        all.extend(sampled::planned(manifest, axes, plan));
    }
    all
}

impl Tables {
    /// The tables of what was measured.
    pub(crate) fn of(
        points: &Points<'_>,
        plan: &Plan<'_>,
        measures: &Measures,
        manifest: &Manifest,
    ) -> Tables {
        let outputs = outputs(manifest);
        let table = of_points(points, plan, measures, &outputs);
        let mut all = vec![(TableOf::Points, table)];
        all.extend(sampled::tables(points, plan, measures, manifest));
        Tables { outputs, all }
    }

    /// That with a row per point.
    pub(crate) fn points(&self) -> &Table {
        &self.all[0].1
    }

    /// Writes one of the tables, or all of them, in a form that has room for them.
    ///
    /// # Errors
    /// What the operating system says.
    pub(crate) fn write(
        &self,
        form: Form,
        of: Option<TableOf>,
        about: &[(String, String)],
        out: &mut BufWriter<File>,
    ) -> io::Result<()> {
        let found = self.all.iter().find(|(table, _)| Some(*table) == of);
        let table = found.map_or(self.points(), |(_, table)| table);
        match form {
            Form::Csv => table.write_csv(out),
            Form::Parquet => forms::write_parquet(table, about, out),
            Form::Arrow => forms::write_ipc(table, about, out),
            Form::Npz | Form::Npy => {
                let all = self.all.iter();
                let all: Vec<_> = all.map(|(of, table)| (of.prefix(), table)).collect();
                forms::write_npz(&all, out)
            }
            Form::Json => self.write_json(out),
        }
    }

    /// Writes an object with an array for each table, which has an object per row.
    ///
    /// # Errors
    /// What the operating system says.
    pub(crate) fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        for (at, (of, table)) in self.all.iter().enumerate() {
            let before = if at == 0 { "{" } else { "," };
            write!(out, "{before}\n\"{}\": [", json_name(*of))?;
            for row in 0..table.rows {
                let before = if row == 0 { "" } else { "," };
                write!(out, "{before}\n{}", table.json_of(row))?;
            }
            out.write_all(b"\n]")?;
        }
        out.write_all(b"\n}\n")
    }
}

/// The key of a table in JSON, as in results of one run.
pub(crate) fn json_name(of: TableOf) -> String {
    of.word().replace('.', " ")
}

/// The names of the rows of all outputs, of agents and then of worlds.
fn outputs(manifest: &Manifest) -> Vec<String> {
    let worlds = &manifest.world_rows().outputs;
    let fields = manifest.outputs.iter().chain(worlds);
    fields.flat_map(names).collect()
}

/// The names of the rows that a field has, as in the summary of a run.
pub(super) fn names(field: &sim_compiler::manifest::Field) -> Vec<String> {
    let nothing = Statistics {
        count: 0,
        nan: 0,
        mean: None,
        deviation: None,
        five: None,
    };
    let count = match field.values() {
        many if many > 16 => 1,
        few => few,
    };
    let rows = rows(field, vec![nothing; count as usize]);
    rows.into_iter().map(|row| row.name).collect()
}

/// A row per point, whether it has results or not.
fn of_points(
    points: &Points<'_>,
    plan: &Plan<'_>,
    measures: &Measures,
    outputs: &[String],
) -> Table {
    let rows = points.rows.len();
    let mut columns = identified(points, (0..rows).map(|point| point as u32));
    for (at, name) in outputs.iter().enumerate() {
        let measure = |point: usize| -> Option<&Measure> {
            measures.points[point].as_ref().ok()?.outputs.get(at)
        };
        statistics(&mut columns, name, plan.quantiles, rows, &measure);
    }
    if let Some(pair) = &plan.covariance {
        let of = |point: usize| measures.points[point].as_ref().ok()?.covariance;
        columns.push(Column {
            name: format!("cov({},{})", pair.names[0], pair.names[1]),
            cells: Cells::Double((0..rows).map(of).collect()),
        });
    }
    let each = measures.points.iter();
    let errors = each.map(|point| point.as_ref().err().cloned());
    columns.push(Column {
        name: "error".to_owned(),
        cells: Cells::Text(errors.collect()),
    });
    Table {
        columns: told_apart(columns, points),
        rows,
    }
}

/// The columns of a table, of which params lose a name that another column has: they are `param.NAME`.
pub(super) fn told_apart(mut columns: Vec<Column>, points: &Points<'_>) -> Vec<Column> {
    // Behind the number of the point.
    for at in 1..=points.axes.len() {
        let name = &columns[at].name;
        let others = columns.iter().filter(|other| other.name == *name);
        if others.count() > 1 {
            columns[at].name = format!("param.{name}");
        }
    }
    columns
}

/// The columns that say of which points rows are: the number of the point, and its params.
pub(super) fn identified(
    points: &Points<'_>,
    rows: impl Iterator<Item = u32> + Clone,
) -> Vec<Column> {
    let mut columns = vec![Column {
        name: "point".to_owned(),
        cells: Cells::numbers(rows.clone()),
    }];
    columns.extend(points.axes.iter().enumerate().map(|(at, axis)| {
        let words = rows.clone().map(|row| points.rows[row as usize][at]);
        Column {
            name: axis.name.clone(),
            cells: Cells::of(&axis.param.field, words.map(Some)),
        }
    }));
    columns
}

/// The columns of statistics, of which some rows have none.
pub(super) fn statistics<'a>(
    columns: &mut Vec<Column>,
    name: &str,
    quantiles: &[f64],
    rows: usize,
    measure: &dyn Fn(usize) -> Option<&'a Measure>,
) {
    let mut double = |what: &str, of: &dyn Fn(&Measure) -> Option<f64>| {
        let cells = (0..rows).map(|row| measure(row).and_then(of)).collect();
        columns.push(Column {
            name: format!("{name}.{what}"),
            cells: Cells::Double(cells),
        });
    };
    double("mean", &|it| it.of.mean);
    double("std_err", &|it| it.of.standard_error());
    double("std_dev", &|it| it.of.deviation);
    double("min", &|it| it.of.five.map(|five| five[0]));
    for (number, probability) in quantiles.iter().enumerate() {
        double(&format!("q{probability}"), &|it| it.quantiles[number]);
    }
    double("max", &|it| it.of.five.map(|five| five[4]));
    for (what, of) in [
        ("count", (|it| it.of.count) as fn(&Measure) -> u64),
        ("nan", |it| it.of.nan),
    ] {
        let count = |row| measure(row).map(|it| of(it) as i64);
        columns.push(Column {
            name: format!("{name}.{what}"),
            cells: Cells::Whole((0..rows).map(count).collect()),
        });
    }
}
