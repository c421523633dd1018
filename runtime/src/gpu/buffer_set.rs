//! The buffers of one submission. A submission may have several runs side by side, each with buffers of its
//! own.

use super::{
    chunk::Chunk,
    device::OpenDevice,
    inputs::{Inputs, Tables},
    kernel::{Kernel, binding},
    reduce,
    results::{Layout, ResultsBuffer},
    staging::Staging,
    step_table::StepTable,
    uniforms::Uniforms,
};
use crate::{bind::Launch, control::Keep, error::Error};
use sim_compiler::manifest::Manifest;
use std::sync::Arc;

/// What a buffer set has room for.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// Runs side by side.
    pub(crate) runs: usize,
    /// Agents of each run.
    pub(crate) agents: u32,
    /// Steps of each run.
    pub(crate) steps: u32,
    /// What is read back of each run. Without outputs, room for their reductions is needed instead.
    pub(crate) keep: Keep,
    /// Whether all runs have the same inputs, in one buffer.
    pub(crate) shares_inputs: bool,
}

/// The buffers of one run of a submission.
pub(crate) struct RunBuffers {
    pub(crate) results: ResultsBuffer,
    inputs: Option<Arc<Inputs>>,
    pub(crate) step_table: Option<StepTable>,
    pub(crate) bind_group: wgpu::BindGroup,
}

/// The buffers of a submission.
pub(crate) struct BufferSet {
    pub(crate) shape: Shape,
    pub(crate) uniforms: Uniforms,
    pub(crate) staging: Staging,
    pub(crate) runs: Vec<RunBuffers>,
}

impl BufferSet {
    /// Allocates the buffers of a shape. `inputs` are those that the runs share.
    ///
    /// # Errors
    /// [`Error::GpuMemory`]
    pub(crate) fn create(
        open: &OpenDevice,
        kernel: &Kernel,
        manifest: &Manifest,
        shape: Shape,
        tables: &Tables,
        inputs: Option<&Arc<Inputs>>,
    ) -> Result<BufferSet, Error> {
        let uniforms = Uniforms::create(open, manifest)?;
        let mut bytes_back = Layout::new(manifest, shape.agents).bytes_back(shape.keep);
        if !shape.keep.outputs {
            bytes_back += reduce::report_bytes(&manifest.outputs);
        }
        let mut set = BufferSet {
            shape,
            uniforms,
            staging: Staging::create(open, bytes_back * shape.runs as u64)?,
            runs: Vec::with_capacity(shape.runs),
        };
        for _ in 0..shape.runs {
            let inputs = match inputs {
                Some(shared) => Some(Arc::clone(shared)),
                None => Inputs::create(open, shape.agents, manifest.input_words)?,
            };
            let run = set.run(open, kernel, manifest, tables, inputs)?;
            set.runs.push(run);
        }
        Ok(set)
    }

    /// Allocates the buffers of one run.
    fn run(
        &self,
        open: &OpenDevice,
        kernel: &Kernel,
        manifest: &Manifest,
        tables: &Tables,
        inputs: Option<Arc<Inputs>>,
    ) -> Result<RunBuffers, Error> {
        let results = ResultsBuffer::create(open, Layout::new(manifest, self.shape.agents))?;
        let tables = manifest.data.iter().zip(tables.buffers());
        let mut entries = vec![self.uniforms.entry(manifest)];
        entries.extend(tables.map(|(data, buffer)| entry(data.binding, buffer)));
        let step_table = (kernel.step_table.as_ref())
            .map(|kernel| StepTable::create(open, kernel, &entries, self.shape.steps))
            .transpose()?;
        entries.extend(results.entries());
        entries.extend(inputs.iter().map(|it| entry(binding::INPUTS, &it.buffer)));
        let filled = kernel.step_table.iter().zip(&step_table);
        entries.extend(filled.map(|(kernel, it)| entry(kernel.layout.binding, &it.buffer)));
        let bind_group = open.bind_group(&kernel.bind_group_layout, &entries)?;
        Ok(RunBuffers {
            results,
            inputs,
            step_table,
            bind_group,
        })
    }

    /// Whether a submission of this shape can use the buffers.
    pub(crate) fn fits(&self, shape: Shape) -> bool {
        let has_step_table = self.runs.iter().any(|run| run.step_table.is_some());
        self.shape.agents == shape.agents
            && self.shape.runs >= shape.runs
            && (self.shape.steps >= shape.steps || !has_step_table)
            && self.shape.keep == shape.keep
            && self.shape.shares_inputs == shape.shares_inputs
    }

    /// Whether the step tables of the first `runs` runs hold the values of their launches.
    pub(crate) fn step_tables_are_filled(&self, runs: usize) -> bool {
        let tables = self.runs[..runs].iter();
        tables
            .filter_map(|run| run.step_table.as_ref())
            .all(StepTable::is_filled)
    }
}

/// The most agents of one chunk, at least 1.
///
/// # Errors
/// [`Error::AdapterLimit`]
pub(crate) fn most_agents(
    manifest: &Manifest,
    limits: &wgpu::Limits,
    adapter: &str,
) -> Result<u32, Error> {
    let binding = limits
        .max_storage_buffer_binding_size
        .min(limits.max_buffer_size);
    let widest = [
        manifest.input_words,
        manifest.state_words,
        manifest.output_words,
        1,
    ]
    .into_iter()
    .max()
    .unwrap_or(1);
    let bytes = u64::from(widest) * 4;
    let by_memory = binding / bytes;
    // All results are in one buffer.
    let by_memory = by_memory.min(Layout::most_agents(manifest, limits.max_buffer_size));
    let per_dimension = u64::from(limits.max_compute_workgroups_per_dimension);
    let by_dispatch = per_dimension * per_dimension * u64::from(manifest.workgroup_size.max(1));
    // Kernels compute the index `word * agents + i` in 32 bits.
    let by_index = u64::from(u32::MAX) / u64::from(widest);
    let most = by_memory.min(by_dispatch).min(by_index);
    if most == 0 {
        return Err(Error::AdapterLimit {
            adapter: adapter.to_owned(),
            limit: "bytes of values per agent",
            needed: bytes,
            available: binding,
        });
    }
    Ok(most.min(i32::MAX as u64) as u32)
}

impl RunBuffers {
    /// Uploads what a chunk of a launch needs. In debug builds, also fills the results with a poison value.
    pub(crate) fn upload(
        &mut self,
        open: &OpenDevice,
        launch: &Arc<Launch>,
        chunk: Chunk,
    ) -> Result<(), Error> {
        if let Some(step_table) = &mut self.step_table {
            step_table.set_launch(launch);
        }
        if let Some(inputs) = &self.inputs {
            inputs.upload(open, launch, chunk)?;
        }
        if cfg!(debug_assertions) {
            self.results.poison(open)?;
        }
        Ok(())
    }
}

fn entry(binding: u32, buffer: &wgpu::Buffer) -> wgpu::BindGroupEntry<'_> {
    wgpu::BindGroupEntry {
        binding,
        resource: buffer.as_entire_binding(),
    }
}
