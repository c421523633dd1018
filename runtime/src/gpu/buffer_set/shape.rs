//! The size of a buffer set, and what is read back of it.

use crate::{
    control::Keep,
    gpu::{kernel::Kernel, reduce, results::Layout, step_check::StepCheck},
};
use sim_compiler::manifest::Manifest;

/// The size of a buffer set.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// Runs side by side, each in buffers of its own.
    pub(crate) runs: usize,
    /// Runs that share these buffers and their dispatches.
    pub(crate) points: usize,
    /// Agents of each run.
    pub(crate) agents: u32,
    /// Agents of a world.
    pub(crate) members: u32,
    /// Steps of each run, if it has a step table or samples, otherwise 0.
    pub(crate) steps: u32,
    /// What is read back of each run. Without outputs, space for their reductions is needed instead.
    pub(crate) keep: Keep,
    /// Whether all runs have the same inputs, in one buffer.
    pub(crate) shares_inputs: bool,
    /// Whether what a cut run needs to go on is read back, instead of results.
    pub(crate) is_cut: bool,
    /// Whether the device checks step counts, so that they are not read back.
    pub(crate) checks: bool,
}

impl Shape {
    /// Bytes that are read back of each run, of which results have this layout.
    pub(super) fn bytes_back(&self, read: &Layout, kernel: &Kernel, manifest: &Manifest) -> u64 {
        let mut bytes = read.bytes_back(self.keep);
        if self.checks {
            bytes += StepCheck::BYTES;
        }
        if !self.keep.outputs {
            bytes += reduce::report_bytes(&manifest.outputs);
        }
        if self.is_cut {
            let scratch = kernel.scratch.as_ref();
            bytes += scratch.map_or(0, |it| it.bytes(self.agents, self.members));
        }
        bytes
    }
}
