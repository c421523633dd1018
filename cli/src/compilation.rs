//! `--generator`, `--math` and `--real`: how a model is compiled.

use crate::{failure::Failure, source::Source};
use clap::{ValueEnum, builder::PossibleValue};
use sim_compiler::{Options, RealType, artifact::Artifact, compile_with, random};

/// Arguments that decide how a model is compiled.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Compilation {
    /// Random generator.
    #[arg(long, value_enum, default_value = "keyed-hash")]
    generator: Generator,
    /// Mathematical functions of a kernel on a GPU.
    #[arg(long, value_enum, default_value = "fast")]
    math: Math,
    /// What commands that have `--real` put here.
    #[arg(skip)]
    real: RealType,
}

/// Argument that decides what floats are.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct RealArgs {
    /// Type of the model's floats: f64 computes with 16 digits, on the CPU.
    #[arg(long, value_enum, default_value = "f32")]
    real: Real,
}

/// The machine type of floats.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Real {
    /// Single precision, 7 digits.
    F32,
    /// Double precision, 16 digits; also of inputs and results.
    F64,
}

/// A random generator by its name in the manifest.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Generator {
    /// The default: cheap, and passes the test batteries.
    KeyedHash,
    /// Philox4x32-10, the published one; slower.
    #[value(name = "philox4x32-10")]
    Philox,
}

/// Which mathematical functions a kernel calls.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Math {
    /// The device's own, whose errors docs/mathematics.md lists.
    Fast,
    /// Those of the CPU backend, written out: a few units in the last place apart, and slower.
    Precise,
}

impl Compilation {
    /// The same with that type of floats.
    pub(crate) fn in_real(self, real: RealArgs) -> Compilation {
        let real = match real.real {
            Real::F32 => RealType::F32,
            Real::F64 => RealType::F64,
        };
        Compilation { real, ..self }
    }

    /// The generator, which mathematical functions, and the type of floats, as on the command line.
    pub(crate) fn words(self) -> [String; 3] {
        let generator = self.generator.to_possible_value();
        let math = self.math.to_possible_value();
        let word = |value: Option<PossibleValue>| value.map(|value| value.get_name().to_owned());
        let real = self.real.name().to_owned();
        let [generator, math] = [generator, math].map(|value| word(value).unwrap_or_default());
        [generator, math, real]
    }

    /// Compiles a model so.
    pub(crate) fn compile(self, source: &Source) -> Result<Artifact, Failure> {
        self.compile_with(source, false)
    }

    /// Compiles a model so, with or without its assertions.
    pub(crate) fn compile_with(self, source: &Source, checks: bool) -> Result<Artifact, Failure> {
        let options = Options {
            generator: match self.generator {
                Generator::KeyedHash => random::Generator::KeyedHash,
                Generator::Philox => random::Generator::Philox4x32,
            },
            math: match self.math {
                Math::Fast => sim_compiler::Math::Fast,
                Math::Precise => sim_compiler::Math::Precise,
            },
            checks,
            real: self.real,
            ..Options::default()
        };
        compile_with(&source.text, options).map_err(|diagnostics| source.failure(diagnostics))
    }
}
