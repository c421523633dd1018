//! Reading Arrow IPC files and streams, which Feather files of version 2 are, too: batch by batch, and only
//! the columns that are needed.

use super::{
    MemoryCheck, Values,
    arrow_columns::{find, leaves, left_out},
    arrow_values::Sink,
    columns::Wanted,
    rules::Rules,
};
use crate::{
    open::open,
    problem::{self, Problem},
};
use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::{
    Block, CompressionType, Message, MetadataVersion,
    convert::try_fb_to_schema,
    reader::{FileDecoder, read_footer_length},
    root_as_footer, root_as_message,
};
use arrow_schema::{ArrowError, SchemaRef};
use sim_compiler::value::WORD_BYTES;
use std::{
    fs::File,
    io::{BufReader, Read, Seek, SeekFrom},
    path::Path,
    sync::Arc,
};

/// With what a file begins and ends.
const MAGIC: &[u8] = b"ARROW1";
/// With what a message begins, before the length of its header.
const CONTINUED: [u8; 4] = [0xff; 4];
/// Bytes of both.
const PREFIX: u64 = 8;
const SHORT: &str = "it is cut short";
/// The end of a file: the length of the footer, and the mark.
const TAIL: u64 = 10;

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
    let Some(length) = opened.length else {
        return Err(problem::needs_plain_file(path));
    };
    if length == 0 {
        return Err(problem::table_empty(path, "content"));
    }
    let messages = Messages::open(opened.file, length);
    let mut messages = messages.map_err(|error| complaint(path, &error))?;
    let schema = messages.schema.clone();
    let leaves = leaves(schema.fields(), wanted);
    let found = find(path, wanted, &leaves)?;
    let roots = Sink::roots(&leaves, &found);
    messages.project(&roots);
    let mut sink = Sink {
        path,
        wanted,
        leaves: &leaves,
        found: &found,
        rules,
        values: Values::default(),
    };
    let mut memory = MemoryCheck::default();
    while let Some(batch) = messages.next().map_err(|error| complaint(path, &error))? {
        let rows = sink.values.rows + batch.num_rows() as u64;
        memory.hold(path, rows.saturating_mul(wanted.row_words() * WORD_BYTES))?;
        sink.take(&batch, &roots)?;
    }
    let values = sink.values;
    match values.rows {
        0 => Err(problem::table_empty(path, "row")),
        _ => Ok((values, left_out(&leaves, &found))),
    }
}

fn complaint(path: &Path, error: &ArrowError) -> Problem {
    match error.to_string() {
        text if text.contains("zstd") => problem::codec(path, "Zstandard"),
        text => problem::columns_malformed(path, "Arrow", &text),
    }
}

/// The messages of a file or stream, with a decoder for them. What they claim is checked first: the decoder
/// believes any length.
struct Messages {
    file: BufReader<File>,
    /// Bytes of the file.
    length: u64,
    /// Where messages are, if there is a footer that says so; otherwise one follows the other.
    blocks: Option<std::vec::IntoIter<Block>>,
    schema: SchemaRef,
    version: MetadataVersion,
    decoder: FileDecoder,
}

impl Messages {
    fn open(file: File, length: u64) -> Result<Messages, ArrowError> {
        let mut file = BufReader::with_capacity(1 << 16, file);
        let start = piece(&mut file, 0, length.min(MAGIC.len() as u64))?;
        if start.starts_with(b"FEA1") {
            return Err(broken(
                "it is of Feather's first version, write it with `version=2`",
            ));
        }
        if start.starts_with(MAGIC) {
            return Messages::of_file(file, length);
        }
        file.rewind()?;
        let found = next_of_stream(&mut file, length)?.ok_or_else(|| broken(SHORT))?;
        let message = message(&found.1)?;
        let version = message.version();
        let schema = message
            .header_as_schema()
            .ok_or_else(|| broken("it begins with no schema"))?;
        let schema = Arc::new(try_fb_to_schema(schema)?);
        Ok(Messages {
            file,
            length,
            blocks: None,
            decoder: FileDecoder::new(schema.clone(), version),
            schema,
            version,
        })
    }

    fn of_file(mut file: BufReader<File>, length: u64) -> Result<Messages, ArrowError> {
        let tail = length.checked_sub(TAIL).ok_or_else(|| broken(SHORT))?;
        let tail = piece(&mut file, tail, TAIL)?
            .try_into()
            .map_err(|_| broken(SHORT))?;
        let footer = read_footer_length(tail).map_err(|_| broken(SHORT))? as u64;
        let start = (length - TAIL)
            .checked_sub(footer)
            .ok_or_else(|| broken(SHORT))?;
        let footer = piece(&mut file, start, footer)?;
        let footer = root_as_footer(&footer).map_err(|error| broken(error.to_string()))?;
        let schema = footer.schema().ok_or_else(|| broken("it has no schema"))?;
        let schema = Arc::new(try_fb_to_schema(schema)?);
        let dictionaries = footer.dictionaries().into_iter().flatten();
        let batches = footer.recordBatches().into_iter().flatten();
        let blocks: Vec<Block> = dictionaries.chain(batches).copied().collect();
        Ok(Messages {
            file,
            length,
            blocks: Some(blocks.into_iter()),
            decoder: FileDecoder::new(schema.clone(), footer.version()),
            schema,
            version: footer.version(),
        })
    }

    /// From now on, only these columns are needed.
    fn project(&mut self, roots: &[usize]) {
        let decoder = FileDecoder::new(self.schema.clone(), self.version);
        self.decoder = decoder.with_projection(roots.to_vec());
    }

    /// The next batch with the columns that are needed.
    fn next(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        loop {
            let found = match &mut self.blocks {
                None => next_of_stream(&mut self.file, self.length)?,
                Some(blocks) => match blocks.next() {
                    Some(block) => Some((block, self.block(&block)?)),
                    None => None,
                },
            };
            let Some((block, bytes)) = found else {
                return Ok(None);
            };
            let message = message(&bytes)?;
            let body = &bytes[block.metaDataLength() as usize..];
            if let Some(dictionary) = message.header_as_dictionary_batch() {
                check(dictionary.data(), body)?;
                self.decoder.read_dictionary(&block, &bytes)?;
            } else {
                check(message.header_as_record_batch(), body)?;
                if let Some(batch) = self.decoder.read_record_batch(&block, &bytes)? {
                    return Ok(Some(batch));
                }
            }
        }
    }

    fn block(&mut self, block: &Block) -> Result<Buffer, ArrowError> {
        let sizes = [
            block.offset(),
            block.metaDataLength().into(),
            block.bodyLength(),
        ];
        let sizes = sizes.map(|size| u64::try_from(size).unwrap_or(u64::MAX));
        let [offset, metadata, body] = sizes;
        let end = sizes
            .iter()
            .try_fold(0_u64, |sum, &size| sum.checked_add(size));
        if end.is_none_or(|end| end > self.length) || metadata < PREFIX {
            return Err(broken("its footer names what is not there"));
        }
        Ok(Buffer::from(piece(
            &mut self.file,
            offset,
            metadata + body,
        )?))
    }
}

/// The message that stands next in a stream of this many bytes, if there is one.
fn next_of_stream(
    file: &mut BufReader<File>,
    length: u64,
) -> Result<Option<(Block, Buffer)>, ArrowError> {
    let start = file.stream_position()?;
    if length - start < PREFIX {
        return Ok(None);
    }
    let prefix = piece(file, start, PREFIX)?;
    if prefix[..4] != CONTINUED {
        return Err(broken("a message of its stream does not begin as one"));
    }
    let size = u64::from(u32::from_le_bytes([
        prefix[4], prefix[5], prefix[6], prefix[7],
    ]));
    if size == 0 {
        return Ok(None);
    }
    if size > length - start - PREFIX {
        return Err(broken(SHORT));
    }
    let header = piece(file, start, PREFIX + size)?;
    let body = message(&header)?.bodyLength();
    let left = length - start - PREFIX - size;
    if u64::try_from(body).is_ok_and(|body| body <= left) {
        let block = Block::new(0, (PREFIX + size) as i32, body);
        let all = piece(file, start, PREFIX + size + body as u64)?;
        return Ok(Some((block, Buffer::from(all))));
    }
    Err(broken(SHORT))
}

/// The message of a block.
fn message(bytes: &[u8]) -> Result<Message<'_>, ArrowError> {
    let skipped = match bytes.starts_with(&CONTINUED) {
        true => bytes.get(8..),
        false => bytes.get(4..),
    };
    let message = skipped.ok_or_else(|| broken(SHORT))?;
    root_as_message(message).map_err(|error| broken(error.to_string()))
}

/// Checks that the buffers of a batch lie in its body, and that what is compressed may become as long as it
/// says.
fn check(batch: Option<arrow_ipc::RecordBatch<'_>>, body: &[u8]) -> Result<(), ArrowError> {
    /// LZ4 writes at most 255 bytes for one.
    const MOST: u64 = 256;
    let Some(batch) = batch else { return Ok(()) };
    let compression = batch.compression();
    let is_lz4 = compression.is_some_and(|it| it.codec() == CompressionType::LZ4_FRAME);
    for buffer in batch.buffers().into_iter().flatten() {
        let range =
            (usize::try_from(buffer.offset()).ok()).zip(usize::try_from(buffer.length()).ok());
        let bytes = range.and_then(|(start, length)| body.get(start..start.checked_add(length)?));
        let bytes = bytes.ok_or_else(|| broken("a batch names what is not there"))?;
        if !is_lz4 || bytes.is_empty() {
            continue;
        }
        let claimed = bytes
            .first_chunk()
            .map(|&claimed| i64::from_le_bytes(claimed));
        let is_plausible = claimed.is_some_and(|claimed| {
            claimed == -1 || u64::try_from(claimed).is_ok_and(|it| it <= MOST * bytes.len() as u64)
        });
        if !is_plausible {
            return Err(broken(
                "what is compressed claims to be longer than it can be",
            ));
        }
    }
    Ok(())
}

fn broken(why: impl Into<String>) -> ArrowError {
    ArrowError::ParseError(why.into())
}

/// Bytes of a file that are known to be there.
fn piece(file: &mut BufReader<File>, start: u64, length: u64) -> Result<Vec<u8>, ArrowError> {
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = vec![0; length as usize];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}
