//! The way from a launch to the vector machine: the CPU backend, and the inputs that a launch leaves to the
//! model.

use crate::{
    bind::{Launch, zeroed},
    control::Control,
    cpu::{
        self,
        vector::{
            Program, Values,
            drive::{self, Column, Job, Results},
        },
    },
    error::Error,
    run::Raw,
    telemetry::Telemetry,
    watch::watched,
};
use sim_compiler::{artifact::Artifact, manifest::Field};
use std::sync::Arc;

/// Runs all agents on all cores.
pub(crate) fn run(
    program: &Program,
    artifact: &Artifact,
    launch: &Launch,
    keep_states: bool,
    control: Control<'_>,
) -> Result<Raw, Error> {
    let manifest = &artifact.manifest;
    let count = launch.agents as usize;
    let rows = |fields: &[Field]| -> Result<Vec<Vec<u32>>, Error> {
        (fields.iter())
            .map(|field| zeroed(count * field.words() as usize))
            .collect()
    };
    let mut outputs = rows(&manifest.outputs)?;
    let mut states = match keep_states {
        true => rows(&manifest.states)?,
        false => Vec::new(),
    };
    let mut progress = zeroed(count)?;
    with_job(program, artifact, launch, |job| {
        let results = Results {
            outputs: Column::of(&manifest.outputs, &mut outputs),
            states: Column::of(&manifest.states, &mut states),
            progress: &mut progress,
        };
        watched(launch.agents, launch.steps, control, |inner| {
            drive::run(job, results, inner)
        })
    })?;
    Ok(Raw {
        outputs,
        states: keep_states.then_some(states),
        progress,
        sums: None,
        dispatches: 0,
        chunks: 1,
        telemetry: Telemetry::default(),
        choices: Vec::new(),
    })
}

/// The launch with every row of inputs there, those that the model computes too.
pub(crate) fn with_all_inputs(
    program: &Program,
    artifact: &Artifact,
    launch: &Launch,
) -> Result<Launch, Error> {
    let stride = artifact.manifest.input_words as usize;
    let mut inputs = zeroed(launch.agents as usize * stride)?;
    with_job(program, artifact, launch, |job| {
        // Nothing of a default is long enough to be cancelled.
        drive::fill_inputs(job, &mut inputs, &cpu::Control::default())
    })
    .map_err(|cpu::Cancelled| Error::Cancelled)?;
    launch.overwrite_given(&mut inputs);
    Ok(Launch {
        inputs: Arc::new(inputs),
        absent: Vec::new(),
        given: vec![true; stride],
        ..launch.clone()
    })
}

/// Gives `act` the job that a launch is.
fn with_job<T>(
    program: &Program,
    artifact: &Artifact,
    launch: &Launch,
    act: impl FnOnce(&Job<'_>) -> T,
) -> T {
    let data = launch.tables(artifact);
    act(&Job {
        program,
        values: Values {
            seed: launch.seed,
            population: launch.population,
            steps: launch.steps,
            uniform: &launch.uniform,
            data: &data,
        },
        first: launch.first_agent,
        agents: launch.agents,
        inputs: &launch.inputs,
        input_words: artifact.manifest.input_words as usize,
        given: &launch.given,
        absent: &launch.absent,
    })
}
