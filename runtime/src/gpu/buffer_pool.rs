//! What a session keeps on the device from batch to batch: buffer sets, data tables, and the kernels of the
//! reduction.

use super::{
    buffer_set::{BufferSet, Shape},
    device::OpenDevice,
    kernel::Kernel,
    reduce::Reducer,
    step_check::StepChecker,
};
use crate::{bind::Launch, error::Error};
use sim_compiler::{manifest::Manifest, value::WORD_BYTES};
use std::sync::Arc;

/// Memory on the device that no submission uses.
pub(super) struct BufferPool {
    /// Most agents of a chunk; fewer once an allocation failed.
    pub(super) most_agents: u32,
    idle: Vec<BufferSet>,
    /// The data tables, in the manifest's order, and what was uploaded to them.
    tables: Vec<(wgpu::Buffer, Arc<[u32]>)>,
    /// Compiled for the first run that needs it.
    reducer: Option<Arc<Reducer>>,
    /// Likewise.
    step_checker: Option<Arc<StepChecker>>,
}

impl BufferPool {
    /// An empty pool, for chunks of at most this many agents.
    pub(super) fn new(most_agents: u32) -> BufferPool {
        BufferPool {
            most_agents,
            idle: Vec::new(),
            tables: Vec::new(),
            reducer: None,
            step_checker: None,
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
    ///
    /// # Errors
    /// [`Error::AdapterLimit`], [`Error::GpuMemory`]
    pub(super) fn set_tables(&mut self, open: &OpenDevice, launch: &Launch) -> Result<(), Error> {
        let known = self.tables.iter().map(|(_, words)| Arc::as_ptr(words));
        if known.eq(launch.data.iter().map(Arc::as_ptr)) {
            return Ok(());
        }
        self.idle.clear();
        self.tables.clear();
        let limit = open.most_bytes();
        for words in &launch.data {
            let bytes = words.len() as u64 * WORD_BYTES;
            if bytes > limit {
                return Err(open.beyond_limit("bytes in one table", bytes, limit));
            }
            let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
            let buffer = open.buffer("allocating a table", bytes, usage)?;
            open.upload("uploading a table", &buffer, 0, words)?;
            self.tables.push((buffer, Arc::clone(words)));
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
        checker: Option<Arc<StepChecker>>,
    ) -> Result<BufferSet, Error> {
        if let Some(at) = self.idle.iter().position(|known| known.fits(shape)) {
            return Ok(self.idle.swap_remove(at));
        }
        self.idle.clear();
        let tables = self.tables.iter().map(|(buffer, _)| buffer);
        BufferSet::create(open, kernel, manifest, shape, tables, checker)
    }

    /// Puts buffers back.
    pub(super) fn release(&mut self, buffers: BufferSet) {
        self.idle.push(buffers);
    }

    /// The kernels of the reduction.
    ///
    /// # Errors
    /// Those of the device.
    pub(super) fn reducer(&mut self, open: &OpenDevice) -> Result<Arc<Reducer>, Error> {
        let reducer = match self.reducer.take() {
            Some(known) => known,
            None => Arc::new(Reducer::create(open)?),
        };
        Ok(Arc::clone(self.reducer.insert(reducer)))
    }

    /// The kernels of the check of step counts.
    ///
    /// # Errors
    /// Those of the device.
    pub(super) fn step_checker(&mut self, open: &OpenDevice) -> Result<Arc<StepChecker>, Error> {
        let checker = match self.step_checker.take() {
            Some(known) => known,
            None => Arc::new(StepChecker::create(open)?),
        };
        Ok(Arc::clone(self.step_checker.insert(checker)))
    }
}
