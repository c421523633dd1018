//! The files that tests read.

use std::path::{Path, PathBuf};

/// The top of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
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

/// Fails with all complaints at once, so that one run shows every specimen that is wrong.
pub(crate) fn report(what: &str, complaints: Vec<String>) {
    assert!(
        complaints.is_empty(),
        "{} {what}:\n{}",
        complaints.len(),
        complaints.join("\n")
    );
}
