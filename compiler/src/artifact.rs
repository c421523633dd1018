//! What compiling a model gives: everything that a runtime needs, and nothing of the source's form.

use crate::{ir, manifest::Manifest, random::Generator};

/// A compiled model.
#[derive(Clone, Debug)]
pub struct Artifact {
    /// Names, types, shapes and places of everything that goes in or comes out.
    pub manifest: Manifest,
    /// The optimised program: what the CPU backends run.
    pub program: ir::Program,
    /// The kernel: what GPUs run.
    pub wgsl: String,
    /// The random generator that the kernel was written for.
    pub generator: Generator,
}
