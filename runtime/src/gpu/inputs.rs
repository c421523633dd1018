//! Data tables and rows of inputs on the device. They stay there and are uploaded again only if the host has
//! others.

use super::{chunk::Chunk, device::OpenDevice};
use crate::{bind::Launch, error::Error};
use sim_compiler::value::WORD_BYTES;
use std::sync::Arc;

/// The data tables of a launch.
#[derive(Default)]
pub(crate) struct Tables {
    /// What was uploaded, in the manifest's order.
    words: Vec<Arc<[u32]>>,
    pub(crate) buffers: Vec<wgpu::Buffer>,
}

impl Tables {
    /// Uploads the tables of a launch.
    ///
    /// # Errors
    /// [`Error::AdapterLimit`], [`Error::GpuMemory`]
    pub(crate) fn upload(open: &OpenDevice, launch: &Launch) -> Result<Tables, Error> {
        let limits = &open.limits;
        let limit = (limits.max_storage_buffer_binding_size).min(limits.max_buffer_size);
        let table = |words: &Arc<[u32]>| {
            let bytes = words.len() as u64 * WORD_BYTES;
            if bytes > limit {
                return Err(open.beyond_limit("bytes in one table", bytes, limit));
            }
            let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
            let buffer = open.buffer("allocating a table", bytes, usage)?;
            open.upload("uploading a table", &buffer, words)?;
            Ok(buffer)
        };
        Ok(Tables {
            words: launch.data.clone(),
            buffers: launch.data.iter().map(table).collect::<Result<_, _>>()?,
        })
    }

    /// Whether these are the tables of a launch.
    pub(crate) fn are_of(&self, launch: &Launch) -> bool {
        let same = |(ours, theirs)| Arc::ptr_eq(ours, theirs);
        self.words.len() == launch.data.len() && self.words.iter().zip(&launch.data).all(same)
    }
}

/// The rows of inputs of a chunk.
pub(crate) struct Inputs {
    pub(crate) buffer: wgpu::Buffer,
    /// Words of a row.
    row: usize,
    uploaded: Option<Uploaded>,
}

/// What a buffer holds.
struct Uploaded {
    /// The rows of all agents of a launch, of which the buffer has those of a chunk.
    rows: Arc<Vec<u32>>,
    first_agent: u32,
}

impl Inputs {
    /// Allocates rows of `words` words for `agents` agents.
    pub(crate) fn create(open: &OpenDevice, agents: u32, words: u32) -> Result<Inputs, Error> {
        let bytes = u64::from(agents) * u64::from(words) * WORD_BYTES;
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
        Ok(Inputs {
            buffer: open.buffer("allocating the inputs", bytes, usage)?,
            row: words as usize,
            uploaded: None,
        })
    }

    /// Uploads the inputs of a chunk, unless the buffer holds them.
    pub(crate) fn upload(
        &mut self,
        open: &OpenDevice,
        launch: &Launch,
        chunk: Chunk,
    ) -> Result<(), Error> {
        let inputs = &launch.inputs;
        let is_current = self.uploaded.as_ref().is_some_and(|known| {
            known.first_agent == chunk.first && Arc::ptr_eq(&known.rows, inputs)
        });
        if is_current {
            return Ok(());
        }
        self.uploaded = None;
        let rows = &inputs[chunk.first as usize * self.row..][..chunk.count as usize * self.row];
        open.upload("uploading the inputs", &self.buffer, rows)?;
        self.uploaded = Some(Uploaded {
            rows: Arc::clone(inputs),
            first_agent: chunk.first,
        });
        Ok(())
    }
}
