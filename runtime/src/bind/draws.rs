//! Checks the arguments of draws before a run. The reference interpreter computes the arguments.

use super::Launch;
use crate::error::Error;
use sim_compiler::{
    artifact::Artifact,
    ir::interpret::{Interpreter, LaunchValues, Progress},
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
    let mut outputs = vec![0; checks.program.outputs.len()];
    // No steps: only what is computed after the last one.
    let none = launch.steps..launch.steps;
    let mut machine = interpreter.machine(1, || false);
    let ran = machine.run(0, none, Progress::default(), &[], &mut [], &mut outputs);
    debug_assert!(ran.is_ok(), "nobody cancels it");
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
