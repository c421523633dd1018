//! Tables of a sweep in the binary forms: Parquet, Arrow and NPZ.

use super::table::{Cells, Table};
use crate::results::{
    arrow::{arrow_error, parquet_error, properties},
    npy,
};
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float32Array, Float64Array, Int32Array, Int64Array,
    RecordBatch, StringArray, UInt32Array, types::Int32Type,
};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{Field, Schema};
use parquet::arrow::ArrowWriter;
use sim_compiler::manifest::Scalar;
use std::{
    collections::HashMap,
    io::{self, Seek, Write},
    sync::Arc,
};
use zip::ZipWriter;

/// Rows of a block, so that a block of many columns is no larger than the table itself.
const BLOCK: usize = 1 << 16;

/// Writes a Parquet file, whose key-value metadata has these words about the sweep.
///
/// # Errors
/// What the operating system says.
pub(super) fn write_parquet(
    table: &Table,
    about: &[(String, String)],
    out: &mut (impl Write + Send),
) -> io::Result<()> {
    let all = batch(table, about)?;
    let properties = Some(properties(about));
    let mut writer = ArrowWriter::try_new(out, all.schema(), properties).map_err(parquet_error)?;
    for part in blocks(&all) {
        writer.write(&part).map_err(parquet_error)?;
    }
    writer.close().map(drop).map_err(parquet_error)
}

/// Writes an Arrow IPC file, whose schema has these words about the sweep.
///
/// # Errors
/// What the operating system says.
pub(super) fn write_ipc(
    table: &Table,
    about: &[(String, String)],
    out: &mut impl Write,
) -> io::Result<()> {
    let all = batch(table, about)?;
    let mut writer = FileWriter::try_new(out, &all.schema()).map_err(arrow_error)?;
    for part in blocks(&all) {
        writer.write(&part).map_err(arrow_error)?;
    }
    writer.finish().map_err(arrow_error)
}

fn blocks(all: &RecordBatch) -> impl Iterator<Item = RecordBatch> {
    let rows = all.num_rows();
    (0..rows)
        .step_by(BLOCK)
        .map(move |first| all.slice(first, BLOCK.min(rows - first)))
}

fn batch(table: &Table, about: &[(String, String)]) -> io::Result<RecordBatch> {
    let mut arrays = Vec::with_capacity(table.columns.len());
    let mut fields = Vec::with_capacity(table.columns.len());
    for column in &table.columns {
        let array = array(&column.cells)?;
        let gaps = has_gaps(&column.cells);
        fields.push(Field::new(&column.name, array.data_type().clone(), gaps));
        arrays.push(array);
    }
    let about: HashMap<String, String> = about.iter().cloned().collect();
    let schema = Schema::new_with_metadata(fields, about);
    RecordBatch::try_new(Arc::new(schema), arrays).map_err(arrow_error)
}

/// May cells be empty? Statistics and messages may in any table, so that all tables have one schema.
fn has_gaps(cells: &Cells) -> bool {
    match cells {
        Cells::Words { words, .. } => words.iter().any(Option::is_none),
        Cells::Double(_) | Cells::Whole(_) | Cells::Text(_) => true,
    }
}

fn array(cells: &Cells) -> io::Result<ArrayRef> {
    Ok(match cells {
        Cells::Words {
            variants,
            scalar,
            words,
        } => return of_words(*scalar, variants, words),
        Cells::Double(values) => Arc::new(values.iter().copied().collect::<Float64Array>()),
        Cells::Whole(values) => Arc::new(values.iter().copied().collect::<Int64Array>()),
        Cells::Text(values) => Arc::new(values.iter().collect::<StringArray>()),
    })
}

/// The types are those of a single run's tables.
fn of_words(scalar: Scalar, variants: &[String], words: &[Option<u64>]) -> io::Result<ArrayRef> {
    if scalar == Scalar::F64 {
        let values = words.iter().map(|bits| bits.map(f64::from_bits));
        return Ok(Arc::new(values.collect::<Float64Array>()));
    }
    let words = words.iter().map(|bits| bits.map(|bits| bits as u32));
    let signed = |words: &mut dyn Iterator<Item = Option<u32>>| -> Int32Array {
        words.map(|word| word.map(u32::cast_signed)).collect()
    };
    Ok(match scalar {
        Scalar::F32 => Arc::new(
            words
                .map(|word| word.map(f32::from_bits))
                .collect::<Float32Array>(),
        ),
        Scalar::F64 => unreachable!("doubles are done"),
        Scalar::I32 => Arc::new(signed(&mut words.into_iter())),
        Scalar::U32 if !variants.is_empty() => {
            let keys = signed(&mut words.into_iter());
            let names = Arc::new(StringArray::from_iter_values(variants));
            let named = DictionaryArray::<Int32Type>::try_new(keys, names);
            Arc::new(named.map_err(arrow_error)?)
        }
        Scalar::U32 => Arc::new(words.collect::<UInt32Array>()),
        Scalar::Bool => Arc::new(
            words
                .map(|word| word.map(|word| word != 0))
                .collect::<BooleanArray>(),
        ),
    })
}

/// Writes an archive with an array for each column of each table, with the table's prefix before its name.
/// NumPy has no empty cells: a number that is not there is NaN, a count 0, a text empty. Where words are not
/// there, floats are NaN and all others 0.
///
/// # Errors
/// What the operating system says.
pub(super) fn write_npz(tables: &[(&str, &Table)], out: impl Write + Seek) -> io::Result<()> {
    npy::archive(out, |archive| {
        for (prefix, table) in tables {
            for column in &table.columns {
                let name = format!("{prefix}{}", column.name);
                write_array(&name, &column.cells, archive)?;
            }
        }
        archive.flush()
    })
}

fn write_array(
    name: &str,
    cells: &Cells,
    archive: &mut ZipWriter<impl Write + Seek>,
) -> io::Result<()> {
    let (descr, bytes, rows) = match cells {
        Cells::Words { scalar, words, .. } => {
            let bytes = words.iter();
            let (descr, bytes): (_, Vec<u8>) = match scalar {
                Scalar::F32 => {
                    let nan = f32::NAN.to_bits().into();
                    let each = bytes.flat_map(|word| (word.unwrap_or(nan) as u32).to_le_bytes());
                    ("<f4", each.collect())
                }
                Scalar::F64 => {
                    let nan = f64::NAN.to_bits();
                    let each = bytes.flat_map(|word| word.unwrap_or(nan).to_le_bytes());
                    ("<f8", each.collect())
                }
                Scalar::I32 => ("<i4", whole(bytes)),
                Scalar::U32 => ("<u4", whole(bytes)),
                Scalar::Bool => {
                    let truth = |word: &Option<u64>| u8::from(word.unwrap_or(0) != 0);
                    ("|b1", bytes.map(truth).collect())
                }
            };
            (descr.to_owned(), bytes, words.len())
        }
        Cells::Double(values) => {
            let each = values.iter().map(|value| value.unwrap_or(f64::NAN));
            let bytes = each.flat_map(f64::to_le_bytes).collect();
            ("<f8".to_owned(), bytes, values.len())
        }
        Cells::Whole(values) => {
            let each = values.iter().map(|value| value.unwrap_or(0));
            let bytes = each.flat_map(i64::to_le_bytes).collect();
            ("<i8".to_owned(), bytes, values.len())
        }
        Cells::Text(values) => text(values),
    };
    npy::entry(archive, name, bytes.len() as u64)?;
    npy::header(&descr, &[rows], archive)?;
    archive.write_all(&bytes)
}

fn whole<'a>(words: impl Iterator<Item = &'a Option<u64>>) -> Vec<u8> {
    let each = words.map(|word| word.unwrap_or(0) as u32);
    each.flat_map(u32::to_le_bytes).collect()
}

/// NumPy's texts of one length: 32 bits a letter, with zeros behind the last.
fn text(values: &[Option<String>]) -> (String, Vec<u8>, usize) {
    let letters = |text: &Option<String>| text.as_deref().unwrap_or_default().chars().count();
    let most = values.iter().map(letters).max().unwrap_or(0).max(1);
    let mut bytes = Vec::with_capacity(4 * most * values.len());
    for value in values {
        let letters = value.as_deref().unwrap_or_default().chars().map(u32::from);
        let padded = letters.chain(std::iter::repeat(0)).take(most);
        bytes.extend(padded.flat_map(u32::to_le_bytes));
    }
    (format!("<U{most}"), bytes, values.len())
}
