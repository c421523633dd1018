//! What is said of a sweep: a table for people, and all of it as JSON.

use super::{
    measure::{Measures, Plan},
    points::{Axis, Points},
    tables::{Tables, json_name},
};
use crate::{
    columns::{Flush, table},
    number::grouped,
    output::Written,
    summary::{duration, rate, significant},
};
use serde_json::{Value, json};
use sim_runtime::Device;
use std::fmt::Write;

/// Rows that people see of a longer table, half of them from its end.
const SHOWN: usize = 24;

/// A sweep in words and numbers.
pub(crate) struct Report<'a> {
    points: &'a Points<'a>,
    plan: &'a Plan<'a>,
    measures: &'a Measures,
    tables: &'a Tables,
    /// Files that were written.
    written: Vec<Written>,
}

impl<'a> Report<'a> {
    pub(crate) fn new(
        points: &'a Points<'a>,
        plan: &'a Plan<'a>,
        measures: &'a Measures,
        tables: &'a Tables,
    ) -> Report<'a> {
        Report {
            points,
            plan,
            measures,
            tables,
            written: Vec::new(),
        }
    }

    /// Notes files that were written.
    pub(crate) fn wrote(&mut self, files: impl IntoIterator<Item = Written>) {
        self.written.extend(files);
    }

    fn speed(&self) -> f64 {
        self.measures.agent_steps as f64 / self.measures.seconds.max(1e-9)
    }

    /// For machines.
    pub(crate) fn json(&self) -> String {
        let measures = self.measures;
        let report = measures.report.as_ref();
        let mut value = json!({
            "points": measures.points.len(),
            "failed": self.measures.failed(),
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
            "interrupted": measures.interrupted,
            "written": self.written,
            "table": self.tables.points().json(),
        });
        if !measures.shares.is_empty() {
            value["devices"] = json!(measures.shares);
        }
        if let Value::Object(value) = &mut value {
            for (of, table) in &self.tables.all[1..] {
                value.insert(json_name(*of).to_owned(), table.json());
            }
        }
        format!("{value:#}\n")
    }

    /// For people.
    pub(crate) fn text(&self, quiet: bool) -> String {
        let all = self.measures.points.len();
        let shown: Vec<usize> = match all <= SHOWN {
            true => (0..all).collect(),
            false => (0..SHOWN / 2).chain(all - SHOWN / 2..all).collect(),
        };
        let has_errors = self.measures.failed() > 0;
        let mut head = vec!["point".to_owned()];
        head.extend(self.points.axes.iter().map(|axis| axis.name.clone()));
        for name in &self.tables.outputs {
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
            false => text + &self.notes(),
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
        for at in 0..self.tables.outputs.len() {
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

    fn notes(&self) -> String {
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
            for (at, share) in measures.shares.lines().into_iter().enumerate() {
                line(if at == 0 { "devices" } else { "" }, share);
            }
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
        for (at, file) in self.written.iter().enumerate() {
            line(if at == 0 { "written" } else { "" }, file.to_string());
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

/// A value of a param as it is written on the command line.
fn written(axis: &Axis<'_>, bits: u64) -> String {
    let mut text = Vec::new();
    match axis.kind().write(bits, &mut text) {
        Ok(()) => String::from_utf8_lossy(&text).into_owned(),
        Err(_) => String::new(),
    }
}
