//! Reading CSV files: one row per agent or outermost element, one column per value in it.

use super::{
    MemoryCheck, Values,
    cell::{self, Kind},
    columns::{Column, Found, Wanted},
    dialect::{self, Dialect, Mark, SAMPLE},
    lines::{Lines, MOST},
    reading::Reading,
    rules::{Refusal, Rules, is_missing},
};
use crate::{
    open::open,
    problem::{self, Problem},
    terminal,
};
use sim_compiler::value::WORD_BYTES;
use std::{
    borrow::Cow,
    io::{self, Cursor, Read},
    path::Path,
};

/// A CSV file after its header.
struct Rows<'a> {
    path: &'a Path,
    lines: Lines<'a>,
    header: Vec<String>,
    dialect: Dialect,
    rules: Rules,
}

impl<'a> Rows<'a> {
    fn of(
        path: &'a Path,
        text: impl Read + 'a,
        dialect: Dialect,
        rules: Rules,
    ) -> Result<Rows<'a>, Problem> {
        let mut lines = Lines::of(text, dialect.separator);
        if !lines.advance(path)? {
            return Err(problem::table_empty(path, "header"));
        }
        let header: Vec<String> = (0..lines.cells())
            .map(|column| String::from_utf8_lossy(lines.cell(column)).into_owned())
            .collect();
        let is_number = |name: &String| {
            let name = name.replace(',', ".");
            name.parse::<f64>().is_ok()
        };
        if header.iter().all(is_number) {
            return Err(problem::csv_no_header(path));
        }
        Ok(Rows {
            path,
            lines,
            header,
            dialect,
            rules,
        })
    }

    /// Reads the next row; false at the end.
    fn advance(&mut self) -> Result<bool, Problem> {
        let before = self.lines.end();
        if !self.lines.advance(self.path)? {
            return Ok(false);
        }
        if self.header.len() == 1 && self.lines.start() > before + 1 {
            return Err(problem::csv_blank_line(self.path, before + 1));
        }
        let (expected, found) = (self.header.len(), self.lines.cells());
        if expected != found {
            let line = self.lines.start();
            return Err(problem::csv_ragged(self.path, line, expected, found));
        }
        Ok(true)
    }

    /// The bits in a column of the row.
    fn word(&self, column: usize, kind: Kind<'_>) -> Result<u64, Refusal> {
        let Ok(text) = str::from_utf8(self.lines.cell(column)) else {
            return Err("is no UTF-8 text".into());
        };
        self.rules.text(kind, &self.pointed(text, kind)?)
    }

    /// A number with a point before its fraction.
    fn pointed<'t>(&self, text: &'t str, kind: Kind<'_>) -> Result<Cow<'t, str>, Refusal> {
        let is_number = kind.is_float() || matches!(kind, Kind::I32 | Kind::U32);
        match self.dialect.decimal {
            Mark::Point => match memchr::memchr(b',', text.as_bytes()).filter(|_| is_number) {
                Some(_) => Err(Refusal {
                    why: "has a comma",
                    fix: Some(
                        "`--decimal comma` reads it as the decimal mark; marks between thousands must \
                         be removed",
                    ),
                }),
                None => Ok(text.into()),
            },
            Mark::Comma if !is_number => Ok(text.into()),
            Mark::Comma if text.contains('.') => Err(Refusal {
                why: "has a point, where numbers have a decimal comma",
                fix: Some(
                    "`--decimal point` reads it as the decimal mark; marks between thousands must be \
                     removed",
                ),
            }),
            Mark::Comma => Ok(text.replacen(',', ".", 1).into()),
        }
    }

    /// The complaint about a cell.
    fn complaint(&self, column: usize, kind: Kind<'_>, refusal: Refusal) -> Problem {
        problem::bad_cell(
            &format!("{}:{}", self.path.display(), self.lines.start()),
            &self.header[column],
            &shortened(&String::from_utf8_lossy(self.lines.cell(column))),
            refusal.why,
            refusal.fix.unwrap_or(&kind.accepts()),
        )
    }

    /// The columns, with what those hold in which no cell of the rows has a value of this kind.
    fn columns(mut self, kind: Option<Kind<'_>>) -> Vec<Column> {
        let mut unfit: Vec<Option<&'static str>> = vec![None; self.header.len()];
        let mut is_fit = vec![false; self.header.len()];
        // A column of numbers is one even if they may not be rounded.
        self.rules.lossy = true;
        if let Some(kind) = kind {
            while let Ok(true) = self.advance() {
                for (column, is_fit) in is_fit.iter_mut().enumerate().filter(|(_, fit)| !**fit) {
                    *is_fit = self.word(column, kind).is_ok();
                    let text = String::from_utf8_lossy(self.lines.cell(column));
                    if unfit[column].is_none() && !is_missing(&text) {
                        unfit[column] = Some(class(&text));
                    }
                }
            }
        }
        let unfit = unfit.into_iter().zip(is_fit);
        (self.header.into_iter().zip(unfit))
            .map(|(name, (unfit, is_fit))| Column {
                name,
                lists: Vec::new(),
                unfit: unfit.filter(|_| !is_fit),
            })
            .collect()
    }
}

/// What a text is that is no value.
fn class(text: &str) -> &'static str {
    let has_digit = text.starts_with(|first: char| first.is_ascii_digit());
    match has_digit && text.contains(['-', '/', ':', '.']) {
        true => "dates",
        false => "text",
    }
}

/// A text for a message.
pub(super) fn shortened(text: &str) -> String {
    const MOST: usize = 40;
    let text: String = text.escape_debug().collect();
    if text.chars().count() <= MOST {
        return text;
    }
    let start: String = text.chars().take(MOST).collect();
    format!("{start}…")
}

/// Reads the columns that are wanted.
///
/// # Errors
/// What is wrong with the file, or that it lacks them.
pub(super) fn read(
    path: &Path,
    wanted: Wanted<'_>,
    how: &Reading,
) -> Result<(Values, Vec<String>), Problem> {
    let mut file = open(path)
        .map_err(|error| problem::unreadable(path, &error))?
        .file;
    let (sample, is_whole) =
        beginning(&mut file).map_err(|error| problem::unreadable(path, &error))?;
    let rules = how.rules();
    let dialect = dialect::of(path, &sample, is_whole, how.asked())?;
    let kind = wanted.fields.first().filter(|_| wanted.has_order());
    let columns = Rows::of(path, sample.as_slice(), dialect, rules)?;
    let columns = columns.columns(kind.map(|field| Kind::of(field)));
    let found = wanted.find(path, &columns)?;
    if dialect.is_found {
        let path = path.display();
        terminal::note(format!(
            "`{path}`: commas are read as decimal marks; --decimal says so\n"
        ));
    }
    let left_out = (found.left_out.iter())
        .map(|&at| {
            format!(
                "`{}` ({})",
                columns[at].name,
                columns[at].unfit.unwrap_or_default()
            )
        })
        .collect();
    let rows = Rows::of(path, Cursor::new(sample).chain(file), dialect, rules)?;
    Ok((values(rows, wanted, &found)?, left_out))
}

/// The beginning of a file with its first two lines, and whether that is all of it.
fn beginning(file: &mut impl Read) -> io::Result<(Vec<u8>, bool)> {
    let mut sample = Vec::new();
    loop {
        let asked = sample.len().clamp(SAMPLE, MOST as usize);
        let read = file.by_ref().take(asked as u64).read_to_end(&mut sample)?;
        let is_whole = read < asked;
        let lines = memchr::memchr_iter(b'\n', &sample).take(2).count();
        // Beyond that, the first line is an error.
        if is_whole || lines == 2 || sample.len() as u64 >= MOST {
            return Ok((sample, is_whole));
        }
    }
}

/// Reads the values of all rows.
fn values(mut rows: Rows<'_>, wanted: Wanted<'_>, found: &Found) -> Result<Values, Problem> {
    let mut words: Vec<Vec<u32>> = vec![Vec::new(); wanted.fields.len()];
    let row_bytes = wanted.row_words() * WORD_BYTES;
    let mut memory = MemoryCheck::default();
    let mut count = 0_u64;
    while rows.advance()? {
        for ((field, parts), words) in wanted.fields.iter().zip(&found.of_fields).zip(&mut words) {
            let kind = Kind::of(field);
            for part in parts {
                let bits = rows.word(part.column, kind);
                let bits = bits.map_err(|refusal| rows.complaint(part.column, kind, refusal))?;
                cell::push(field.scalar, bits, words);
            }
        }
        count += 1;
        memory.hold(rows.path, count.saturating_mul(row_bytes))?;
    }
    match count {
        0 => Err(problem::table_empty(rows.path, "row below its header")),
        _ => Ok(Values { words, rows: count }),
    }
}
