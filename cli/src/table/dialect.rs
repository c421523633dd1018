//! How a CSV file is written: what separates its cells, and what its numbers have before their fraction.

use super::lines::Lines;
use crate::problem::{self, Problem};
use std::path::Path;

/// Bytes of a file that are looked at.
pub(super) const SAMPLE: usize = 64 << 10;

/// Separators that are found without being told.
const SEPARATORS: [u8; 3] = [b',', b';', b'\t'];

/// What numbers have before their fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Mark {
    /// `0.5`
    Point,
    /// `0,5`, as in many countries of Europe.
    Comma,
}

/// What `--separator` and `--decimal` say.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asked {
    /// What separates cells.
    pub(crate) separator: Option<u8>,
    /// What numbers have before their fraction.
    pub(crate) decimal: Option<Mark>,
}

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    /// What separates cells.
    pub(super) separator: u8,
    /// What numbers have before their fraction.
    pub(super) decimal: Mark,
    /// Was a decimal comma found, rather than asked for?
    pub(super) is_found: bool,
}

/// For clap: one character, or `tab`.
pub(crate) fn separator(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        &[byte @ (b',' | b';' | b'\t' | b'|' | b':' | b'~' | b'^' | b'!')] => Ok(byte),
        _ => Err("it is one of `,` `;` `|` `:` `~` `^` `!` and `tab`".to_owned()),
    }
}

/// Finds out how a file is written from its beginning, which is all of it where `is_whole`.
///
/// # Errors
/// That it is no text, or that there are several ways to read it.
pub(super) fn of(
    path: &Path,
    sample: &[u8],
    is_whole: bool,
    asked: Asked,
) -> Result<Dialect, Problem> {
    refuse_other_forms(path, sample)?;
    // The last line may be cut.
    let end = match is_whole {
        true => sample.len(),
        false => memchr::memrchr(b'\n', sample).map_or(sample.len(), |at| at + 1),
    };
    let sample = &sample[..end];
    let separator = match asked.separator {
        Some(separator) => separator,
        None => found_separator(path, sample)?,
    };
    let found = match (asked.decimal, separator) {
        (None, b',') => Mark::Point,
        (None, _) => found_mark(path, sample, separator)?,
        (Some(mark), _) => mark,
    };
    Ok(Dialect {
        separator,
        decimal: found,
        is_found: asked.decimal.is_none() && found == Mark::Comma,
    })
}

fn refuse_other_forms(path: &Path, sample: &[u8]) -> Result<(), Problem> {
    let forms: [(&[u8], &str); 5] = [
        (b"PAR1", "Parquet file: its name must end with `.parquet`"),
        (b"ARROW1", "Arrow file: its name must end with `.arrow`"),
        (b"\x93NUMPY", "NPY file: its name must end with `.npy`"),
        (
            b"PK\x03\x04",
            "ZIP archive: unpack it, or name it `.npz` if it is one of NumPy",
        ),
        (b"\x1f\x8b", "gzip file: unpack it, as in `<(zcat FILE)`"),
    ];
    match forms.iter().find(|(start, _)| sample.starts_with(start)) {
        Some((_, form)) => {
            let why = "the file is no CSV text";
            Err(problem::csv_malformed(
                path,
                1,
                why,
                &format!("it is a {form}"),
            ))
        }
        None => Ok(()),
    }
}

/// The separator of the header; where there could be several, the one that gives all rows as many cells.
fn found_separator(path: &Path, sample: &[u8]) -> Result<u8, Problem> {
    let cells = |separator| -> Vec<usize> {
        let mut lines = Lines::of(sample, separator);
        let mut cells = Vec::new();
        while let Ok(true) = lines.advance(path) {
            cells.push(lines.cells());
        }
        cells
    };
    let all = SEPARATORS.map(|separator| (separator, cells(separator)));
    let in_header: Vec<&(u8, Vec<usize>)> = (all.iter())
        .filter(|(_, cells)| cells.first().is_some_and(|&count| count > 1))
        .collect();
    if let [] | [_] = in_header.as_slice() {
        return Ok(in_header.first().map_or(b',', |(separator, _)| *separator));
    }
    let regular: Vec<u8> = (in_header.iter())
        .filter(|(_, cells)| cells.iter().all(|count| *count == cells[0]))
        .map(|(separator, _)| *separator)
        .collect();
    match regular.as_slice() {
        [one] => Ok(*one),
        _ => {
            let found: Vec<&str> = in_header.iter().map(|(byte, _)| called(*byte)).collect();
            Err(problem::csv_ambiguous(
                path,
                1,
                &format!(
                    "the first line has {}, and each could separate its cells",
                    found.join(" and ")
                ),
                &format!(
                    "say which: `--separator '{}'`, for example",
                    found[0].trim_matches('`')
                ),
            ))
        }
    }
}

fn called(separator: u8) -> &'static str {
    match separator {
        b',' => "`,`",
        b';' => "`;`",
        _ => "`tab`",
    }
}

/// What the numbers in the sample have before their fraction. A comma or point before groups of three digits
/// may be one between thousands instead.
fn found_mark(path: &Path, sample: &[u8], separator: u8) -> Result<Mark, Problem> {
    let mut lines = Lines::of(sample, separator);
    let mut seen: [Option<Seen>; 2] = [None, None];
    let _header = lines.advance(path);
    while let Ok(true) = lines.advance(path) {
        for cell in (0..lines.cells()).map(|at| lines.cell(at)) {
            for (mark, seen) in [b'.', b','].into_iter().zip(&mut seen) {
                let found = number_with(cell, mark).map(|is_sure| Seen {
                    line: lines.start(),
                    text: String::from_utf8_lossy(cell).into_owned(),
                    is_sure,
                });
                if found
                    .as_ref()
                    .is_some_and(|it| it.is_sure || seen.is_none())
                    && !seen.as_ref().is_some_and(|it| it.is_sure)
                {
                    *seen = found;
                }
            }
        }
    }
    match seen {
        [_, None] if separator != b';' => Ok(Mark::Point),
        [None, None] => Ok(Mark::Point),
        [Some(point), None] if point.is_sure => Ok(Mark::Point),
        [None, Some(comma)] if comma.is_sure => Ok(Mark::Comma),
        [Some(point), Some(comma)] => Err(problem::csv_ambiguous(
            path,
            point.line.max(comma.line),
            &format!(
                "the numbers `{}` and `{}` have different decimal marks",
                point.text, comma.text
            ),
            "say which one is meant: `--decimal point` or `--decimal comma`; thousands may have none",
        )),
        [Some(seen), None] | [None, Some(seen)] => Err(problem::csv_ambiguous(
            path,
            seen.line,
            &format!(
                "`{}` may have a decimal mark, or one between thousands",
                seen.text
            ),
            "say which one the file has before fractions: `--decimal point` or `--decimal comma`",
        )),
    }
}

/// A number with a point or comma.
struct Seen {
    line: u64,
    text: String,
    /// It cannot be one between thousands.
    is_sure: bool,
}

/// Is it a number with this byte once, and can the byte not be one between thousands?
fn number_with(cell: &[u8], mark: u8) -> Option<bool> {
    let cell = cell
        .strip_prefix(b"-")
        .or(cell.strip_prefix(b"+"))
        .unwrap_or(cell);
    let at = memchr::memchr(mark, cell)?;
    let (whole, rest) = (&cell[..at], &cell[at + 1..]);
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let exponent = &rest[digits..];
    let is_number = whole.iter().all(u8::is_ascii_digit)
        && (!whole.is_empty() || digits > 0)
        && (exponent.is_empty() || matches!(exponent[0], b'e' | b'E'));
    let grouped = digits == 3
        && exponent.is_empty()
        && matches!(whole, [b'1'..=b'9', more @ ..] if more.len() < 3);
    is_number.then_some(!grouped)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Result<(u8, Mark), String> {
        let dialect = of(Path::new("t.csv"), text.as_bytes(), true, Asked::default());
        let dialect = dialect.map_err(|problem| problem.text(Default::default()))?;
        Ok((dialect.separator, dialect.decimal))
    }

    #[test]
    fn the_header_says_what_separates() {
        assert_eq!(found("a,b\n1,2\n"), Ok((b',', Mark::Point)));
        assert_eq!(found("a;b\n1;2\n"), Ok((b';', Mark::Point)));
        assert_eq!(found("a\tb\n1\t2\n"), Ok((b'\t', Mark::Point)));
        assert_eq!(found("a\n1\n"), Ok((b',', Mark::Point)));
        assert_eq!(
            found("price, EUR;size\n1,5;2\n2,5;3\n3;4\n"),
            Ok((b';', Mark::Comma))
        );
        assert_eq!(found("\"a;b\",c\n1,2\n"), Ok((b',', Mark::Point)));
        let text = found("a;b,c\n").expect_err("both separate");
        assert!(text.contains("each could separate"), "{text}");
    }

    #[test]
    fn a_decimal_comma_is_found_or_asked_for() {
        assert_eq!(found("a;b\n1,5;2\n"), Ok((b';', Mark::Comma)));
        assert_eq!(found("a;b\n1.5;2\n"), Ok((b';', Mark::Point)));
        assert_eq!(found("a;b\n31.12.2024;0,125\n"), Ok((b';', Mark::Comma)));
        assert_eq!(found("a\tb\n1.125\t2\n"), Ok((b'\t', Mark::Point)));
        for text in [
            "a;b\n1.125;2\n",
            "a;b\n1,125;2\n",
            "a\tb\n1,125\t2\n",
            "a;b\n1.000;0,5\n",
        ] {
            let said = found(text).expect_err("it is ambiguous");
            assert!(said.contains("--decimal"), "{said}");
        }
    }
}
