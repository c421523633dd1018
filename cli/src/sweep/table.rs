//! A table of typed columns, and its forms as text. (A writer of another form needs nothing else.)

use serde_json::{Map, Value};
use std::io::{self, Write};

/// Values of one type, by row. None is an empty cell.
pub(crate) enum Cells {
    /// Params.
    Single(Vec<f32>),
    /// Statistics.
    Double(Vec<Option<f64>>),
    /// Counts, and params that are integers.
    Whole(Vec<Option<i64>>),
    /// Truths, variants of enums, messages.
    Text(Vec<Option<String>>),
}

/// A column.
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) cells: Cells,
}

/// A table, all of whose columns have as many rows.
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: usize,
}

impl Cells {
    /// A cell in the spelling of CSV files.
    fn text(&self, row: usize) -> String {
        match self {
            Cells::Single(values) => values[row].to_string(),
            Cells::Double(values) => {
                values[row].map_or_else(String::new, |value| value.to_string())
            }
            Cells::Whole(values) => values[row].map_or_else(String::new, |value| value.to_string()),
            Cells::Text(values) => quoted(values[row].as_deref().unwrap_or_default()),
        }
    }

    fn json(&self, row: usize) -> Value {
        let float = |value: f64| match value.is_finite() {
            true => Value::from(value),
            false => Value::from(value.to_string()),
        };
        match self {
            // The shortest text of an `f32`, as a number.
            Cells::Single(values) => {
                let value = values[row];
                float(value.to_string().parse().unwrap_or(f64::from(value)))
            }
            Cells::Double(values) => values[row].map_or(Value::Null, float),
            Cells::Whole(values) => values[row].map_or(Value::Null, Value::from),
            Cells::Text(values) => values[row].clone().map_or(Value::Null, Value::from),
        }
    }
}

impl Table {
    /// A header, then a line per row.
    ///
    /// # Errors
    /// What the operating system says.
    pub(crate) fn write_csv(&self, out: &mut impl Write) -> io::Result<()> {
        let names = self.columns.iter().map(|column| quoted(&column.name));
        writeln!(out, "{}", names.collect::<Vec<_>>().join(","))?;
        for row in 0..self.rows {
            let cells = self.columns.iter().map(|column| column.cells.text(row));
            writeln!(out, "{}", cells.collect::<Vec<_>>().join(","))?;
        }
        Ok(())
    }

    /// An array of an object per row.
    pub(crate) fn json(&self) -> Value {
        let row = |row: usize| -> Value {
            let cells = self.columns.iter();
            let cells = cells.map(|column| (column.name.clone(), column.cells.json(row)));
            Value::Object(cells.collect::<Map<_, _>>())
        };
        (0..self.rows).map(row).collect()
    }
}

/// A text as a cell of a CSV file.
fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}
