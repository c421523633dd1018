//! Writing files whole or not at all, and the results of a run into them.

use crate::{
    failure::Failure,
    interrupt::Temporary,
    problem, standard_output,
    table::{Form, csv, json, npy},
    terminal,
};
use serde::Serialize;
use sim_compiler::manifest::SeriesOf;
use sim_runtime::{Column, Run, Series};
use std::{
    fmt,
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    process,
    sync::atomic::AtomicBool,
};

/// The place of `--output`, which can be written as far as that can be known before the run.
#[derive(Debug)]
pub(crate) enum Target {
    /// A file, or several beside it.
    File {
        /// The file that was asked for.
        path: PathBuf,
        /// By its ending.
        form: Form,
    },
    /// Standard output, as CSV.
    StandardOutput,
}

/// A file that holds outputs.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Written {
    path: PathBuf,
    /// What it holds, where that is not the outputs of agents.
    #[serde(skip)]
    what: &'static str,
}

/// What a file of values of worlds holds.
const OF_WORLDS: &str = ", a row per world";

impl Written {
    /// A file that holds a picture of the results.
    pub(crate) fn picture(path: &Path) -> Written {
        Written {
            path: path.to_owned(),
            what: ", a plot",
        }
    }
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.path.display(), self.what)
    }
}

impl Target {
    /// Looks at the ending and the directory, and tries to write there.
    ///
    /// # Errors
    /// Why it could not be written after the run.
    pub(crate) fn check(path: &Path) -> Result<Target, Failure> {
        if path == Path::new("-") {
            return Ok(Target::StandardOutput);
        }
        let form = Form::of(path).ok_or_else(|| problem::unknown_output_form(path))?;
        check_place(path)?;
        Ok(Target::File {
            path: path.to_owned(),
            form,
        })
    }

    /// Do outputs go to standard output?
    pub(crate) fn is_standard_output(&self) -> bool {
        matches!(self, Target::StandardOutput)
    }

    /// Writes outputs and series, and says which files they are in: one, or for CSV one of each kind, or for
    /// NPY one for each output and each series.
    ///
    /// # Errors
    /// Why they cannot be written.
    pub(crate) fn write(&self, run: &Run, cancel: &AtomicBool) -> Result<Vec<Written>, Failure> {
        match self {
            Target::StandardOutput => print_csv(run, cancel).map(|()| Vec::new()),
            Target::File { path, form } => match form {
                Form::Csv => write_csv(path, run, cancel),
                Form::Json => {
                    replace(path, |out| json::write(run, out, cancel))?;
                    let path = path.clone();
                    Ok(vec![Written { path, what: "" }])
                }
                Form::Npy => write_npy(path, run, cancel),
            },
        }
    }
}

/// A table of a run, each of which has a CSV file of its own.
enum Table<'a> {
    Columns(&'a [Column]),
    Series(Vec<&'a Series>),
}

impl Table<'_> {
    fn write(&self, out: &mut impl Write, cancel: &AtomicBool) -> io::Result<()> {
        match self {
            Table::Columns(columns) => csv::write(columns, out, cancel),
            Table::Series(series) => csv::write_series(series, out, cancel),
        }
    }
}

/// The tables of a run that have any column, with the words that name their files and say what they hold.
fn tables(run: &Run) -> Vec<(Table<'_>, &'static str, &'static str)> {
    let series = |of| {
        let all = run.series().iter().filter(move |it| it.of == of);
        Table::Series(all.collect())
    };
    let all = [
        (Table::Columns(run.outputs()), "output", ""),
        (Table::Columns(run.world_outputs()), "world", OF_WORLDS),
        (series(SeriesOf::Population), "observe", ", a row per step"),
        (
            series(SeriesOf::Worlds),
            "world.observe",
            ", a row per step and world",
        ),
        (
            series(SeriesOf::Agents),
            "record",
            ", a row per step and agent",
        ),
    ];
    let has_any = |(table, ..): &(Table<'_>, _, _)| match table {
        Table::Columns(columns) => !columns.is_empty(),
        Table::Series(series) => !series.is_empty(),
    };
    all.into_iter().filter(has_any).collect()
}

/// Writes the first table to standard output, and notes which others there are.
fn print_csv(run: &Run, cancel: &AtomicBool) -> Result<(), Failure> {
    let all = tables(run);
    let [(first, ..), others @ ..] = all.as_slice() else {
        return Ok(());
    };
    standard_output::write(|out| first.write(out, cancel))?;
    if !others.is_empty() {
        let names: Vec<&str> = others.iter().map(|&(_, name, _)| name).collect();
        let names = names.join(", ");
        terminal::note(format!(
            "standard output has the first table only; with `--output FILE.csv` the others have files: \
             {names}\n"
        ));
    }
    Ok(())
}

fn write_csv(path: &Path, run: &Run, cancel: &AtomicBool) -> Result<Vec<Written>, Failure> {
    let mut written: Vec<Written> = Vec::new();
    for (table, name, what) in tables(run) {
        // The first one has the name that was asked for.
        let path = match written.is_empty() {
            true => path.to_owned(),
            false => path_of(path, name),
        };
        replace(&path, |out| table.write(out, cancel))?;
        written.push(Written { path, what });
    }
    Ok(written)
}

fn write_npy(path: &Path, run: &Run, cancel: &AtomicBool) -> Result<Vec<Written>, Failure> {
    let outputs = run.outputs().iter().map(|it| (it, String::new(), ""));
    let worlds = run
        .world_outputs()
        .iter()
        .map(|it| (it, String::new(), OF_WORLDS));
    let series = run.series().iter().map(|it| {
        let (word, what) = match it.of {
            SeriesOf::Agents => ("record", ", steps by agents"),
            SeriesOf::Worlds => ("world.observe", ", steps by worlds"),
            SeriesOf::Population => ("observe", ", by step"),
        };
        (&it.column, format!("{word}."), what)
    });
    let all: Vec<_> = outputs.chain(worlds).chain(series).collect();
    let alone = all.len() == 1;
    let mut written = Vec::new();
    for (column, kind, what) in all {
        let path = match alone {
            true => path.to_owned(),
            false => path_of(path, &format!("{kind}{}", column.field.name)),
        };
        replace(&path, |out| npy::write(column, out, cancel))?;
        written.push(Written { path, what });
    }
    Ok(written)
}

/// `run.npy` for the output `price` is `run.price.npy`, `run.csv` for those of worlds `run.world.csv`.
fn path_of(path: &Path, output: &str) -> PathBuf {
    let ending = path.extension().unwrap_or_default();
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(".");
    name.push(output);
    name.push(".");
    name.push(ending);
    path.with_file_name(name)
}

/// Looks at the directory of a file to be written, and tries to write there.
///
/// # Errors
/// Why it could not be written later.
pub(crate) fn check_place(path: &Path) -> Result<(), Failure> {
    let directory = directory_of(path);
    if !directory.is_dir() {
        return Err(problem::no_output_directory(path, &directory).into());
    }
    if path.is_dir() {
        return Err(problem::directory_for_file(path).into());
    }
    if is_replaced(path) {
        let probed = Temporary::create(temporary(path));
        probed.map_err(|error| problem::unwritable(path, &error))?;
    }
    Ok(())
}

/// Writes a file under another name and renames it when it is complete, with the permissions of the older
/// file of that name. Pipes and devices are written as they are.
///
/// # Errors
/// Why it cannot be written; an older file of that name is left as it was.
pub(crate) fn replace(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), Failure> {
    // A link stays one: the file that it leads to is replaced.
    let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let write = |file| {
        let mut out = BufWriter::with_capacity(1 << 20, file);
        content(&mut out)?;
        out.flush()
    };
    let written = match is_replaced(path) {
        false => File::options().write(true).open(&place).and_then(write),
        true => Temporary::create(temporary(&place)).and_then(|(fresh, file)| {
            write(file)?;
            if let Ok(older) = fs::metadata(&place) {
                fs::set_permissions(fresh.path(), older.permissions())?;
            }
            fresh.keep(&place)
        }),
    };
    written.map_err(|error| match error.kind() {
        io::ErrorKind::Interrupted => Failure::Interrupted,
        _ => problem::unwritable(path, &error).into(),
    })
}

/// Is it a plain file, or nothing yet?
fn is_replaced(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |data| data.is_file())
}

fn directory_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        Some(_) | None => PathBuf::from("."),
    }
}

/// A name beside `path` that no other process uses.
fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.tmp", process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_output_has_its_own_array_file() {
        assert_eq!(
            path_of(Path::new("results/run.1.npy"), "order.price"),
            PathBuf::from("results/run.1.order.price.npy")
        );
    }
}
