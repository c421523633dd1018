//! The way from a launch to the vector machine: the CPU backend, and the inputs that a launch leaves to the
//! model.

use crate::{
    bind::{Launch, zeroed},
    control::Control,
    cpu::{
        self,
        vector::{
            Program, Values,
            drive::{self, Column, Job, Results, Shown},
        },
    },
    error::Error,
    memory::Need,
    run::{Keep, Raw},
    statistics::{Part, Stream, Sums, stream_bytes},
    watch::watched,
};
use sim_compiler::{
    artifact::Artifact,
    manifest::{Field, Manifest},
};
use std::sync::Arc;

/// More bytes of outputs that nobody keeps are computed once more rather than held for their quartiles.
const HELD_BYTES: u64 = 256 << 20;

/// Are outputs that need not be kept reduced to statistics block by block, and never held? Otherwise if they are large.
pub(crate) fn reduces(manifest: &Manifest, agents: u32, keep: Keep, asked: Option<bool>) -> bool {
    let bytes = 4 * u64::from(manifest.output_words) * u64::from(agents);
    !keep.outputs && !keep.states && asked.unwrap_or(bytes > HELD_BYTES)
}

/// Adds what a run allocates beside the inputs that the launch gives.
pub(crate) fn need(
    (program, manifest): (&Program, &Manifest),
    (keep, runs, reduces): (Keep, usize, bool),
    need: &mut Need,
) {
    let threads = rayon::current_num_threads();
    need.fixed(
        "work space of all threads",
        threads as u64 * program.block_bytes(),
    );
    match reduces {
        true => need.fixed("statistics", stream_bytes(&manifest.outputs, threads)),
        false => need.results(manifest, keep, runs),
    }
}

/// Runs all agents on all cores. Outputs and step counts are either kept or, if the run `reduces` them, summed.
pub(crate) fn run(
    program: &Program,
    artifact: &Artifact,
    launch: &Launch,
    (keep, reduces): (Keep, bool),
    control: Control<'_>,
) -> Result<Raw, Error> {
    if !reduces {
        return run_kept(program, artifact, launch, keep, control);
    }
    let (sums, passes) = sums(program, artifact, launch, control)?;
    Ok(Raw {
        sums: Some(sums),
        passes,
        ..Raw::of_cpu()
    })
}

/// The statistics of a run whose results are not kept: it is computed as often as they must be seen.
fn sums(
    program: &Program,
    artifact: &Artifact,
    launch: &Launch,
    control: Control<'_>,
) -> Result<(Sums, u32), Error> {
    let mut stream = Stream::new(&artifact.manifest.outputs, rayon::current_num_threads());
    let passes = stream.passes();
    for pass in 0..passes {
        let see = |part: &mut Part, block: &Shown<'_>| {
            block.outputs(|word, values| stream.see(part, word, values));
            stream.see_progress(part, block.progress());
        };
        let mut parts = Vec::new();
        with_job(program, artifact, launch, |job| {
            control.part((pass as usize, passes as usize), |control| {
                watched(launch.agents, launch.steps, control, |inner| {
                    parts = drive::show(job, inner, || stream.part(), see)?;
                    Ok(())
                })
            })
        })?;
        stream.end_pass(parts);
    }
    Ok((stream.sums(), passes))
}

/// Runs all agents, whose results are kept.
fn run_kept(
    program: &Program,
    artifact: &Artifact,
    launch: &Launch,
    keep: Keep,
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
    let mut states = match keep.states {
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
        states: keep.states.then_some(states),
        progress,
        ..Raw::of_cpu()
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
