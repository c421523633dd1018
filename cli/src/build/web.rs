//! `simc build --target web`: a folder with the model as a module of JavaScript, its types, its kernel, a
//! page that runs it, and the runtime.

mod types;

use crate::{failure::Failure, output::replace, problem, source::Source, terminal};
use sim_compiler::{artifact::Artifact, packed::base64};
use std::{
    env, fs,
    io::Write,
    path::{Path, PathBuf},
};

/// The file of the runtime that says its version.
const VERSION: &str = "version.txt";
/// The variable that names the folder of the runtime.
const VARIABLE: &str = "SIM_WEB_RUNTIME";
/// The page; `{{…}}` are replaced.
const PAGE: &str = include_str!("web/index.html");

/// Where a page finds the runtime.
pub(super) enum Runtime<'a> {
    /// Beside it, as a copy of the folder that is given or found.
    Copied(Option<&'a Path>),
    /// In the folder with this address, without a slash at its end.
    At(&'a str),
}

/// The address of a folder, for pages. Scripts of workers must come from the page's own origin, so that it is
/// a path.
///
/// # Errors
/// If it is no path.
pub(super) fn address(text: &str) -> Result<String, String> {
    match text.starts_with(['.', '/']) && !text.starts_with("//") {
        true => Ok(text.trim_end_matches('/').to_owned()),
        false => Err(
            "it must begin with `./`, `../` or `/`: browsers take workers from the page's own \
                      origin only"
                .to_owned(),
        ),
    }
}

/// Writes the folder of a model.
///
/// # Errors
/// Those of files, and if the runtime is not found.
pub(super) fn write(
    directory: &Path,
    name: &str,
    source: &Source,
    artifact: &Artifact,
    runtime: &Runtime<'_>,
) -> Result<(), Failure> {
    let (runtime, at) = match runtime {
        Runtime::Copied(folder) => (find(*folder)?, "."),
        Runtime::At(address) => (Vec::new(), *address),
    };
    fs::create_dir_all(directory).map_err(|error| problem::unwritable(directory, &error))?;
    let mut written = Vec::new();
    let files = [
        (format!("{name}.js"), module(source, artifact, at)),
        (format!("{name}.d.ts"), types::text(name, artifact, at)),
        (format!("{name}.wgsl"), artifact.wgsl()),
        ("index.html".to_owned(), page(name, artifact, at)),
    ];
    for (file, text) in files {
        let path = directory.join(file);
        replace(&path, |out| out.write_all(text.as_bytes()))?;
        written.push(path);
    }
    for path in &runtime {
        let bytes =
            fs::read(path).map_err(|error| problem::unreadable_web_runtime(path, &error))?;
        let copy = directory.join(path.file_name().unwrap_or_default());
        replace(&copy, |out| out.write_all(&bytes))?;
    }
    for path in written {
        terminal::note(format!("wrote {}\n", path.display()));
    }
    if !runtime.is_empty() {
        let folder = directory.display();
        let note = format!("wrote the runtime; serve {folder} with any file server\n");
        terminal::note(note);
    }
    Ok(())
}

/// The files of the runtime.
fn find(given: Option<&Path>) -> Result<Vec<PathBuf>, Failure> {
    let folders: Vec<PathBuf> = match (given, env::var_os(VARIABLE)) {
        (Some(given), _) => vec![given.to_owned()],
        (None, Some(given)) => vec![given.into()],
        (None, None) => {
            let program = env::current_exe().unwrap_or_default();
            let beside = program.parent().unwrap_or(Path::new(".")).to_owned();
            vec![beside.join("web"), beside.join("../web/runtime")]
        }
    };
    let Some(folder) = folders.iter().find(|folder| folder.join(VERSION).is_file()) else {
        let looked: Vec<String> = (folders.iter())
            .map(|folder| format!("`{}`", folder.display()))
            .collect();
        return Err(problem::no_web_runtime(&looked).into());
    };
    let failed = |error| problem::unreadable_web_runtime(folder, &error);
    let found = fs::read_to_string(folder.join(VERSION)).map_err(failed)?;
    let needed = env!("CARGO_PKG_VERSION");
    if found.trim() != needed {
        return Err(problem::other_web_runtime(folder, found.trim(), needed).into());
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_file() && path.file_name().is_some_and(|name| name != VERSION) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The model as a module, with the runtime in the folder `at`.
fn module(source: &Source, artifact: &Artifact, at: &str) -> String {
    let runtime = serde_json::Value::from(format!("{at}/simc-runtime.js"));
    let text = serde_json::Value::from(source.text.as_str());
    let manifest = artifact.visible_manifest().json();
    let program = base64(&artifact.pack());
    format!(
        "// Written by `simc build --target web`.\n\
         import {{ load as loadProgram }} from {runtime};\n\n\
         export const source = {text};\n\n\
         export const manifest = {manifest};\n\n\
         const program =\n  \"{program}\";\n\n\
         /** Loads the runtime and the model. */\n\
         export function load(options = {{}}) {{\n  \
           return loadProgram(program, options);\n}}\n"
    )
}

/// The page of the model, with the runtime in the folder `at`.
fn page(name: &str, artifact: &Artifact, at: &str) -> String {
    let manifest = &artifact.manifest;
    let title = match manifest.doc.lines().next() {
        Some(line) if !line.trim().is_empty() => line.trim(),
        Some(_) | None => name,
    };
    PAGE.replace("{{title}}", &escaped(title))
        .replace("{{module}}", &escaped(&format!("./{name}.js")))
        .replace("{{name}}", &escaped(name))
        .replace("{{runtime}}", &escaped(at))
}

/// Text as HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
