//! Reading the files of `--data` and `--input`: which form a file has, and the options that all forms share.

use super::{
    Loaded, Values, arrow_reader,
    columns::Wanted,
    csv_reader,
    dialect::{self, Asked, Mark},
    npy, npz_reader, parquet_reader,
    rules::{Empty, Rules},
    source::Source,
};
use crate::{
    open::{is_pipe, is_standard_input},
    problem::{self, Problem},
    terminal,
};
use sim_compiler::manifest::Field;
use std::path::Path;

const HEADING: &str = "Reading tables";

/// How tables are read.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct Reading {
    /// What an empty cell, NA or a null is where floats stand.
    #[arg(long, help_heading = HEADING, value_name = "HOW", default_value = "error")]
    empty: Empty,
    /// Round whole numbers that no f32 holds exactly, such as 16777217, to the nearest one.
    #[arg(long, help_heading = HEADING)]
    lossy: bool,
    /// What separates the cells of CSV files: `,` `;` `|` … or `tab` [default: what the first line has].
    #[arg(long, help_heading = HEADING, value_name = "CHAR", value_parser = dialect::separator)]
    separator: Option<u8>,
    /// What numbers of CSV files have before their fraction [default: what the file has, where no commas
    /// separate].
    #[arg(long, help_heading = HEADING, value_name = "MARK")]
    decimal: Option<Mark>,
}

impl Reading {
    /// What is missing, and what may be rounded.
    pub(super) fn rules(&self) -> Rules {
        Rules {
            empty: self.empty,
            lossy: self.lossy,
        }
    }

    /// What is said about CSV files.
    pub(super) fn asked(&self) -> Asked {
        Asked {
            separator: self.separator,
            decimal: self.decimal,
        }
    }
}

/// Forms of files that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Csv,
    Npy,
    Npz,
    Parquet,
    Arrow,
}

impl Form {
    /// By the path's ending, in any case.
    fn of(path: &Path) -> Result<Form, Problem> {
        let ending = path.extension().and_then(|ending| ending.to_str());
        match ending.map(str::to_ascii_lowercase).as_deref() {
            Some("csv" | "tsv") => Ok(Form::Csv),
            Some("npy") => Ok(Form::Npy),
            Some("npz") => Ok(Form::Npz),
            Some("parquet") => Ok(Form::Parquet),
            Some("arrow" | "feather") => Ok(Form::Arrow),
            // `/dev/fd/63`, as shells call `<(…)`.
            _ if is_pipe(path) || is_standard_input(path) => Ok(Form::Csv),
            _ => Err(problem::unknown_table_form(path)),
        }
    }
}

/// Does the text name a file, if not one that is there?
pub(crate) fn is_file(text: &str) -> bool {
    match Source::parse(text) {
        Ok(Source { path, .. }) => Form::of(&path).is_ok() || path.exists(),
        Err(_) => true,
    }
}

/// Reads the table or input of that name: one field, or all the fields of a struct. Inputs have a row for
/// each agent; how many there must be is not known here.
///
/// # Errors
/// What is wrong with the file, or that it does not have the declared shape.
pub(crate) fn read(
    source: &Source,
    (role, name): (&str, &str),
    fields: &[&Field],
    how: &Reading,
) -> Result<Vec<Loaded>, Problem> {
    let path = &source.path;
    let wanted = Wanted {
        role,
        name,
        fields,
        picked: source.columns.as_deref(),
    };
    let form = Form::of(path)?;
    let rows = |field: &Field| field.shape.first().copied();
    let is_ragged = role == "data" && fields.iter().any(|field| rows(field) != rows(fields[0]));
    let read = match form {
        Form::Npz => return npz_reader::read(path, wanted, how.rules()),
        Form::Npy => {
            if wanted.picked.is_some() {
                return Err(problem::no_columns(path));
            }
            return match fields {
                [field] => Ok(vec![npy::read(path, role, field, how.rules())?]),
                _ => Err(field_by_field(path, wanted)),
            };
        }
        Form::Csv | Form::Parquet | Form::Arrow if is_ragged => {
            return Err(field_by_field(path, wanted));
        }
        Form::Csv => csv_reader::read(path, wanted, how)?,
        Form::Parquet => parquet_reader::read(path, wanted, how.rules())?,
        Form::Arrow => arrow_reader::read(path, wanted, how.rules())?,
    };
    let (values, left_out) = read;
    if !left_out.is_empty() {
        let (path, left_out) = (path.display(), left_out.join(", "));
        terminal::note(format!("`{path}`: left out {left_out}\n"));
    }
    shaped(path, wanted, values)
}

/// The complaint that a file cannot fill all fields of a struct.
fn field_by_field(path: &Path, wanted: Wanted<'_>) -> Problem {
    let Wanted { role, name, .. } = wanted;
    let each: Vec<String> = (wanted.fields.iter())
        .map(|field| format!("`--{role} {}=…`", field.name))
        .collect();
    problem::struct_needs_files(path, role, name, &each.join(" "))
}

/// Gives the values of columns their shapes.
fn shaped(path: &Path, wanted: Wanted<'_>, values: Values) -> Result<Vec<Loaded>, Problem> {
    let count = values.rows;
    let rows = u32::try_from(count).unwrap_or(u32::MAX);
    let mut loaded = Vec::new();
    for (field, words) in wanted.fields.iter().zip(values.words) {
        let mut shape = field.dims();
        match (wanted.role, field.shape.first()) {
            ("input", _) => shape.insert(0, rows),
            (_, Some(0)) => shape[0] = rows,
            (_, Some(&rows)) if u64::from(rows) == count => {}
            (_, None) if count == 1 => {}
            (_, Some(_) | None) => {
                let found = match count {
                    1 => "1 row".to_owned(),
                    _ => format!("{count} rows"),
                };
                return Err(wanted.other_shape(path, &found));
            }
        }
        loaded.push(Loaded {
            name: field.name.clone(),
            scalar: field.scalar,
            words,
            shape,
        });
    }
    Ok(loaded)
}
