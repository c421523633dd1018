//! The way from a launch to the CPU interpreter: the CPU backend, and the inputs that the launch leaves to
//! the model.

use crate::{
    bind::{Launch, zeroed},
    control::Control,
    cpu::{self, Agents, Interpreter},
    error::Error,
    gpu::Raw,
};
use rayon::prelude::*;
use sim_compiler::{
    artifact::Artifact,
    manifest::{Field, Input},
};
use std::{mem, sync::atomic::Ordering, thread, time::Duration};

/// How often a run looks whether it was cancelled, and says how far it is.
const WATCH: Duration = Duration::from_millis(20);
/// Agents that one task of the rearrangement handles.
const BLOCK: usize = 4096;

/// Computes the rows of inputs that the caller did not give. Where only some fields of a struct are absent,
/// the given ones are computed too, for the caller to overwrite.
pub(crate) fn fill_absent_inputs(
    artifact: &Artifact,
    launch: &mut Launch,
    absent: &[&Input],
) -> Result<(), Error> {
    let mut agents = Agents {
        first: launch.first_agent,
        count: launch.agents,
        inputs: mem::take(&mut launch.inputs),
        ..Agents::default()
    };
    with_interpreter(artifact, launch, |interpreter| {
        for (number, default) in artifact.program.input_defaults.iter().enumerate() {
            let fills = |input: &&Input| {
                let rest = input.field.name.strip_prefix(default.input.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            if absent.iter().any(fills) {
                interpreter.input_default(&mut agents, number);
            }
        }
    });
    launch.inputs = agents.inputs;
    Ok(())
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
        inputs: launch.inputs.clone(),
        states: zeroed(count * manifest.state_words as usize)?,
        outputs: zeroed(count * manifest.output_words as usize)?,
        progress: zeroed(count)?,
    };
    with_interpreter(artifact, launch, |interpreter| {
        watched(interpreter, &mut agents, launch.steps, control)
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
        dispatches: 0,
        chunks: 1,
    })
}

/// Runs all steps while another thread watches the caller's wishes.
fn watched(
    interpreter: &Interpreter<'_>,
    agents: &mut Agents,
    steps: u32,
    control: Control<'_>,
) -> Result<(), Error> {
    control.check()?;
    let inner = cpu::Control::default();
    let total = u64::from(agents.count) * u64::from(steps);
    let done = || {
        let agents = inner.agents_done.load(Ordering::Relaxed);
        control.report(agents * u64::from(steps), total);
    };
    if control.cancel.is_none() && control.progress.is_none() {
        return interpreter
            .run(agents, 0..steps, &inner)
            .map_err(|cpu::Cancelled| Error::Cancelled);
    }
    let watcher = thread::current();
    let result = thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let result = interpreter.run(agents, 0..steps, &inner);
            watcher.unpark();
            result
        });
        while !worker.is_finished() {
            thread::park_timeout(WATCH);
            if control.check().is_err() {
                inner.cancel.store(true, Ordering::Relaxed);
            }
            done();
        }
        worker.join()
    });
    match result {
        Ok(result) => result.map_err(|cpu::Cancelled| Error::Cancelled)?,
        Err(panic) => std::panic::resume_unwind(panic),
    }
    done();
    Ok(())
}

/// Gives `act` an interpreter for the launch.
fn with_interpreter<T>(
    artifact: &Artifact,
    launch: &Launch,
    act: impl FnOnce(&Interpreter<'_>) -> T,
) -> T {
    let program = &artifact.program;
    // The program may have fewer tables than the manifest: a pass may have dropped the last use of one.
    let data: Vec<&[u32]> = program
        .data
        .iter()
        .map(|&table| {
            let binding = program[table].word;
            let tables = &artifact.manifest.data;
            let place = tables.iter().position(|data| data.binding == binding);
            place.map_or(&[][..], |place| &launch.data[place][..])
        })
        .collect();
    let interpreter = cpu::Launch {
        program,
        manifest: &artifact.manifest,
        generator: artifact.generator,
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
