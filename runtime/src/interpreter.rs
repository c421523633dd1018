//! The way from a launch to the reference interpreter.

use crate::{
    bind::{Launch, zeroed},
    control::Control,
    cpu::reference::{self, Agents, Interpreter},
    error::Error,
    memory::Need,
    run::{Keep, Raw},
    watch::watched,
};
use rayon::prelude::*;
use sim_compiler::{
    artifact::Artifact,
    manifest::{Field, Manifest},
};
use std::sync::Arc;

/// Agents that one task of the rearrangement handles.
const BLOCK: usize = 4096;

/// Adds what a run allocates beside the inputs that the launch gives: rows of all agents, and what comes of them.
pub(crate) fn need(manifest: &Manifest, (keep, runs): (Keep, usize), need: &mut Need) {
    let rows = [
        ("rows of inputs", manifest.input_words),
        ("rows of states", manifest.state_words),
        ("rows of outputs", manifest.output_words),
    ];
    for (what, words) in rows {
        need.each(what, words.into());
    }
    need.results(manifest, keep, runs);
}

/// Runs all agents on all cores.
pub(crate) fn run(
    artifact: &Artifact,
    launch: &Launch,
    keep_states: bool,
    control: Control<'_>,
) -> Result<Raw, Error> {
    let manifest = &artifact.manifest;
    let count = launch.agents as usize;
    let mut agents = Agents {
        first: launch.first_agent,
        count: launch.agents,
        inputs: match launch.inputs.is_empty() {
            true => zeroed(count * manifest.input_words as usize)?,
            false => launch.inputs.to_vec(),
        },
        states: zeroed(count * manifest.state_words as usize)?,
        outputs: zeroed(count * manifest.output_words as usize)?,
        progress: zeroed(count)?,
    };
    with_interpreter(artifact, launch, |interpreter| {
        for &number in &launch.absent {
            interpreter.input_default(&mut agents, number);
        }
        launch.overwrite_given(&mut agents.inputs);
        watched(launch.agents, launch.steps, control, |inner| {
            interpreter.run(&mut agents, 0..launch.steps, inner)
        })
    })?;
    let rows = |fields: &[Field], words: &[u32], stride: u32| -> Result<Vec<Vec<u32>>, Error> {
        fields
            .iter()
            .map(|field| gather(field, words, stride as usize, count))
            .collect()
    };
    Ok(Raw {
        outputs: rows(&manifest.outputs, &agents.outputs, manifest.output_words)?,
        states: keep_states
            .then(|| rows(&manifest.states, &agents.states, manifest.state_words))
            .transpose()?,
        progress: agents.progress,
        ..Raw::of_cpu()
    })
}

/// The launch with every row of inputs there, those that the model computes too.
pub(crate) fn with_all_inputs(artifact: &Artifact, launch: &Launch) -> Result<Launch, Error> {
    let stride = artifact.manifest.input_words as usize;
    let mut agents = Agents {
        first: launch.first_agent,
        count: launch.agents,
        inputs: zeroed(launch.agents as usize * stride)?,
        ..Agents::default()
    };
    with_interpreter(artifact, launch, |interpreter| {
        for &number in &launch.absent {
            interpreter.input_default(&mut agents, number);
        }
    });
    launch.overwrite_given(&mut agents.inputs);
    Ok(Launch {
        inputs: Arc::new(agents.inputs),
        absent: Vec::new(),
        given: vec![true; stride],
        ..launch.clone()
    })
}

/// Gives `act` an interpreter for the launch.
fn with_interpreter<T>(
    artifact: &Artifact,
    launch: &Launch,
    act: impl FnOnce(&Interpreter<'_>) -> T,
) -> T {
    let program = &artifact.program;
    let data = launch.tables(artifact);
    let interpreter = reference::Launch {
        program,
        manifest: &artifact.manifest,
        generator: artifact.options.generator,
        seed: launch.seed,
        population: launch.population,
        steps: launch.steps,
        uniform: &launch.uniform,
        data: &data,
    }
    .prepare();
    act(&interpreter)
}

/// A field's values out of rows of `stride` words, one row per agent.
fn gather(field: &Field, words: &[u32], stride: usize, count: usize) -> Result<Vec<u32>, Error> {
    let width = field.words() as usize;
    let first = field.word as usize;
    let mut rows = zeroed(count * width)?;
    rows.par_chunks_mut(BLOCK * width)
        .zip(words.par_chunks(BLOCK * stride))
        .for_each(|(rows, words)| {
            for (row, words) in rows.chunks_exact_mut(width).zip(words.chunks_exact(stride)) {
                row.copy_from_slice(&words[first..first + width]);
            }
        });
    Ok(rows)
}
