//! CSV: a header, then one row per agent or world, or one per step with a sample.

use super::{blocks, tables::Table};
use crate::table::cell::Kind;
use std::{
    io::{self, Write},
    sync::atomic::AtomicBool,
};

/// Writes a table. What has no sample at a step is empty there.
///
/// # Errors
/// What the operating system says, and `Interrupted` if `cancel` is set.
pub(super) fn write(
    table: &Table<'_>,
    out: &mut impl Write,
    cancel: &AtomicBool,
) -> io::Result<()> {
    head(table, out)?;
    rows(table, out, cancel)
}

/// Writes the header of a table.
///
/// # Errors
/// What the operating system says.
pub(super) fn head(table: &Table<'_>, out: &mut impl Write) -> io::Result<()> {
    let index = table.of.index().iter().map(|&name| name.to_owned());
    let header: Vec<String> = index.chain(table.names()).collect();
    writeln!(out, "{}", header.join(","))
}

/// Writes the rows of a table.
///
/// # Errors
/// What the operating system says, and `Interrupted` if `cancel` is set.
pub(super) fn rows(table: &Table<'_>, out: &mut impl Write, cancel: &AtomicBool) -> io::Result<()> {
    let kinds: Vec<Kind<'_>> = (table.columns.iter())
        .map(|column| Kind::of(&column.column.field))
        .collect();
    let values: usize = table.columns.iter().map(|column| column.width()).sum();
    let width = table.of.index().len() + values;
    blocks::write([table.rows(), width], out, cancel, |number, text| {
        row(table, &kinds, number, text)
    })
}

/// Appends a row.
fn row(table: &Table<'_>, kinds: &[Kind<'_>], number: usize, out: &mut Vec<u8>) -> io::Result<()> {
    let mut separator: &[u8] = b"";
    let step = table.steps[number / table.height] as usize;
    let index = [step, number % table.height];
    for (_, number) in table.of.index().iter().zip(index) {
        out.write_all(separator)?;
        write!(out, "{number}")?;
        separator = b",";
    }
    for (column, kind) in table.columns.iter().zip(kinds) {
        let place = column.place(number);
        for at in 0..column.width() {
            out.write_all(separator)?;
            separator = b",";
            if let Some(place) = place {
                kind.write(column.column.values.bits(place + at), out)?;
            }
        }
    }
    out.write_all(b"\n")
}
