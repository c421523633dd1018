//! The forms of a trace: a table for people, CSV, JSON. Rows are written as they come, so that a trace of any
//! length takes the same memory.

use super::columns::{Cells, Columns};
use crate::{
    columns::{Flush, table},
    table::cell::Kind,
};
use serde_json::{Value, json};
use sim_compiler::manifest::Scalar;
use std::io::{self, Write};

/// Rows of a table for people that stand below one header.
const BLOCK: usize = 500;

/// The values after a step, or at the beginning.
pub(super) struct Row {
    pub(super) step: Option<u32>,
    /// By column.
    pub(super) cells: Vec<Cells>,
}

/// Takes rows.
pub(super) trait Rows {
    /// Writes a row, or keeps it for a little while.
    fn row(&mut self, row: Row) -> io::Result<()>;
    /// After the last one.
    fn finish(self) -> io::Result<()>;
}

/// A table in blocks of lines.
pub(super) struct Lines<'a, W> {
    out: W,
    columns: &'a Columns,
    lines: Vec<Vec<String>>,
}

impl<'a, W: Write> Lines<'a, W> {
    pub(super) fn new(out: W, columns: &'a Columns) -> Self {
        Lines {
            out,
            columns,
            lines: Vec::new(),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        let names = self.columns.shown.iter().flat_map(|it| it.names());
        let head: Vec<String> = std::iter::once("step".to_owned()).chain(names).collect();
        self.lines.insert(0, head);
        self.out
            .write_all(table(&self.lines, Flush::Right).as_bytes())?;
        self.lines.clear();
        Ok(())
    }
}

impl<W: Write> Rows for Lines<'_, W> {
    fn row(&mut self, row: Row) -> io::Result<()> {
        let mut line = vec![row.step.map_or("start".to_owned(), |step| step.to_string())];
        for (shown, cells) in self.columns.shown.iter().zip(row.cells) {
            let kind = Kind::of(&shown.field);
            match cells {
                None => line.extend(shown.names().iter().map(|_| String::new())),
                Some((words, times)) => {
                    for word in words {
                        let mut text = Vec::new();
                        kind.write(word.into(), &mut text)?;
                        if times > 1 {
                            write!(text, " ×{times}")?;
                        }
                        line.push(String::from_utf8_lossy(&text).into_owned());
                    }
                }
            }
        }
        self.lines.push(line);
        match self.lines.len() == BLOCK {
            true => self.flush(),
            false => Ok(()),
        }
    }

    fn finish(mut self) -> io::Result<()> {
        match self.lines.is_empty() {
            true => Ok(()),
            false => self.flush(),
        }
    }
}

/// CSV, with an empty cell for what is not there.
pub(super) struct Csv<'a, W> {
    out: W,
    columns: &'a Columns,
}

impl<'a, W: Write> Csv<'a, W> {
    pub(super) fn new(mut out: W, columns: &'a Columns) -> io::Result<Self> {
        write!(out, "step")?;
        for name in columns.shown.iter().flat_map(|it| it.names()) {
            write!(out, ",{name}")?;
        }
        writeln!(out)?;
        Ok(Csv { out, columns })
    }
}

impl<W: Write> Rows for Csv<'_, W> {
    fn row(&mut self, row: Row) -> io::Result<()> {
        if let Some(step) = row.step {
            write!(self.out, "{step}")?;
        }
        for (shown, cells) in self.columns.shown.iter().zip(row.cells) {
            let kind = Kind::of(&shown.field);
            match cells {
                None => shown
                    .names()
                    .iter()
                    .try_for_each(|_| write!(self.out, ","))?,
                Some((words, _)) => {
                    for word in words {
                        write!(self.out, ",")?;
                        kind.write(word.into(), &mut self.out)?;
                    }
                }
            }
        }
        writeln!(self.out)
    }

    fn finish(self) -> io::Result<()> {
        Ok(())
    }
}

/// JSON: an object with a list of rows, each with its step, its values by name, and `times` for those that
/// were given several.
pub(super) struct Json<'a, W> {
    out: W,
    columns: &'a Columns,
    separator: &'static str,
}

impl<'a, W: Write> Json<'a, W> {
    pub(super) fn new(mut out: W, columns: &'a Columns, agent: u32) -> io::Result<Self> {
        write!(out, "{{\"agent\":{agent},\"rows\":[")?;
        Ok(Json {
            out,
            columns,
            separator: "",
        })
    }
}

impl<W: Write> Rows for Json<'_, W> {
    fn row(&mut self, row: Row) -> io::Result<()> {
        let (mut values, mut times) = (serde_json::Map::new(), serde_json::Map::new());
        for (shown, cells) in self.columns.shown.iter().zip(row.cells) {
            let Some((words, count)) = cells else {
                continue;
            };
            for (name, word) in shown.names().into_iter().zip(words) {
                if count > 1 {
                    times.insert(name.clone(), count.into());
                }
                values.insert(
                    name,
                    value(word, shown.field.scalar, Kind::of(&shown.field)),
                );
            }
        }
        let mut object = json!({ "step": row.step, "values": values });
        if !times.is_empty() {
            object["times"] = times.into();
        }
        write!(self.out, "{}\n{object}", self.separator)?;
        self.separator = ",";
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        writeln!(self.out, "\n]}}")
    }
}

/// Numbers that JSON does not have are their words.
fn value(word: u32, scalar: Scalar, kind: Kind<'_>) -> Value {
    let mut text = Vec::new();
    let _ = kind.write(word.into(), &mut text);
    let text = String::from_utf8_lossy(&text).into_owned();
    match scalar {
        Scalar::F32 if !f32::from_bits(word).is_finite() => text.into(),
        Scalar::U32 if matches!(kind, Kind::Enum(_)) => text.into(),
        // The shortest digits, not those of the f64 of the same value.
        Scalar::F32 | Scalar::F64 | Scalar::I32 | Scalar::U32 | Scalar::Bool => {
            serde_json::from_str(&text).unwrap_or(text.into())
        }
    }
}
