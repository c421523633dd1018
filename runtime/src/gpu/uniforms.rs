//! The uniform blocks of a submission: one per dispatch, selected by a dynamic offset. So all dispatches of a
//! submission share one compute pass without copies between them.

use super::{chunk::Chunk, device::OpenDevice, kernel::binding};
use crate::{bind::Launch, error::Error};
use sim_compiler::{
    manifest::{Manifest, header},
    value::WORD_BYTES,
};
use std::ops::Range;

/// Most dispatches of one submission.
const MOST_BLOCKS: u64 = 64;
/// Most bytes of all blocks: a model may have large arrays of params.
const MOST_BYTES: u64 = 1 << 20;

/// One dispatch of the kernel's time loop.
pub(crate) struct Dispatch<'a> {
    pub(crate) launch: &'a Launch,
    pub(crate) chunk: Chunk,
    pub(crate) steps: Range<u32>,
}

/// The size and number of blocks.
#[derive(Clone, Copy)]
pub(crate) struct UniformLayout {
    /// Bytes from one block to the next.
    stride: u64,
    pub(crate) blocks: u64,
}

impl UniformLayout {
    pub(crate) fn new(open: &OpenDevice, manifest: &Manifest) -> UniformLayout {
        let alignment = u64::from(open.limits.min_uniform_buffer_offset_alignment).max(WORD_BYTES);
        let stride = (u64::from(manifest.uniform_words) * WORD_BYTES).next_multiple_of(alignment);
        UniformLayout {
            stride,
            blocks: (MOST_BYTES / stride).clamp(1, MOST_BLOCKS),
        }
    }
}

/// The blocks on the device.
pub(crate) struct Uniforms {
    buffer: wgpu::Buffer,
    pub(crate) layout: UniformLayout,
    /// The words on the device.
    written: Vec<u32>,
}

impl Uniforms {
    pub(crate) fn create(open: &OpenDevice, manifest: &Manifest) -> Result<Uniforms, Error> {
        let layout = UniformLayout::new(open, manifest);
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let bytes = layout.stride * layout.blocks;
        Ok(Uniforms {
            buffer: open.buffer("allocating the params", bytes, usage)?,
            layout,
            written: Vec::new(),
        })
    }

    /// The binding of a block; the dynamic offset says which.
    pub(crate) fn entry(&self, manifest: &Manifest) -> wgpu::BindGroupEntry<'_> {
        wgpu::BindGroupEntry {
            binding: binding::RUN,
            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: &self.buffer,
                offset: 0,
                size: wgpu::BufferSize::new(u64::from(manifest.uniform_words) * WORD_BYTES),
            }),
        }
    }

    /// The dynamic offset of a block.
    pub(crate) fn offset(&self, block: usize) -> u32 {
        (block as u64 * self.layout.stride) as u32
    }

    /// Writes a block per dispatch, unless the device holds the same words.
    pub(crate) fn write(
        &mut self,
        open: &OpenDevice,
        dispatches: &[Dispatch<'_>],
    ) -> Result<(), Error> {
        let stride = (self.layout.stride / WORD_BYTES) as usize;
        let mut words = vec![0; stride * dispatches.len()];
        for (block, dispatch) in words.chunks_exact_mut(stride).zip(dispatches) {
            let launch = dispatch.launch;
            block[..launch.uniform.len()].copy_from_slice(&launch.uniform);
            block[header::AGENTS as usize] = dispatch.chunk.count;
            block[header::FIRST_AGENT as usize] = launch.first_agent + dispatch.chunk.first;
            block[header::FIRST_STEP as usize] = dispatch.steps.start;
            block[header::END_STEP as usize] = dispatch.steps.end;
        }
        if !self.written.starts_with(&words) {
            open.upload("writing the params", &self.buffer, &words)?;
            self.written = words;
        }
        Ok(())
    }
}
