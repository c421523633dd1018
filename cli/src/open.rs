//! Opens the files that the command reads: plain files and pipes, such as `<(zcat table.csv.gz)` of a shell.
//!
//! Opening a pipe blocks until somebody writes to it. The user is told that the command waits; Ctrl-C ends
//! it.

use crate::terminal;
use std::{
    fs::File,
    io,
    path::Path,
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

/// Waits that are shorter are not spoken of.
const PATIENCE: Duration = Duration::from_secs(2);

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
        false => File::open(path)?,
    };
    let data = file.metadata()?;
    let length = data.is_file().then_some(data.len());
    Ok(Opened { file, length })
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
                terminal::remark(format!(
                    "waiting for somebody to write to the pipe `{path}`\n"
                ));
            }
        });
        let file = File::open(path);
        drop(opened);
        file
    })
}
