//! A table of typed columns, and its forms as text. (A writer of another form needs nothing else.)

use crate::table::cell::Kind;
use serde_json::{Map, Value};
use sim_compiler::manifest::{Field, Scalar};
use std::io::{self, Write};

/// Values of one type, by row. None is an empty cell.
pub(crate) enum Cells {
    /// Values of a type of the language: params, steps, what is observed.
    Words {
        /// Names by value, for an enum.
        variants: Vec<String>,
        scalar: Scalar,
        /// The bits of each.
        words: Vec<Option<u64>>,
    },
    /// Statistics.
    Double(Vec<Option<f64>>),
    /// Counts.
    Whole(Vec<Option<i64>>),
    /// Messages.
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
    /// Values of a field.
    pub(crate) fn of(field: &Field, words: impl Iterator<Item = Option<u64>>) -> Cells {
        Cells::Words {
            variants: field.variants.clone(),
            scalar: field.scalar,
            words: words.collect(),
        }
    }

    /// Numbers of points, steps and the like.
    pub(crate) fn numbers(numbers: impl Iterator<Item = u32>) -> Cells {
        Cells::Words {
            variants: Vec::new(),
            scalar: Scalar::U32,
            words: numbers.map(|number| Some(number.into())).collect(),
        }
    }

    /// The name of its type.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Cells::Words { scalar, .. } => scalar.name(),
            Cells::Double(_) => "f64",
            Cells::Whole(_) => "i64",
            Cells::Text(_) => "text",
        }
    }

    /// A cell in the spelling of CSV files.
    fn text(&self, row: usize) -> String {
        match self {
            Cells::Words {
                variants,
                scalar,
                words,
            } => words[row].map_or_else(String::new, |word| spelled(*scalar, variants, word)),
            Cells::Double(values) => {
                values[row].map_or_else(String::new, |value| value.to_string())
            }
            Cells::Whole(values) => values[row].map_or_else(String::new, |value| value.to_string()),
            Cells::Text(values) => quoted(values[row].as_deref().unwrap_or_default()),
        }
    }

    fn json(&self, row: usize) -> Value {
        match self {
            Cells::Words {
                variants,
                scalar,
                words,
            } => words[row].map_or(Value::Null, |word| json(*scalar, variants, word)),
            Cells::Double(values) => values[row].map_or(Value::Null, float),
            Cells::Whole(values) => values[row].map_or(Value::Null, Value::from),
            Cells::Text(values) => values[row].clone().map_or(Value::Null, Value::from),
        }
    }

    /// Calls `with` with the bytes of each value in order: a byte 1 before those of a value, and a byte 0
    /// where there is none. Numbers are little-endian; a text has its length before it, in 8 bytes.
    pub(crate) fn each_bytes(&self, mut with: impl FnMut(&[u8])) {
        fn each<T, const N: usize>(
            values: &[Option<T>],
            bytes: impl Fn(&T) -> [u8; N],
            with: &mut impl FnMut(&[u8]),
        ) {
            for value in values {
                match value {
                    Some(value) => {
                        with(&[1]);
                        with(&bytes(value));
                    }
                    None => with(&[0]),
                }
            }
        }
        match self {
            Cells::Words {
                scalar: Scalar::F64,
                words,
                ..
            } => each(words, |word| word.to_le_bytes(), &mut with),
            Cells::Words { words, .. } => {
                each(words, |word| (*word as u32).to_le_bytes(), &mut with);
            }
            Cells::Double(values) => each(values, |value| value.to_bits().to_le_bytes(), &mut with),
            Cells::Whole(values) => each(values, |value| value.to_le_bytes(), &mut with),
            Cells::Text(values) => {
                for value in values {
                    match value {
                        Some(text) => {
                            with(&[1]);
                            with(&(text.len() as u64).to_le_bytes());
                            with(text.as_bytes());
                        }
                        None => with(&[0]),
                    }
                }
            }
        }
    }
}

/// A value as text.
pub(crate) fn spelled(scalar: Scalar, variants: &[String], word: u64) -> String {
    let kind = match scalar {
        Scalar::F32 => return f32::from_bits(word as u32).to_string(),
        Scalar::F64 => return f64::from_bits(word).to_string(),
        Scalar::I32 => Kind::I32,
        Scalar::U32 if !variants.is_empty() => Kind::Enum(variants),
        Scalar::U32 => Kind::U32,
        Scalar::Bool => Kind::Bool,
    };
    let mut text = Vec::new();
    // Writing to memory does not fail.
    let _ = kind.write(word, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// A value in JSON.
pub(crate) fn json(scalar: Scalar, variants: &[String], bits: u64) -> Value {
    let word = bits as u32;
    match scalar {
        Scalar::F64 => float(f64::from_bits(bits)),
        Scalar::F32 => {
            // The shortest text of an `f32`, as a number.
            let value = f32::from_bits(word);
            float(value.to_string().parse().unwrap_or(f64::from(value)))
        }
        Scalar::I32 => Value::from(word.cast_signed()),
        Scalar::U32 if !variants.is_empty() => Value::from(spelled(scalar, variants, bits)),
        Scalar::U32 => Value::from(word),
        Scalar::Bool => Value::from(word != 0),
    }
}

/// JSON has no NaN and no infinities.
fn float(value: f64) -> Value {
    match value.is_finite() {
        true => Value::from(value),
        false => Value::from(value.to_string()),
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

    /// A row as an object.
    pub(crate) fn json_of(&self, row: usize) -> Value {
        let cells = self.columns.iter();
        let cells = cells.map(|column| (column.name.clone(), column.cells.json(row)));
        Value::Object(cells.collect::<Map<_, _>>())
    }

    /// An array of an object per row.
    pub(crate) fn json(&self) -> Value {
        (0..self.rows).map(|row| self.json_of(row)).collect()
    }
}

/// A text as a cell of a CSV file.
fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}
