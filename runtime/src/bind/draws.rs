//! Checks the arguments of draws before a run. The reference interpreter computes the arguments.

use super::Launch;
use crate::{cpu::reference, error::Error};
use sim_compiler::{
    artifact::Artifact,
    launch_checks::{CheckedDraw, Phase},
    manifest::Manifest,
};

/// Rejects a launch whose params give an invalid distribution to a draw that every agent makes.
pub(super) fn check(artifact: &Artifact, launch: &Launch) -> Result<(), Error> {
    let Some(checks) = &artifact.launch_checks else {
        return Ok(());
    };
    let words = checks.program.outputs.len();
    let manifest = Manifest {
        input_words: 0,
        state_words: 0,
        output_words: words as u32,
        ..artifact.manifest.clone()
    };
    let interpreter = reference::Launch {
        program: &checks.program,
        manifest: &manifest,
        generator: artifact.options.generator,
        seed: launch.seed,
        population: launch.population,
        steps: launch.steps,
        uniform: &launch.uniform,
        data: &[],
    }
    .prepare();
    let mut outputs = vec![0; words];
    // No steps: only what is computed after the last one.
    let none = launch.steps..launch.steps;
    let progress = Default::default();
    let mut machine = interpreter.machine();
    machine.run(0, none, progress, &[], &mut [], &mut outputs);
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
