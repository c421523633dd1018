//! The result of compiling a model: everything that a runtime needs, and nothing of the source's form.

use crate::{
    ir, kernel::schedule::Chosen, launch_checks::LaunchChecks, manifest::Manifest,
    options::Options, testing::Test,
};
use std::borrow::Cow;

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
    /// Kernels for runtimes that make none, see [`crate::emit::prepare`].
    pub kernels: Vec<Chosen>,
    /// The tests that the model has.
    pub tests: Vec<Test>,
    /// How it was compiled.
    pub options: Options,
}

impl Artifact {
    /// The manifest for callers: without the outputs of checks, which are the last ones.
    pub fn visible_manifest(&self) -> Cow<'_, Manifest> {
        let mut manifest = Cow::Borrowed(&self.manifest);
        let hidden = self.program.checks.words.len();
        if hidden > 0 {
            let outputs = &mut manifest.to_mut().outputs;
            outputs.truncate(outputs.len() - hidden);
        }
        manifest
    }
}
