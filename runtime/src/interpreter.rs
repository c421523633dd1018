//! The way from a launch to the CPU interpreter: the CPU backend, and the inputs that the launch leaves to
//! the model.

use crate::{bind::Launch, control::Control, error::Error, gpu::Raw};
use sim_compiler::{artifact::Artifact, manifest::Input};

/// Computes the rows of inputs that the caller did not give.
pub(crate) fn fill_absent_inputs(
    _artifact: &Artifact,
    _launch: &mut Launch,
    _absent: &[&Input],
) -> Result<(), Error> {
    Err(missing())
}

/// Runs all agents on all cores.
pub(crate) fn run(
    _artifact: &Artifact,
    _launch: &Launch,
    _keep_states: bool,
    _control: Control<'_>,
) -> Result<Raw, Error> {
    Err(missing())
}

fn missing() -> Error {
    Error::Device {
        adapter: "the CPU backend".to_owned(),
        during: "starting",
        message: "this build has no interpreter".to_owned(),
    }
}
