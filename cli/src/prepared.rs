//! A model that is compiled, placed on a backend and has the values of its launch, for the commands that run
//! it many times: `grad`, `fit` and `search`.

use crate::{
    cache, calibration,
    compilation::{Compilation, RealArgs},
    failure::Failure,
    knobs::AllKnobs,
    launch::LaunchOptions,
    number,
    place::{self, Place},
    source::Source,
    warnings::Warnings,
};
use sim_runtime::{Device, Simulation};
use std::path::PathBuf;

/// The model, where it runs and with which values.
#[derive(clap::Args)]
pub(crate) struct ModelArgs {
    /// Model; `-` is standard input.
    #[arg(
        value_name = "FILE",
        required_unless_present = "adapter",
        value_hint = clap::ValueHint::FilePath
    )]
    file: Option<PathBuf>,
    /// Number of steps, instead of the model's.
    #[arg(long, value_name = "N", value_parser = number::count, allow_negative_numbers = true)]
    steps: Option<u32>,
    #[command(flatten)]
    launch: LaunchOptions,
    #[command(flatten)]
    compilation: Compilation,
    #[command(flatten)]
    real: RealArgs,
    #[command(flatten)]
    warnings: Warnings,
    #[command(flatten)]
    place: Place,
    /// Compile kernels anew, and keep no compiled pipeline.
    #[arg(long)]
    no_cache: bool,
    #[command(flatten)]
    knobs: AllKnobs,
}

/// The model, ready to run.
pub(crate) struct Prepared {
    pub(crate) source: Source,
    pub(crate) simulation: Simulation,
}

impl ModelArgs {
    /// Reads and compiles the model, and gives it the values of its launch. Nothing, if the list of adapters
    /// was asked for, which is printed.
    ///
    /// # Errors
    /// What is wrong with the model, a value or the place.
    pub(crate) fn prepare(&self) -> Result<Option<Prepared>, Failure> {
        if self.place.is_list() {
            return place::list().map(|()| None);
        }
        let file = self.file.as_deref().ok_or_else(|| {
            crate::usage::refused("the command line lacks `<FILE>`", "name a model")
        })?;
        let source = self.warnings.read(file)?;
        let artifact = self.compilation.in_real(self.real).compile(&source)?;
        let mut simulation = Simulation::from_artifact(artifact)
            .keep_states(false)
            .tuning(self.knobs.tuning)
            .calibration(calibration::stored())
            .pipeline_cache(cache::directory().filter(|_| !self.no_cache));
        simulation = self.place.resolve()?.on(simulation);
        if let Some(steps) = self.steps {
            simulation.set_steps(steps);
        }
        self.launch.give(&mut simulation, (None, None))?;
        Ok(Some(Prepared { source, simulation }))
    }
}

/// What computed something, for people.
pub(crate) fn device(device: &Device) -> String {
    match device {
        Device::Cpu(isa) => format!("cpu, with {isa}"),
        Device::Reference => "reference".to_owned(),
        Device::Gpu(adapter) => format!("gpu, {}", adapter.name),
    }
}
