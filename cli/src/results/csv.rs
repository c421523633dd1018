//! CSV: a header, then one row per agent or world, or one per step with a sample.

use super::tables::Table;
use crate::table::cell::Kind;
use std::{
    io::{self, Write},
    sync::atomic::{AtomicBool, Ordering},
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
    for row in 0..table.rows() {
        if row % 4096 == 0 && cancel.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let mut separator: &[u8] = b"";
        let index = [table.steps[row / table.height] as usize, row % table.height];
        for (_, number) in table.of.index().iter().zip(index) {
            out.write_all(separator)?;
            write!(out, "{number}")?;
            separator = b",";
        }
        for (column, kind) in table.columns.iter().zip(&kinds) {
            let place = column.place(row);
            for at in 0..column.width() {
                out.write_all(separator)?;
                separator = b",";
                if let Some(place) = place {
                    kind.write(column.column.values.bits(place + at), out)?;
                }
            }
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}
