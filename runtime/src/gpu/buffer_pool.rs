//! What a session keeps on the device from batch to batch: buffer sets and data tables.

use super::{
    buffer_set::{BufferSet, Shape},
    chunk::Chunk,
    device::OpenDevice,
    inputs::Tables,
    kernel::Kernel,
    reduce::{Reducer, Reduction, Source},
};
use crate::{bind::Launch, error::Error};
use sim_compiler::manifest::Manifest;
use std::sync::Arc;

/// Memory on the device that no submission uses.
pub(super) struct BufferPool {
    /// Most agents of a chunk; fewer once an allocation failed.
    pub(super) most_agents: u32,
    idle: Vec<BufferSet>,
    tables: Tables,
    /// Compiled for the first run that needs it.
    reducer: Option<Arc<Reducer>>,
}

impl BufferPool {
    /// An empty pool, for chunks of at most this many agents.
    pub(super) fn new(most_agents: u32) -> BufferPool {
        BufferPool {
            most_agents,
            idle: Vec::new(),
            tables: Tables::default(),
            reducer: None,
        }
    }

    /// Makes later chunks smaller, after an allocation failed while no submission was in flight.
    pub(super) fn limit_agents(&mut self, agents: u32) {
        self.most_agents = agents;
        self.idle.clear();
    }

    /// Frees the buffer sets, which belong to another kernel.
    pub(super) fn clear(&mut self) {
        self.idle.clear();
    }

    /// Uploads the data tables of a launch, unless they are on the device.
    pub(super) fn set_tables(&mut self, open: &OpenDevice, launch: &Launch) -> Result<(), Error> {
        if !self.tables.are_of(launch) {
            self.idle.clear();
            self.tables = Tables::upload(open, launch)?;
        }
        Ok(())
    }

    /// Takes buffers out of the pool, or allocates them after freeing the others.
    ///
    /// # Errors
    /// [`Error::GpuMemory`]
    pub(super) fn acquire(
        &mut self,
        open: &OpenDevice,
        kernel: &Kernel,
        manifest: &Manifest,
        shape: Shape,
    ) -> Result<BufferSet, Error> {
        if let Some(at) = self.idle.iter().position(|known| known.fits(shape)) {
            return Ok(self.idle.swap_remove(at));
        }
        self.idle.clear();
        BufferSet::create(open, kernel, manifest, shape, &self.tables)
    }

    /// Puts buffers back.
    pub(super) fn release(&mut self, buffers: BufferSet) {
        self.idle.push(buffers);
    }

    /// Allocates the reduction of the results of each run, which `chunks` and `steps` describe.
    pub(super) fn reductions(
        &mut self,
        open: &OpenDevice,
        manifest: &Manifest,
        buffers: &BufferSet,
        chunks: impl Iterator<Item = Chunk>,
        steps: u32,
    ) -> Result<Vec<Reduction>, Error> {
        let reducer = match self.reducer.take() {
            Some(known) => known,
            None => Arc::new(Reducer::create(open)?),
        };
        let reducer = self.reducer.insert(reducer);
        let runs = buffers.runs.iter().zip(chunks);
        let reductions = runs.filter_map(|(run, chunk)| {
            let source = Source {
                outputs: run.results.outputs()?,
                progress: run.results.progress()?,
                fields: &manifest.outputs,
                agents: chunk.count,
                steps,
            };
            Some(Reduction::create(open, reducer, &source))
        });
        reductions.collect()
    }
}
