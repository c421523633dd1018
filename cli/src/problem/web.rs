//! Complaints about what is built for the web.

use super::{Problem, catalog, reason};
use std::{io, path::Path};

catalog! {
    /// The files of the runtime for the web are not where `simc` looks for them.
    ///
    /// `simc build --target web` puts the runtime beside the model: a module of WebAssembly and its
    /// JavaScript, which cargo cannot build together with `simc`. `scripts/web/build.sh` builds them into
    /// `target/web/runtime`. `--runtime DIR` or the variable `SIM_WEB_RUNTIME` name the folder; without them
    /// it is `web` beside the program `simc`, or `web/runtime` beside that program's folder.
    E0994 no_web_runtime(looked: &[String]) {
        Problem::new(format!("there is no runtime for the web in {}", looked.join(" or ")))
            .help("run `scripts/web/build.sh` in the sources of simc, or name the folder: `--runtime DIR`")
    }

    /// The runtime for the web is of another version than `simc`.
    ///
    /// Both must be of the same version: a page holds the compiled model, in a form that may change.
    E0995 other_web_runtime(directory: &Path, found: &str, needed: &str) {
        Problem::new(format!(
            "the runtime for the web in `{}` is version {found}, and simc is {needed}",
            directory.display()
        ))
        .help("build it from the sources of this simc: `scripts/web/build.sh`")
    }

    /// A file of the runtime for the web cannot be read; the operating system's reason is part of the
    /// message.
    E0996 unreadable_web_runtime(path: &Path, error: &io::Error) {
        Problem::new(format!("cannot read `{}`: {}", path.display(), reason(error)))
            .help("run `scripts/web/build.sh` again")
    }
}
