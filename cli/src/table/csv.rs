//! CSV files: one row per agent or outermost element, one column per value in it.

use super::{Loaded, MemoryCheck, cell::Kind, columns::Wanted, lines::Lines};
use crate::problem::{self, Problem};
use sim_compiler::{
    manifest::{Field, describe},
    value::WORD_BYTES,
};
use std::path::Path;

/// A CSV file after its header.
struct Rows<'a> {
    path: &'a Path,
    lines: Lines,
    header: Vec<String>,
}

impl<'a> Rows<'a> {
    fn open(path: &'a Path) -> Result<Rows<'a>, Problem> {
        let mut lines = Lines::open(path)?;
        if !lines.advance(path)? {
            return Err(problem::csv_empty(path, "header"));
        }
        let header: Vec<String> = (0..lines.cells())
            .map(|column| String::from_utf8_lossy(lines.cell(column)).into_owned())
            .collect();
        if header.iter().all(|name| name.parse::<f64>().is_ok()) {
            return Err(problem::csv_no_header(path));
        }
        Ok(Rows {
            path,
            lines,
            header,
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

    /// The word in a column of the row.
    fn word(&self, column: usize, kind: Kind<'_>) -> Result<u32, Problem> {
        let bytes = self.lines.cell(column);
        let word = match str::from_utf8(bytes) {
            Ok(text) => kind.word(text),
            Err(_) => Err("is no UTF-8 text"),
        };
        word.map_err(|why| {
            problem::bad_cell(
                self.path,
                self.lines.start(),
                &self.header[column],
                &shortened(bytes),
                why,
                &kind.accepts(),
            )
        })
    }

    /// The file's shape in words, for a complaint; counts the rows that are left.
    fn shape(mut self) -> String {
        let mut rows = 0;
        while let Ok(true) = self.advance() {
            rows += 1;
        }
        let columns = self.header.len();
        let columns_text = if columns == 1 { "column" } else { "columns" };
        format!("{} of {columns} {columns_text}", rows_text(rows))
    }
}

fn rows_text(rows: u64) -> String {
    if rows == 1 {
        "1 row".to_owned()
    } else {
        format!("{rows} rows")
    }
}

/// Bytes of a cell for a message.
fn shortened(bytes: &[u8]) -> String {
    const MOST: usize = 40;
    let text = String::from_utf8_lossy(bytes);
    let text: String = text.escape_debug().collect();
    if text.chars().count() <= MOST {
        return text;
    }
    let start: String = text.chars().take(MOST).collect();
    format!("{start}…")
}

/// Reads tables whose rows stand side by side in one file: one field, or all the fields of a struct.
///
/// # Errors
/// What is wrong with the file, or that it does not have the declared shape.
pub(crate) fn read_data(
    path: &Path,
    name: &str,
    fields: &[&Field],
) -> Result<Vec<Loaded>, Problem> {
    let rows = Rows::open(path)?;
    let wanted = Wanted {
        role: "data",
        name,
        fields,
    };
    let Some(columns) = wanted.find(path, &rows.header)? else {
        return Err(shape_problem(path, wanted, &rows.shape()));
    };
    let (words, count) = values(rows, wanted, &columns)?;
    let mut loaded = Vec::new();
    for (field, words) in fields.iter().zip(words) {
        let mut shape = field.dims();
        match field.shape.first() {
            Some(0) => shape[0] = u32::try_from(count).unwrap_or(u32::MAX),
            Some(&rows) if u64::from(rows) == count => {}
            None if count == 1 => {}
            Some(_) | None => return Err(shape_problem(path, wanted, &rows_text(count))),
        }
        loaded.push(Loaded {
            name: field.name.clone(),
            scalar: field.scalar,
            words,
            shape,
        });
    }
    Ok(loaded)
}

/// Reads the values of all rows from their columns: those of each field, and how many rows there are.
fn values(
    mut rows: Rows<'_>,
    wanted: Wanted<'_>,
    columns: &[usize],
) -> Result<(Vec<Vec<u32>>, u64), Problem> {
    let mut words: Vec<Vec<u32>> = vec![Vec::new(); wanted.fields.len()];
    let fields = wanted.fields.iter();
    let widths: Vec<usize> = fields.clone().map(|field| wanted.width(field)).collect();
    let row_words: u32 = fields
        .zip(&widths)
        .map(|(field, &width)| width as u32 * field.scalar.words())
        .sum();
    let mut memory = MemoryCheck::default();
    let mut count = 0_u64;
    while rows.advance()? {
        let mut columns = columns.iter();
        for ((field, &width), words) in wanted.fields.iter().zip(&widths).zip(&mut words) {
            let kind = Kind::of(field);
            for &column in columns.by_ref().take(width) {
                words.push(rows.word(column, kind)?);
            }
        }
        count += 1;
        memory.hold(
            rows.path,
            count.saturating_mul(u64::from(row_words) * WORD_BYTES),
        )?;
    }
    match count {
        0 => Err(problem::csv_empty(rows.path, "row below its header")),
        _ => Ok((words, count)),
    }
}

fn shape_problem(path: &Path, wanted: Wanted<'_>, found: &str) -> Problem {
    let Wanted { name, fields, .. } = wanted;
    let width = wanted.all();
    let declared: Vec<String> = match fields {
        [field] => vec![describe(field.scalar, &field.dims())],
        many => many
            .iter()
            .map(|field| {
                format!(
                    "`{}`: {}",
                    field.name,
                    describe(field.scalar, &field.dims())
                )
            })
            .collect(),
    };
    let rows = match fields.first().and_then(|field| field.shape.first()) {
        Some(0) => "any number of rows".to_owned(),
        Some(1) | None => "1 row".to_owned(),
        Some(rows) => format!("{rows} rows"),
    };
    let columns = if width == 1 { "column" } else { "columns" };
    problem::table_shape(
        path,
        "data",
        name,
        &declared.join(", "),
        found,
        &format!(
            "in a CSV file that is a header, then {rows} of {width} {columns}, separated by commas"
        ),
    )
}

/// Reads inputs of all agents from one file: one field, or all the fields of a struct.
///
/// # Errors
/// What is wrong with the file.
pub(crate) fn read_input(
    path: &Path,
    name: &str,
    fields: &[&Field],
) -> Result<Vec<Loaded>, Problem> {
    let rows = Rows::open(path)?;
    let wanted = Wanted {
        role: "input",
        name,
        fields,
    };
    // Inputs have no order.
    let columns = wanted.find(path, &rows.header)?.unwrap_or_default();
    let (words, count) = values(rows, wanted, &columns)?;
    let agents = u32::try_from(count).unwrap_or(u32::MAX);
    let loaded = fields.iter().zip(words).map(|(field, words)| Loaded {
        name: field.name.clone(),
        scalar: field.scalar,
        words,
        shape: [vec![agents], field.dims()].concat(),
    });
    Ok(loaded.collect())
}
