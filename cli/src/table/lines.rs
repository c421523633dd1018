//! A CSV file cell by cell, with the line numbers of each row.
//!
//! Rows are lines, ended by LF or CRLF; cells are separated by a comma or another byte. A cell that begins
//! with a double quote ends with one, may contain separators and line ends, and writes a quote as two
//! (RFC 4180). White space around cells, a byte order mark at the beginning and lines without any text are
//! ignored.

use crate::problem::{self, Problem};
use memchr::{memchr, memchr_iter};
use std::{
    fmt,
    io::{BufRead, BufReader, Read},
    ops::Range,
    path::Path,
};

/// Most bytes of a row.
pub(super) const MOST: u64 = 256 << 20;
/// Most bytes of a row that goes over several lines: such a row is read again with every line.
const MOST_OF_LINES: usize = 64 << 10;

/// The rows of a file, one at a time.
pub(crate) struct Lines<'a> {
    reader: BufReader<Box<dyn Read + 'a>>,
    separator: u8,
    /// The row as the file has it.
    raw: Vec<u8>,
    /// The texts of its cells, if any is quoted; otherwise they stand in `raw`.
    unquoted: Vec<u8>,
    /// Where each cell stands.
    cells: Vec<Range<usize>>,
    is_quoted: bool,
    /// Number of the row's first line, from 1.
    start: u64,
    /// Number of its last line.
    end: u64,
}

impl fmt::Debug for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines")
            .field("end", &self.end)
            .finish_non_exhaustive()
    }
}

impl<'a> Lines<'a> {
    /// Before the first row of a text.
    pub(crate) fn of(text: impl Read + 'a, separator: u8) -> Lines<'a> {
        Lines {
            reader: BufReader::with_capacity(1 << 18, Box::new(text)),
            separator,
            raw: Vec::new(),
            unquoted: Vec::new(),
            cells: Vec::new(),
            is_quoted: false,
            start: 0,
            end: 0,
        }
    }

    /// Reads the next row that has any text; false at the end.
    pub(crate) fn advance(&mut self, path: &Path) -> Result<bool, Problem> {
        loop {
            self.raw.clear();
            if !self.line(path)? {
                return Ok(false);
            }
            if self.end == 1 {
                self.mark(path)?;
            }
            self.start = self.end;
            if !trimmed(&self.raw, self.separator).is_empty() {
                break;
            }
        }
        self.is_quoted = memchr(b'"', &self.raw).is_some();
        if !self.is_quoted {
            self.split();
            return Ok(true);
        }
        while !self.unquote() {
            if self.raw.len() > MOST_OF_LINES || !self.line(path)? {
                let help = "a cell that begins with a double quote ends with one";
                return Err(problem::csv_malformed(
                    path,
                    self.start,
                    "a quote is not closed",
                    help,
                ));
            }
        }
        Ok(true)
    }

    /// Appends a line to the row; false at the end of the file.
    fn line(&mut self, path: &Path) -> Result<bool, Problem> {
        let left = MOST - self.raw.len() as u64;
        let read = self
            .reader
            .by_ref()
            .take(left)
            .read_until(b'\n', &mut self.raw);
        let found = read.map_err(|error| problem::unreadable(path, &error))?;
        self.end += u64::from(found > 0);
        if self.raw.len() as u64 == MOST {
            let help = "is this a CSV file? each row needs its own line";
            return Err(problem::csv_malformed(
                path,
                self.end,
                "this row has more than 256 MiB",
                help,
            ));
        }
        Ok(found > 0)
    }

    /// Takes the byte order mark from the first line.
    fn mark(&mut self, path: &Path) -> Result<(), Problem> {
        if self.raw.starts_with(&[0xff, 0xfe]) || self.raw.starts_with(&[0xfe, 0xff]) {
            let why = "the file is UTF-16 text";
            return Err(problem::csv_malformed(path, 1, why, "save it as UTF-8"));
        }
        if self.raw.starts_with(&[0xef, 0xbb, 0xbf]) {
            self.raw.drain(..3);
        }
        Ok(())
    }

    /// Finds the cells of a row without quotes.
    fn split(&mut self) {
        self.cells.clear();
        let mut start = 0;
        for at in memchr_iter(self.separator, &self.raw) {
            self.cells.push(start..at);
            start = at + 1;
        }
        self.cells.push(start..self.raw.len());
    }

    /// Copies the texts of cells, some of which are quoted; false if the row continues in the next line.
    fn unquote(&mut self) -> bool {
        self.cells.clear();
        self.unquoted.clear();
        let mut rest = self.raw.as_slice();
        loop {
            let start = self.unquoted.len();
            let cell = trimmed_start(rest, self.separator);
            let mut was_quoted = false;
            if let Some(mut quoted) = cell.strip_prefix(b"\"") {
                loop {
                    let Some(at) = quoted.iter().position(|&byte| byte == b'"') else {
                        return false;
                    };
                    self.unquoted.extend(&quoted[..at]);
                    quoted = &quoted[at + 1..];
                    let Some(after) = quoted.strip_prefix(b"\"") else {
                        break;
                    };
                    self.unquoted.push(b'"');
                    quoted = after;
                }
                rest = quoted;
                was_quoted = true;
            }
            // After a closing quote any text up to the separator belongs to the cell, so that it is not lost.
            let end = memchr(self.separator, rest);
            let tail = &rest[..end.unwrap_or(rest.len())];
            let tail = if was_quoted { tail.trim_ascii() } else { tail };
            self.unquoted.extend(tail);
            self.cells.push(start..self.unquoted.len());
            match end {
                Some(end) => rest = &rest[end + 1..],
                None => return true,
            }
        }
    }

    /// How many cells the row has.
    pub(crate) fn cells(&self) -> usize {
        self.cells.len()
    }

    /// The text of a cell, without white space around it; empty if there is none.
    pub(crate) fn cell(&self, column: usize) -> &[u8] {
        let text = if self.is_quoted {
            &self.unquoted
        } else {
            &self.raw
        };
        self.cells
            .get(column)
            .map_or(&[], |cell| text[cell.clone()].trim_ascii())
    }

    /// The number of the row's first line, from 1.
    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    /// The number of its last line.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }
}

/// A line without white space at its ends; a separator is none.
fn trimmed(line: &[u8], separator: u8) -> &[u8] {
    let line = trimmed_start(line, separator);
    let kept = line
        .iter()
        .rposition(|&byte| byte == separator || !byte.is_ascii_whitespace());
    &line[..kept.map_or(0, |at| at + 1)]
}

fn trimmed_start(text: &[u8], separator: u8) -> &[u8] {
    let start = text
        .iter()
        .position(|&byte| byte == separator || !byte.is_ascii_whitespace());
    &text[start.unwrap_or(text.len())..]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of a text: first line, last line, cells.
    fn rows(text: &str, separator: u8) -> Vec<(u64, u64, Vec<String>)> {
        let path = Path::new("t.csv");
        let mut lines = Lines::of(text.as_bytes(), separator);
        let mut rows = Vec::new();
        while lines.advance(path).expect("it is well-formed") {
            let cells = (0..lines.cells())
                .map(|at| String::from_utf8_lossy(lines.cell(at)).into_owned())
                .collect();
            rows.push((lines.start(), lines.end(), cells));
        }
        rows
    }

    #[test]
    fn lines_are_numbered_whatever_ends_them() {
        let expected = [
            (1, 1, vec!["a".to_owned(), "b".to_owned()]),
            (3, 3, vec!["1".to_owned(), String::new()]),
        ];
        assert_eq!(rows("a,b\n\n1,\n", b','), expected);
        assert_eq!(rows("\u{feff}a, b\r\n\r\n1,\r\n\r\n", b','), expected);
        assert_eq!(rows("a,b\n \n 1 ,", b','), expected);
    }

    #[test]
    fn quoted_cells_hold_anything() {
        let found = rows("\"a\"\"b\", \"x,\ny\" ,c\r\n\"1\"2,3,\"\"\n", b',');
        assert_eq!(
            found[0],
            (
                1,
                2,
                vec!["a\"b".to_owned(), "x,\ny".to_owned(), "c".to_owned()]
            )
        );
        assert_eq!(
            found[1],
            (3, 3, vec!["12".to_owned(), "3".to_owned(), String::new()])
        );
    }

    #[test]
    fn a_tab_that_separates_is_no_white_space() {
        let cells = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        assert_eq!(
            rows("a\tb\tc\n\t\t\n\t\"x\ty\"\t\r\n \n", b'\t'),
            [
                (1, 1, cells(["a", "b", "c"])),
                (2, 2, cells(["", "", ""])),
                (3, 3, cells(["", "x\ty", ""])),
            ]
        );
    }
}
