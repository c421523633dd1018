//! What compiling a model gives: everything that a runtime needs, and nothing of the source's form.

use crate::{
    Options, emit, ir,
    manifest::Manifest,
    schedule::{Kernel, Schedule},
};

/// A compiled model.
#[derive(Clone, Debug)]
pub struct Artifact {
    /// Names, types, shapes and places of everything that goes in or comes out.
    pub manifest: Manifest,
    /// The program before any pass, from which kernels with other schedules are made.
    pub lowered: ir::Program,
    /// The optimised program: what the CPU backends run.
    pub program: ir::Program,
    /// The kernel of [`Schedule::default`].
    pub wgsl: String,
    /// How it was compiled.
    pub options: Options,
}

impl Artifact {
    /// The kernel under a schedule. What the model has no use for is left out: the kernel says what it has.
    pub fn kernel(&self, schedule: &Schedule) -> Kernel {
        emit::wgsl(
            &self.program,
            &self.manifest,
            self.options.generator,
            schedule,
        )
    }

    /// Where the expressions of the model went in [`Artifact::wgsl`].
    pub fn origins(&self) -> Vec<emit::Origin> {
        emit::origins(&self.program, &self.manifest, self.options.generator)
    }
}
