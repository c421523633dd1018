//! Opens the files that the command reads: plain files and pipes, such as `<(zcat table.csv.gz)` of a shell.
//!
//! Opening a pipe blocks until somebody writes to it. The user is told that the command waits; Ctrl-C ends
//! it. A path `-` on the command line is standard input, which messages call `<stdin>`.

use crate::terminal;
use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

/// Waits that are shorter are not spoken of.
const PATIENCE: Duration = Duration::from_secs(2);

/// What messages call standard input, and the path by which it is opened.
const STANDARD_INPUT: &str = "<stdin>";

/// The path of a file that the command line names so.
pub(crate) fn named(given: &Path) -> PathBuf {
    match given.to_str() {
        Some("-") => PathBuf::from(STANDARD_INPUT),
        // A file of that name is no standard input.
        Some(STANDARD_INPUT) => Path::new(".").join(given),
        Some(_) | None => given.to_owned(),
    }
}

/// Is it standard input?
pub(crate) fn is_standard_input(path: &Path) -> bool {
    path == Path::new(STANDARD_INPUT)
}

/// A file to be read.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) file: File,
    /// How long it is, if it is a plain file.
    pub(crate) length: Option<u64>,
}

/// Opens a file.
///
/// # Errors
/// What the operating system says.
pub(crate) fn open(path: &Path) -> io::Result<Opened> {
    let file = match is_pipe(path) {
        true => patiently(path)?,
        false if is_standard_input(path) => standard_input()?,
        false => File::open(path)?,
    };
    let data = file.metadata()?;
    if data.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let length = data.is_file().then_some(data.len());
    Ok(Opened { file, length })
}

/// Standard input, once: who reads it again would find nothing.
fn standard_input() -> io::Result<File> {
    static IS_TAKEN: AtomicBool = AtomicBool::new(false);
    if IS_TAKEN.swap(true, Ordering::Relaxed) {
        let why = "only one file can come from standard input";
        return Err(io::Error::other(why));
    }
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
    }
    #[cfg(windows)]
    {
        use std::os::windows::io::AsHandle;
        Ok(File::from(io::stdin().as_handle().try_clone_to_owned()?))
    }
    #[cfg(not(any(unix, windows)))]
    {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }
}

/// Is it a pipe, which has no file extension that gives its form?
pub(crate) fn is_pipe(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        std::fs::metadata(path).is_ok_and(|data| data.file_type().is_fifo())
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

/// Opens a pipe, and says so if its other end is not open.
fn patiently(path: &Path) -> io::Result<File> {
    thread::scope(|scope| {
        let (opened, is_opened) = mpsc::channel::<()>();
        scope.spawn(move || {
            if is_opened.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                let path = path.display();
                terminal::note(format!(
                    "waiting for somebody to write to the pipe `{path}`\n"
                ));
            }
        });
        let file = File::open(path);
        drop(opened);
        file
    })
}
