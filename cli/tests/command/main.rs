//! The command as a user calls it: the built binary in a directory of its own, its output and its exit code.

mod bench;
#[cfg(unix)]
mod book;
mod build;
mod check;
#[cfg(unix)]
mod checkpoint;
mod checks;
mod data;
mod devices;
mod doctor;
#[cfg(target_os = "linux")]
mod errors;
mod files;
mod fit;
mod fmt;
mod grad;
mod inspect;
mod jit;
mod limits;
mod links;
mod lsp;
#[cfg(target_os = "linux")]
mod memory;
mod new;
#[cfg(unix)]
mod pipes;
mod plots;
#[cfg(unix)]
mod process;
mod real;
mod results;
mod run;
mod search;
mod shadow;
mod shell;
mod sweep;
mod sweep_files;
mod sweep_pictures;
mod testing;
mod trace;
mod warnings;
mod web;
mod worlds;

use std::{
    env, fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::atomic::{AtomicU32, Ordering},
};

/// A directory for one test, removed at its end.
struct Place(PathBuf);

/// What a call said.
struct Said {
    code: i32,
    out: String,
    err: String,
}

impl Place {
    fn new() -> Place {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("simc-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).expect("the directory of temporary files can be written");
        Place(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> &Place {
        fs::write(self.path(name), content).expect("a temporary file can be written");
        self
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).expect("the file is text")
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("the directory exists");
        let mut names: Vec<String> = entries
            .map(|entry| {
                entry
                    .expect("it can be read")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        names.sort();
        names
    }

    /// `simc` in this directory, ready to be started.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_simc"));
        command
            .args(args)
            .current_dir(&self.0)
            .env("NO_COLOR", "1")
            .env("SIMC_CACHE_DIR", self.0.join("cache"));
        command
    }

    fn simc(&self, args: &[&str]) -> Said {
        Said::from(self.command(args).output().expect("simc can be started"))
    }

    /// A call with a text on standard input.
    fn piped(&self, args: &[&str], text: &str) -> Said {
        let mut child = self
            .command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("simc can be started");
        let mut input = child.stdin.take().expect("it is piped");
        // A command that refuses its arguments reads nothing.
        let _ = input.write_all(text.as_bytes());
        drop(input);
        Said::from(child.wait_with_output().expect("simc can be waited for"))
    }

    /// A call that must succeed.
    fn good(&self, args: &[&str]) -> Said {
        let said = self.simc(args);
        assert_eq!(said.code, 0, "{args:?}: {}", said.err);
        said
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What stays behind harms nobody.
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl From<Output> for Said {
    fn from(output: Output) -> Said {
        Said {
            code: output.status.code().expect("simc was not killed"),
            out: String::from_utf8(output.stdout).expect("reports are text"),
            err: String::from_utf8(output.stderr).expect("reports are text"),
        }
    }
}

/// A file of the repository.
fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}
