//! The buffers of one submission. A submission may have several runs side by side, each with results of its
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
use sim_compiler::{manifest::Manifest, value::WORD_BYTES};

/// The size of a buffer set.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// Runs side by side.
    pub(crate) runs: usize,
    /// Agents of each run.
    pub(crate) agents: u32,
    /// Steps of each run, if the kernel has a step table, otherwise 0.
    pub(crate) steps: u32,
    /// What is read back of each run. Without outputs, space for their reductions is needed instead.
    pub(crate) keep: Keep,
    /// Whether all runs have the same inputs, in one buffer.
    pub(crate) shares_inputs: bool,
}

/// The buffers of one run of a submission.
pub(crate) struct RunBuffers {
    pub(crate) results: ResultsBuffer,
    pub(crate) step_table: Option<StepTable>,
    pub(crate) bind_group: wgpu::BindGroup,
}

/// The buffers of a submission.
pub(crate) struct BufferSet {
    pub(crate) shape: Shape,
    pub(crate) uniforms: Uniforms,
    pub(crate) staging: Staging,
    pub(crate) runs: Vec<RunBuffers>,
    /// One for each run, or one for all; none if the model has no inputs.
    inputs: Vec<Inputs>,
}

impl BufferSet {
    /// Allocates the buffers of a shape.
    ///
    /// # Errors
    /// [`Error::GpuMemory`]
    pub(crate) fn create(
        open: &OpenDevice,
        kernel: &Kernel,
        manifest: &Manifest,
        shape: Shape,
        tables: &Tables,
    ) -> Result<BufferSet, Error> {
        let mut bytes_back = Layout::new(manifest, shape.agents).bytes_back(shape.keep);
        if !shape.keep.outputs {
            bytes_back += reduce::report_bytes(&manifest.outputs);
        }
        let rows = match (manifest.input_words, shape.shares_inputs) {
            (0, _) => 0,
            (_, true) => 1,
            (_, false) => shape.runs,
        };
        let inputs = (0..rows).map(|_| Inputs::create(open, shape.agents, manifest.input_words));
        let mut set = BufferSet {
            shape,
            uniforms: Uniforms::create(open, manifest)?,
            staging: Staging::create(open, bytes_back * shape.runs as u64)?,
            runs: Vec::with_capacity(shape.runs),
            inputs: inputs.collect::<Result<_, _>>()?,
        };
        for run in 0..shape.runs {
            let run = set.run(open, kernel, manifest, tables, run)?;
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
        run: usize,
    ) -> Result<RunBuffers, Error> {
        let results = ResultsBuffer::create(open, Layout::new(manifest, self.shape.agents))?;
        let inputs = self.inputs.get(run % self.inputs.len().max(1));
        let tables = manifest.data.iter().zip(&tables.buffers);
        let mut entries = vec![self.uniforms.entry(manifest)];
        entries.extend(tables.map(|(data, buffer)| entry(data.binding, buffer)));
        let step_table = (kernel.step_table.as_ref())
            .map(|kernel| StepTable::create(open, kernel, &entries, self.shape.steps))
            .transpose()?;
        entries.extend(results.entries());
        entries.extend(inputs.map(|it| entry(binding::INPUTS, &it.buffer)));
        let filled = kernel.step_table.iter().zip(&step_table);
        entries.extend(filled.map(|(kernel, it)| entry(kernel.layout.binding, &it.buffer)));
        let bind_group = open.bind_group(&kernel.bind_group_layout, &entries)?;
        Ok(RunBuffers {
            results,
            step_table,
            bind_group,
        })
    }

    /// Whether a submission of this shape can use the buffers.
    pub(crate) fn fits(&self, shape: Shape) -> bool {
        self.shape.agents == shape.agents
            && self.shape.runs >= shape.runs
            && self.shape.steps >= shape.steps
            && self.shape.keep == shape.keep
            && self.shape.shares_inputs == shape.shares_inputs
    }

    /// Uploads what a chunk of a launch needs, as this run of the submission. In debug builds, also fills the
    /// results with a poison value.
    pub(crate) fn upload(
        &mut self,
        open: &OpenDevice,
        run: usize,
        launch: &Launch,
        chunk: Chunk,
    ) -> Result<(), Error> {
        let inputs = run % self.inputs.len().max(1);
        if let Some(inputs) = self.inputs.get_mut(inputs) {
            inputs.upload(open, launch, chunk)?;
        }
        if cfg!(debug_assertions) {
            self.runs[run].results.poison(open)?;
        }
        Ok(())
    }
}

/// The most agents of one chunk, at least 1.
///
/// # Errors
/// [`Error::AdapterLimit`]
pub(crate) fn most_agents(open: &OpenDevice, manifest: &Manifest) -> Result<u32, Error> {
    let limits = &open.limits;
    let binding = (limits.max_storage_buffer_binding_size).min(limits.max_buffer_size);
    let widest = (manifest.input_words)
        .max(manifest.state_words)
        .max(manifest.output_words)
        .max(1);
    let bytes = u64::from(widest) * WORD_BYTES;
    let per_dimension = u64::from(limits.max_compute_workgroups_per_dimension);
    let most = (binding / bytes)
        // All results are in one buffer.
        .min(Layout::most_agents(manifest, limits.max_buffer_size))
        .min(per_dimension * per_dimension * u64::from(manifest.workgroup_size.max(1)))
        // Kernels compute the index `word * agents + i` in 32 bits.
        .min(u64::from(u32::MAX) / u64::from(widest))
        .min(i32::MAX as u64);
    match most {
        0 => Err(open.beyond_limit("bytes of values per agent", bytes, binding)),
        most => Ok(most as u32),
    }
}

fn entry(binding: u32, buffer: &wgpu::Buffer) -> wgpu::BindGroupEntry<'_> {
    wgpu::BindGroupEntry {
        binding,
        resource: buffer.as_entire_binding(),
    }
}
