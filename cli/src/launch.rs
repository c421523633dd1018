//! From `--param`, `--data` and `--input` to the values of a launch.

use crate::{
    failure::Failure,
    number,
    open::{is_pipe, is_standard_input, named as path_of},
    problem,
    table::{Form, Loaded, cell::Kind, csv, npy},
};
use sim_compiler::manifest::{Field, Manifest, Scalar, describe};
use sim_runtime::{Array, Simulation};
use std::path::Path;

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
    let kind = Kind::of(field);
    let mut words = Vec::new();
    for part in text.split(',').map(str::trim) {
        let word = match kind {
            Kind::F32 => number::float(part).map(f32::to_bits),
            Kind::I32 | Kind::U32 | Kind::Bool | Kind::Enum(_) => kind.word(part),
        };
        let word = word.map_err(|why| {
            let why = if part == text {
                format!("it {why}")
            } else {
                format!("`{part}` {why}")
            };
            problem::bad_param(&field.name, text, &why, &kind.accepts())
        })?;
        words.push(word);
    }
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
        words,
        shape,
    })
}

/// Gives the simulation its tables.
pub(crate) fn data(simulation: &mut Simulation, given: &[Assignment]) -> Result<(), Failure> {
    refuse_twins("data", given)?;
    for Assignment { name, value } in given {
        let manifest = simulation.manifest();
        let fields = named(manifest.data.iter().map(|table| &table.field), name);
        if fields.is_empty() {
            simulation.set_data(name, 0.0_f32)?;
            continue;
        }
        let path = path_of(Path::new(value));
        let rows = |field: &&Field| field.shape.first().copied();
        let tables = match form_of(&path)? {
            Form::Csv if fields.iter().all(|field| rows(field) == rows(&fields[0])) => {
                csv::read_data(&path, name, &fields)?
            }
            Form::Csv | Form::Npy | Form::Json => single(&path, "data", name, &fields)?,
        };
        for table in tables {
            let name = table.name.clone();
            simulation.set_data(&name, array(table))?;
        }
    }
    Ok(())
}

/// Gives the simulation its inputs, one row for each agent or world if their numbers are known: of agents,
/// and of agents in a world.
pub(crate) fn inputs(
    simulation: &mut Simulation,
    given: &[Assignment],
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
        let path = path_of(Path::new(value));
        let inputs = match form_of(&path)? {
            Form::Csv => csv::read_input(&path, name, &fields)?,
            Form::Npy | Form::Json => single(&path, "input", name, &fields)?,
        };
        for input in inputs {
            check_rows(&path, &input, of_world, counts)?;
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

fn form_of(path: &Path) -> Result<Form, Failure> {
    match Form::of(path) {
        Some(form @ (Form::Csv | Form::Npy)) => Ok(form),
        // `/dev/fd/63`, as shells call `<(…)`.
        None if is_pipe(path) || is_standard_input(path) => Ok(Form::Csv),
        Some(Form::Json) | None => Err(problem::unknown_table_form(path).into()),
    }
}

/// An array file, which fills one field.
fn single(path: &Path, role: &str, name: &str, fields: &[&Field]) -> Result<Vec<Loaded>, Failure> {
    match fields {
        [field] => Ok(vec![npy::read(path, role, field)?]),
        many => {
            let each: Vec<String> = many
                .iter()
                .map(|field| format!("`--{role} {}=…`", field.name))
                .collect();
            Err(problem::struct_needs_files(path, role, name, &each.join(" ")).into())
        }
    }
}

/// The runtime checks this too, but does not know the file.
fn check_rows(
    path: &Path,
    input: &Loaded,
    of_world: bool,
    (agents, members): (Option<u32>, Option<u32>),
) -> Result<(), Failure> {
    let found = input.shape[0];
    let rows = match (agents, members) {
        (Some(agents), Some(members)) if of_world => agents.checked_div(members),
        (agents, _) => agents.filter(|_| !of_world),
    };
    let Some(rows) = rows.filter(|&rows| rows != found) else {
        return Ok(());
    };
    let expected = [&[rows], &input.shape[1..]].concat();
    let help = match members.filter(|_| of_world) {
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
