//! The files that tests read.

use std::path::{Path, PathBuf};

/// The top of the repository.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent()
        .expect("a crate lies in the repository")
        .to_owned()
}

/// Every `.sim` file of a folder of the repository, by name: stem and text.
pub(crate) fn models(folder: &str) -> Vec<(String, String)> {
    let path = root().join(folder);
    let mut models: Vec<(String, String)> = std::fs::read_dir(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        .filter_map(|entry| {
            let path = entry.expect("a folder that can be read").path();
            let stem = path.file_stem()?.to_str()?.to_string();
            let text = (path.extension()? == "sim").then(|| std::fs::read_to_string(&path))?;
            Some((stem, text.expect("a specimen is UTF-8 text")))
        })
        .collect();
    assert!(!models.is_empty(), "no specimens in {}", path.display());
    models.sort();
    models
}

/// Those of them without worlds: kernels of worlds have no lanes, rewrites or copies of a step.
pub(crate) fn models_without_worlds(folder: &str) -> Vec<(String, String)> {
    let mut models = models(folder);
    models.retain(|(_, source)| {
        sim_compiler::compile(source).map_or(true, |artifact| artifact.manifest.world.is_none())
    });
    models
}

/// Every Rust file in a folder of the repository, at any depth: path and text.
pub(crate) fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    texts(folder, &["rs"])
}

/// The same of files with one of these extensions.
pub(crate) fn texts(folder: &str, extensions: &[&str]) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let built = name == "target" || name == "node_modules";
            if path.is_dir() && !built && !name.to_string_lossy().starts_with('.') {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|it| extensions.iter().any(|known| it == *known))
            {
                let text = std::fs::read_to_string(&path).expect("sources and pages are text");
                found.push((path, text));
            }
        }
    }
    assert!(!found.is_empty(), "no sources in {folder}");
    found
}

/// Fails with all complaints at once, so that one run shows every specimen that is wrong.
pub(crate) fn report(what: &str, complaints: Vec<String>) {
    assert!(
        complaints.is_empty(),
        "{} {what}:\n{}",
        complaints.len(),
        complaints.join("\n")
    );
}
