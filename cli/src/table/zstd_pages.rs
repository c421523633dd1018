//! Pages of Parquet files that are compressed with Zstandard: `parquet` reads them as they are, and what they
//! hold is decompressed here, in Rust alone.

use parquet::{
    basic::Compression,
    column::page::{Page, PageIterator, PageMetadata, PageReader},
    errors::{ParquetError, Result},
    file::{
        metadata::{ParquetMetaData, RowGroupMetaData},
        reader::ChunkReader,
        serialized_reader::SerializedPageReader,
    },
};
use std::{io::Read, iter, sync::Arc};

/// Most bytes of a page.
const MOST: u64 = 1 << 30;

/// A group of rows of a file, whose pages may be compressed in any way that is known.
pub(super) struct RowGroup<R> {
    /// The file.
    pub(super) reader: Arc<R>,
    /// What it says of itself.
    pub(super) metadata: Arc<ParquetMetaData>,
    /// The group's number.
    pub(super) number: usize,
}

impl<R> RowGroup<R> {
    fn of_file(&self) -> &RowGroupMetaData {
        self.metadata.row_group(self.number)
    }
}

impl<R: ChunkReader + 'static> parquet::arrow::arrow_reader::RowGroups for RowGroup<R> {
    fn num_rows(&self) -> usize {
        self.of_file().num_rows() as usize
    }

    fn column_chunks(&self, column: usize) -> Result<Box<dyn PageIterator>> {
        let chunk = self.of_file().column(column);
        let is_zstd = matches!(chunk.compression(), Compression::ZSTD(_));
        let reader = self.reader.clone();
        let pages: Box<dyn PageReader> = if is_zstd {
            let plain = chunk.clone().into_builder();
            let plain = plain.set_compression(Compression::UNCOMPRESSED).build()?;
            let pages = SerializedPageReader::new(reader, &plain, self.num_rows(), None)?;
            Box::new(Decompressed(pages))
        } else {
            Box::new(SerializedPageReader::new(
                reader,
                chunk,
                self.num_rows(),
                None,
            )?)
        };
        Ok(Box::new(Chunk(iter::once(Ok(pages)))))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(iter::once(self.of_file()))
    }

    fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }
}

/// The one chunk of a column in a group.
struct Chunk(iter::Once<Result<Box<dyn PageReader>>>);

impl Iterator for Chunk {
    type Item = Result<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}

impl PageIterator for Chunk {}

/// Pages with what they hold decompressed.
struct Decompressed<R: ChunkReader>(SerializedPageReader<R>);

impl<R: ChunkReader> Iterator for Decompressed<R> {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl<R: ChunkReader> PageReader for Decompressed<R> {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let mut page = self.0.get_next_page()?;
        match &mut page {
            Some(Page::DataPage { buf, .. } | Page::DictionaryPage { buf, .. }) => {
                *buf = decompressed(&[], buf)?.into();
            }
            Some(Page::DataPageV2 {
                buf,
                def_levels_byte_len,
                rep_levels_byte_len,
                is_compressed: true,
                ..
            }) => {
                // Levels are never compressed.
                let levels = *def_levels_byte_len as usize + *rep_levels_byte_len as usize;
                let Some((levels, rest)) = buf.split_at_checked(levels) else {
                    return Err(ParquetError::General("a page is too short".to_owned()));
                };
                *buf = decompressed(levels, rest)?.into();
            }
            Some(Page::DataPageV2 { .. }) | None => {}
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.0.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.0.skip_next_page()
    }
}

/// What is compressed, behind what is not.
fn decompressed(before: &[u8], compressed: &[u8]) -> Result<Vec<u8>> {
    let mut all = before.to_vec();
    if compressed.is_empty() {
        return Ok(all);
    }
    let broken =
        |error: &dyn std::fmt::Display| ParquetError::General(format!("Zstandard: {error}"));
    let decoder = ruzstd::decoding::StreamingDecoder::new(compressed);
    let decoder = decoder.map_err(|error| broken(&error))?;
    let read = decoder.take(MOST + 1).read_to_end(&mut all);
    read.map_err(|error| broken(&error))?;
    match all.len() as u64 > MOST {
        true => Err(ParquetError::General(
            "a page has more than 1 GiB".to_owned(),
        )),
        false => Ok(all),
    }
}
