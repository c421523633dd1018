//! The models that a command line names: files, and those in directories.

use crate::{
    failure::Failure,
    problem::{self, no_models},
};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The file itself, or the models in a directory and those below it, by name.
pub(crate) fn models(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    let mut directories = vec![path.to_owned()];
    while let Some(directory) = directories.pop() {
        let entries = fs::read_dir(&directory).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        for entry in entries.map_err(|error| problem::unreadable(&directory, &error))? {
            let inside = entry.path();
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            let kind = entry.file_type();
            if kind.is_ok_and(|kind| kind.is_dir()) {
                if !hidden {
                    directories.push(inside);
                }
            } else if !hidden
                && inside.extension().is_some_and(|ending| ending == "sim")
                && inside.is_file()
            {
                found.push(inside);
            }
        }
    }
    if found.is_empty() {
        return Err(no_models(path).into());
    }
    found.sort();
    if path == Path::new(".") {
        let plain = |file: PathBuf| file.strip_prefix(path).map(Path::to_owned).unwrap_or(file);
        found = found.into_iter().map(plain).collect();
    }
    Ok(found)
}
