//! Checks the arguments of draws before a run. The reference interpreter computes the arguments.

use super::Launch;
use crate::error::Error;
use sim_compiler::{
    RealType,
    artifact::Artifact,
    builtin::real::Real,
    ir::{
        Program,
        interpret::{Interpreter, LaunchValues, Progress},
    },
    launch_checks::{CheckedDraw, Phase},
};

/// Rejects a launch whose params give an invalid distribution to a draw that every agent makes.
pub(super) fn check(artifact: &Artifact, launch: &Launch) -> Result<(), Error> {
    let Some(checks) = &artifact.launch_checks else {
        return Ok(());
    };
    let values = LaunchValues {
        generator: artifact.options.generator,
        seed: launch.seed,
        population: launch.population,
        steps: launch.steps,
        members: launch.members,
        uniform: &launch.uniform,
        data: &[],
    };
    let interpreter = Interpreter::new(&checks.program, values);
    let outputs = match interpreter.real() {
        RealType::F32 => arguments::<f32>(&checks.program, &interpreter, launch),
        RealType::F64 => arguments::<f64>(&checks.program, &interpreter, launch),
    };
    let made = |draw: &&CheckedDraw| match draw.phase {
        Phase::Always => true,
        Phase::Step => launch.steps > 0,
        Phase::Input(number) => launch.absent.contains(&number),
    };
    for draw in checks.draws.iter().filter(made) {
        if let Some(fault) = checks.fault(draw, &outputs) {
            return Err(Error::NoDistribution {
                draw: draw.draw.name(),
                needs: fault.needs,
                found: fault.found,
                params: draw.params.clone(),
            });
        }
    }
    Ok(())
}

/// The words of the program's outputs.
fn arguments<R: Real>(
    program: &Program,
    interpreter: &Interpreter<'_>,
    launch: &Launch,
) -> Vec<u32> {
    let mut outputs = vec![0; program.row_words(&program.outputs) as usize];
    // No steps: only what is computed after the last one.
    let none = launch.steps..launch.steps;
    let mut machine = interpreter.machine_of::<R, _>(1, || false);
    let ran = machine.run(0, none, Progress::default(), &[], &mut [], &mut outputs);
    debug_assert!(ran.is_ok(), "nobody cancels it");
    outputs
}
