//! The report of a measurement, for people and as JSON.

use super::{
    floor,
    interval::Interval,
    measure::{Batched, Beside, InARow, Measured},
    tune::Tuned,
    verify::Agreement,
};
use crate::{
    costs::{Costs, Own, ms},
    knobs::arguments,
    number::grouped,
    summary::{self, Shares, duration, kernel, rate, significant},
};
use serde::Serialize;
use sim_compiler::ir::cost::operations::{Cost, Operations};
use sim_runtime::{Device, Report, Run};
use std::fmt::Write;

/// One model with one population; times in milliseconds.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    model: String,
    agents: u32,
    steps: u32,
    agent_steps: u64,
    seed: u64,
    backend: &'static str,
    device: String,
    driver: Option<String>,
    verified: &'static str,
    outputs: Vec<summary::Row>,
    compile_ms: f64,
    first: Costs,
    runs: u32,
    gpu_ms: Option<Interval>,
    in_a_row: Option<Sequence>,
    total_ms: Interval,
    overhead_us: Option<Interval>,
    agent_steps_per_second: f64,
    rate_by: &'static str,
    operations: Option<Counts>,
    floor_ms: Option<f64>,
    floor_fraction: Option<f64>,
    floor_note: Option<&'static str>,
    dispatches: u64,
    chunks: u32,
    warm: Costs,
    kernel: Vec<String>,
    tuned: Option<Search>,
    batch: Option<Batch>,
    #[serde(skip_serializing_if = "Shares::is_empty")]
    devices: Shares,
    #[serde(skip_serializing_if = "Option::is_none")]
    alone: Option<Alone>,
}

/// Runs on the first of several devices, in turns with runs on all.
#[derive(Debug, Serialize)]
struct Alone {
    run_ms: Interval,
    /// How many times as fast all devices are.
    ratio: Interval,
    same_bits: bool,
}

/// What `--batch` measured, in milliseconds per run.
#[derive(Debug, Serialize)]
struct Batch {
    runs: u32,
    run_ms: Interval,
    gpu_ms: Option<Interval>,
    one_by_one_ms: Interval,
}

/// Runs one after the other in one submission, in milliseconds per run.
#[derive(Debug, Serialize)]
struct Sequence {
    runs: u32,
    gpu_ms: Interval,
}

impl Sequence {
    fn text(&self) -> String {
        let time = spelled(&self.gpu_ms, 1e-3);
        format!("{time} a run, {} one after the other", self.runs)
    }
}

/// What `--tune` found.
#[derive(Debug, Serialize)]
struct Search {
    arguments: String,
    tried: u32,
    untuned_ms: f64,
}

impl Batch {
    fn text(&self) -> String {
        let gpu = self.gpu_ms.map(|gpu| duration(gpu.median / 1e3));
        format!(
            "{} a run in a batch of {}{}; {} one by one",
            spelled(&self.run_ms, 1e-3),
            grouped(self.runs.into()),
            gpu.map(|gpu| format!(", of it {gpu} on the GPU"))
                .unwrap_or_default(),
            duration(self.one_by_one_ms.median / 1e3)
        )
    }
}

impl Alone {
    fn text(&self) -> String {
        let Interval { median, low, high } = self.ratio;
        let times = |ratio: f64| significant(ratio, 3);
        let range = match (low, high) {
            (Some(low), Some(high)) => format!(" ({} .. {})", times(low), times(high)),
            _ => String::new(),
        };
        let bits = if self.same_bits {
            "the same bits"
        } else {
            "other bits"
        };
        format!(
            "{} on the first device; all take {} of it, {} times as fast{range}, with {bits}",
            spelled(&self.run_ms, 1e-3),
            significant(1.0 / median.max(1e-9), 3),
            times(median)
        )
    }
}

/// Operations of one agent, by unit.
#[derive(Clone, Copy, Debug, Serialize)]
struct Counts {
    step: Units,
    once: Units,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct Units {
    float: u64,
    special: u64,
    integer: u64,
}

impl From<Operations> for Units {
    fn from(found: Operations) -> Units {
        Units {
            float: found.float,
            special: found.special,
            integer: found.integer,
        }
    }
}

/// The backend, what it ran on, and the driver.
fn place(device: &Device) -> (&'static str, String, Option<String>) {
    match device {
        Device::Cpu(isa) => ("cpu", format!("processor with {isa}"), None),
        Device::Reference => ("reference", "processor".to_owned(), None),
        Device::Gpu(adapter) => {
            let driver = Some(adapter.driver.clone()).filter(|driver| !driver.is_empty());
            ("gpu", adapter.name.clone(), driver)
        }
    }
}

/// What a run cost, and compiling its model before it.
fn costs(run: &Report, compile: f64) -> Costs {
    let own = Own {
        compile,
        load: 0.0,
        total: run.telemetry.total_seconds + compile,
    };
    Costs::of(&run.telemetry, own)
}

impl Row {
    /// Of runs that were verified.
    pub(crate) fn new(
        model: &str,
        compile_seconds: f64,
        first: &Run,
        agreement: Agreement,
        measured: &Measured,
        cost: Option<Cost>,
    ) -> Row {
        let report = &measured.report;
        let (backend, device, driver) = place(&report.backend);
        let agent_steps = first.agent_steps();
        let (seconds, rate_by) = match measured.gpu {
            Some(gpu) => (gpu.median, "gpu_ms"),
            None => (measured.total.median, "total_ms"),
        };
        let floor = floor::seconds(&report.backend, cost, report.agents.into(), agent_steps);
        Row {
            model: model.to_owned(),
            agents: report.agents,
            steps: report.steps,
            agent_steps,
            seed: report.seed,
            backend,
            device,
            driver,
            verified: agreement.name(),
            outputs: (first.outputs().iter().chain(first.world_outputs()))
                .flat_map(|column| summary::rows(&column.field, column.statistics()))
                .collect(),
            compile_ms: ms(compile_seconds),
            first: costs(first.report(), compile_seconds),
            runs: measured.runs,
            gpu_ms: measured.gpu.map(|it| scaled(it, 1e3)),
            in_a_row: None,
            total_ms: scaled(measured.total, 1e3),
            overhead_us: measured.overhead.map(|it| scaled(it, 1e6)),
            agent_steps_per_second: agent_steps as f64 / seconds.max(1e-9),
            rate_by,
            operations: cost.map(|cost| Counts {
                step: cost.step.into(),
                once: cost.once.into(),
            }),
            floor_ms: floor.ok().map(ms),
            floor_fraction: floor.ok().map(|floor| floor / seconds.max(1e-9)),
            floor_note: floor.err(),
            dispatches: report.dispatches,
            chunks: report.chunks,
            warm: costs(report, 0.0),
            kernel: kernel(report),
            tuned: None,
            batch: None,
            devices: Shares::of(&report.devices),
            alone: None,
        }
    }

    /// The same row with what a search found before it.
    pub(crate) fn tuned(mut self, tuned: Option<Tuned>) -> Row {
        self.tuned = tuned.map(|tuned| Search {
            arguments: arguments(&tuned.tuning),
            tried: tuned.tried,
            untuned_ms: ms(tuned.seconds.0),
        });
        self
    }

    /// The same row with the time of runs in a row.
    pub(crate) fn in_a_row(mut self, measured: Option<InARow>) -> Row {
        self.in_a_row = measured.map(|it| Sequence {
            runs: it.runs,
            gpu_ms: scaled(it.gpu, 1e3),
        });
        self
    }

    /// The same row with the times of a batch.
    pub(crate) fn batched(mut self, batched: Option<Batched>) -> Row {
        self.batch = batched.map(|it| Batch {
            runs: it.runs,
            run_ms: scaled(it.together, 1e3),
            gpu_ms: it.gpu.map(|it| scaled(it, 1e3)),
            one_by_one_ms: scaled(it.one_by_one, 1e3),
        });
        self
    }

    /// The same row with the times of one device in turns with all.
    pub(crate) fn beside(mut self, beside: Option<Beside>) -> Row {
        self.alone = beside.map(|it| Alone {
            run_ms: scaled(it.alone, 1e3),
            ratio: it.ratio,
            same_bits: it.same_bits,
        });
        self
    }

    /// What several devices did, line by line.
    fn several(&self, line: &mut impl FnMut(&str, String)) {
        for (at, share) in self.devices.lines().into_iter().enumerate() {
            line(if at == 0 { "devices" } else { "" }, share);
        }
        if let Some(alone) = &self.alone {
            line("alone", alone.text());
        }
    }

    /// For people.
    pub(crate) fn text(&self) -> String {
        let [agents, steps] = [self.agents, self.steps].map(|count| grouped(count.into()));
        let mut text = format!(
            "{}: {agents} agents x {steps} steps on {} ({})\n",
            self.model, self.device, self.backend
        );
        let mut line = |name: &str, value: String| {
            let _ = writeln!(text, "  {name:<9} {value}");
        };
        line("verified", self.verified.to_owned());
        if let Some(found) = &self.tuned {
            let arguments = match found.arguments.as_str() {
                "" => "as it is chosen by itself",
                some => some,
            };
            let value = format!(
                "{arguments} ({} kernels tried; {} before)",
                found.tried,
                duration(found.untuned_ms / 1e3)
            );
            line("tuned", value);
        }
        let first = (self.first.run_ms() / 1e3, self.first.cold_ms() / 1e3);
        line(
            "first run",
            format!(
                "compile {}, then {} (of it drivers, device and pipeline {})",
                duration(self.compile_ms / 1e3),
                duration(first.0),
                duration(first.1)
            ),
        );
        if let Some(gpu) = &self.gpu_ms {
            line("gpu", spelled(gpu, 1e-3));
        }
        if let Some(row) = &self.in_a_row {
            line("in a row", row.text());
        }
        line(
            "total",
            format!(
                "{}, median of {} runs",
                spelled(&self.total_ms, 1e-3),
                self.runs
            ),
        );
        if let Some(overhead) = &self.overhead_us {
            line("overhead", spelled(overhead, 1e-6));
        }
        if let Some(batch) = &self.batch {
            line("batch", batch.text());
        }
        self.several(&mut line);
        line(
            "speed",
            format!("{} agent-steps/s", rate(self.agent_steps_per_second)),
        );
        line(
            "floor",
            match (self.floor_ms, self.floor_fraction) {
                (Some(floor), Some(fraction)) => format!(
                    "{}, of which {} % reached",
                    duration(floor / 1e3),
                    significant(fraction * 100.0, 3)
                ),
                _ => self.floor_note.unwrap_or_default().to_owned(),
            },
        );
        text
    }
}

/// All rows.
pub(crate) fn json(rows: &[Row]) -> String {
    #[derive(Serialize)]
    struct Results<'a> {
        simc: &'static str,
        results: &'a [Row],
    }
    let results = Results {
        simc: env!("CARGO_PKG_VERSION"),
        results: rows,
    };
    let mut text = serde_json::to_string_pretty(&results)
        .unwrap_or_else(|error| format!("{{\"error\": \"{error}\"}}"));
    text.push('\n');
    text
}

fn scaled(interval: Interval, by: f64) -> Interval {
    Interval {
        median: interval.median * by,
        low: interval.low.map(|low| low * by),
        high: interval.high.map(|high| high * by),
    }
}

fn spelled(interval: &Interval, unit: f64) -> String {
    let median = duration(interval.median * unit);
    match (interval.low, interval.high) {
        (Some(low), Some(high)) => format!(
            "{median} ({} .. {})",
            duration(low * unit),
            duration(high * unit)
        ),
        _ => median,
    }
}
