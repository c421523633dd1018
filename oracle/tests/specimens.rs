//! The evaluator knows the language: it gives the answers that the specimens in `tests/run` expect,
//! which people wrote down.

use sim_compiler::manifest::{Field, Scalar};
use sim_oracle::language::{Column, Launch, Model};
use std::collections::HashMap;

/// Specimens that the evaluator is not held to, and why.
const WITHOUT: [(&str, &str); 3] = [
    ("draws_certain.sim", POISSON),
    ("draws_in_range.sim", POISSON),
    ("input_draws.sim", POISSON),
];

const POISSON: &str = "it draws from `poisson`, which docs/random.md does not define to the bit";

fn numbers(text: &str) -> Vec<f64> {
    let number = |word: &str| match word {
        "true" => 1.0,
        "false" => 0.0,
        _ => word.parse().expect("a number"),
    };
    text.split([' ', ',', '/'])
        .filter(|word| !word.is_empty())
        .map(number)
        .collect()
}

fn words(field: &Field, values: &[f64]) -> Vec<u32> {
    let word = |&value: &f64| match field.scalar {
        Scalar::F32 => (value as f32).to_bits(),
        Scalar::I32 => value as i32 as u32,
        Scalar::F64 => unreachable!("specimens run in `f32`"),
        Scalar::U32 | Scalar::Bool => value as u32,
    };
    values.iter().map(word).collect()
}

/// The launch of a specimen's head, and the lines that say what comes out.
fn head(source: &str) -> (Launch, Vec<(String, Vec<f64>)>, f64) {
    let artifact = sim_compiler::compile(source).expect("specimens compile");
    let manifest = artifact.manifest;
    let mut fields: HashMap<String, Field> = HashMap::new();
    let params = manifest.params.iter().map(|param| &param.field);
    let data = manifest.data.iter().map(|data| &data.field);
    let inputs = manifest.inputs.iter().chain(&manifest.world_rows().inputs);
    let inputs = inputs.map(|input| &input.field);
    for field in params.chain(data).chain(inputs) {
        fields.insert(field.name.clone(), field.clone());
    }
    let (mut launch, mut expected, mut within) = (Launch::default(), Vec::new(), 0.0);
    for line in source.lines().take_while(|line| line.starts_with("//")) {
        let text = line.trim_start_matches('/').trim();
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        if word == "within" {
            within = rest.parse().expect("a tolerance");
        }
        if word == "run" {
            for pair in rest.split_whitespace() {
                let (key, value) = pair.split_once('=').expect("key=value");
                match key {
                    "agents" => launch.agents = value.parse().ok(),
                    "world" => launch.world = value.parse().ok(),
                    "steps" => launch.steps = value.parse().ok(),
                    "seed" => launch.seed = value.parse().expect("a seed"),
                    "first_agent" => launch.first_agent = value.parse().expect("a number"),
                    _ => {
                        let name = key.trim_start_matches("param.").to_owned();
                        let value = words(&fields[&name], &numbers(value));
                        launch.values.insert(name, value);
                    }
                }
            }
        }
        let Some((name, values)) = rest.split_once('=') else {
            continue;
        };
        let name = name.trim().to_owned();
        match word {
            "data" | "input" => {
                let value = words(&fields[&name], &numbers(values));
                launch.values.insert(name, value);
            }
            "expect" | "state" | "series" | "steps" if !name.contains(' ') => {
                expected.push((format!("{word} {name}"), numbers(values)));
            }
            _ => {}
        }
    }
    (launch, expected, within)
}

fn agrees(column: &Column, expected: &[f64], field: Scalar, within: f64) -> bool {
    let value = |word: &u32| match field {
        Scalar::F32 => f64::from(f32::from_bits(*word)),
        Scalar::I32 => f64::from(*word as i32),
        Scalar::F64 => unreachable!("specimens run in `f32`"),
        Scalar::U32 | Scalar::Bool => f64::from(*word),
    };
    // What the pages define within bounds only may differ in the last places.
    let within = if field == Scalar::F32 {
        within.max(1e-6)
    } else {
        within
    };
    let near = |(word, expected): (&u32, &f64)| {
        let (got, wanted) = (value(word), *expected);
        got == wanted
            || (got.is_nan() && wanted.is_nan())
            || (got - wanted).abs() <= within * wanted.abs().max(1.0)
            || (field == Scalar::F32 && got == f64::from(wanted as f32))
    };
    column.words.len() == expected.len() && column.words.iter().zip(expected).all(near)
}

fn examine(source: &str) -> Result<(), String> {
    let (launch, expected, within) = head(source);
    let manifest = sim_compiler::compile(source)
        .expect("specimens compile")
        .manifest;
    let results = Model::read(source)?.run(&launch)?;
    for (name, expected) in expected {
        let (kind, name) = name.split_once(' ').expect("a kind and a name");
        if kind == "series" || kind == "steps" {
            let found = results.series.iter().find(|it| it.column.name == name);
            let found = found.ok_or(format!("no series `{name}`"))?;
            let of_name = manifest.series.iter().find(|it| it.field.name == name);
            let scalar = of_name.ok_or(format!("no series `{name}`"))?.field.scalar;
            let agree = match kind {
                "series" => agrees(&found.column, &expected, scalar, within),
                _ => found
                    .steps
                    .iter()
                    .copied()
                    .map(f64::from)
                    .eq(expected.iter().copied()),
            };
            if !agree {
                return Err(format!(
                    "series `{name}` is {found:?}, expected {expected:?}"
                ));
            }
            continue;
        }
        let rows = manifest.world_rows();
        let (columns, fields) = match kind {
            "expect" => (
                results.outputs.iter().chain(&results.world_outputs),
                manifest.outputs.iter().chain(&rows.outputs),
            ),
            _ => (
                results.states.iter().chain(&results.world_states),
                manifest.states.iter().chain(&rows.states),
            ),
        };
        let (mut columns, mut fields) = (columns, fields);
        let column = columns.find(|column| column.name == name);
        let column = column.ok_or(format!("no column `{name}`"))?;
        let field = fields.find(|field| field.name == name);
        let scalar = field.ok_or(format!("no field `{name}`"))?.scalar;
        if !agrees(column, &expected, scalar, within) {
            let floats: Vec<f32> = column
                .words
                .iter()
                .map(|word| f32::from_bits(*word))
                .collect();
            return Err(format!(
                "`{name}` is {:?} ({floats:?}), expected {expected:?}",
                column.words
            ));
        }
    }
    Ok(())
}

#[test]
fn specimens_give_their_answers() {
    let folder = sim_oracle::repository().join("tests/run");
    let mut complaints = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the specimens") {
        let path = entry.expect("a specimen").path();
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        if !name.ends_with(".sim") || WITHOUT.iter().any(|(other, _)| *other == name) {
            continue;
        }
        let source = std::fs::read_to_string(&path).expect("text");
        count += 1;
        if let Err(error) = examine(&source) {
            complaints.push(format!("{name}: {error}"));
        }
    }
    complaints.sort();
    assert!(
        complaints.is_empty(),
        "{} of {count}:\n{}",
        complaints.len(),
        complaints.join("\n")
    );
}

#[test]
fn examples_of_the_page_run() {
    let page = sim_oracle::repository().join("docs/language.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let mut count = 0;
    for block in page.split("```sim\n").skip(1) {
        let text = block.split("```").next().expect("a block");
        let model = Model::read(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let launch = Launch {
            agents: Some(12),
            world: text.contains("world").then_some(4),
            steps: Some(3),
            ..Launch::default()
        };
        count += 1;
        let run = model.run(&launch);
        assert!(run.is_ok(), "{:?}\n{text}", run.err());
    }
    assert!(count > 5, "{count} examples");
}
