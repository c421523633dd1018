//! Writing files whole or not at all, and the results of a run into them.

use crate::{
    failure::Failure,
    interrupt::Temporary,
    problem,
    table::{Form, csv, json, npy},
};
use serde::Serialize;
use sim_runtime::Run;
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
    /// Is each of its rows one of a world?
    #[serde(skip)]
    of_worlds: bool,
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = if self.of_worlds {
            ", a row per world"
        } else {
            ""
        };
        write!(f, "{}{rows}", self.path.display())
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

    /// Writes the outputs of agents and of worlds, and says which files they are in: one, or for CSV one of
    /// each kind, or for NPY one for each output.
    ///
    /// # Errors
    /// Why they cannot be written.
    pub(crate) fn write(&self, run: &Run, cancel: &AtomicBool) -> Result<Vec<Written>, Failure> {
        let (agents, worlds) = (run.outputs(), run.world_outputs());
        let all = || agents.iter().chain(worlds);
        let mut paths = Vec::new();
        match self.form {
            Form::Csv => {
                let tables = [(agents, false), (worlds, true)];
                let tables = tables.into_iter().filter(|(table, _)| !table.is_empty());
                for ((table, of_worlds), name) in tables.zip([None, Some("world")]) {
                    let path = name.map_or_else(|| self.path.clone(), |name| self.path_of(name));
                    replace(&path, |out| csv::write(table, out, cancel))?;
                    paths.push(Written { path, of_worlds });
                }
            }
            Form::Json => {
                replace(&self.path, |out| json::write(all(), out, cancel))?;
                let path = self.path.clone();
                paths.push(Written {
                    path,
                    of_worlds: false,
                });
            }
            Form::Npy => {
                let alone = all().count() == 1;
                for (at, column) in all().enumerate() {
                    let of_worlds = at >= agents.len();
                    let path = match alone {
                        true => self.path.clone(),
                        false => self.path_of(&column.field.name),
                    };
                    replace(&path, |out| npy::write(column, out, cancel))?;
                    paths.push(Written { path, of_worlds });
                }
            }
        }
        Ok(paths)
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
