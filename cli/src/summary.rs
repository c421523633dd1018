//! The report of `simc run`: statistics of the outputs and how the run was done, for people or as JSON.

mod series;
mod shares;

use crate::{
    columns::{Flush, table},
    costs::{Costs, Own},
    failure::Failure,
    number::grouped,
    output::Written,
    results::metadata::{Adapter, Machine},
    table::spellings,
};
use serde::{Serialize, Serializer};
use series::SeriesRows;
pub(crate) use shares::Shares;
use sim_compiler::manifest::{Field, Manifest};
use sim_runtime::{Moments, Report, Run, Statistics};
use std::{fmt::Write, time::Instant};

/// All that is said about a run.
#[derive(Debug, Serialize)]
pub(crate) struct Summary {
    outputs: Vec<Row>,
    world_outputs: Vec<Row>,
    series: Vec<SeriesRows>,
    backend: String,
    reason: String,
    adapter: Option<Adapter>,
    /// By device, if several were asked for.
    #[serde(skip_serializing_if = "Shares::is_empty")]
    devices: Shares,
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
    statistics_seconds: f64,
    agent_steps: u64,
    agent_steps_per_second: Number,
    dispatches: u64,
    chunks: u32,
    /// Batches of agents, where they were not run together.
    #[serde(skip_serializing_if = "Option::is_none")]
    batches: Option<u32>,
    reduced: bool,
    passes: u32,
    telemetry: Costs,
    kernel: Vec<String>,
    written: Vec<Written>,
}

/// One output, or one element of it.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) name: String,
    /// Values per agent or world that the row is about.
    elements: u32,
    count: u64,
    mean: Option<Number>,
    standard_error: Option<Number>,
    standard_deviation: Option<Number>,
    minimum: Option<Number>,
    lower_quartile: Option<Number>,
    median: Option<Number>,
    upper_quartile: Option<Number>,
    maximum: Option<Number>,
    /// Those that were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    quantiles: Vec<Quantile>,
    nan: u64,
}

/// A quantile of some values.
#[derive(Clone, Copy, Debug, Serialize)]
struct Quantile {
    probability: f64,
    value: Option<Number>,
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

/// What a run, or its batches together, did.
pub(crate) struct Done<'a> {
    pub(crate) report: &'a Report,
    /// Steps of all agents.
    pub(crate) agent_steps: u64,
    /// Agents that stopped.
    pub(crate) stopped: u64,
}

impl Summary {
    /// Of a run of a model, with quantiles of these probabilities, or the quartiles.
    pub(crate) fn of(
        run: &Run,
        manifest: &Manifest,
        own: Own,
        probabilities: &[f64],
    ) -> Result<Summary, Failure> {
        let started = Instant::now();
        let outputs = rows_of(run, &manifest.outputs, probabilities)?;
        let world_outputs = rows_of(run, &manifest.world_rows().outputs, probabilities)?;
        let series = run.series().iter().map(SeriesRows::of).collect();
        let done = Done {
            report: run.report(),
            agent_steps: run.agent_steps(),
            stopped: run.stopped_agents(),
        };
        let mut summary = Summary::new(done, manifest, own, [outputs, world_outputs], series);
        summary.statistics_seconds += started.elapsed().as_secs_f64();
        Ok(summary)
    }

    /// Of batches of a model, with the rows of outputs of agents and of worlds.
    pub(crate) fn of_batches(
        batches: u32,
        done: Done<'_>,
        manifest: &Manifest,
        own: Own,
        rows: [Vec<Row>; 2],
    ) -> Summary {
        Summary {
            batches: Some(batches),
            ..Summary::new(done, manifest, own, rows, Vec::new())
        }
    }

    fn new(
        done: Done<'_>,
        manifest: &Manifest,
        own: Own,
        [outputs, world_outputs]: [Vec<Row>; 2],
        series: Vec<SeriesRows>,
    ) -> Summary {
        let Done {
            report,
            agent_steps,
            stopped,
        } = done;
        let Machine {
            backend, adapter, ..
        } = Machine::of(&report.backend);
        let speed = match agent_steps {
            0 => 0.0,
            steps => steps as f64 / report.run_seconds,
        };
        Summary {
            outputs,
            world_outputs,
            series,
            backend,
            reason: report.reason.clone(),
            adapter,
            devices: Shares::of(&report.devices),
            agents: report.agents,
            worlds: manifest.world.as_ref().map(|_| report.worlds),
            first_agent: report.first_agent,
            population: report.population,
            steps: report.steps,
            stopped_agents: stopped,
            seed: report.seed,
            compile_seconds: own.compile,
            setup_seconds: report.setup_seconds,
            run_seconds: report.run_seconds,
            statistics_seconds: report.statistics_seconds,
            agent_steps,
            agent_steps_per_second: Number(speed),
            dispatches: report.dispatches,
            chunks: report.chunks,
            batches: None,
            reduced: report.reduced,
            passes: report.passes,
            telemetry: Costs::of(&report.telemetry, own),
            kernel: kernel(report),
            written: Vec::new(),
        }
    }

    /// Notes a file that holds outputs, or a plot of them.
    pub(crate) fn wrote(&mut self, file: Written) {
        self.written.push(file);
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
        for (at, share) in self.devices.lines().into_iter().enumerate() {
            line(if at == 0 { "devices" } else { "" }, share);
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
                "compile {}, setup {}, run {}, statistics {}",
                duration(self.compile_seconds),
                duration(self.setup_seconds),
                duration(self.run_seconds),
                duration(self.statistics_seconds)
            ),
        );
        if let Some((name, value)) = self.without_memory() {
            line(name, value);
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

    /// What is said where outputs were too large to hold.
    fn without_memory(&self) -> Option<(&'static str, String)> {
        if let Some(batches) = self.batches {
            let batches = grouped(batches.into());
            let value = format!("{batches}: quartiles would need all agents at once");
            return Some(("batches", value));
        }
        let times = self.passes;
        (times > 1).then(|| {
            let value = format!(
                "{times}: quartiles of outputs that are too large to hold take {times} runs"
            );
            ("passes", value)
        })
    }

    /// The rows of the outputs and of the series.
    pub(crate) fn table(&self) -> String {
        let series = series::table(&self.series);
        let of_agents = self.outputs.iter().map(|row| ("", row));
        let of_worlds = self.world_outputs.iter().map(|row| ("world ", row));
        let rows: Vec<(&str, &Row)> = of_agents.chain(of_worlds).collect();
        let Some((_, first)) = rows.first() else {
            return match series.is_empty() {
                true => "the model has no outputs\n\n".to_owned(),
                false => series,
            };
        };
        let has_nan = rows.iter().any(|(_, row)| row.nan > 0);
        let mut lines = vec![first.head(has_nan)];
        lines.extend(rows.iter().map(|(owner, row)| row.cells(owner, has_nan)));
        table(&lines, Flush::Right) + &series
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
            standard_error: of.standard_error().map(Number),
            standard_deviation: of.deviation.map(Number),
            minimum: five(0),
            lower_quartile: five(1),
            median: five(2),
            upper_quartile: five(3),
            maximum: five(4),
            quantiles: Vec::new(),
            nan: of.nan,
        }
    }

    /// The names of the columns.
    fn head(&self, has_nan: bool) -> Vec<String> {
        let mut head = ["output", "count", "mean", "std err", "std dev", "min"]
            .map(str::to_owned)
            .to_vec();
        head.extend(
            self.shown()
                .iter()
                .map(|quantile| match quantile.probability {
                    0.5 => "median".to_owned(),
                    p => format!("{} %", significant(p * 100.0, 7)),
                }),
        );
        head.push("max".to_owned());
        head.extend(has_nan.then(|| "NaN".to_owned()));
        head
    }

    /// The cells, with what stands before the name.
    fn cells(&self, owner: &str, has_nan: bool) -> Vec<String> {
        let name = match self.elements > 1 {
            true => format!("{owner}{} (all {} values)", self.name, self.elements),
            false => format!("{owner}{}", self.name),
        };
        let number = |number: Option<Number>, digits| {
            number.map_or_else(
                || "-".to_owned(),
                |Number(value)| significant(value, digits),
            )
        };
        let mut cells = vec![
            name,
            grouped(self.count),
            number(self.mean, 7),
            number(self.standard_error, 3),
            number(self.standard_deviation, 6),
            number(self.minimum, 6),
        ];
        cells.extend(
            self.shown()
                .iter()
                .map(|quantile| number(quantile.value, 6)),
        );
        cells.push(number(self.maximum, 6));
        cells.extend(has_nan.then(|| grouped(self.nan)));
        cells
    }

    /// The quantiles that were asked for, or the quartiles.
    fn shown(&self) -> Vec<Quantile> {
        if !self.quantiles.is_empty() {
            return self.quantiles.clone();
        }
        let quartiles = [
            (0.25, self.lower_quartile),
            (0.5, self.median),
            (0.75, self.upper_quartile),
        ];
        let quantile = |(probability, value)| Quantile { probability, value };
        quartiles.map(quantile).to_vec()
    }
}

impl Quantile {
    /// Of each probability; without a value if there are no numbers.
    fn all(probabilities: &[f64], found: &[f64]) -> Vec<Quantile> {
        let values = found.iter().map(|&value| Some(Number(value)));
        let values = values.chain(std::iter::repeat(None));
        let quantile = |(&probability, value)| Quantile { probability, value };
        probabilities.iter().zip(values).map(quantile).collect()
    }
}

/// The rows of outputs, with quantiles of these probabilities.
fn rows_of(run: &Run, fields: &[Field], probabilities: &[f64]) -> Result<Vec<Row>, Failure> {
    let mut all = Vec::new();
    for field in fields {
        let mut rows = rows(field, run.statistics(&field.name)?);
        if !probabilities.is_empty() {
            let found = run.column(&field.name)?.quantiles(probabilities);
            for (row, found) in rows.iter_mut().zip(found) {
                row.quantiles = Quantile::all(probabilities, &found);
            }
        }
        all.extend(rows);
    }
    Ok(all)
}

/// A row per value of an agent or a world, or one over all if there are many.
pub(crate) fn rows(field: &Field, statistics: Vec<Statistics>) -> Vec<Row> {
    let row = |name, elements, of| Row::new(name, elements, of);
    rows_by(field, statistics, row)
}

/// The same, of values that came in batches: without quartiles.
pub(crate) fn rows_of_moments(field: &Field, moments: Vec<Moments>) -> Vec<Row> {
    let row = |name, elements, of: Moments| {
        let extreme = |at: usize| of.extremes.map(|both| Number(both[at]));
        Row {
            minimum: extreme(0),
            maximum: extreme(1),
            ..Row::new(
                name,
                elements,
                Statistics {
                    count: of.count,
                    nan: of.nan,
                    mean: of.mean,
                    deviation: of.deviation,
                    five: None,
                },
            )
        }
    };
    rows_by(field, moments, row)
}

fn rows_by<T>(field: &Field, statistics: Vec<T>, row: impl Fn(String, u32, T) -> Row) -> Vec<Row> {
    let width = field.values();
    if statistics.len() == 1 && width > 1 {
        let all = statistics.into_iter();
        return all.map(|of| row(field.name.clone(), width, of)).collect();
    }
    let spelled = spellings(field, 0).into_iter().zip(statistics);
    spelled.map(|(name, of)| row(name, 1, of)).collect()
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
    if (-4..10).contains(&exponent) {
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
    use super::*;

    #[test]
    fn numbers_are_short_and_right() {
        assert_eq!(significant(8.021_352_12, 7), "8.021352");
        assert_eq!(significant(5.0, 7), "5");
        assert_eq!(significant(0.0, 7), "0");
        assert_eq!(significant(-0.000_123_4, 7), "-0.0001234");
        assert_eq!(significant(1.5e-7, 7), "1.5e-7");
        assert_eq!(significant(123_456_789.4, 7), "123456789");
        assert_eq!(significant(2_147_483_647.0, 6), "2147483647");
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
