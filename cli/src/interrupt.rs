//! Ctrl-C, SIGTERM and SIGHUP: the first asks a run to end, the second ends the process, and so does the
//! first where nothing watches for it. Neither leaves a temporary file behind.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process,
    sync::{
        Mutex, MutexGuard, Once, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

/// The exit code, whatever the signal: shells have it for Ctrl-C.
pub(crate) const CODE: u8 = 130;

static ASKED: AtomicBool = AtomicBool::new(false);
/// Does anything look at the flag?
static WATCHED: AtomicBool = AtomicBool::new(false);
/// What is to be removed when the process ends.
static TEMPORARIES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// From now on a signal sets the flag that this gives, instead of ending the process.
pub(crate) fn flag() -> &'static AtomicBool {
    WATCHED.store(true, Ordering::Relaxed);
    install();
    &ASKED
}

/// A file that is removed unless it is kept under another name.
#[derive(Debug)]
pub(crate) struct Temporary(PathBuf);

impl Temporary {
    /// Makes a new file; one of that name that a process of the same number left behind goes.
    ///
    /// # Errors
    /// What the operating system says.
    pub(crate) fn create(path: PathBuf) -> io::Result<(Temporary, File)> {
        install();
        let mut temporaries = temporaries();
        let create = || File::options().write(true).create_new(true).open(&path);
        let file = match create() {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                fs::remove_file(&path).and_then(|()| create())
            }
            other => other,
        }?;
        temporaries.push(path.clone());
        Ok((Temporary(path), file))
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Gives each its name; no signal ends the process in between.
    ///
    /// # Errors
    /// Which could not have its name, and what the operating system says. All are removed then, also those
    /// that had theirs, but not those that replaced an older file.
    pub(crate) fn keep_all(all: Vec<(Temporary, PathBuf)>) -> Result<(), (PathBuf, io::Error)> {
        let renamed = {
            let _temporaries = temporaries();
            let mut fresh = Vec::new();
            all.iter().try_for_each(|(temporary, place)| {
                let is_fresh = !place.exists();
                fs::rename(&temporary.0, place).map_err(|error| {
                    for path in &fresh {
                        let _ = fs::remove_file(path);
                    }
                    (place.clone(), error)
                })?;
                fresh.extend(is_fresh.then_some(place));
                Ok(())
            })
        };
        drop(all);
        renamed
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let mut temporaries = temporaries();
        // It may have been kept.
        let _ = fs::remove_file(&self.0);
        temporaries.retain(|path| *path != self.0);
    }
}

/// Whoever makes or names a temporary file holds this, and so does the handler from when it removes them on.
fn temporaries() -> MutexGuard<'static, Vec<PathBuf>> {
    TEMPORARIES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn on_signal() {
    let again = ASKED.swap(true, Ordering::Relaxed);
    if again || !WATCHED.load(Ordering::Relaxed) {
        let temporaries = temporaries();
        for path in &*temporaries {
            let _ = fs::remove_file(path);
        }
        process::exit(CODE.into());
    }
}

fn install() {
    static INSTALLED: Once = Once::new();
    // Without a handler a signal still ends the process, only less politely.
    INSTALLED.call_once(|| ignoring(|| ctrlc::set_handler(on_signal).is_ok()));
}

/// Signals that the process was started to ignore, as by `nohup`, stay ignored.
#[cfg(unix)]
fn ignoring(install: impl FnOnce() -> bool) {
    use nix::sys::signal::{SigHandler, Signal, signal};
    let set = |which: Signal, handler| {
        // SAFETY: these handlers run no code of ours.
        unsafe { signal(which, handler) }
    };
    let all = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];
    let ignored = all.map(|which| matches!(set(which, SigHandler::SigIgn), Ok(SigHandler::SigIgn)));
    let is_installed = install();
    for (which, ignored) in all.into_iter().zip(ignored) {
        if ignored {
            let _ = set(which, SigHandler::SigIgn);
        } else if !is_installed {
            let _ = set(which, SigHandler::SigDfl);
        }
    }
}

#[cfg(not(unix))]
fn ignoring(install: impl FnOnce() -> bool) {
    install();
}
