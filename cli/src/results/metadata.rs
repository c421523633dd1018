//! What is said about a run beside its results: enough to repeat it, and to see whether the results are the
//! same.
//!
//! The values are facts for people and other programs. A run is repeated by its arguments, in its directory;
//! the facts of the second run are then compared with those of the first.

use super::{
    hash::{hash, hash_bits, hash_of_file},
    tables::{TableOf, columns},
};
use crate::{
    failure::Failure,
    launch::Assignment,
    open::{is_standard_input, named},
    table::{
        cell::{Kind, bits_of},
        source::Source,
    },
};
use blake3::Hasher;
use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sim_compiler::manifest::Field;
use sim_runtime::{AdapterSummary, Column, Device, Report, Run, Series, Simulation};
use std::{
    env,
    ffi::OsStr,
    fs,
    path::{Component, Path, PathBuf},
    time::SystemTime,
};

/// The version of this form.
pub(crate) const VERSION: u32 = 1;

/// How a run was done.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Metadata {
    /// [`VERSION`]
    pub(crate) metadata: u32,
    /// The version of the command.
    pub(crate) simc: String,
    #[serde(flatten)]
    pub(crate) origin: Origin,
    pub(crate) seed: u64,
    pub(crate) agents: u32,
    pub(crate) first_agent: u32,
    pub(crate) population: u32,
    pub(crate) steps: u32,
    /// Agents in a world, where the model has worlds.
    pub(crate) world: Option<u32>,
    /// Agents of a batch, where they were run in batches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) batch: Option<u32>,
    #[serde(flatten)]
    pub(crate) machine: Machine,
    /// Why it ran there.
    pub(crate) reason: String,
    pub(crate) times: Times,
    /// What was swept, if this is of a sweep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sweep: Option<SweepMark>,
    /// Each output and series; of a sweep each column of its tables.
    pub(crate) results: Vec<ColumnMark>,
}

/// What was swept.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SweepMark {
    /// `grid`, `random`, `sobol` or `file`.
    pub(crate) kind: String,
    /// The file of points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<FileMark>,
    pub(crate) params: Vec<AxisMark>,
    pub(crate) points: usize,
    /// Points without results, also those that were not reached when the sweep was interrupted.
    pub(crate) failed: usize,
    pub(crate) interrupted: bool,
    pub(crate) repeats: usize,
    pub(crate) common_draws: bool,
    pub(crate) quantiles: Vec<f64>,
    /// Two outputs, or none.
    pub(crate) covariance: Vec<String>,
}

/// A param that was swept.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct AxisMark {
    /// `sigma`, `w[3]`.
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) type_name: String,
    /// Of a grid: its values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) values: Vec<Value>,
    /// Of random and Sobol points: the ends of its range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) range: Option<[f64; 2]>,
}

/// What is known before the run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Origin {
    /// When the command was called, as RFC 3339 has it.
    pub(crate) started: String,
    pub(crate) model: FileMark,
    pub(crate) directory: Directory,
    /// Those of `simc run`, as they were given.
    pub(crate) arguments: Vec<String>,
    /// The values of all params: numbers, truths, names of variants, and arrays of them.
    pub(crate) params: Map<String, Value>,
    /// Tables and inputs in files.
    pub(crate) data: Vec<Given>,
    pub(crate) input: Vec<Given>,
    pub(crate) generator: String,
    pub(crate) math: String,
    /// The type of floats.
    #[serde(default = "single")]
    pub(crate) real: String,
    /// What was set of the kernel.
    pub(crate) tuning: String,
}

/// A file and the hash of its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileMark {
    /// As it was given.
    pub(crate) path: String,
    /// Null for what is no plain file; of a model that of its text in any case.
    pub(crate) blake3: Option<String>,
    /// Did it come from a pipe?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) pipe: bool,
}

/// The file of a table or input.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Given {
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) file: FileMark,
}

/// The directory in which the command was called.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Directory {
    /// The way there from that of the metadata, if there is one.
    pub(crate) relative: Option<String>,
    pub(crate) absolute: String,
}

/// What a model ran on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Machine {
    /// `cpu`, `gpu` or `reference`.
    pub(crate) backend: String,
    /// Vector instructions of the CPU.
    pub(crate) instruction_set: Option<String>,
    pub(crate) adapter: Option<Adapter>,
}

/// The adapter of a GPU run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Adapter {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) driver: String,
    pub(crate) api: String,
}

/// Seconds of a run.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Times {
    pub(crate) compile_seconds: f64,
    pub(crate) setup_seconds: f64,
    pub(crate) run_seconds: f64,
}

/// An output or series and the hash of its bits.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ColumnMark {
    /// The word of its table.
    pub(crate) table: String,
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) type_name: String,
    /// Names by value, for an enum.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) variants: Vec<String>,
    pub(crate) shape: Vec<usize>,
    /// Steps between two samples of a series.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) every: Option<u32>,
    /// Of all values in order, as little-endian words of 32 bits.
    pub(crate) blake3: String,
    /// The file that holds it, beside the metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
}

/// What the command line says, for [`Origin::of`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    /// The path of the model.
    pub(crate) model: &'a Path,
    /// Its text.
    pub(crate) text: &'a str,
    pub(crate) data: &'a [Assignment],
    pub(crate) input: &'a [Assignment],
    /// The words of generator, math and real.
    pub(crate) compilation: &'a [String; 3],
    pub(crate) tuning: &'a str,
}

impl Origin {
    /// What is known of a run before it, for metadata in this file.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub(crate) fn of(
        asked: Asked<'_>,
        simulation: &Simulation,
        metadata: &Path,
    ) -> Result<Origin, Failure> {
        let model = FileMark {
            path: asked.model.to_string_lossy().into_owned(),
            blake3: Some(hash(asked.text.as_bytes())),
            pipe: is_pipe(&named(asked.model)),
        };
        let given = |all: &[Assignment]| all.iter().map(Given::of).collect::<Result<_, _>>();
        let mut params = Map::new();
        for param in &simulation.manifest().params {
            let words = simulation.param_words(&param.field.name)?;
            params.insert(param.field.name.clone(), value(&param.field, &words));
        }
        let [generator, math, real] = asked.compilation.clone();
        let started = DateTime::<Utc>::from(SystemTime::now());
        Ok(Origin {
            started: started.to_rfc3339_opts(SecondsFormat::Secs, true),
            model,
            directory: Directory::of(metadata),
            arguments: arguments(),
            params,
            data: given(asked.data)?,
            input: given(asked.input)?,
            generator,
            math,
            real,
            tuning: asked.tuning.to_owned(),
        })
    }
}

/// A param's value as `--param` takes it: with commas between the values of an array.
pub(crate) fn listed(value: &Value) -> String {
    match value {
        Value::Array(values) => values.iter().map(listed).collect::<Vec<_>>().join(","),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

impl Metadata {
    /// Of a run that is over; `compile` are the seconds from source to artifact.
    pub(crate) fn of(
        origin: Origin,
        report: &Report,
        results: Vec<ColumnMark>,
        has_worlds: bool,
        compile: f64,
    ) -> Metadata {
        let world = has_worlds.then(|| report.agents.checked_div(report.worlds));
        Metadata {
            metadata: VERSION,
            simc: env!("CARGO_PKG_VERSION").to_owned(),
            origin,
            seed: report.seed,
            agents: report.agents,
            first_agent: report.first_agent,
            population: report.population,
            steps: report.steps,
            world: world.flatten(),
            batch: None,
            machine: Machine::of(&report.backend),
            reason: report.reason.clone(),
            times: Times {
                compile_seconds: compile,
                setup_seconds: report.setup_seconds,
                run_seconds: report.run_seconds,
            },
            sweep: None,
            results,
        }
    }

    /// With the file of each column, by its table and name.
    pub(super) fn with_files<'a>(
        mut self,
        file: impl Fn(TableOf, &str) -> Option<&'a OsStr>,
    ) -> Metadata {
        for column in &mut self.results {
            let of = TableOf::of_word(&column.table);
            let file = of.and_then(|of| file(of, &column.name));
            column.file = file.map(|file| file.to_string_lossy().into_owned());
        }
        self
    }

    /// The content of the file.
    pub(crate) fn json(&self) -> String {
        let text = serde_json::to_string_pretty(self);
        text.expect("it has neither maps without text keys nor floats without digits") + "\n"
    }

    /// For files that hold pairs of words themselves: each key of the object with `sim.` before it, and its
    /// value, text as it is and all else as JSON.
    pub(super) fn words(&self) -> Vec<(String, String)> {
        let Ok(Value::Object(all)) = serde_json::to_value(self) else {
            return Vec::new();
        };
        let word = |(key, value)| match value {
            Value::String(text) => (format!("sim.{key}"), text),
            other => (format!("sim.{key}"), other.to_string()),
        };
        all.into_iter().map(word).collect()
    }
}

impl FileMark {
    /// Of a file that the command line names so.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn of(given: &Path) -> Result<FileMark, Failure> {
        let path = named(given);
        let pipe = is_pipe(&path);
        Ok(FileMark {
            path: given.to_string_lossy().into_owned(),
            blake3: match path.is_file() {
                true => Some(hash_of_file(&path)?),
                false => None,
            },
            pipe,
        })
    }
}

/// Can it be read only once?
fn is_pipe(path: &Path) -> bool {
    is_standard_input(path) || fs::metadata(path).is_ok_and(|data| !data.is_file())
}

impl Given {
    fn of(assignment: &Assignment) -> Result<Given, Failure> {
        let source = Source::parse(&assignment.value)?;
        let file = match &source.columns {
            Some(_) => source.path.as_path(),
            None => Path::new(&assignment.value),
        };
        Ok(Given {
            name: assignment.name.clone(),
            file: FileMark::of(file)?,
        })
    }
}

impl Directory {
    fn of(metadata: &Path) -> Directory {
        let here = env::current_dir().unwrap_or_default();
        let beside = metadata.parent().unwrap_or(Path::new(""));
        let relative = match (fs::canonicalize(&here), canonical(&here.join(beside))) {
            (Ok(here), Some(beside)) => way(&beside, &here),
            _ => None,
        };
        Directory {
            relative: relative.map(|path| path.to_string_lossy().into_owned()),
            absolute: here.to_string_lossy().into_owned(),
        }
    }
}

/// The path of a directory without links, also if it is still to be made.
fn canonical(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok().or_else(|| {
        let parent = fs::canonicalize(path.parent()?).ok()?;
        Some(parent.join(path.file_name()?))
    })
}

/// The way from a directory to another one, both from the root; `.` if they are the same.
fn way(from: &Path, to: &Path) -> Option<PathBuf> {
    let [mut from, mut to] = [from, to].map(|path| path.components().peekable());
    while from.peek().is_some() && from.peek() == to.peek() {
        from.next();
        to.next();
    }
    let mut way = PathBuf::new();
    for part in from {
        match part {
            Component::Normal(_) => way.push(".."),
            // Another drive.
            _ => return None,
        }
    }
    way.extend(to);
    match way.as_os_str().is_empty() {
        true => Some(PathBuf::from(".")),
        false => Some(way),
    }
}

impl Machine {
    /// Of a device.
    pub(crate) fn of(device: &Device) -> Machine {
        let (backend, instruction_set, adapter) = match device {
            Device::Cpu(isa) => ("cpu", Some(isa.to_string()), None),
            Device::Reference => ("reference", None, None),
            Device::Gpu(adapter) => ("gpu", None, Some(Adapter::of(adapter))),
        };
        Machine {
            backend: backend.to_owned(),
            instruction_set,
            adapter,
        }
    }
}

impl Adapter {
    fn of(summary: &AdapterSummary) -> Adapter {
        Adapter {
            name: summary.name.clone(),
            kind: summary.kind.to_string(),
            driver: summary.driver.clone(),
            api: summary.api.to_owned(),
        }
    }

    /// For people.
    pub(crate) fn text(&self) -> String {
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

/// The marks of all columns of a run, or of its batches.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    columns: Vec<(ColumnMark, Hasher)>,
}

impl Marks {
    /// Of a run in one piece.
    pub(crate) fn of(run: &Run) -> Marks {
        let mut marks = Marks::default();
        marks.add(run);
        marks
    }

    /// Adds the next agents.
    pub(crate) fn add(&mut self, run: &Run) {
        if self.columns.is_empty() {
            let mark = |(of, column, series): (TableOf, &Column, Option<&Series>)| ColumnMark {
                table: of.word().to_owned(),
                name: column.field.name.clone(),
                type_name: column.values.scalar().name().to_owned(),
                variants: column.field.variants.clone(),
                shape: [&[0], &column.shape[1..]].concat(),
                every: series.and_then(|series| series.steps.get(1).copied()),
                blake3: String::new(),
                file: None,
            };
            let fresh = columns(run).map(|column| (mark(column), Hasher::new()));
            self.columns = fresh.collect();
        }
        for ((mark, hasher), (_, column, _)) in self.columns.iter_mut().zip(columns(run)) {
            mark.shape[0] += column.shape[0];
            hash_bits(column, hasher);
        }
    }

    /// The marks of all agents so far.
    pub(crate) fn finish(self) -> Vec<ColumnMark> {
        let hashed = |(mark, hasher): (ColumnMark, Hasher)| ColumnMark {
            blake3: hasher.finalize().to_hex().to_string(),
            ..mark
        };
        self.columns.into_iter().map(hashed).collect()
    }
}

/// What floats are where a file of an older version says nothing.
fn single() -> String {
    "f32".to_owned()
}

/// The value of a field in JSON, an array row by row.
fn value(field: &Field, words: &[u32]) -> Value {
    let kind = Kind::of(field);
    let one = |word: u64| {
        let mut text = Vec::new();
        // Writing to memory does not fail.
        let _ = kind.write(word, &mut text);
        let text = String::from_utf8_lossy(&text).into_owned();
        // Floats keep their short form, which has the same bits.
        match serde_json::from_str(&text) {
            Ok(value) => value,
            Err(_) => Value::String(text),
        }
    };
    let mut all = bits_of(field.scalar, words);
    match all.next() {
        Some(only) if field.dims().is_empty() => one(only),
        first => first.into_iter().chain(all).map(one).collect(),
    }
}

/// The arguments of `simc run` in this process.
fn arguments() -> Vec<String> {
    let given = env::args_os().map(|word| word.to_string_lossy().into_owned());
    given.skip_while(|word| word != "run").skip(1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_to_a_directory_goes_up_and_down() {
        let way = |from: &str, to: &str| way(Path::new(from), Path::new(to));
        assert_eq!(way("/a/b", "/a/b"), Some(PathBuf::from(".")));
        assert_eq!(way("/a/b/c", "/a"), Some(PathBuf::from("../..")));
        assert_eq!(way("/a/b", "/a/c/d"), Some(PathBuf::from("../c/d")));
    }
}
