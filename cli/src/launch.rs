//! From `--param`, `--data` and `--input` to the values of a launch.

mod file;
mod options;

use crate::{
    failure::Failure,
    number,
    open::is_pipe,
    problem::{self, Problem},
    table::{
        Loaded,
        cell::{Kind, words_of},
        reading::{self, Reading},
        source::Source,
    },
};
use sim_compiler::manifest::{Field, Manifest, Scalar, describe};
use sim_runtime::{Array, Simulation};
use std::path::Path;

pub(crate) use options::LaunchOptions;

/// `NAME=VALUE` on the command line.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    /// Left of the first `=`.
    pub(crate) name: String,
    /// Right of it.
    pub(crate) value: String,
}

impl Assignment {
    /// For clap.
    pub(crate) fn parse(text: &str) -> Result<Assignment, String> {
        let (name, value) = text
            .split_once('=')
            .ok_or_else(|| "write NAME=VALUE, with no space around the `=`".to_owned())?;
        if name.is_empty() {
            return Err("there is no name before the `=`".to_owned());
        }
        if value.is_empty() {
            return Err(format!("there is nothing after `{name}=`"));
        }
        Ok(Assignment {
            name: name.to_owned(),
            value: value.to_owned(),
        })
    }
}

/// Gives the simulation its params.
pub(crate) fn params(simulation: &mut Simulation, given: &[Assignment]) -> Result<(), Failure> {
    refuse_twins("param", given)?;
    for Assignment { name, value } in given {
        let params = &simulation.manifest().params;
        let Some(param) = params.iter().find(|param| param.field.name == *name) else {
            // The runtime knows which name was meant.
            simulation.set_param(name, 0.0_f32)?;
            continue;
        };
        let loaded = param_value(&param.field, value)?;
        simulation.set_param(name, array(loaded))?;
    }
    Ok(())
}

/// A param's words from a list with commas.
pub(crate) fn param_value(field: &Field, text: &str) -> Result<Loaded, Failure> {
    let words = listed(field, text).map_err(|why| {
        let accepts = Kind::of(field).accepts();
        problem::bad_param(&field.name, text, &why, &accepts)
    })?;
    let shape = field.dims();
    let needed: u32 = shape.iter().product();
    if words.len() != needed as usize {
        let mut expected = describe(field.scalar, &shape);
        if !shape.is_empty() {
            expected += &format!(" ({needed} values)");
        }
        return Err(problem::param_count(&field.name, &expected, words.len()).into());
    }
    Ok(Loaded {
        name: field.name.clone(),
        scalar: field.scalar,
        words: words_of(field.scalar, words),
        shape,
    })
}

/// The bits of a list with commas, or why it has none.
fn listed(field: &Field, text: &str) -> Result<Vec<u64>, String> {
    let kind = Kind::of(field);
    let word = |part: &str| {
        let word = match kind {
            Kind::F32 => number::float(part).map(|value| value.to_bits().into()),
            Kind::F64 => number::double(part).map(f64::to_bits),
            Kind::I32 | Kind::U32 | Kind::Bool | Kind::Enum(_) => kind.word(part),
        };
        word.map_err(|why| match part == text {
            true => format!("it {why}"),
            false => format!("`{part}` {why}"),
        })
    };
    text.split(',').map(str::trim).map(word).collect()
}

/// The values of one input for all agents or worlds, if the text names no file.
fn for_all(fields: &[&Field], text: &str, rows: Option<u32>) -> Option<Result<Loaded, Problem>> {
    let [field] = fields else { return None };
    if is_pipe(Path::new(text)) {
        return None;
    }
    let mut shape = field.dims();
    let needed: u32 = shape.iter().product();
    let words = listed(field, text).and_then(|words| match words.len() == needed as usize {
        true => Ok(words),
        false => Err(format!(
            "the input has {needed} values, but these are {}",
            words.len()
        )),
    });
    if words.is_err() && reading::is_file(text) {
        return None;
    }
    let words = words.map_err(|why| {
        let accepts = Kind::of(field).accepts();
        problem::input_value(&field.name, text, &why, &accepts)
    });
    Some(words.map(|mut words| {
        // The runtime gives one value to all; of several, each agent has its own.
        if needed > 1 {
            let rows = rows.unwrap_or(1);
            words = words.repeat(rows as usize);
            shape.insert(0, rows);
        }
        Loaded {
            name: field.name.clone(),
            scalar: field.scalar,
            words: words_of(field.scalar, words),
            shape,
        }
    }))
}

/// How many rows an input has, if that is known.
fn rows_of(of_world: bool, (agents, members): (Option<u32>, Option<u32>)) -> Option<u32> {
    match (agents, members) {
        (Some(agents), Some(members)) if of_world => agents.checked_div(members),
        (agents, _) => agents.filter(|_| !of_world),
    }
}

/// Gives the simulation its tables.
pub(crate) fn data(
    simulation: &mut Simulation,
    given: &[Assignment],
    how: &Reading,
) -> Result<(), Failure> {
    refuse_twins("data", given)?;
    for Assignment { name, value } in given {
        let manifest = simulation.manifest();
        let fields = named(manifest.data.iter().map(|table| &table.field), name);
        if fields.is_empty() {
            simulation.set_data(name, 0.0_f32)?;
            continue;
        }
        let source = Source::parse(value)?;
        for table in reading::read(&source, ("data", name), &fields, how)? {
            let name = table.name.clone();
            simulation.set_data(&name, array(table))?;
        }
    }
    Ok(())
}

/// Gives the simulation its inputs: one value for all agents or worlds, or a file with a row for each. Their
/// numbers are checked if they are known: those of agents, and of agents in a world.
pub(crate) fn inputs(
    simulation: &mut Simulation,
    given: &[Assignment],
    how: &Reading,
    counts: (Option<u32>, Option<u32>),
) -> Result<(), Failure> {
    refuse_twins("input", given)?;
    for Assignment { name, value } in given {
        let manifest: &Manifest = simulation.manifest();
        let of_worlds = &manifest.world_rows().inputs;
        let all = manifest.inputs.iter().chain(of_worlds);
        let fields = named(all.map(|input| &input.field), name);
        let of_world = of_worlds.iter().any(|input| fields.contains(&&input.field));
        if fields.is_empty() {
            simulation.set_input(name, 0.0_f32)?;
            continue;
        }
        if let Some(same) = for_all(&fields, value, rows_of(of_world, counts)) {
            simulation.set_input(name, array(same?))?;
            continue;
        }
        let source = Source::parse(value)?;
        for input in reading::read(&source, ("input", name), &fields, how)? {
            check_rows(&source.path, &input, of_world, counts)?;
            let name = input.name.clone();
            simulation.set_input(&name, array(input))?;
        }
    }
    Ok(())
}

fn refuse_twins(role: &str, given: &[Assignment]) -> Result<(), Failure> {
    for (at, assignment) in given.iter().enumerate() {
        if given[..at]
            .iter()
            .any(|before| before.name == assignment.name)
        {
            return Err(problem::given_twice(role, &assignment.name).into());
        }
    }
    Ok(())
}

/// The field of that name, or all the fields of the struct of that name.
fn named<'a>(fields: impl Iterator<Item = &'a Field> + Clone, name: &str) -> Vec<&'a Field> {
    if let Some(field) = fields.clone().find(|field| field.name == name) {
        return vec![field];
    }
    let inside = |field: &&Field| {
        field
            .name
            .strip_prefix(name)
            .is_some_and(|rest| rest.starts_with('.'))
    };
    fields.filter(inside).collect()
}

/// The runtime checks this too, but does not know the file.
fn check_rows(
    path: &Path,
    input: &Loaded,
    of_world: bool,
    counts: (Option<u32>, Option<u32>),
) -> Result<(), Failure> {
    let found = input.shape[0];
    let Some(rows) = rows_of(of_world, counts).filter(|&rows| rows != found) else {
        return Ok(());
    };
    let expected = [&[rows], &input.shape[1..]].concat();
    let help = match counts.1.filter(|_| of_world) {
        Some(members) => format!(
            "every world needs one row: give a file of {rows} rows, or `--agents {}`",
            u64::from(found) * u64::from(members)
        ),
        None => {
            format!("every agent needs one row: give a file of {rows} rows, or `--agents {found}`")
        }
    };
    Err(problem::table_shape(
        path,
        "input",
        &input.name,
        &describe(input.scalar, &expected),
        &describe(input.scalar, &input.shape),
        &help,
    )
    .into())
}

fn array(loaded: Loaded) -> Array {
    let scalar: Scalar = loaded.scalar;
    Array::shaped(scalar, loaded.words, loaded.shape)
}
