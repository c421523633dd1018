//! `simc doctor`: what this machine has, what `--backend auto` takes, and a measurement that it decides by.

use crate::{
    cache, calibration,
    failure::Failure,
    number::grouped,
    place::Place,
    problem, standard_output,
    summary::{duration, rate},
};
use serde::Serialize;
use sim_runtime::{AdapterDetails, AdapterSummary, Isa, Measured};
use std::{fmt::Write, fs, path::Path};

/// Arguments of `simc doctor`.
#[derive(clap::Args)]
#[command(after_help = "\
It measures how long a GPU takes to open and how fast it and the processor are, and keeps that in
the directory of caches: `simc run --backend auto` then takes whichever is done first. With
`--adapter`, it measures that adapter, and keeps nothing.

Examples:
  simc doctor
  simc doctor --adapter llvmpipe
  simc doctor --no-measure --json")]
pub(crate) struct Args {
    /// Adapter to measure, by a part of its name, instead of the one that `--backend auto` takes.
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,
    /// Only list what there is.
    #[arg(long, conflicts_with = "adapter")]
    no_measure: bool,
    /// Print it as JSON.
    #[arg(long)]
    json: bool,
}

/// What there is, and what was measured.
#[derive(Debug, Serialize)]
struct Report {
    simc: &'static str,
    system: String,
    processor: Option<String>,
    threads: usize,
    instruction_set: &'static str,
    available_bytes: Option<u64>,
    cache: Option<Cache>,
    adapters: Vec<Adapter>,
    /// What `--backend auto` takes for long runs: an adapter, or else the CPU.
    auto: Option<String>,
    /// Why it takes the CPU.
    reason: Option<String>,
    measured: Option<Measurement>,
}

/// The directory of caches.
#[derive(Debug, Serialize)]
struct Cache {
    directory: String,
    files: usize,
    bytes: u64,
}

/// An adapter.
#[derive(Debug, Serialize)]
struct Adapter {
    name: String,
    kind: String,
    api: &'static str,
    driver: String,
    workgroup_invocations: u32,
    workgroup_bytes: u32,
    buffer_bytes: u64,
    /// The least and greatest size of a subgroup.
    subgroups: Option<(u32, u32)>,
    timestamps: bool,
    f64: bool,
    pipeline_cache: bool,
    processors: Option<u32>,
}

/// A measurement.
#[derive(Debug, Serialize)]
struct Measurement {
    adapter: String,
    open_seconds: f64,
    gpu_instruction_seconds: f64,
    cpu_instruction_seconds: f64,
    /// Whether both computed the same integers.
    agrees: bool,
    /// Agent-steps of the probe that take both the same time, opening included.
    break_even_agent_steps: Option<f64>,
    probe_instructions: u32,
    /// Where it is kept.
    stored: Option<String>,
}

/// Reports on this machine.
pub(crate) fn doctor(args: &Args) -> Result<(), Failure> {
    let auto = sim_runtime::auto_adapter();
    let wanted = match &args.adapter {
        Some(name) => Some(Place::adapter_named(name)?),
        None => auto.as_ref().ok().map(|it| it.name.clone()),
    };
    let measured = match wanted.filter(|_| !args.no_measure) {
        Some(name) => Some(sim_runtime::calibrate(&name)?),
        None => None,
    };
    // What is measured of an adapter that nobody takes decides nothing.
    let is_auto = |measured: &Measured| auto.as_ref().is_ok_and(|it| it.name == measured.adapter);
    let stored = match &measured {
        Some(measured) if is_auto(measured) && measured.agrees => {
            calibration::store(&measured.adapter, measured.calibration)?
        }
        Some(_) | None => None,
    };
    let stored = stored.map(|path| path.display().to_string());
    let report = Report::of(&auto, measured.map(|it| Measurement::of(it, stored)));
    standard_output::print(match args.json {
        true => serde_json::to_string_pretty(&report).expect("its keys are strings") + "\n",
        false => report.text(),
    })?;
    match report.measured {
        Some(measured) if !measured.agrees => {
            Err(problem::adapter_disagrees(&measured.adapter).into())
        }
        Some(_) | None => Ok(()),
    }
}

impl Report {
    fn of(auto: &Result<AdapterSummary, String>, measured: Option<Measurement>) -> Report {
        let adapters = sim_runtime::adapter_details();
        Report {
            simc: env!("CARGO_PKG_VERSION"),
            system: calibration::system(),
            processor: calibration::processor(),
            threads: calibration::threads(),
            instruction_set: Isa::best().name(),
            available_bytes: sim_runtime::available_memory(),
            cache: cache::directory().map(|directory| Cache::of(&directory)),
            adapters: adapters.into_iter().map(Adapter::of).collect(),
            auto: auto.as_ref().ok().map(|it| it.name.clone()),
            reason: auto.as_ref().err().cloned(),
            measured,
        }
    }

    fn text(&self) -> String {
        let mut text = format!("simc {}, {}\n\n", self.simc, self.system);
        let mut line = |name: &str, value: String| {
            let _ = writeln!(text, "{name:<9}  {value}");
        };
        let processor = self.processor.as_deref().unwrap_or("unknown");
        let threads = match self.threads {
            1 => "1 thread".to_owned(),
            many => format!("{many} threads"),
        };
        line(
            "processor",
            format!("{processor}, {threads}, {}", self.instruction_set),
        );
        if let Some(bytes) = self.available_bytes {
            line("memory", format!("{} available", size(bytes)));
        }
        line(
            "cache",
            match &self.cache {
                Some(cache) => format!(
                    "{}, {} files, {}",
                    cache.directory,
                    cache.files,
                    size(cache.bytes)
                ),
                None => "none: set SIMC_CACHE_DIR".to_owned(),
            },
        );
        if self.adapters.is_empty() {
            line("adapters", "none".to_owned());
        }
        for adapter in &self.adapters {
            for (k, value) in adapter.lines().into_iter().enumerate() {
                line(if k == 0 { "adapter" } else { "" }, value);
            }
        }
        if let Some(measured) = &self.measured {
            for (k, value) in measured.lines().into_iter().enumerate() {
                line(if k == 0 { "measured" } else { "" }, value);
            }
        }
        for (k, value) in self.choice().into_iter().enumerate() {
            line(if k == 0 { "auto" } else { "" }, value);
        }
        text
    }

    /// What `--backend auto` does.
    fn choice(&self) -> Vec<String> {
        let Some(auto) = &self.auto else {
            let reason = self.reason.as_deref().unwrap_or_default();
            return vec![format!("takes the CPU: {reason}")];
        };
        let mut lines = vec![format!(
            "takes {auto}, and the CPU for runs that it has done before"
        )];
        let own = self.measured.as_ref().filter(|it| it.adapter == *auto);
        if let Some(stored) = own.and_then(|it| it.stored.as_ref()) {
            lines.push(format!(
                "decides by what was measured, which is kept in {stored}"
            ));
        } else if own.is_none() {
            lines.push("decides by what `simc doctor` measured last, or by estimates".to_owned());
        }
        lines
    }
}

impl Cache {
    fn of(directory: &Path) -> Cache {
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        let sizes = entries.filter_map(|entry| entry.metadata().ok());
        let sizes: Vec<u64> = sizes.filter(|it| it.is_file()).map(|it| it.len()).collect();
        Cache {
            directory: directory.display().to_string(),
            files: sizes.len(),
            bytes: sizes.iter().sum(),
        }
    }
}

impl Adapter {
    fn of(details: AdapterDetails) -> Adapter {
        Adapter {
            name: details.summary.name,
            kind: details.summary.kind.to_string(),
            api: details.summary.api,
            driver: details.summary.driver,
            workgroup_invocations: details.workgroup_invocations,
            workgroup_bytes: details.workgroup_bytes,
            buffer_bytes: details.buffer_bytes,
            subgroups: details.subgroups,
            timestamps: details.timestamps,
            f64: details.f64,
            pipeline_cache: details.pipeline_cache,
            processors: details.processors,
        }
    }

    fn lines(&self) -> Vec<String> {
        let processors = match self.processors {
            Some(count) => format!(", {count} processors"),
            None => String::new(),
        };
        let subgroups = match self.subgroups {
            Some((least, most)) if least == most => format!("subgroups of {least}"),
            Some((least, most)) => format!("subgroups of {least} to {most}"),
            None => "no subgroups".to_owned(),
        };
        let has = |what: &str, there: bool| match there {
            true => what.to_owned(),
            false => format!("no {what}"),
        };
        vec![
            format!("{}: {}, {}{processors}", self.name, self.kind, self.api),
            format!("driver {}", self.driver),
            format!(
                "workgroups of {} with {} of memory, buffers of {}",
                grouped(self.workgroup_invocations.into()),
                size(self.workgroup_bytes.into()),
                size(self.buffer_bytes)
            ),
            [
                subgroups,
                has("timestamps", self.timestamps),
                has("f64", self.f64),
                has("cache of pipelines", self.pipeline_cache),
            ]
            .join(", "),
        ]
    }
}

impl Measurement {
    fn of(measured: Measured, stored: Option<String>) -> Measurement {
        let Measured {
            adapter,
            calibration,
            probe_instructions,
            agrees,
        } = measured;
        let even = calibration.break_even();
        Measurement {
            adapter,
            open_seconds: calibration.gpu_open_seconds,
            gpu_instruction_seconds: calibration.gpu_instruction_seconds,
            cpu_instruction_seconds: calibration.cpu_instruction_seconds,
            agrees,
            break_even_agent_steps: even.map(|work| work / f64::from(probe_instructions)),
            probe_instructions,
            stored,
        }
    }

    fn lines(&self) -> Vec<String> {
        let speed = |seconds: f64| rate(1.0 / (seconds * f64::from(self.probe_instructions)));
        let mut lines = vec![
            format!("{} opens in {}", self.adapter, duration(self.open_seconds)),
            format!(
                "it computes {} agent-steps/s of a model of {} instructions, the CPU {}",
                speed(self.gpu_instruction_seconds),
                self.probe_instructions,
                speed(self.cpu_instruction_seconds)
            ),
        ];
        lines.push(match self.break_even_agent_steps {
            Some(steps) => format!(
                "it is done before the CPU from {} agent-steps on",
                rate(steps)
            ),
            None => "the CPU is always done before it".to_owned(),
        });
        lines.push(match self.agrees {
            true => "it draws the same numbers as the CPU".to_owned(),
            false => "it does NOT draw the same numbers as the CPU".to_owned(),
        });
        lines
    }
}

/// Bytes for people.
fn size(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let unit = units.into_iter().find(|(shift, _)| bytes >> shift > 0);
    match unit {
        Some((shift, unit)) => {
            let value = bytes as f64 / (1_u64 << shift) as f64;
            let digits = usize::from(value.fract() != 0.0);
            format!("{value:.digits$} {unit}")
        }
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_have_units() {
        assert_eq!(size(32 << 10), "32 KiB");
        assert_eq!(size((128 << 20) + (64 << 10)), "128.1 MiB");
        assert_eq!(size(2 << 30), "2 GiB");
        assert_eq!(size(7), "7 bytes");
    }
}
