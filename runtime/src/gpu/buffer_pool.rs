//! What a session keeps on the device from batch to batch: buffer sets with commands recorded for them, data
//! tables, shared inputs.

use super::{
    buffer_set::{BufferSet, Shape},
    chunk::Chunk,
    commands::{CommandKey, Commands},
    device::OpenDevice,
    inputs::{Inputs, Tables},
    kernel::Kernel,
    reduce::{Reducer, Reduction, Source},
};
use crate::{bind::Launch, error::Error};
use sim_compiler::manifest::Manifest;
use std::sync::Arc;

/// A buffer set, and commands that were recorded for its next submissions.
pub(super) struct PooledBuffers {
    pub(super) set: BufferSet,
    /// Without and with timestamps.
    recorded: [Option<Commands>; 2],
}

impl PooledBuffers {
    /// Takes the commands for a key, if they were recorded and no step table must be filled before them.
    pub(super) fn take_recorded(&mut self, key: &CommandKey) -> Option<Commands> {
        let ready = self.set.step_tables_are_filled(key.runs);
        let slot = &mut self.recorded[usize::from(key.timing.timestamps)];
        slot.take_if(|commands| ready && commands.key == *key)
    }

    /// Keeps commands for a later submission.
    pub(super) fn keep_recorded(&mut self, commands: Commands) {
        let slot = usize::from(commands.key.timing.timestamps);
        self.recorded[slot] = Some(commands);
    }
}

/// Memory on the device that no submission uses.
#[derive(Default)]
pub(super) struct BufferPool {
    idle: Vec<PooledBuffers>,
    tables: Tables,
    /// The inputs of runs that have the same ones.
    shared_inputs: Option<Arc<Inputs>>,
    /// Most agents of a chunk, once an allocation failed.
    most_agents: Option<u32>,
    /// Compiled for the first run that needs it.
    reducer: Option<Arc<Reducer>>,
}

impl BufferPool {
    /// The most agents of a chunk, where the device's limits allow `limit` and the caller `asked` for a
    /// bound.
    pub(super) fn most_agents(&self, limit: u32, asked: Option<u32>) -> u32 {
        let asked = asked.unwrap_or(u32::MAX).max(1);
        limit.min(self.most_agents.unwrap_or(u32::MAX)).min(asked)
    }

    /// Makes later chunks smaller, after an allocation failed while no submission was in flight.
    pub(super) fn limit_agents(&mut self, agents: u32) {
        self.most_agents = Some(agents);
        self.idle.clear();
        self.shared_inputs = None;
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
    ) -> Result<PooledBuffers, Error> {
        let has_room = |inputs: &Arc<Inputs>| inputs.has_room(shape.agents);
        if shape.shares_inputs && !self.shared_inputs.as_ref().is_some_and(has_room) {
            // The idle sets are bound to the old inputs.
            self.idle.clear();
            self.shared_inputs = Inputs::create(open, shape.agents, manifest.input_words)?;
        }
        if let Some(at) = self.idle.iter().position(|known| known.set.fits(shape)) {
            return Ok(self.idle.swap_remove(at));
        }
        self.idle.clear();
        let inputs = (self.shared_inputs.as_ref()).filter(|_| shape.shares_inputs);
        Ok(PooledBuffers {
            set: BufferSet::create(open, kernel, manifest, shape, &self.tables, inputs)?,
            recorded: [None, None],
        })
    }

    /// Puts buffers back.
    pub(super) fn release(&mut self, buffers: PooledBuffers) {
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
