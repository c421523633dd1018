//! The result of compiling a model: everything that a runtime needs, and nothing of the source's form.

use crate::{ir, launch_checks::LaunchChecks, manifest::Manifest, options::Options, testing::Test};

/// A compiled model.
#[derive(Clone, Debug)]
pub struct Artifact {
    /// Names, types, shapes and places of everything that goes in or comes out.
    pub manifest: Manifest,
    /// The program before any pass, from which kernels with other schedules are made.
    pub lowered: ir::Program,
    /// The optimised program: what the CPU backends run.
    pub program: ir::Program,
    /// The conditions on a launch under which every draw has a distribution.
    pub launch_checks: Option<LaunchChecks>,
    /// A kernel of the caller's own, which runs instead of the compiler's: one agent an invocation.
    pub own_kernel: Option<String>,
    /// The tests that the model has.
    pub tests: Vec<Test>,
    /// How it was compiled.
    pub options: Options,
}
