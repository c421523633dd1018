//! The directory in which pipelines that a driver compiled are cached between calls.

use std::{env, ffi::OsString, path::PathBuf};

/// The directory: `SIMC_CACHE_DIR`, or `simc` in the user's directory of caches; none if neither is known.
pub(crate) fn directory() -> Option<PathBuf> {
    place(env::consts::OS, |name| {
        env::var_os(name).filter(|value| !value.is_empty())
    })
}

fn place(system: &str, variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name: &str| variable(name).map(PathBuf::from);
    if let Some(chosen) = path("SIMC_CACHE_DIR") {
        return Some(chosen);
    }
    let caches = match system {
        "windows" => path("LOCALAPPDATA")?,
        "macos" => path("HOME")?.join("Library").join("Caches"),
        // The XDG specification ignores relative paths.
        _ => match path("XDG_CACHE_HOME").filter(|path| path.is_absolute()) {
            Some(caches) => caches,
            None => path("HOME")?.join(".cache"),
        },
    };
    Some(caches.join("simc"))
}

#[cfg(test)]
mod tests {
    use super::place;
    use std::ffi::OsString;

    fn found(system: &str, set: &[(&str, &str)]) -> Option<String> {
        let variable = |name: &str| {
            let found = set.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        };
        place(system, variable).map(|path| path.to_string_lossy().replace('\\', "/"))
    }

    #[test]
    fn each_system_has_its_place() {
        let home = ("HOME", "/home/ada");
        let is = |path: &str| Some(path.to_owned());
        assert_eq!(found("linux", &[home]), is("/home/ada/.cache/simc"));
        let own = ("XDG_CACHE_HOME", "/fast");
        assert_eq!(found("linux", &[home, own]), is("/fast/simc"));
        let relative = ("XDG_CACHE_HOME", "fast");
        assert_eq!(
            found("linux", &[home, relative]),
            is("/home/ada/.cache/simc")
        );
        assert_eq!(found("macos", &[home]), is("/home/ada/Library/Caches/simc"));
        let local = ("LOCALAPPDATA", "C:/Local");
        assert_eq!(found("windows", &[local]), is("C:/Local/simc"));
        assert_eq!(found("linux", &[]), None);
        let chosen = ("SIMC_CACHE_DIR", "here");
        assert_eq!(found("linux", &[home, chosen]), is("here"));
    }
}
