//! `--generator`: which random generator a model is compiled with.

use crate::{failure::Failure, source::Source};
use sim_compiler::{Options, artifact::Artifact, compile_with, random};

/// A random generator by its name in the manifest.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum Generator {
    /// The default: cheap, and passes the test batteries.
    KeyedHash,
    /// Philox4x32-10, the published one; slower.
    #[value(name = "philox4x32-10")]
    Philox,
}

impl Generator {
    /// Compiles a model with this generator.
    pub(crate) fn compile(self, source: &Source) -> Result<Artifact, Failure> {
        let generator = match self {
            Generator::KeyedHash => random::Generator::KeyedHash,
            Generator::Philox => random::Generator::Philox4x32,
        };
        let options = Options {
            generator,
            ..Options::default()
        };
        compile_with(&source.text, options).map_err(|diagnostics| source.failure(diagnostics))
    }
}
