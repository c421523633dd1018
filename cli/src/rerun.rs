//! `simc rerun`: repeats a run by its metadata, and says whether the results are the same.

use crate::{
    columns::{Flush, table},
    failure::Failure,
    number::grouped,
    place::{Backend, Place},
    problem,
    results::metadata::{ColumnMark, FileMark, Metadata, VERSION},
    run::{self, Compiled},
    standard_output, sweep,
};
use clap::{Parser, ValueEnum};
use serde::Serialize;
use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// Most bytes of metadata.
const MOST: u64 = 64 << 20;

/// Arguments of `simc rerun`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  simc run gbm.sim --output paths.parquet
  simc rerun paths.meta.json
  simc rerun results/meta.json --json | jq .same

The model, its data and inputs are looked for where they were, first relative to META, then by their
whole paths. The run goes to the same backend and adapter, if they are here. It writes no files. What
is not as it was is listed first: versions, hashes of files, values, the device. Then there is a row
for each output and series, which compares all their bits. The exit code is 0 if all results are
the same, otherwise 1.")]
pub(crate) struct Args {
    /// Metadata that `simc run --output` wrote: FILE.meta.json, or DIR/meta.json.
    #[arg(value_name = "META", value_hint = clap::ValueHint::FilePath)]
    metadata: PathBuf,
    /// Print the comparison as JSON.
    #[arg(long)]
    json: bool,
}

/// `simc run`, by itself.
#[derive(Parser)]
#[command(name = "simc run")]
struct Call {
    #[command(flatten)]
    args: run::Args,
    #[arg(long, short)]
    quiet: bool,
}

/// What a repeated run is compared by, for people or as JSON.
#[derive(Debug, Serialize)]
struct Comparison {
    /// Are all results the same?
    same: bool,
    differences: Vec<Difference>,
    columns: Vec<Compared>,
}

/// Something that is not as it was.
#[derive(Debug, Serialize)]
struct Difference {
    what: String,
    before: String,
    now: String,
}

/// An output or series.
#[derive(Debug, Serialize)]
struct Compared {
    table: String,
    name: String,
    /// Values in the first run.
    values: usize,
    same: bool,
}

/// Repeats a run.
pub(crate) fn rerun(args: &Args) -> Result<(), Failure> {
    let before = read(&args.metadata)?;
    let now = repeat(&before, &args.metadata)?;
    let comparison = Comparison::of(&before, &now);
    standard_output::print(match args.json {
        true => comparison.json(),
        false => comparison.text(&before),
    })?;
    let columns = &comparison.columns;
    let differing = columns.iter().filter(|column| !column.same).count();
    match comparison.same {
        true => Ok(()),
        false => Err(problem::results_differ(differing, columns.len(), &args.metadata).into()),
    }
}

fn read(path: &Path) -> Result<Metadata, Failure> {
    let data = fs::metadata(path).map_err(|error| problem::unreadable(path, &error))?;
    if data.len() > MOST {
        return Err(problem::bad_metadata(path, "it is longer than 64 MiB").into());
    }
    let bytes = fs::read(path).map_err(|error| problem::unreadable(path, &error))?;
    let bad = |why: &str| Failure::from(problem::bad_metadata(path, why));
    let value: serde_json::Value = serde_json::from_slice(&bytes)
        .map_err(|error| bad(&format!("it is no JSON text, {error}")))?;
    match value.get("metadata").and_then(serde_json::Value::as_u64) {
        None => return Err(bad("it has no number `metadata`, the version of its form")),
        Some(version) if version != u64::from(VERSION) => {
            return Err(bad(&format!(
                "its form has version {version}, and this `simc` knows {VERSION}"
            )));
        }
        Some(_) => {}
    }
    serde_json::from_value(value).map_err(|error| bad(&error.to_string()))
}

/// Runs the same again, and says how.
fn repeat(before: &Metadata, path: &Path) -> Result<Metadata, Failure> {
    let origin = &before.origin;
    let path = env::current_dir().unwrap_or_default().join(path);
    enter_directory(before, &path)?;
    let arguments = ["simc run"].into_iter();
    let arguments = arguments.chain(origin.arguments.iter().map(String::as_str));
    let call = Call::try_parse_from(arguments).map_err(|error| {
        let text = error.to_string();
        let line = text.lines().next().unwrap_or_default();
        let line = line.trim_start_matches("error: ");
        problem::bad_metadata(
            &path,
            &format!("its arguments are not those of `simc run`, {line}"),
        )
    })?;
    let mut args = call.args;
    args.place = place(before);
    args.repeat_values(before);
    let compiled = Compiled::of(&args, Path::new(&origin.model.path))?;
    let launched = compiled.launched(&args, true, None)?;
    if args.sweeps()? {
        return launched.sweep(&args, false, |sweep, call| {
            sweep::repeat(sweep, call, &path)
        });
    }
    let origin = launched.origin(&args, &path)?;
    launched.repeat(&args, origin)
}

/// Goes to the directory of the first run: all paths are relative to it.
///
/// # Errors
/// If the model or a file is not there, or came through a pipe.
fn enter_directory(before: &Metadata, path: &Path) -> Result<(), Failure> {
    let origin = &before.origin;
    if origin.model.pipe {
        return Err(problem::came_through_a_pipe("the model").into());
    }
    let beside = path.parent().unwrap_or(Path::new(""));
    let relative = origin
        .directory
        .relative
        .iter()
        .map(|way| beside.join(way).components().collect());
    let absolute = PathBuf::from(&origin.directory.absolute);
    let all: Vec<PathBuf> = relative.chain([absolute]).collect();
    let model = |directory: &PathBuf| directory.join(&origin.model.path);
    let found = all.iter().find(|directory| model(directory).is_file());
    let Some(found) = found else {
        let mut places: Vec<PathBuf> = all.iter().map(model).collect();
        places.dedup();
        let places: Vec<&Path> = places.iter().map(PathBuf::as_path).collect();
        return Err(problem::moved_model(&places).into());
    };
    for given in origin.data.iter().chain(&origin.input) {
        if given.file.pipe {
            let what = format!("`{}`", given.name);
            return Err(problem::came_through_a_pipe(&what).into());
        }
        there(found, &given.file)?;
    }
    if let Some(points) = before.sweep.as_ref().and_then(|sweep| sweep.file.as_ref()) {
        if points.pipe {
            return Err(problem::came_through_a_pipe("the file of points").into());
        }
        there(found, points)?;
    }
    env::set_current_dir(found).map_err(|error| problem::unreadable(found, &error).into())
}

/// Is a plain file where it was?
fn there(directory: &Path, given: &FileMark) -> Result<(), Failure> {
    let file = directory.join(&given.path);
    match given.blake3.is_some() && !file.is_file() {
        true => Err(problem::no_such_file(&file).into()),
        false => Ok(()),
    }
}

/// Where the first run was, if that is here; otherwise another GPU, or the CPU.
fn place(before: &Metadata) -> Place {
    let backend = Backend::from_str(&before.machine.backend, false).unwrap_or(Backend::Auto);
    let Some(adapter) = &before.machine.adapter else {
        return Place::of(backend, None);
    };
    let all = sim_runtime::adapters();
    match all.iter().any(|here| here.name == adapter.name) {
        true => Place::of(Backend::Gpu, Some(adapter.name.clone())),
        false if all.is_empty() => Place::of(Backend::Cpu, None),
        false => Place::of(Backend::Gpu, None),
    }
}

impl Comparison {
    fn of(before: &Metadata, now: &Metadata) -> Comparison {
        let mut differences = Vec::new();
        let mut compare = |what: &str, before: String, now: String| {
            if before != now {
                let what = what.to_owned();
                differences.push(Difference { what, before, now });
            }
        };
        let [was, is] = [before, now].map(facts);
        for ((what, before), (_, now)) in was.into_iter().zip(is) {
            compare(what, before, now);
        }
        let given = |of: &Metadata| -> Vec<(String, FileMark)> {
            let all = of.origin.data.iter().chain(&of.origin.input);
            let all = all.map(|given| (given.name.clone(), given.file.clone()));
            let points = of.sweep.as_ref().and_then(|sweep| sweep.file.clone());
            all.chain(points.map(|file| ("points".to_owned(), file)))
                .collect()
        };
        for ((name, before), (_, now)) in given(before).into_iter().zip(given(now)) {
            let what = format!("{name} ({})", before.path);
            compare(&what, hash(&before), hash(&now));
        }
        let columns: Vec<Compared> = (before.results.iter())
            .map(|column| Compared {
                table: column.table.clone(),
                name: column.name.clone(),
                values: column.shape.iter().product(),
                same: now.results.iter().any(|other| is_same(column, other)),
            })
            .collect();
        Comparison {
            same: columns.iter().all(|column| column.same),
            differences,
            columns,
        }
    }

    fn json(&self) -> String {
        let text = serde_json::to_string_pretty(self);
        text.expect("it has no maps and no floats") + "\n"
    }

    fn text(&self, before: &Metadata) -> String {
        let mut text = String::new();
        for Difference { what, before, now } in &self.differences {
            let [before, now] = [before, now].map(|text| shortened(text));
            text += &format!("{what}: {now}, was {before}\n");
        }
        if self.differences.is_empty() {
            let Metadata { simc, machine, .. } = before;
            let device = match (&machine.adapter, &machine.instruction_set) {
                (Some(adapter), _) => adapter.text(),
                (None, Some(isa)) => format!("{}, {isa}", machine.backend),
                (None, None) => machine.backend.clone(),
            };
            text += &format!(
                "model, data, values, simc {simc} and device ({device}) are as they were\n"
            );
        }
        let mut lines = vec![["result", "values", ""].map(str::to_owned).to_vec()];
        lines.extend(self.columns.iter().map(|column| {
            let name = match column.table.as_str() {
                "outputs" | "points" => column.name.clone(),
                table => format!("{} {}", table.replace('.', " "), column.name),
            };
            let same = if column.same { "same" } else { "differs" };
            vec![name, grouped(column.values as u64), same.to_owned()]
        }));
        let verdict = match self.same {
            true => "all results are the same, to the bit\n",
            false => "",
        };
        text + "\n" + &table(&lines, Flush::Right) + verdict
    }
}

/// What two runs may differ by, but for files and results.
fn facts(of: &Metadata) -> Vec<(&'static str, String)> {
    let Metadata {
        origin, machine, ..
    } = of;
    let number = |value: Option<u32>| value.map_or("none".to_owned(), |value| value.to_string());
    let text = |value: Option<&String>| value.map_or("none".to_owned(), Clone::clone);
    let adapter = machine.adapter.as_ref();
    let without_results = match &of.sweep {
        Some(sweep) if sweep.interrupted => format!("{} (interrupted)", sweep.failed),
        Some(sweep) => sweep.failed.to_string(),
        None => "none".to_owned(),
    };
    vec![
        ("points without results", without_results),
        ("simc", of.simc.clone()),
        ("model", hash(&origin.model)),
        ("seed", of.seed.to_string()),
        ("agents", of.agents.to_string()),
        ("first agent", of.first_agent.to_string()),
        ("population", of.population.to_string()),
        ("steps", of.steps.to_string()),
        ("world", number(of.world)),
        (
            "params",
            serde_json::Value::from(origin.params.clone()).to_string(),
        ),
        ("generator", origin.generator.clone()),
        ("math", origin.math.clone()),
        ("real", origin.real.clone()),
        ("tuning", origin.tuning.clone()),
        ("backend", machine.backend.clone()),
        ("instruction set", text(machine.instruction_set.as_ref())),
        ("adapter", text(adapter.map(|adapter| &adapter.name))),
        ("driver", text(adapter.map(|adapter| &adapter.driver))),
    ]
}

fn hash(file: &FileMark) -> String {
    file.blake3.clone().unwrap_or_default()
}

/// Of a hash its beginning, by which people tell them apart.
fn shortened(text: &str) -> String {
    let is_hash = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    match is_hash {
        true => format!("{}…", &text[..12]),
        false => text.to_owned(),
    }
}

fn is_same(one: &ColumnMark, other: &ColumnMark) -> bool {
    let key = |of: &ColumnMark| (of.table.clone(), of.name.clone(), of.type_name.clone());
    key(one) == key(other) && one.shape == other.shape && one.blake3 == other.blake3
}
