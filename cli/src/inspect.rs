//! `simc inspect`: what a model takes and gives, by name, type, shape and documentation.

use crate::{
    columns::{Flush, table},
    failure::Failure,
    number::grouped,
    source::Source,
    standard_output,
    table::cell::{Kind, bits_of},
};
use serde::Serialize;
use sim_compiler::{
    manifest::{self, Field, Input, Manifest, Param, Scalar, SeriesOf},
    value::Shown,
};
use std::{fmt::Write, path::PathBuf};

/// Arguments of `simc inspect`.
#[derive(clap::Args)]
#[command(after_help = "\
A type is written as in the model; the variants of an enum stand for its name.

Examples:
  simc inspect gbm.sim
  simc inspect gbm.sim --json | jq '.params[].name'")]
pub(crate) struct Args {
    /// Model to inspect; `-` is standard input.
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: PathBuf,
    /// Print it as JSON.
    #[arg(long)]
    json: bool,
}

/// What a model takes and gives.
#[derive(Debug, Serialize)]
struct Inspected {
    doc: String,
    agents: Option<u32>,
    steps: Option<u32>,
    /// Agents in a world; absent in a model without worlds.
    #[serde(skip_serializing_if = "Option::is_none")]
    world: Option<Option<u32>>,
    params: Vec<Item>,
    data: Vec<Item>,
    inputs: Vec<Item>,
    states: Vec<Item>,
    outputs: Vec<Item>,
    world_inputs: Vec<Item>,
    world_states: Vec<Item>,
    world_outputs: Vec<Item>,
    records: Vec<Item>,
    observes: Vec<Item>,
    world_observes: Vec<Item>,
}

/// One name of the model.
#[derive(Debug, Serialize)]
struct Item {
    name: String,
    /// As the model writes it.
    #[serde(rename = "type")]
    ty: String,
    /// The type of one value.
    scalar: &'static str,
    /// Lengths of all dimensions, components of a vector last; null for one that the launch decides.
    shape: Vec<Option<u32>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    variants: Vec<String>,
    /// Where the value comes from if the launch gives none: `required`, `default` or `drawn`.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'static str>,
    /// A param's default, value by value.
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<Vec<serde_json::Value>>,
    /// A param's legal values, both ends included.
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<[f64; 2]>,
    /// Steps between two samples of a series.
    #[serde(skip_serializing_if = "Option::is_none")]
    every: Option<u32>,
    doc: String,
}

/// Prints what a model takes and gives.
pub(crate) fn inspect(args: &Args) -> Result<(), Failure> {
    let source = Source::read(&args.file)?;
    let artifact = sim_compiler::compile(&source.text);
    let manifest = artifact.map_err(|found| source.failure(found))?.manifest;
    let inspected = Inspected::of(&manifest);
    standard_output::print(match args.json {
        true => inspected.json(),
        false => inspected.text(&source.name),
    })
}

impl Inspected {
    fn of(manifest: &Manifest) -> Inspected {
        let fields = |all: &[Field]| all.iter().map(Item::of).collect();
        let inputs = |all: &[Input]| all.iter().map(Item::input).collect();
        let series = |of: SeriesOf| {
            let all = manifest.series.iter().filter(|series| series.of == of);
            all.map(|series| Item {
                every: Some(manifest.samplings[series.sampling as usize].every),
                ..Item::of(&series.field)
            })
            .collect()
        };
        let world = manifest.world_rows();
        let table = |data: &manifest::Data| Item {
            source: Some("required"),
            ..Item::of(&data.field)
        };
        Inspected {
            doc: manifest.doc.clone(),
            agents: manifest.agents,
            steps: manifest.steps,
            world: manifest.world.as_ref().map(|world| world.members),
            params: manifest.params.iter().map(Item::param).collect(),
            data: manifest.data.iter().map(table).collect(),
            inputs: inputs(&manifest.inputs),
            states: fields(&manifest.states),
            outputs: fields(&manifest.outputs),
            world_inputs: inputs(&world.inputs),
            world_states: fields(&world.states),
            world_outputs: fields(&world.outputs),
            records: series(SeriesOf::Agents),
            observes: series(SeriesOf::Population),
            world_observes: series(SeriesOf::Worlds),
        }
    }

    fn json(&self) -> String {
        let text = serde_json::to_string_pretty(self);
        text.expect("all its keys are strings and its numbers finite") + "\n"
    }

    fn text(&self, name: &str) -> String {
        let mut text = match self.doc.is_empty() {
            true => format!("{name}\n\n"),
            false => format!("{name}\n{}\n\n", indented(&self.doc, "  ")),
        };
        let mut count = |what: &str, count: Option<u32>| {
            let count = count.map_or("given by the launch".to_owned(), |n| grouped(n.into()));
            let _ = writeln!(text, "{what:<6}  {count}");
        };
        count("agents", self.agents);
        if let Some(members) = self.world {
            count("world", members);
        }
        count("steps", self.steps);
        text.push('\n');
        let kinds = [
            ("params", &self.params),
            ("data", &self.data),
            ("inputs", &self.inputs),
            ("states", &self.states),
            ("outputs", &self.outputs),
            ("world inputs", &self.world_inputs),
            ("world states", &self.world_states),
            ("world outputs", &self.world_outputs),
            ("records", &self.records),
            ("observes", &self.observes),
            ("world observes", &self.world_observes),
        ];
        for (kind, items) in kinds.into_iter().filter(|(_, items)| !items.is_empty()) {
            let _ = writeln!(text, "{kind}");
            let lines: Vec<Vec<String>> = items.iter().map(Item::cells).collect();
            for (line, item) in table(&lines, Flush::Left).lines().zip(items) {
                let _ = writeln!(text, "  {line}");
                if !item.doc.is_empty() {
                    let _ = writeln!(text, "{}", indented(&item.doc, "      "));
                }
            }
            text.push('\n');
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
        text
    }
}

impl Item {
    fn of(field: &Field) -> Item {
        let dims = field.dims().into_iter().enumerate();
        let open = |(at, length)| (at > 0 || length > 0).then_some(length);
        Item {
            name: field.name.clone(),
            ty: spelled(field),
            scalar: field.scalar.name(),
            shape: dims.map(open).collect(),
            variants: field.variants.clone(),
            source: None,
            default: None,
            range: None,
            every: None,
            doc: field.doc.clone(),
        }
    }

    fn param(param: &Param) -> Item {
        let values = |words: &Vec<u32>| {
            let kind = Kind::of(&param.field);
            bits_of(param.field.scalar, words)
                .map(|bits| value(kind, bits))
                .collect()
        };
        Item {
            source: Some(match param.default {
                Some(_) => "default",
                None => "required",
            }),
            default: param.default.as_ref().map(values),
            range: param.range.map(|ends| ends.map(as_written)),
            ..Item::of(&param.field)
        }
    }

    fn input(input: &Input) -> Item {
        Item {
            source: Some(match input.source {
                manifest::Source::Required => "required",
                manifest::Source::Default => "default",
                manifest::Source::Drawn => "drawn",
            }),
            ..Item::of(&input.field)
        }
    }

    /// Name, type, and what there is to say of its values.
    fn cells(&self) -> Vec<String> {
        /// More values than these are not shown.
        const SHOWN: usize = 8;
        let mut notes = Vec::new();
        match (&self.default, self.source) {
            (Some(values), _) => {
                let mut shown: Vec<String> = values.iter().take(SHOWN).map(plain).collect();
                if values.len() > SHOWN {
                    shown.push("…".to_owned());
                }
                let list = shown.join(", ");
                notes.push(match self.shape.is_empty() {
                    true => format!("= {list}"),
                    false => format!("= [{list}]"),
                });
            }
            (None, Some(source)) => notes.push(source.to_owned()),
            (None, None) => {}
        }
        if let Some([first, last]) = self.range {
            notes.push(format!("in {}..{}", Shown(first), Shown(last)));
        }
        match self.every {
            Some(1) => notes.push("every step".to_owned()),
            Some(every) => notes.push(format!("every {} steps", grouped(every.into()))),
            None => {}
        }
        vec![self.name.clone(), self.ty.clone(), notes.join(" ")]
    }
}

/// A value as JSON has it: numbers, truths, names of variants; strings for what is no number.
fn value(kind: Kind<'_>, bits: u64) -> serde_json::Value {
    let word = bits as u32;
    match kind {
        Kind::F64 => match f64::from_bits(bits) {
            float if float.is_finite() => float.into(),
            float => float.to_string().into(),
        },
        Kind::F32 => match f32::from_bits(word) {
            float if float.is_finite() => as_written(float.into()).into(),
            float => float.to_string().into(),
        },
        Kind::I32 => (word as i32).into(),
        Kind::U32 => word.into(),
        Kind::Bool => (word != 0).into(),
        Kind::Enum(variants) => match variants.get(word as usize) {
            Some(name) => name.as_str().into(),
            None => word.into(),
        },
    }
}

/// The number of the digits that stand for it: 0.1, not the `f64` that is nearest to that `f32`.
fn as_written(value: f64) -> f64 {
    Shown(value).to_string().parse().unwrap_or(value)
}

/// A value for people.
fn plain(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Number(number) => match number.as_f64() {
            Some(float) => Shown(float).to_string(),
            None => number.to_string(),
        },
        other => other.to_string(),
    }
}

/// The type as the model writes it: `[[f32; 3]]`, `vec2`, `Red | Blue`.
fn spelled(field: &Field) -> String {
    let one = match (field.components, field.scalar) {
        (1, Scalar::U32) if !field.variants.is_empty() => field.variants.join(" | "),
        (1, scalar) => scalar.name().to_owned(),
        (components, _) => format!("vec{components}"),
    };
    field
        .shape
        .iter()
        .rev()
        .fold(one, |inner, length| match length {
            0 => format!("[{inner}]"),
            length => format!("[{inner}; {length}]"),
        })
}

/// Documentation with blanks before each line.
fn indented(text: &str, before: &str) -> String {
    let lines = text.lines().map(|line| format!("{before}{line}"));
    let lines: Vec<String> = lines.map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n")
}
