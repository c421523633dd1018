//! The interpreter of the IR with the values of a launch.

use super::Launch;
use crate::parallel;
use crate::{error::Error, memory};
use sim_compiler::{
    RealType,
    artifact::Artifact,
    ir::{
        Program,
        interpret::{Interpreter, LaunchValues},
    },
};

/// Calls `act` with an interpreter of the launch.
///
/// # Errors
/// [`Error::HostMemory`] if the variables of an agent do not fit on every thread.
pub(crate) fn with_interpreter<T>(
    artifact: &Artifact,
    launch: &Launch,
    act: impl FnOnce(&Interpreter<'_>) -> T,
) -> Result<T, Error> {
    with_interpreter_of(&artifact.program, artifact, launch, act)
}

/// The same with another form of the artifact's program, such as the one before all passes.
///
/// # Errors
/// The same.
pub(crate) fn with_interpreter_of<T>(
    program: &Program,
    artifact: &Artifact,
    launch: &Launch,
    act: impl FnOnce(&Interpreter<'_>) -> T,
) -> Result<T, Error> {
    let values = LaunchValues {
        generator: artifact.options.generator,
        seed: launch.seed,
        population: launch.population,
        steps: launch.steps,
        members: launch.members,
        uniform: &launch.uniform,
        data: &launch.tables(program, artifact),
    };
    let interpreter = Interpreter::new(program, values);
    let threads = parallel::current_num_threads().min(launch.agents as usize);
    let agents = match program.has_worlds() {
        true => u64::from(launch.members),
        false => 1,
    };
    let bytes = match interpreter.real() {
        RealType::F32 => interpreter.bytes::<f32>(),
        RealType::F64 => interpreter.bytes::<f64>(),
    };
    memory::check(bytes.saturating_mul(threads as u64 * agents))?;
    Ok(act(&interpreter))
}
