//! The corpus of models, `benchmarks/corpus/FIELD/NAME.sim`: every model is in style, runs with finite
//! outputs, and gives the number that its head names.
//!
//! A head says what must come out in one of two forms, or in both: as specimens do (`// run`, `// input`, `//
//! expect`; see [`sim_tests::expectation`]), or of a population, with the model's own steps:
//!
//! ```text
//! // check: mean of OUTPUT = VALUE within TOLERANCE, N agents
//! ```
//!
//! A table `TABLE` of a model is in the file `NAME.TABLE.csv` beside it: one line with the name, then one
//! number a line.

use super::files;
use sim_compiler::{Math, Options, compile_with};
use sim_format::format;
use sim_runtime::{Array, Backend, Run, Simulation};
use sim_tests::expectation::{Head, floats};
use std::collections::BTreeMap;

const FOLDER: &str = "benchmarks/corpus";

/// Few agents show whether a model runs; they are more than one group of lanes.
const FEW: u32 = 64;

const SEED: u64 = 7;

/// The models by `field/name`.
fn corpus() -> BTreeMap<String, String> {
    let path = files::root().join(FOLDER);
    let fields = std::fs::read_dir(&path).expect("the corpus is there");
    let mut found = BTreeMap::new();
    for field in fields.map(|entry| entry.expect("a folder that can be read").path()) {
        if !field.is_dir() {
            continue;
        }
        let field = field.file_name().and_then(|name| name.to_str());
        let field = field.expect("the name of a field is text");
        for (name, source) in files::models(&format!("{FOLDER}/{field}")) {
            found.insert(format!("{field}/{name}"), source);
        }
    }
    found
}

/// The numbers of a table's file.
fn table(path: &str) -> Result<Vec<f32>, String> {
    let text = std::fs::read_to_string(files::root().join(path));
    let text = text.map_err(|error| format!("{path}: {error}"))?;
    let number = |line: &str| line.parse().map_err(|_| format!("{path}: `{line}`"));
    text.lines().skip(1).map(number).collect()
}

/// A model on the CPU, with its tables.
fn simulation(model: &str, source: &str, math: Math) -> Result<Simulation, String> {
    let options = Options {
        math,
        ..Options::default()
    };
    let artifact = compile_with(source, options).map_err(|found| {
        let messages: Vec<String> = found.iter().map(|one| one.message.clone()).collect();
        messages.join("; ")
    })?;
    let mut sim = Simulation::from_artifact(artifact)
        .backend(Backend::Cpu)
        .seed(SEED);
    let tables: Vec<String> = (sim.manifest().data.iter())
        .map(|data| data.field.name.clone())
        .collect();
    for name in tables {
        let rows = Array::from(table(&format!("{FOLDER}/{model}.{name}.csv"))?);
        sim = sim.data(&name, rows).map_err(|error| error.to_string())?;
    }
    Ok(sim)
}

/// All outputs of a run as numbers, by name.
fn outputs(run: &Run) -> BTreeMap<String, Vec<f64>> {
    let numbers =
        |column: &sim_runtime::Column| floats(&column.values.words(), column.field.scalar);
    (run.outputs().iter())
        .map(|column| (column.field.name.clone(), numbers(column)))
        .collect()
}

/// `mean of OUTPUT = VALUE within TOLERANCE, N agents`.
struct Check {
    output: String,
    value: f64,
    tolerance: f64,
    agents: u32,
}

impl Check {
    fn read(text: &str) -> Option<Check> {
        let rest = text.strip_prefix("mean of ")?;
        let (output, rest) = rest.split_once(" = ")?;
        let (value, rest) = rest.split_once(" within ")?;
        let (tolerance, agents) = rest.split_once(", ")?;
        Some(Check {
            output: output.to_owned(),
            value: value.parse().ok()?,
            tolerance: tolerance.parse().ok()?,
            agents: agents.strip_suffix(" agents")?.parse().ok()?,
        })
    }

    fn hold(&self, model: &str, source: &str) -> Result<(), String> {
        let sim = simulation(model, source, Math::Fast)?.agents(self.agents);
        let run = sim.run().map_err(|error| error.to_string())?;
        let all = outputs(&run);
        let output = &self.output;
        let got = all.get(output).ok_or(format!("no output `{output}`"))?;
        if got.len() != self.agents as usize {
            return Err(format!("`{output}` is no single number"));
        }
        let mean = got.iter().sum::<f64>() / got.len() as f64;
        if (mean - self.value).abs() <= self.tolerance {
            return Ok(());
        }
        Err(format!(
            "the mean of `{output}` is {mean}, not {} within {}",
            self.value, self.tolerance
        ))
    }
}

/// Holds all that a head says; how many numbers that were.
fn hold(model: &str, source: &str) -> Result<usize, String> {
    let mut held = 0;
    if source.lines().any(|line| line.starts_with("// expect ")) {
        let lines = source
            .lines()
            .filter(|line| !line.starts_with("// check: "));
        let head = Head::read(&lines.collect::<Vec<_>>().join("\n"))?;
        let sim = head.launch(simulation(model, source, Math::Fast)?)?;
        head.compare(&sim.run().map_err(|error| error.to_string())?)?;
        held += 1;
    }
    for line in source.lines() {
        if let Some(text) = line.strip_prefix("// check: ") {
            let check = Check::read(text).ok_or(format!("not understood: `{line}`"))?;
            check.hold(model, source)?;
            held += 1;
        }
    }
    Ok(held)
}

#[test]
fn corpus_is_broad_and_its_table_lists_it() {
    let models = corpus();
    let mut by_field = BTreeMap::new();
    for model in models.keys() {
        let (field, _) = model.split_once('/').expect("a field and a name");
        *by_field.entry(field).or_insert(0) += 1;
    }
    assert!(models.len() >= 44, "only {} models", models.len());
    assert!(by_field.len() >= 9, "only {} fields", by_field.len());
    let small = by_field.iter().find(|(_, count)| **count < 4);
    assert!(small.is_none(), "a field of few models: {small:?}");

    let page = std::fs::read_to_string(files::root().join(FOLDER).join("README.md"));
    let page = page.expect("the corpus has a page");
    let rows: Vec<String> = (page.lines())
        .filter_map(|line| line.strip_prefix("| `"))
        .filter_map(|line| {
            let mut cells = line.split('|').map(|cell| cell.trim().trim_matches('`'));
            Some(format!("{}/{}", cells.next()?, cells.next()?))
        })
        .collect();
    assert!(
        rows.iter().eq(models.keys()),
        "{FOLDER}/README.md does not list the models in their order:\n{rows:#?}\nmodels:\n{:#?}",
        models.keys()
    );
}

#[test]
fn corpus_is_in_canonical_style() {
    let mut complaints = Vec::new();
    for (model, source) in corpus() {
        if format(&source).ok().as_ref() != Some(&source) {
            complaints.push(format!("{model}: run `simc fmt {FOLDER}`"));
        }
        if !source.starts_with("//! ") || !source.contains("Known answer") {
            complaints.push(format!("{model}: the head says nothing of a known answer"));
        }
        let lines = source.lines().count();
        if !(15..=150).contains(&lines) {
            complaints.push(format!("{model}: {lines} lines"));
        }
    }
    files::report("models of the corpus are not in style", complaints);
}

#[test]
fn corpus_runs_with_finite_outputs() {
    let attempt = |model: &str, source: &str| -> Result<(), String> {
        let run = |math| -> Result<_, String> {
            let sim = simulation(model, source, math)?.agents(FEW);
            Ok(outputs(&sim.run().map_err(|error| error.to_string())?))
        };
        let (fast, precise) = (run(Math::Fast)?, run(Math::Precise)?);
        for (name, values) in &fast {
            if let Some(value) = values.iter().find(|value| !value.is_finite()) {
                return Err(format!("`{name}` is {value}"));
            }
        }
        // The choice is one of kernels; on the CPU it changes nothing.
        (fast == precise)
            .then_some(())
            .ok_or_else(|| "precise mathematics gives other numbers on the CPU".to_owned())
    };
    let mut complaints = Vec::new();
    for (model, source) in corpus() {
        if let Err(complaint) = attempt(&model, &source) {
            complaints.push(format!("{model}: {complaint}"));
        }
    }
    files::report("models of the corpus do not run", complaints);
}

#[test]
fn corpus_gives_its_known_answers() {
    let mut complaints = Vec::new();
    for (model, source) in corpus() {
        match hold(&model, &source) {
            Ok(0) => complaints.push(format!("{model}: the head names no number")),
            Ok(_) => {}
            Err(complaint) => complaints.push(format!("{model}: {complaint}")),
        }
    }
    files::report("models of the corpus give other numbers", complaints);
}
