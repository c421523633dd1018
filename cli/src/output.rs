//! Writing files: each appears whole or not at all, and so do several that belong together.

use crate::{failure::Failure, interrupt::Temporary, problem};
use serde::Serialize;
use std::{
    fmt,
    fs::{self, File},
    io::{self, BufWriter},
    path::{Path, PathBuf},
    process,
};

/// A file that was written.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Written {
    pub(crate) path: PathBuf,
    /// What it holds, where that is not the outputs of agents.
    #[serde(skip)]
    pub(crate) what: &'static str,
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.path.display(), self.what)
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
    let mut files = Files::default();
    files.write(path, content)?;
    files.keep(true)
}

/// Files that get their names together, when all are complete.
#[derive(Debug, Default)]
pub(crate) struct Files {
    complete: Vec<(Temporary, PathBuf)>,
}

impl Files {
    /// Writes a file as [`replace`] does, but for the renaming.
    ///
    /// # Errors
    /// Why it cannot be written.
    pub(crate) fn write(
        &mut self,
        path: &Path,
        content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let (open, mut out) = OpenFile::create(path)?;
        content(&mut out).map_err(|error| unwritten(path, &error))?;
        self.complete(open, out)
    }

    /// Takes a file whose content is complete.
    ///
    /// # Errors
    /// Why it cannot be written.
    pub(crate) fn complete(&mut self, open: OpenFile, out: BufWriter<File>) -> Result<(), Failure> {
        let OpenFile { path, place, fresh } = open;
        let flush = || {
            let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
            let Some(fresh) = &fresh else { return Ok(()) };
            // Some file systems tell only now that the disk is full.
            file.sync_all()?;
            match fs::metadata(&place) {
                Ok(older) => fs::set_permissions(fresh.path(), older.permissions()),
                Err(_) => Ok(()),
            }
        };
        flush().map_err(|error| unwritten(&path, &error))?;
        self.complete.extend(fresh.map(|fresh| (fresh, place)));
        Ok(())
    }

    /// Gives all files their names.
    ///
    /// # Errors
    /// Why they cannot have them, such as a file of that name that was not there before the run, unless
    /// those are to be replaced. Of new files none is there then.
    pub(crate) fn keep(self, replaces: bool) -> Result<(), Failure> {
        let places = self.complete.iter().map(|(_, place)| place.as_path());
        let there: Vec<&Path> = places
            .filter(|place| !replaces && is_there(place))
            .collect();
        if !there.is_empty() {
            return Err(problem::file_exists(&there).into());
        }
        Temporary::keep_all(self.complete)
            .map_err(|(place, error)| problem::unwritable(&place, &error).into())
    }
}

/// A file whose content is being written: under another name, unless it is a pipe or a device.
#[derive(Debug)]
pub(crate) struct OpenFile {
    /// As it was asked for.
    path: PathBuf,
    /// Where it will be. A link stays one: the file that it leads to is replaced.
    place: PathBuf,
    fresh: Option<Temporary>,
}

impl OpenFile {
    /// Opens it, and what its content is written to.
    ///
    /// # Errors
    /// Why it cannot be written.
    pub(crate) fn create(path: &Path) -> Result<(OpenFile, BufWriter<File>), Failure> {
        let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let open = match is_replaced(path) {
            false => (File::options().write(true).open(&place)).map(|file| (None, file)),
            true => Temporary::create(temporary(&place)).map(|(fresh, file)| (Some(fresh), file)),
        };
        let (fresh, file) = open.map_err(|error| unwritten(path, &error))?;
        let open = OpenFile {
            path: path.to_owned(),
            place,
            fresh,
        };
        Ok((open, BufWriter::with_capacity(1 << 20, file)))
    }
}

/// Why a file has not all of its content.
pub(crate) fn unwritten(path: &Path, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::Interrupted => Failure::Interrupted,
        _ => problem::unwritable(path, error).into(),
    }
}

/// Is it a plain file, or nothing yet?
pub(crate) fn is_replaced(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |data| data.is_file())
}

/// Is there a plain file, or a link that leads to none?
pub(crate) fn is_there(path: &Path) -> bool {
    is_replaced(path) && fs::symlink_metadata(path).is_ok()
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
