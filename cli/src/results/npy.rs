//! NPY, NumPy's form of one array, version 1, and NPZ, a ZIP archive of several, stored without compression.

use super::tables::columns;
use bytemuck::NoUninit;
use sim_compiler::value::WORD_BYTES;
use sim_runtime::{Column, Run, Values};
use std::{
    io::{self, ErrorKind, Seek, Write},
    mem,
    sync::atomic::{AtomicBool, Ordering},
};
use zip::{CompressionMethod, ZipWriter, result::ZipError, write::SimpleFileOptions};

const MAGIC: &[u8] = b"\x93NUMPY";

/// Numbers that are written at a time: more bytes than a buffer in front of a file takes.
const ELEMENTS: usize = 1 << 20;

/// Writes a column as an array.
///
/// # Errors
/// What the operating system says, and `Interrupted` if `cancel` is set.
pub(super) fn write(column: &Column, out: &mut impl Write, cancel: &AtomicBool) -> io::Result<()> {
    head(column, column.shape[0], out)?;
    values(column, out, cancel)
}

/// Writes the header of an array of so many rows like those of a column.
///
/// # Errors
/// What the operating system says.
pub(super) fn head(column: &Column, rows: usize, out: &mut impl Write) -> io::Result<()> {
    let shape = [&[rows], &column.shape[1..]].concat();
    header(descr(&column.values), &shape, out)
}

/// Writes the values of a column.
///
/// # Errors
/// What the operating system says, and `Interrupted` if `cancel` is set.
pub(super) fn values(column: &Column, out: &mut impl Write, cancel: &AtomicBool) -> io::Result<()> {
    match &column.values {
        Values::F32(values) => elements(values, out, cancel),
        Values::F64(values) => elements(values, out, cancel),
        Values::I32(values) => elements(values, out, cancel),
        Values::U32(values) => elements(values, out, cancel),
        Values::Bool(values) => elements(values, out, cancel),
    }
}

/// Writes all columns of a run to an archive: outputs by their names, series with `observe.`,
/// `world.observe.` or `record.` before theirs, and beside each series `NAME.steps`, the number of steps
/// before each sample.
///
/// # Errors
/// What the operating system says, and `Interrupted` if `cancel` is set.
pub(super) fn write_all(
    run: &Run,
    out: &mut (impl Write + Seek),
    cancel: &AtomicBool,
) -> io::Result<()> {
    archive(out, |archive| fill(archive, run, cancel))
}

/// Writes an archive whose entries `fill` writes.
///
/// # Errors
/// Those of `fill`, and what the operating system says.
pub(crate) fn archive<W: Write + Seek>(
    out: W,
    fill: impl FnOnce(&mut ZipWriter<W>) -> io::Result<()>,
) -> io::Result<()> {
    let mut archive = ZipWriter::new(out);
    match fill(&mut archive) {
        Ok(()) => archive.finish().map(drop).map_err(io_error),
        Err(error) => {
            // An archive that is dropped tries to write its end, and complains on standard error.
            mem::forget(archive);
            Err(error)
        }
    }
}

/// Writes columns to an archive by their names.
///
/// # Errors
/// As of [`write_all`].
pub(super) fn write_columns(
    columns: &[Column],
    out: &mut (impl Write + Seek),
    cancel: &AtomicBool,
) -> io::Result<()> {
    let mut archive = ZipWriter::new(out);
    let plain = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let mut fill = || {
        for column in columns {
            let is_large = bytes_of(column) >= 1 << 31;
            archive
                .start_file(
                    format!("{}.npy", column.field.name),
                    plain.large_file(is_large),
                )
                .map_err(io_error)?;
            write(column, &mut archive, cancel)?;
        }
        archive.flush()
    };
    match fill() {
        Ok(()) => archive.finish().map(drop).map_err(io_error),
        Err(error) => {
            // As above.
            mem::forget(archive);
            Err(error)
        }
    }
}

/// At most so many bytes.
fn bytes_of(column: &Column) -> u64 {
    column.values.len() as u64 * u64::from(column.values.scalar().words()) * WORD_BYTES
}

fn fill(
    archive: &mut ZipWriter<impl Write + Seek>,
    run: &Run,
    cancel: &AtomicBool,
) -> io::Result<()> {
    for (of, column, series) in columns(run) {
        let name = format!("{}{}", of.prefix(), column.field.name);
        entry(archive, &name, bytes_of(column))?;
        write(column, archive, cancel)?;
        if let Some(series) = series {
            let name = format!("{name}.steps");
            entry(archive, &name, series.steps.len() as u64 * 4)?;
            header("<u4", &[series.steps.len()], archive)?;
            elements(&series.steps, archive, cancel)?;
        }
    }
    archive.flush()
}

/// Begins an array of so many bytes in an archive.
///
/// # Errors
/// What the operating system says.
pub(crate) fn entry(
    archive: &mut ZipWriter<impl Write + Seek>,
    name: &str,
    bytes: u64,
) -> io::Result<()> {
    let plain = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    // Beyond 4 GiB an entry has another form of header, which says its length in 64 bits.
    let options = plain.large_file(bytes >= 1 << 31);
    (archive.start_file(format!("{name}.npy"), options)).map_err(io_error)
}

fn io_error(error: ZipError) -> io::Error {
    match error {
        ZipError::Io(error) => error,
        other => io::Error::other(other),
    }
}

fn descr(values: &Values) -> &'static str {
    match values {
        Values::F32(_) => "<f4",
        Values::F64(_) => "<f8",
        Values::I32(_) => "<i4",
        Values::U32(_) => "<u4",
        Values::Bool(_) => "|b1",
    }
}

/// What stands before the values of an array, whose type is written as NumPy does: `<f4`.
///
/// # Errors
/// What the operating system says.
pub(crate) fn header(descr: &str, shape: &[usize], out: &mut impl Write) -> io::Result<()> {
    let lengths: String = shape.iter().map(|n| format!("{n}, ")).collect();
    // A tuple of one keeps its comma, others lose it, as NumPy writes them.
    let lengths = match shape.len() {
        1 => lengths.trim_end(),
        _ => lengths.trim_end_matches(", "),
    };
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({lengths}), }}");
    let padding = 63 - (MAGIC.len() + 4 + header.len()) % 64;
    header.push_str(&" ".repeat(padding));
    header.push('\n');
    out.write_all(MAGIC)?;
    out.write_all(&[1, 0])?;
    out.write_all(&(header.len() as u16).to_le_bytes())?;
    out.write_all(header.as_bytes())
}

/// Writes numbers as they are in memory, without a copy of them.
fn elements<T: NoUninit>(
    values: &[T],
    out: &mut impl Write,
    cancel: &AtomicBool,
) -> io::Result<()> {
    // Headers say that the lowest byte is the first.
    const { assert!(cfg!(target_endian = "little")) }
    for part in values.chunks(ELEMENTS) {
        if cancel.load(Ordering::Relaxed) {
            return Err(ErrorKind::Interrupted.into());
        }
        out.write_all(bytemuck::cast_slice(part))?;
    }
    Ok(())
}
