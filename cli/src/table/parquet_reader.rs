//! Reading Parquet files, batch by batch: only the columns that are needed, so that memory holds the table
//! and a page of each column.

use super::{
    MemoryCheck, Values,
    arrow_columns::{find, leaves},
    arrow_values::Sink,
    columns::Wanted,
    rules::Rules,
    zstd_pages::RowGroup,
};
use crate::{
    open::open,
    problem::{self, Problem},
};
use parquet::{
    arrow::{
        ProjectionMask,
        arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader},
        parquet_to_arrow_field_levels,
    },
    basic::Compression,
};
use sim_compiler::value::WORD_BYTES;
use std::{path::Path, sync::Arc};

/// Rows that are converted at a time.
const BATCH: usize = 8192;

/// Reads the columns that are wanted.
///
/// # Errors
/// What is wrong with the file, or that it lacks them.
pub(super) fn read(
    path: &Path,
    wanted: Wanted<'_>,
    rules: Rules,
) -> Result<(Values, Vec<String>), Problem> {
    let opened = open(path).map_err(|error| problem::unreadable(path, &error))?;
    match opened.length {
        Some(0) => return Err(problem::table_empty(path, "content")),
        Some(_) => {}
        None => return Err(problem::needs_plain_file(path)),
    }
    let broken = |error: &dyn std::fmt::Display| problem::columns_malformed(path, "Parquet", error);
    let file = Arc::new(opened.file);
    let metadata = ArrowReaderMetadata::load(file.as_ref(), ArrowReaderOptions::new());
    let metadata = metadata.map_err(|error| broken(&error))?;
    let schema = metadata.schema().clone();
    let leaves = leaves(schema.fields(), wanted);
    let found = find(path, wanted, &leaves)?;
    let roots = Sink::roots(&leaves, &found);
    let of_file = metadata.metadata();
    let mask = ProjectionMask::roots(metadata.parquet_schema(), roots.iter().copied());
    for group in of_file.row_groups() {
        let needed = (group.columns().iter().enumerate()).filter(|(at, _)| mask.leaf_included(*at));
        for (_, chunk) in needed {
            if let Some(codec) = absent(chunk.compression()) {
                return Err(problem::codec(path, codec));
            }
        }
    }
    let rows = of_file.row_groups().iter().map(|group| group.num_rows());
    let rows = rows.fold(0_u64, |sum, rows| sum.saturating_add(rows.max(0) as u64));
    let bytes = rows.saturating_mul(wanted.row_words() * WORD_BYTES);
    MemoryCheck::default().hold(path, bytes)?;
    let levels =
        parquet_to_arrow_field_levels(metadata.parquet_schema(), mask, Some(schema.fields()));
    let levels = levels.map_err(|error| broken(&error))?;
    let mut sink = Sink {
        path,
        wanted,
        leaves: &leaves,
        found: &found,
        rules,
        values: Values::default(),
    };
    for number in 0..of_file.num_row_groups() {
        let group = RowGroup {
            reader: file.clone(),
            metadata: of_file.clone(),
            number,
        };
        let batches =
            ParquetRecordBatchReader::try_new_with_row_groups(&levels, &group, BATCH, None);
        for batch in batches.map_err(|error| broken(&error))? {
            sink.take(&batch.map_err(|error| broken(&error))?, &roots)?;
        }
    }
    let values = sink.values;
    match values.rows {
        0 => Err(problem::table_empty(path, "row")),
        _ => Ok((values, super::arrow_columns::left_out(&leaves, &found))),
    }
}

/// The name of a compression that is not there.
fn absent(compression: Compression) -> Option<&'static str> {
    match compression {
        Compression::UNCOMPRESSED
        | Compression::SNAPPY
        | Compression::GZIP(_)
        | Compression::LZ4
        | Compression::LZ4_RAW
        | Compression::ZSTD(_) => None,
        Compression::BROTLI(_) => Some("Brotli"),
        Compression::LZO => Some("LZO"),
    }
}
