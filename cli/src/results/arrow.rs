//! Arrow and Parquet: a column of its own type for each value of a row, blocks of rows one after another.

use super::tables::{Table, TableColumn};
use crate::table::spellings;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float32Array, Float64Array, Int32Array, RecordBatch,
    StringArray, UInt32Array, types::Int32Type,
};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use parquet::{
    arrow::ArrowWriter,
    basic::Compression,
    errors::ParquetError,
    file::{metadata::KeyValue, properties::WriterProperties},
};
use sim_runtime::Values;
use std::{
    collections::HashMap,
    io::{self, Write},
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// Values of a block of rows, about.
const BLOCK_VALUES: usize = 1 << 18;
/// Bytes of a row group of Parquet, which its writer holds in memory.
const GROUP_BYTES: usize = 32 << 20;
/// Rows of a row group at most.
const GROUP_ROWS: usize = 1 << 20;

/// Words about a run, as keys and values.
pub(super) type About = [(String, String)];

/// An Arrow IPC file.
pub(super) struct Ipc<W: Write> {
    writer: FileWriter<W>,
    schema: SchemaRef,
}

impl<W: Write> Ipc<W> {
    /// Begins a file with the columns of a table and these words about the run in the schema.
    ///
    /// # Errors
    /// What the operating system says.
    pub(super) fn start(table: &Table<'_>, about: &About, out: W) -> io::Result<Ipc<W>> {
        let schema = schema(table, about);
        let writer = FileWriter::try_new(out, &schema).map_err(arrow_error)?;
        Ok(Ipc { writer, schema })
    }

    /// Writes the rows of a table.
    ///
    /// # Errors
    /// What the operating system says, and `Interrupted` if `cancel` is set.
    pub(super) fn append(&mut self, table: &Table<'_>, cancel: &AtomicBool) -> io::Result<()> {
        let writer = &mut self.writer;
        let write = |batch: RecordBatch| writer.write(&batch).map_err(arrow_error);
        Blocks::new(table, &self.schema).each(cancel, write)
    }

    /// Ends the file, with more words in its footer.
    ///
    /// # Errors
    /// What the operating system says.
    pub(super) fn finish(mut self, about: &About) -> io::Result<W> {
        for (key, value) in about {
            self.writer.write_metadata(key, value);
        }
        self.writer.finish().map_err(arrow_error)?;
        self.writer.into_inner().map_err(arrow_error)
    }
}

/// A Parquet file.
pub(super) struct Parquet<W: Write + Send> {
    writer: ArrowWriter<W>,
    schema: SchemaRef,
}

impl<W: Write + Send> Parquet<W> {
    /// Begins a file with the columns of a table and these words about the run.
    ///
    /// # Errors
    /// What the operating system says.
    pub(super) fn start(table: &Table<'_>, about: &About, out: W) -> io::Result<Parquet<W>> {
        // Readers that ask for the Arrow schema get no other metadata than the schema's own.
        let schema = schema(table, about);
        let writer = ArrowWriter::try_new(out, schema.clone(), Some(properties(about)));
        Ok(Parquet {
            writer: writer.map_err(parquet_error)?,
            schema,
        })
    }

    /// Writes the rows of a table.
    ///
    /// # Errors
    /// What the operating system says, and `Interrupted` if `cancel` is set.
    pub(super) fn append(&mut self, table: &Table<'_>, cancel: &AtomicBool) -> io::Result<()> {
        let writer = &mut self.writer;
        let write = |batch: RecordBatch| writer.write(&batch).map_err(parquet_error);
        Blocks::new(table, &self.schema).each(cancel, write)
    }

    /// Ends the file, with more words about the run.
    ///
    /// # Errors
    /// What the operating system says.
    pub(super) fn finish(mut self, about: &About) -> io::Result<W> {
        for word in key_values(about) {
            self.writer.append_key_value_metadata(word);
        }
        self.writer.into_inner().map_err(parquet_error)
    }
}

fn key_values(about: &About) -> impl Iterator<Item = KeyValue> {
    let words = about.iter().cloned();
    words.map(|(key, value)| KeyValue::new(key, value))
}

/// Writes an Arrow IPC file of one table, whose schema has these words about the run.
///
/// # Errors
/// What the operating system says, and `Interrupted` if `cancel` is set.
pub(super) fn write_ipc(
    table: &Table<'_>,
    about: &About,
    out: &mut impl Write,
    cancel: &AtomicBool,
) -> io::Result<()> {
    let mut file = Ipc::start(table, about, out)?;
    file.append(table, cancel)?;
    file.finish(&[]).map(drop)
}

/// Writes a Parquet file of one table, whose key-value metadata has these words about the run.
///
/// # Errors
/// What the operating system says, and `Interrupted` if `cancel` is set.
pub(super) fn write_parquet(
    table: &Table<'_>,
    about: &About,
    out: &mut (impl Write + Send),
    cancel: &AtomicBool,
) -> io::Result<()> {
    let mut file = Parquet::start(table, about, out)?;
    file.append(table, cancel)?;
    file.finish(&[]).map(drop)
}

/// How Parquet files are written, with these words in their metadata.
pub(crate) fn properties(about: &About) -> WriterProperties {
    WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_max_row_group_bytes(Some(GROUP_BYTES))
        .set_created_by(format!("simc {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(key_values(about).collect()))
        .build()
}

/// The columns of a table.
fn schema(table: &Table<'_>, about: &About) -> SchemaRef {
    let index = table.of.index().iter();
    let mut fields: Vec<Field> = index
        .map(|&name| Field::new(name, DataType::UInt32, false))
        .collect();
    for column in &table.columns {
        let field = &column.column.field;
        let typed = |name| Field::new(name, data_type(column), column.has_gaps());
        fields.extend(spellings(field, 0).into_iter().map(typed));
    }
    let about: HashMap<String, String> = about.iter().cloned().collect();
    Arc::new(Schema::new_with_metadata(fields, about))
}

/// A table as blocks of rows.
struct Blocks<'a> {
    table: &'a Table<'a>,
    schema: SchemaRef,
    /// The names of the variants by column, for enums: dictionaries must be the same in all blocks.
    variants: Vec<Option<ArrayRef>>,
}

impl<'a> Blocks<'a> {
    fn new(table: &'a Table<'a>, schema: &SchemaRef) -> Blocks<'a> {
        let variants = table.columns.iter().map(|column| {
            let names = &column.column.field.variants;
            let names = (!names.is_empty()).then(|| StringArray::from_iter_values(names));
            names.map(|names| Arc::new(names) as ArrayRef)
        });
        Blocks {
            table,
            schema: schema.clone(),
            variants: variants.collect(),
        }
    }

    /// Calls `write` with block after block.
    fn each(
        &self,
        cancel: &AtomicBool,
        mut write: impl FnMut(RecordBatch) -> io::Result<()>,
    ) -> io::Result<()> {
        let height = (BLOCK_VALUES / self.schema.fields().len()).max(1);
        for first in (0..self.table.rows()).step_by(height) {
            if cancel.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let rows = first..(first + height).min(self.table.rows());
            let batch = RecordBatch::try_new(self.schema.clone(), self.arrays(rows)?);
            write(batch.map_err(arrow_error)?)?;
        }
        Ok(())
    }

    fn arrays(&self, rows: Range<usize>) -> io::Result<Vec<ArrayRef>> {
        let Table { steps, height, .. } = self.table;
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(self.schema.fields().len());
        for (at, _) in self.table.of.index().iter().enumerate() {
            let number = |row: usize| match at {
                0 => steps[row / height],
                _ => (row % height) as u32,
            };
            arrays.push(Arc::new(UInt32Array::from_iter_values(
                rows.clone().map(number),
            )));
        }
        for (column, variants) in self.table.columns.iter().zip(&self.variants) {
            for at in 0..column.width() {
                arrays.push(array(column, at, rows.clone(), variants.as_ref())?);
            }
        }
        Ok(arrays)
    }
}

fn data_type(column: &TableColumn<'_>) -> DataType {
    match column.column.values {
        Values::F32(_) => DataType::Float32,
        Values::F64(_) => DataType::Float64,
        Values::I32(_) => DataType::Int32,
        // Signed keys, since pandas takes no others.
        Values::U32(_) if !column.column.field.variants.is_empty() => {
            DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
        }
        Values::U32(_) => DataType::UInt32,
        Values::Bool(_) => DataType::Boolean,
    }
}

/// The `at`th value of each of some rows; null where there is no sample.
fn array(
    column: &TableColumn<'_>,
    at: usize,
    rows: Range<usize>,
    variants: Option<&ArrayRef>,
) -> io::Result<ArrayRef> {
    let places = rows.map(|row| column.place(row).map(|place| place + at));
    Ok(match (&column.column.values, variants) {
        (Values::F32(values), _) => Arc::new(
            places
                .map(|at| at.map(|at| values[at]))
                .collect::<Float32Array>(),
        ),
        (Values::F64(values), _) => Arc::new(
            places
                .map(|at| at.map(|at| values[at]))
                .collect::<Float64Array>(),
        ),
        (Values::I32(values), _) => Arc::new(
            places
                .map(|at| at.map(|at| values[at]))
                .collect::<Int32Array>(),
        ),
        (Values::U32(values), Some(variants)) => {
            let keys: Int32Array = places.map(|at| at.map(|at| values[at] as i32)).collect();
            let named = DictionaryArray::<Int32Type>::try_new(keys, variants.clone());
            Arc::new(named.map_err(arrow_error)?)
        }
        (Values::U32(values), None) => Arc::new(
            places
                .map(|at| at.map(|at| values[at]))
                .collect::<UInt32Array>(),
        ),
        (Values::Bool(values), _) => Arc::new(
            places
                .map(|at| at.map(|at| values[at]))
                .collect::<BooleanArray>(),
        ),
    })
}

pub(crate) fn arrow_error(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        other => io::Error::other(other),
    }
}

pub(crate) fn parquet_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}
