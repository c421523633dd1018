//! Writing files whole or not at all, and the results of a run into them.

use crate::{
    failure::Failure,
    interrupt::Temporary,
    problem,
    table::{Form, csv, json, npy},
};
use serde::Serialize;
use sim_compiler::manifest::SeriesOf;
use sim_runtime::{Run, Series};
use std::{
    fmt,
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    process,
    sync::atomic::AtomicBool,
};

/// The file of `--output`, which can be written as far as that can be known before the run.
#[derive(Debug)]
pub(crate) struct Target {
    path: PathBuf,
    form: Form,
}

/// A file that holds outputs.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Written {
    path: PathBuf,
    /// What it holds, where that is not the outputs of agents.
    #[serde(skip)]
    what: &'static str,
}

/// What a file of values of worlds holds.
const OF_WORLDS: &str = ", a row per world";

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
        let form = Form::of(path).ok_or_else(|| problem::unknown_output_form(path))?;
        check_place(path)?;
        Ok(Target {
            path: path.to_owned(),
            form,
        })
    }

    /// Writes outputs and series, and says which files they are in: one, or for CSV one of each kind, or for
    /// NPY one for each output and each series.
    ///
    /// # Errors
    /// Why they cannot be written.
    pub(crate) fn write(&self, run: &Run, cancel: &AtomicBool) -> Result<Vec<Written>, Failure> {
        match self.form {
            Form::Csv => self.write_csv(run, cancel),
            Form::Json => {
                replace(&self.path, |out| json::write(run, out, cancel))?;
                let path = self.path.clone();
                Ok(vec![Written { path, what: "" }])
            }
            Form::Npy => self.write_npy(run, cancel),
        }
    }

    fn write_csv(&self, run: &Run, cancel: &AtomicBool) -> Result<Vec<Written>, Failure> {
        let mut written = Vec::new();
        // The first one has the name that was asked for.
        let mut place = |name: &str, what| {
            let path = match written.is_empty() {
                true => self.path.clone(),
                false => self.path_of(name),
            };
            written.push(Written { path, what });
            written[written.len() - 1].path.clone()
        };
        let tables = [
            (run.outputs(), "output", ""),
            (run.world_outputs(), "world", OF_WORLDS),
        ];
        for (table, name, what) in tables.into_iter().filter(|(table, ..)| !table.is_empty()) {
            replace(&place(name, what), |out| csv::write(table, out, cancel))?;
        }
        for of in [SeriesOf::Population, SeriesOf::Worlds, SeriesOf::Agents] {
            let series: Vec<&Series> = run.series().iter().filter(|it| it.of == of).collect();
            let (name, what) = match of {
                SeriesOf::Population => ("observe", ", a row per step"),
                SeriesOf::Worlds => ("world.observe", ", a row per step and world"),
                SeriesOf::Agents => ("record", ", a row per step and agent"),
            };
            if !series.is_empty() {
                replace(&place(name, what), |out| {
                    csv::write_series(&series, out, cancel)
                })?;
            }
        }
        Ok(written)
    }

    fn write_npy(&self, run: &Run, cancel: &AtomicBool) -> Result<Vec<Written>, Failure> {
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
                true => self.path.clone(),
                false => self.path_of(&format!("{kind}{}", column.field.name)),
            };
            replace(&path, |out| npy::write(column, out, cancel))?;
            written.push(Written { path, what });
        }
        Ok(written)
    }

    /// `run.npy` for the output `price` is `run.price.npy`, `run.csv` for those of worlds `run.world.csv`.
    fn path_of(&self, output: &str) -> PathBuf {
        let ending = self.path.extension().unwrap_or_default();
        let mut name = self.path.file_stem().unwrap_or_default().to_owned();
        name.push(".");
        name.push(output);
        name.push(".");
        name.push(ending);
        self.path.with_file_name(name)
    }
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
        let target = Target {
            path: PathBuf::from("results/run.1.npy"),
            form: Form::Npy,
        };
        assert_eq!(
            target.path_of("order.price"),
            PathBuf::from("results/run.1.order.price.npy")
        );
    }
}
