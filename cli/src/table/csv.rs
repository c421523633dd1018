//! Writing CSV files: one row per agent or world, one column per value in it.

use super::{cell::Kind, spellings};
use sim_compiler::manifest::SeriesOf;
use sim_runtime::{Column, Series};
use std::{
    collections::BTreeSet,
    io::{self, Write},
    sync::atomic::{AtomicBool, Ordering},
};

/// Writes all outputs of all agents: a header, then one row per agent.
///
/// # Errors
/// What the operating system says, and `Interrupted` if `cancel` is set.
pub(crate) fn write(
    columns: &[Column],
    out: &mut impl Write,
    cancel: &AtomicBool,
) -> io::Result<()> {
    let mut separator = "";
    for column in columns {
        for name in spellings(&column.field, 0) {
            write!(out, "{separator}{name}")?;
            separator = ",";
        }
    }
    out.write_all(b"\n")?;
    let agents = columns.first().map_or(0, |column| column.shape[0]);
    for agent in 0..agents {
        if agent % 4096 == 0 && cancel.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let mut separator: &[u8] = b"";
        for column in columns {
            let kind = Kind::of(&column.field);
            let width = column.field.values() as usize;
            for at in agent * width..(agent + 1) * width {
                out.write_all(separator)?;
                kind.write(column.values.word(at), out)?;
                separator = b",";
            }
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Writes series of one kind: a header, then for each step with a sample one row, or one per agent or world.
/// What has no sample at a step is empty there.
///
/// # Errors
/// What the operating system says, and `Interrupted` if `cancel` is set.
pub(crate) fn write_series(
    all: &[&Series],
    out: &mut impl Write,
    cancel: &AtomicBool,
) -> io::Result<()> {
    let rows = |series: &Series| series.width() / series.column.field.values() as usize;
    let count = all.first().map_or(0, |series| rows(series));
    let of = match all.first().map(|series| series.of) {
        Some(SeriesOf::Agents) => ",agent",
        Some(SeriesOf::Worlds) => ",world",
        Some(SeriesOf::Population) | None => "",
    };
    write!(out, "step{of}")?;
    for series in all {
        for name in spellings(&series.column.field, 0) {
            write!(out, ",{name}")?;
        }
    }
    out.write_all(b"\n")?;
    let steps: BTreeSet<u32> = all
        .iter()
        .flat_map(|series| series.steps.iter().copied())
        .collect();
    for step in steps {
        let samples: Vec<Option<usize>> = (all.iter())
            .map(|series| series.steps.binary_search(&step).ok())
            .collect();
        for row in 0..count {
            if row % 4096 == 0 && cancel.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            write!(out, "{step}")?;
            if !of.is_empty() {
                write!(out, ",{row}")?;
            }
            for (series, sample) in all.iter().zip(&samples) {
                let column = &series.column;
                let (kind, width) = (Kind::of(&column.field), column.field.values() as usize);
                for at in 0..width {
                    out.write_all(b",")?;
                    if let Some(sample) = sample {
                        let place = (sample * count + row) * width + at;
                        kind.write(column.values.word(place), out)?;
                    }
                }
            }
            out.write_all(b"\n")?;
        }
    }
    Ok(())
}
