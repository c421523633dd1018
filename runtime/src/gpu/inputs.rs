//! Data tables and rows of inputs on the device. They stay there and are uploaded again only if they change.

use super::{chunk::Chunk, device::OpenDevice};
use crate::{bind::Launch, error::Error};
use std::sync::{Arc, Mutex, PoisonError};

/// The data tables of a launch.
#[derive(Default)]
pub(crate) struct Tables(Vec<Table>);

/// A table on the device, with the words that were uploaded.
struct Table {
    words: Arc<[u32]>,
    buffer: wgpu::Buffer,
}

impl Tables {
    /// Uploads the tables of a launch.
    ///
    /// # Errors
    /// [`Error::AdapterLimit`], [`Error::GpuMemory`]
    pub(crate) fn upload(open: &OpenDevice, launch: &Launch) -> Result<Tables, Error> {
        let limits = &open.limits;
        let limit = (limits.max_storage_buffer_binding_size).min(limits.max_buffer_size);
        let mut tables = Vec::with_capacity(launch.data.len());
        for words in &launch.data {
            let bytes = words.len() as u64 * 4;
            if bytes > limit {
                return Err(Error::AdapterLimit {
                    adapter: open.adapter.name.clone(),
                    limit: "bytes in one table",
                    needed: bytes,
                    available: limit,
                });
            }
            let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
            let buffer = open.buffer("allocating a table", bytes, usage)?;
            open.upload("uploading a table", &buffer, words)?;
            tables.push(Table {
                words: Arc::clone(words),
                buffer,
            });
        }
        Ok(Tables(tables))
    }

    /// Whether these are the tables of a launch.
    pub(crate) fn are_of(&self, launch: &Launch) -> bool {
        let same = |(ours, theirs): (&Table, &Arc<[u32]>)| Arc::ptr_eq(&ours.words, theirs);
        self.0.len() == launch.data.len() && self.0.iter().zip(&launch.data).all(same)
    }

    /// The buffers, in the manifest's order.
    pub(crate) fn buffers(&self) -> impl Iterator<Item = &wgpu::Buffer> {
        self.0.iter().map(|table| &table.buffer)
    }
}

/// The rows of inputs of a chunk. Runs of a batch share them if their inputs are equal.
pub(crate) struct Inputs {
    pub(crate) buffer: wgpu::Buffer,
    /// Agents for which the buffer has room.
    capacity: u32,
    /// Words of a row.
    row: usize,
    uploaded: Mutex<Option<Uploaded>>,
}

/// Which rows a buffer holds.
struct Uploaded {
    inputs: Arc<Vec<u32>>,
    first_agent: u32,
}

impl Inputs {
    /// Allocates rows of `words` words for `agents` agents. `None` if the model has no inputs.
    pub(crate) fn create(
        open: &OpenDevice,
        agents: u32,
        words: u32,
    ) -> Result<Option<Arc<Inputs>>, Error> {
        if words == 0 {
            return Ok(None);
        }
        let bytes = u64::from(agents) * u64::from(words) * 4;
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
        Ok(Some(Arc::new(Inputs {
            buffer: open.buffer("allocating the inputs", bytes, usage)?,
            capacity: agents,
            row: words as usize,
            uploaded: Mutex::default(),
        })))
    }

    /// Whether the buffer has room for `agents` agents.
    pub(crate) fn has_room(&self, agents: u32) -> bool {
        agents <= self.capacity
    }

    /// Uploads the inputs of a chunk, unless the buffer holds them.
    pub(crate) fn upload(
        &self,
        open: &OpenDevice,
        launch: &Launch,
        chunk: Chunk,
    ) -> Result<(), Error> {
        let mut uploaded = self.uploaded.lock().unwrap_or_else(PoisonError::into_inner);
        let inputs = &launch.inputs;
        // A launch with another seed or param often has equal inputs, in the same vector or in another.
        let is_current = uploaded.as_ref().is_some_and(|known| {
            known.first_agent == chunk.first
                && (Arc::ptr_eq(&known.inputs, inputs) || known.inputs == *inputs)
        });
        if !is_current {
            *uploaded = None;
            let (first, count) = (chunk.first as usize, chunk.count as usize);
            let words = &inputs[first * self.row..][..count * self.row];
            open.upload("uploading the inputs", &self.buffer, words)?;
        }
        *uploaded = Some(Uploaded {
            inputs: Arc::clone(inputs),
            first_agent: chunk.first,
        });
        Ok(())
    }
}
