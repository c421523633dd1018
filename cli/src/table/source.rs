//! What `--data NAME=FILE` and `--input NAME=FILE` name: a file, and columns of it after a colon.

use crate::{
    open::{is_standard_input, named},
    problem::{self, Problem},
};
use std::path::{Path, PathBuf};

/// A file and what is wanted of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    /// The file.
    pub(crate) path: PathBuf,
    /// Names of columns, or of an archive's member; none where none were named.
    pub(crate) columns: Option<Vec<String>>,
}

impl Source {
    /// Takes `prices.csv:open,close` apart. A colon belongs to the file's name where a file has that name,
    /// and where it is the one of a Windows drive. Names with commas or quotes are quoted as in CSV.
    ///
    /// # Errors
    /// If the list of columns has an empty name, or a quote that is not closed.
    pub(crate) fn parse(text: &str) -> Result<Source, Problem> {
        let whole = Source {
            path: named(Path::new(text)),
            columns: None,
        };
        if is_there(text) {
            return Ok(whole);
        }
        let drive = text.len() > 2
            && text.as_bytes()[0].is_ascii_alphabetic()
            && matches!(&text.as_bytes()[1..3], b":\\" | b":/");
        let colons = text.match_indices(':').map(|(at, _)| at);
        let mut colons = colons.filter(|&at| at > 0 && !(drive && at == 1));
        // Names of columns may have colons, too: the longest file that is there, otherwise the first colon.
        let first = colons.clone().next();
        let there = colons.rfind(|&at| is_there(&text[..at]));
        let Some(colon) = there.or(first) else {
            return Ok(whole);
        };
        let columns = names(&text[colon + 1..])
            .ok_or_else(|| problem::bad_columns(&text[..colon], &text[colon + 1..]))?;
        Ok(Source {
            path: named(Path::new(&text[..colon])),
            columns: Some(columns),
        })
    }
}

/// Is it a file, or standard input?
fn is_there(text: &str) -> bool {
    text == "-" || is_standard_input(Path::new(text)) || Path::new(text).exists()
}

/// Names between commas, in quotes or not; none if one is empty or a quote is not closed.
fn names(text: &str) -> Option<Vec<String>> {
    let mut all = Vec::new();
    let mut rest = text;
    loop {
        let (name, after) = match rest.trim_start().strip_prefix('"') {
            Some(quoted) => {
                let mut name = String::new();
                let mut left = quoted;
                loop {
                    let (part, after) = left.split_once('"')?;
                    name.push_str(part);
                    left = after;
                    match left.strip_prefix('"') {
                        Some(more) => (name.push('"'), left = more).1,
                        None => break,
                    }
                }
                let after = left.trim_start();
                if !after.is_empty() && !after.starts_with(',') {
                    return None;
                }
                (name, after.strip_prefix(','))
            }
            None => match rest.split_once(',') {
                Some((name, after)) => (name.trim().to_owned(), Some(after)),
                None => (rest.trim().to_owned(), None),
            },
        };
        if name.is_empty() {
            return None;
        }
        all.push(name);
        match after {
            Some(after) => rest = after,
            None => return Some(all),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> (String, Option<Vec<String>>) {
        let source = Source::parse(text).expect("it is well-formed");
        (source.path.display().to_string(), source.columns)
    }

    fn columns(names: &[&str]) -> Option<Vec<String>> {
        Some(names.iter().map(|&name| name.to_owned()).collect())
    }

    #[test]
    fn columns_follow_the_last_colon_of_a_file_or_the_first_of_none() {
        assert_eq!(parts("no.csv"), ("no.csv".to_owned(), None));
        assert_eq!(
            parts("no.csv:open,high"),
            ("no.csv".to_owned(), columns(&["open", "high"]))
        );
        assert_eq!(
            parts("no.csv:a:b, \"c,\"\"d\""),
            ("no.csv".to_owned(), columns(&["a:b", "c,\"d"]))
        );
        assert_eq!(parts("-:x").1, columns(&["x"]));
        assert_eq!(parts("C:\\no.csv").1, None);
        assert_eq!(
            parts("C:/no.csv:x"),
            ("C:/no.csv".to_owned(), columns(&["x"]))
        );
        let folder = std::env::temp_dir().join(format!("simc-source-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("it can be made");
        let file = folder.join("at 10:30.csv");
        std::fs::write(&file, "x\n1\n").expect("it can be written");
        let file = file.to_str().expect("it is text");
        assert_eq!(parts(file), (file.to_owned(), None));
        assert_eq!(
            parts(&format!("{file}:x:y")),
            (file.to_owned(), columns(&["x:y"]))
        );
        std::fs::remove_dir_all(&folder).expect("it was made");
    }

    #[test]
    fn empty_names_and_open_quotes_are_refused() {
        for text in [
            "no.csv:",
            "no.csv:a,",
            "no.csv:,a",
            "no.csv:\"a",
            "no.csv:\"a\"b",
        ] {
            assert!(Source::parse(text).is_err(), "{text}");
        }
    }
}
