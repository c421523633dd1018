//! The report of `simc run`: statistics of the outputs and how the run was done, for people or as JSON.

mod series;

use crate::{
    costs::{Costs, Own},
    failure::Failure,
    number::grouped,
    output::Written,
    table::spellings,
};
use serde::{Serialize, Serializer};
use series::SeriesRows;
use sim_compiler::manifest::{Field, Manifest};
use sim_runtime::{Device, Report, Run, Statistics};
use std::fmt::Write;

/// All that is said about a run.
#[derive(Debug, Serialize)]
pub(crate) struct Summary {
    outputs: Vec<Row>,
    world_outputs: Vec<Row>,
    series: Vec<SeriesRows>,
    backend: &'static str,
    reason: String,
    adapter: Option<Adapter>,
    agents: u32,
    /// Worlds, where the model has any.
    worlds: Option<u32>,
    first_agent: u32,
    population: u32,
    steps: u32,
    stopped_agents: u64,
    seed: u64,
    compile_seconds: f64,
    setup_seconds: f64,
    run_seconds: f64,
    agent_steps: u64,
    agent_steps_per_second: Number,
    dispatches: u64,
    chunks: u32,
    reduced: bool,
    passes: u32,
    telemetry: Costs,
    kernel: Vec<String>,
    written: Vec<Written>,
}

/// One output, or one element of it.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    name: String,
    /// Values per agent or world that the row is about.
    elements: u32,
    count: u64,
    mean: Option<Number>,
    standard_deviation: Option<Number>,
    minimum: Option<Number>,
    lower_quartile: Option<Number>,
    median: Option<Number>,
    upper_quartile: Option<Number>,
    maximum: Option<Number>,
    nan: u64,
}

/// The adapter of a GPU run.
#[derive(Debug, Serialize)]
struct Adapter {
    name: String,
    kind: String,
    driver: String,
    api: String,
}

/// A number that JSON may not have: those are the strings `"NaN"`, `"inf"` and `"-inf"`.
#[derive(Clone, Copy, Debug)]
struct Number(f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() {
            serializer.serialize_f64(self.0)
        } else {
            serializer.serialize_str(&self.0.to_string())
        }
    }
}

impl Summary {
    /// Of a run of a model.
    pub(crate) fn of(run: &Run, manifest: &Manifest, own: Own) -> Result<Summary, Failure> {
        let report: &Report = run.report();
        let (backend, adapter) = match &report.backend {
            Device::Cpu(_) => ("cpu", None),
            Device::Reference => ("reference", None),
            Device::Gpu(adapter) => (
                "gpu",
                Some(Adapter {
                    name: adapter.name.clone(),
                    kind: adapter.kind.to_string(),
                    driver: adapter.driver.clone(),
                    api: adapter.api.to_string(),
                }),
            ),
        };
        let agent_steps = run.agent_steps();
        let speed = match agent_steps {
            0 => 0.0,
            steps => steps as f64 / report.run_seconds,
        };
        let lines = |fields: &[Field]| -> Result<Vec<Row>, Failure> {
            let mut lines = Vec::new();
            for field in fields {
                lines.extend(rows(field, run.statistics(&field.name)?));
            }
            Ok(lines)
        };
        Ok(Summary {
            outputs: lines(&manifest.outputs)?,
            world_outputs: lines(&manifest.world_rows().outputs)?,
            series: run.series().iter().map(SeriesRows::of).collect(),
            backend,
            reason: report.reason.clone(),
            adapter,
            agents: report.agents,
            worlds: manifest.world.as_ref().map(|_| report.worlds),
            first_agent: report.first_agent,
            population: report.population,
            steps: report.steps,
            stopped_agents: run.stopped_agents(),
            seed: report.seed,
            compile_seconds: own.compile,
            setup_seconds: report.setup_seconds,
            run_seconds: report.run_seconds,
            agent_steps,
            agent_steps_per_second: Number(speed),
            dispatches: report.dispatches,
            chunks: report.chunks,
            reduced: report.reduced,
            passes: report.passes,
            telemetry: Costs::of(&report.telemetry, own),
            kernel: kernel(report),
            written: Vec::new(),
        })
    }

    /// Notes the files that hold the outputs.
    pub(crate) fn wrote(&mut self, files: Vec<Written>) {
        self.written = files;
    }

    /// For machines.
    pub(crate) fn json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self)
            .unwrap_or_else(|error| format!("{{\"error\": \"{error}\"}}"));
        text.push('\n');
        text
    }

    /// For people.
    pub(crate) fn text(&self) -> String {
        let mut text = self.table();
        let mut line = |name: &str, value: String| {
            let _ = writeln!(text, "{name:<8}  {value}");
        };
        line("backend", format!("{}: {}", self.backend, self.reason));
        if let Some(adapter) = &self.adapter {
            line("adapter", adapter.text());
        }
        let grouped_agents = grouped(self.agents.into());
        line(
            "agents",
            match (self.first_agent, self.population) {
                (0, all) if all == self.agents => grouped_agents,
                (first, all) => format!(
                    "{grouped_agents} from number {} of {}",
                    grouped(first.into()),
                    grouped(all.into())
                ),
            },
        );
        if let Some(worlds) = self.worlds {
            let members = self.agents.checked_div(worlds).unwrap_or_default();
            let (worlds, members) = (grouped(worlds.into()), grouped(members.into()));
            line("worlds", format!("{worlds} of {members} agents"));
        }
        let steps = grouped(self.steps.into());
        line(
            "steps",
            match self.stopped_agents {
                0 => steps,
                1 => format!("{steps} at most, 1 agent stopped by itself"),
                stopped => format!(
                    "{steps} at most, {} agents stopped by themselves",
                    grouped(stopped)
                ),
            },
        );
        line("seed", self.seed.to_string());
        line(
            "time",
            format!(
                "compile {}, setup {}, run {}",
                duration(self.compile_seconds),
                duration(self.setup_seconds),
                duration(self.run_seconds)
            ),
        );
        if self.passes > 1 {
            let times = self.passes;
            line(
                "passes",
                format!(
                    "{times}: quartiles of outputs that are too large to hold take {times} runs"
                ),
            );
        }
        if self.agent_steps > 0 {
            line(
                "speed",
                format!("{} agent-steps/s", rate(self.agent_steps_per_second.0)),
            );
        }
        for path in &self.written {
            line("written", path.to_string());
        }
        text
    }

    /// The rows of the outputs, numbers flush right.
    fn table(&self) -> String {
        let series = series::table(&self.series);
        if self.outputs.is_empty() && self.world_outputs.is_empty() {
            return match series.is_empty() {
                true => "the model has no outputs\n\n".to_owned(),
                false => series,
            };
        }
        const HEAD: [&str; 10] = [
            "output", "count", "mean", "std dev", "min", "25 %", "median", "75 %", "max", "NaN",
        ];
        let mut lines: Vec<[String; 10]> = vec![HEAD.map(str::to_owned)];
        lines.extend(self.outputs.iter().map(|row| row.cells("")));
        lines.extend(self.world_outputs.iter().map(|row| row.cells("world ")));
        aligned(&lines) + &series
    }
}

/// A longer cell stands as it is, and its column is no wider for it.
const MOST_WIDTH: usize = 100;

/// Cells in columns: the first flush left, the others flush right.
fn aligned<const COLUMNS: usize>(lines: &[[String; COLUMNS]]) -> String {
    let widths: [usize; COLUMNS] = std::array::from_fn(|column| {
        let widths = lines.iter().map(|line| line[column].chars().count());
        let widths = widths.filter(|width| *width <= MOST_WIDTH);
        widths.max().unwrap_or(0)
    });
    let mut text = String::new();
    for line in lines {
        text.push_str(&line[0]);
        text.push_str(&blanks(&line[0], widths[0]));
        for (cell, width) in line.iter().zip(widths).skip(1) {
            let _ = write!(text, "  {}{cell}", blanks(cell, width));
        }
        text.push('\n');
    }
    text.push('\n');
    text
}

/// What a cell lacks of the width of its column.
fn blanks(cell: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(cell.chars().count()))
}

impl Adapter {
    fn text(&self) -> String {
        let Adapter {
            name,
            kind,
            driver,
            api,
        } = self;
        let driver = match driver.is_empty() {
            true => String::new(),
            false => format!(", {driver}"),
        };
        format!("{name} ({kind}, {api}{driver})")
    }
}

impl Row {
    fn new(name: String, elements: u32, of: Statistics) -> Row {
        let five = |at: usize| of.five.map(|five| Number(five[at]));
        Row {
            name,
            elements,
            count: of.count,
            mean: of.mean.map(Number),
            standard_deviation: of.deviation.map(Number),
            minimum: five(0),
            lower_quartile: five(1),
            median: five(2),
            upper_quartile: five(3),
            maximum: five(4),
            nan: of.nan,
        }
    }

    /// The cells, with what stands before the name.
    fn cells(&self, owner: &str) -> [String; 10] {
        let name = if self.elements > 1 {
            format!("{owner}{} (all {} values)", self.name, self.elements)
        } else {
            format!("{owner}{}", self.name)
        };
        let number = |number: Option<Number>| {
            number.map_or_else(|| "-".to_owned(), |Number(value)| significant(value, 7))
        };
        [
            name,
            grouped(self.count),
            number(self.mean),
            number(self.standard_deviation),
            number(self.minimum),
            number(self.lower_quartile),
            number(self.median),
            number(self.upper_quartile),
            number(self.maximum),
            grouped(self.nan),
        ]
    }
}

/// A row per value of an agent or a world, or one over all if there are many.
pub(crate) fn rows(field: &Field, statistics: Vec<Statistics>) -> Vec<Row> {
    let width = field.values();
    if let [all] = statistics[..]
        && width > 1
    {
        return vec![Row::new(field.name.clone(), width, all)];
    }
    let spelled = spellings(field, 0).into_iter().zip(statistics);
    spelled.map(|(name, of)| Row::new(name, 1, of)).collect()
}

/// A number to `digits` significant digits, without trailing zeros.
pub(crate) fn significant(value: f64, digits: usize) -> String {
    if !value.is_finite() || value == 0.0 {
        return value
            .abs()
            .to_string()
            .replace("inf", if value < 0.0 { "-inf" } else { "inf" });
    }
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |text: &str| {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text.to_owned()
        }
    };
    if (-4..9).contains(&exponent) {
        let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
        trimmed(&format!("{value:.decimals$}"))
    } else {
        format!("{}e{exponent}", trimmed(mantissa))
    }
}

/// Three digits, with an exponent for the large numbers that rates are.
pub(crate) fn rate(value: f64) -> String {
    if value < 1e4 {
        significant(value, 3)
    } else {
        format!("{value:.2e}")
    }
}

/// Seconds in a unit that suits them.
pub(crate) fn duration(seconds: f64) -> String {
    if seconds < 1e-3 {
        format!("{} us", significant(seconds * 1e6, 3))
    } else if seconds < 1.0 {
        format!("{} ms", significant(seconds * 1e3, 3))
    } else {
        format!("{} s", significant(seconds, 4))
    }
}

/// What was chosen for the kernel, and why.
pub(crate) fn kernel(report: &Report) -> Vec<String> {
    (report.decisions.iter())
        .map(|decision| format!("{}: {}", decision.what, decision.why))
        .collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_long_name_makes_no_wide_table() {
        let line = |name: &str| {
            let mut cells = [const { String::new() }; 10];
            cells[0] = name.to_owned();
            cells[1] = "1".to_owned();
            cells
        };
        let long = "x".repeat(70_000);
        let table = super::aligned(&[line("output"), line(&long)]);
        let lines: Vec<usize> = table.lines().map(|line| line.trim_end().len()).collect();
        assert_eq!(lines, [9, 70_003, 0]);
    }

    use super::*;

    #[test]
    fn numbers_are_short_and_right() {
        assert_eq!(significant(8.021_352_12, 7), "8.021352");
        assert_eq!(significant(5.0, 7), "5");
        assert_eq!(significant(0.0, 7), "0");
        assert_eq!(significant(-0.000_123_4, 7), "-0.0001234");
        assert_eq!(significant(1.5e-7, 7), "1.5e-7");
        assert_eq!(significant(123_456_789.4, 7), "123456789");
        assert_eq!(significant(2.5e12, 7), "2.5e12");
        assert_eq!(significant(f64::NEG_INFINITY, 7), "-inf");
        assert_eq!(significant(f64::NAN, 7), "NaN");
        assert_eq!(significant(100_000.0, 3), "100000");
    }

    #[test]
    fn counts_are_grouped() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1000), "1_000");
        assert_eq!(grouped(1_234_567), "1_234_567");
    }

    #[test]
    fn durations_have_units() {
        assert_eq!(duration(0.000_012), "12 us");
        assert_eq!(duration(0.0123), "12.3 ms");
        assert_eq!(duration(75.0), "75 s");
    }
}
