//! What is said of a sweep: a table for people, CSV and JSON.

use super::{
    measure::{Measure, Measures, Plan},
    points::{Axis, Points},
    table::{Cells, Column, Table},
};
use crate::{
    columns::{Flush, table},
    failure::Failure,
    number::grouped,
    output::{check_place, is_there, replace},
    problem, standard_output,
    summary::{duration, rate, rows, significant},
    table::cell::Kind,
    usage,
};
use serde_json::json;
use sim_compiler::manifest::Manifest;
use sim_runtime::{Device, Statistics};
use std::{
    fmt::Write,
    path::{Path, PathBuf},
};

/// Rows that people see of a longer table, half of them from its end.
const SHOWN: usize = 24;

/// Where the table goes.
pub(crate) enum Place {
    Nowhere,
    StandardOutput,
    Csv(PathBuf),
    Json(PathBuf),
}

impl Place {
    /// By the ending of `--output`.
    ///
    /// # Errors
    /// Why it could not be written after the sweep.
    pub(crate) fn check(
        output: Option<&Path>,
        replaces: bool,
        json: bool,
    ) -> Result<Place, Failure> {
        let Some(path) = output else {
            return Ok(Place::Nowhere);
        };
        if path == Path::new("-") {
            return match json {
                true => Err(usage::refused(
                    "`--output -` and `--json` both write to standard output",
                    "write the table to a file, or leave out one of the two",
                )),
                false => Ok(Place::StandardOutput),
            };
        }
        let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
        let place = match ending.to_str() {
            Some("csv") => Place::Csv(path.to_owned()),
            Some("json") => Place::Json(path.to_owned()),
            Some(_) | None => {
                return Err(usage::refused(
                    format!("`{}` is no file for the table of a sweep", path.display()),
                    "write it to a .csv or .json file, or with `--output -` to standard output",
                ));
            }
        };
        if !replaces && is_there(path) {
            return Err(problem::file_exists(&[path]).into());
        }
        check_place(path)?;
        Ok(place)
    }

    fn path(&self) -> Option<&Path> {
        match self {
            Place::Nowhere | Place::StandardOutput => None,
            Place::Csv(path) | Place::Json(path) => Some(path),
        }
    }
}

/// A sweep in words and numbers.
pub(crate) struct Report<'a> {
    points: &'a Points<'a>,
    plan: &'a Plan<'a>,
    measures: &'a Measures,
    /// By row of the outputs: its name.
    outputs: Vec<String>,
    table: Table,
}

impl<'a> Report<'a> {
    pub(crate) fn new(
        points: &'a Points<'a>,
        plan: &'a Plan<'a>,
        measures: &'a Measures,
        manifest: &Manifest,
    ) -> Report<'a> {
        let fields = manifest
            .outputs
            .iter()
            .chain(&manifest.world_rows().outputs);
        let outputs: Vec<String> = fields.flat_map(names).collect();
        let table = whole(points, plan, measures, &outputs);
        Report {
            points,
            plan,
            measures,
            outputs,
            table,
        }
    }

    /// Writes the table.
    ///
    /// # Errors
    /// Why it cannot be written.
    pub(crate) fn write(&self, place: &Place) -> Result<(), Failure> {
        match place {
            Place::Nowhere => Ok(()),
            Place::StandardOutput => {
                let mut text = Vec::new();
                let written = self.table.write_csv(&mut text);
                written.map_err(|error| problem::unwritable(Path::new("-"), &error))?;
                standard_output::print(&text)
            }
            Place::Csv(path) => replace(path, |out| self.table.write_csv(out)),
            Place::Json(path) => replace(path, |out| {
                use std::io::Write;
                writeln!(out, "{:#}", self.table.json())
            }),
        }
    }

    fn failed(&self) -> usize {
        self.measures
            .points
            .iter()
            .filter(|point| point.is_err())
            .count()
    }

    fn speed(&self) -> f64 {
        self.measures.agent_steps as f64 / self.measures.seconds.max(1e-9)
    }

    /// For machines.
    pub(crate) fn json(&self) -> String {
        let measures = self.measures;
        let report = measures.report.as_ref();
        let value = json!({
            "points": measures.points.len(),
            "failed": self.failed(),
            "repeats": self.plan.repeats,
            "common_draws": self.plan.common_draws,
            "backend": report.map(|report| backend(&report.backend).0),
            "adapter": report.and_then(|report| backend(&report.backend).1),
            "agents": report.map(|report| report.agents),
            "steps": report.map(|report| report.steps),
            "seed": report.map(|report| report.seed),
            "run_seconds": measures.seconds,
            "agent_steps": measures.agent_steps,
            "agent_steps_per_second": self.speed(),
            "kernel_agents": self.plan.kernel_agents,
            "dispatches": measures.dispatches,
            "submissions": measures.submissions,
            "gpu_seconds": measures.gpu_seconds,
            "table": self.table.json(),
        });
        format!("{value:#}\n")
    }

    /// For people.
    pub(crate) fn text(&self, quiet: bool, place: &Place) -> String {
        let all = self.measures.points.len();
        let shown: Vec<usize> = match all <= SHOWN {
            true => (0..all).collect(),
            false => (0..SHOWN / 2).chain(all - SHOWN / 2..all).collect(),
        };
        let has_errors = self.failed() > 0;
        let mut head = vec!["point".to_owned()];
        head.extend(self.points.axes.iter().map(|axis| axis.name.clone()));
        for name in &self.outputs {
            head.push(name.clone());
            head.push("std err".to_owned());
        }
        let pair = self.plan.covariance.as_ref();
        head.extend(pair.map(|pair| format!("cov({}, {})", pair.names[0], pair.names[1])));
        head.extend(has_errors.then(|| "error".to_owned()));
        let width = head.len();
        let mut lines = vec![head];
        for (place, &point) in shown.iter().enumerate() {
            if point != place && point == shown[SHOWN / 2] {
                lines.push(vec!["…".to_owned(); width]);
            }
            lines.push(self.line(point, has_errors));
        }
        let text = table(&lines, Flush::Right);
        match quiet {
            true => text.trim_end().to_owned() + "\n",
            false => text + &self.notes(place),
        }
    }

    fn line(&self, point: usize, has_errors: bool) -> Vec<String> {
        let mut line = vec![point.to_string()];
        let values = self.points.axes.iter().zip(&self.points.rows[point]);
        line.extend(values.map(|(axis, &word)| written(axis, word)));
        let number = |value: Option<f64>, digits| {
            value.map_or_else(|| "-".to_owned(), |value| significant(value, digits))
        };
        let measured = self.measures.points[point].as_ref();
        for at in 0..self.outputs.len() {
            let of = measured
                .ok()
                .and_then(|it| it.outputs.get(at))
                .map(|it| it.of);
            line.push(number(of.and_then(|of| of.mean), 7));
            line.push(number(of.and_then(|of| of.standard_error()), 3));
        }
        if self.plan.covariance.is_some() {
            line.push(number(measured.ok().and_then(|it| it.covariance), 6));
        }
        if has_errors {
            line.push(measured.err().cloned().unwrap_or_default());
        }
        line
    }

    fn notes(&self, place: &Place) -> String {
        let mut text = String::new();
        let mut line = |name: &str, value: String| {
            let _ = writeln!(text, "{name:<10}  {value}");
        };
        let measures = self.measures;
        let points = grouped(measures.points.len() as u64);
        let (repeats, common) = (self.plan.repeats, self.plan.common_draws);
        let runs = match repeats {
            1 => String::new(),
            repeats => format!(" of {repeats} runs each"),
        };
        let draws = match common {
            true => "the same draws at each",
            false => "draws of its own for each",
        };
        line("points", format!("{points}{runs}, {draws}"));
        if let Some(report) = &measures.report {
            let (name, adapter) = backend(&report.backend);
            let adapter = adapter
                .map(|adapter| format!(", {adapter}"))
                .unwrap_or_default();
            line("backend", format!("{name}: {}{adapter}", report.reason));
            line("agents", grouped(report.agents.into()));
            line("steps", grouped(report.steps.into()));
            if measures.dispatches > 0 {
                line("dispatches", grouped(measures.dispatches));
                let all = self.plan.kernel_agents.unwrap_or(report.agents);
                line("kernel", format!("for {} agents", grouped(all.into())));
            }
        }
        line("time", duration(measures.seconds));
        if measures.agent_steps > 0 {
            line("speed", format!("{} agent-steps/s", rate(self.speed())));
        }
        if let Some(path) = place.path() {
            line("written", path.display().to_string());
        }
        text
    }
}

/// The name of a backend, and that of its adapter.
fn backend(device: &Device) -> (&'static str, Option<String>) {
    match device {
        Device::Cpu(_) => ("cpu", None),
        Device::Reference => ("reference", None),
        Device::Gpu(adapter) => ("gpu", Some(adapter.name.clone())),
    }
}

/// The names of the rows that a field has, as in the summary of a run.
fn names(field: &sim_compiler::manifest::Field) -> Vec<String> {
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

/// A value of a param as it is written on the command line.
fn written(axis: &Axis<'_>, word: u32) -> String {
    let mut text = Vec::new();
    match axis.kind().write(word, &mut text) {
        Ok(()) => String::from_utf8_lossy(&text).into_owned(),
        Err(_) => String::new(),
    }
}

/// The table with all columns.
fn whole(points: &Points<'_>, plan: &Plan<'_>, measures: &Measures, outputs: &[String]) -> Table {
    let rows = points.rows.len();
    let mut columns = vec![Column {
        name: "point".to_owned(),
        cells: Cells::Whole((0..rows as i64).map(Some).collect()),
    }];
    columns.extend(points.axes.iter().enumerate().map(|(at, axis)| Column {
        name: axis.name.clone(),
        cells: values(axis, points.rows.iter().map(|row| row[at])),
    }));
    for (at, name) in outputs.iter().enumerate() {
        let measure = |point: usize| -> Option<&Measure> {
            measures.points[point].as_ref().ok()?.outputs.get(at)
        };
        let mut double = |what: &str, of: &dyn Fn(&Measure) -> Option<f64>| {
            let cells = (0..rows).map(|point| measure(point).and_then(of)).collect();
            columns.push(Column {
                name: format!("{name}.{what}"),
                cells: Cells::Double(cells),
            });
        };
        double("mean", &|it| it.of.mean);
        double("std_err", &|it| it.of.standard_error());
        double("std_dev", &|it| it.of.deviation);
        double("min", &|it| it.of.five.map(|five| five[0]));
        for (number, probability) in plan.quantiles.iter().enumerate() {
            double(&format!("q{probability}"), &|it| it.quantiles[number]);
        }
        double("max", &|it| it.of.five.map(|five| five[4]));
        for (what, of) in [
            ("count", (|it| it.of.count) as fn(&Measure) -> u64),
            ("nan", |it| it.of.nan),
        ] {
            let count = |point| measure(point).map(|it| of(it) as i64);
            columns.push(Column {
                name: format!("{name}.{what}"),
                cells: Cells::Whole((0..rows).map(count).collect()),
            });
        }
    }
    if let Some(pair) = &plan.covariance {
        let of = |point: usize| measures.points[point].as_ref().ok()?.covariance;
        columns.push(Column {
            name: format!("cov({},{})", pair.names[0], pair.names[1]),
            cells: Cells::Double((0..rows).map(of).collect()),
        });
    }
    let errors = measures
        .points
        .iter()
        .map(|point| point.as_ref().err().cloned());
    columns.push(Column {
        name: "error".to_owned(),
        cells: Cells::Text(errors.collect()),
    });
    Table { columns, rows }
}

/// The values on an axis.
fn values(axis: &Axis<'_>, words: impl Iterator<Item = u32>) -> Cells {
    match axis.kind() {
        Kind::F32 => Cells::Single(words.map(f32::from_bits).collect()),
        Kind::I32 => Cells::Whole(words.map(|word| Some(word.cast_signed().into())).collect()),
        Kind::U32 => Cells::Whole(words.map(|word| Some(word.into())).collect()),
        Kind::Bool | Kind::Enum(_) => {
            Cells::Text(words.map(|word| Some(written(axis, word))).collect())
        }
    }
}
