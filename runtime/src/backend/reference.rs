//! The reference backend: runs launches on the interpreter of the IR.

use super::run_sequentially;
use crate::parallel::*;
use crate::{
    batch::{Batch, Deliver, Executor, Running},
    bind::{Launch, with_interpreter},
    cancel::{cancellable, cancelled},
    control::{Control, Keep},
    cpu::reference::{Agents, WorldRows},
    cut::{Part, Saved},
    error::Error,
    memory::{Need, zeroed},
    results::RawResults,
    run::Device,
    series::Places,
};
use sim_compiler::{
    artifact::Artifact,
    manifest::{Field, Manifest, Series},
};
use std::sync::Arc;

/// Agents per parallel task when rows are taken apart into fields.
const BLOCK: usize = 4096;

/// The reference interpreter with a model.
pub(crate) struct ReferenceBackend {
    pub(crate) artifact: Arc<Artifact>,
}

impl Executor for ReferenceBackend {
    fn device(&self) -> Device {
        Device::Reference
    }

    fn need(&self, launch: &Launch, keep: Keep, held: usize) -> Need {
        let manifest = &self.artifact.manifest;
        let mut need = Need::new(launch.agents);
        let rows = [
            ("rows of inputs", manifest.input_words),
            ("rows of states", manifest.state_words),
        ];
        for (what, words) in rows {
            need.each(what, words.into());
        }
        need.each("rows of outputs", manifest.result_words(launch.steps));
        need.results(manifest, keep, held);
        need.series(manifest, launch.steps, launch.worlds(), held);
        need
    }

    fn run<'a>(&'a mut self, batch: &'a Batch<'a>, deliver: Deliver<'a>) -> Running<'a> {
        Box::pin(async {
            run_sequentially(batch, deliver, |launch, control| {
                let mut raw = run(&self.artifact, launch, batch.keep, batch.part, control)?;
                if let Some(lend) = batch.target {
                    let manifest = &self.artifact.manifest;
                    lend(&mut |to| to.copy(raw.target(manifest, launch, batch.part)));
                    return Ok(RawResults::bare());
                }
                Ok(raw)
            })
        })
    }
}

fn run(
    artifact: &Artifact,
    launch: &Launch,
    keep: Keep,
    part: Part<'_>,
    control: Control<'_>,
) -> Result<RawResults, Error> {
    let manifest = &artifact.manifest;
    let count = launch.agents as usize;
    let (worlds, rows) = (launch.worlds() as usize, manifest.world_rows());
    let [output_words, world_output_words] = output_words(manifest, launch);
    let mut agents = Agents {
        first: launch.first_agent,
        count: launch.agents,
        members: launch.members,
        inputs: match launch.inputs.is_empty() {
            true => zeroed(count * manifest.input_words as usize)?,
            false => launch.inputs.to_vec(),
        },
        states: zeroed(count * manifest.state_words as usize)?,
        outputs: zeroed(count * output_words)?,
        progress: zeroed(count)?,
        world: WorldRows {
            inputs: launch.world_inputs.to_vec(),
            states: zeroed(worlds * rows.state_words as usize)?,
            outputs: zeroed(worlds * world_output_words)?,
        },
    };
    if let Some(from) = part.from {
        scatter(&from.states, &mut agents.states);
        scatter(&from.world_states, &mut agents.world.states);
        agents.progress.copy_from_slice(&from.progress);
    }
    with_interpreter(artifact, launch, |interpreter| {
        for &number in &launch.absent {
            agents.input_default(interpreter, number);
        }
        launch.overwrite_given(&mut agents.inputs);
        let steps = part.steps();
        let all = u64::from(launch.agents) * steps.len() as u64;
        cancellable(all, control, |inner| {
            agents.run(interpreter, steps, inner).map_err(cancelled)
        })
    })??;
    results(manifest, launch, keep, part, agents)
}

/// The results of a run, of the rows that it left.
fn results(
    manifest: &Manifest,
    launch: &Launch,
    keep: Keep,
    part: Part<'_>,
    agents: Agents,
) -> Result<RawResults, Error> {
    let rows = manifest.world_rows();
    let [output_words, world_output_words] = output_words(manifest, launch);
    let mut raw = RawResults::empty(manifest, launch, keep.with_outputs(), part)?;
    for (series, words) in manifest.series.iter().zip(&mut raw.series) {
        let (all, first) = match series.is_of_agents() {
            true => (&agents.outputs, manifest.output_words),
            false => (&agents.world.outputs, rows.output_words),
        };
        gather_series(manifest, series, (launch, part), first, all, words);
    }
    if let Some(saved) = &mut raw.saved {
        save(agents, saved);
        return Ok(raw);
    }
    gather_all(
        &manifest.outputs,
        &agents.outputs,
        output_words,
        &mut raw.outputs,
    );
    if let Some(states) = &mut raw.states {
        let stride = manifest.state_words as usize;
        gather_all(&manifest.states, &agents.states, stride, states);
    }
    let words = rows.state_words as usize;
    gather_all(
        &rows.outputs,
        &agents.world.outputs,
        world_output_words,
        &mut raw.world_outputs,
    );
    if let Some(states) = &mut raw.world_states {
        gather_all(&rows.states, &agents.world.states, words, states);
    }
    if keep.steps {
        raw.progress = agents.progress;
    }
    Ok(raw)
}

/// Keeps what the next part of the run needs.
fn save(agents: Agents, saved: &mut Saved) {
    for (columns, rows) in [
        (&mut saved.states, &agents.states),
        (&mut saved.world_states, &agents.world.states),
    ] {
        let width = columns.len();
        for (word, column) in columns.iter_mut().enumerate() {
            let own = rows.iter().skip(word).step_by(width);
            column
                .iter_mut()
                .zip(own)
                .for_each(|(to, &from)| *to = from);
        }
    }
    saved.progress = agents.progress;
}

/// Copies columns, one per word, to rows.
fn scatter(columns: &[Vec<u32>], rows: &mut [u32]) {
    for (word, column) in columns.iter().enumerate() {
        let own = rows.iter_mut().skip(word).step_by(columns.len());
        own.zip(column).for_each(|(to, &from)| *to = from);
    }
}

/// Words of an agent's and of a world's outputs, behind which samples lie.
fn output_words(manifest: &Manifest, launch: &Launch) -> [usize; 2] {
    let worlds = u64::from(manifest.world_rows().output_words);
    [
        manifest.result_words(launch.steps) as usize,
        (worlds + manifest.world_record_words(launch.steps)) as usize,
    ]
}

/// The launch with every input computed.
///
/// # Errors
/// [`Error::HostMemory`]
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
            agents.input_default(interpreter, number);
        }
    })?;
    launch.overwrite_given(&mut agents.inputs);
    Ok(launch.with_inputs(agents.inputs))
}

/// Copies the samples that a part takes of a series out of rows, of which each has places for all samples
/// from the word `first` on.
fn gather_series(
    manifest: &Manifest,
    series: &Series,
    (launch, part): (&Launch, Part<'_>),
    first: u32,
    rows: &[u32],
    words: &mut [u32],
) {
    let places = Places::of(manifest, series, launch.steps);
    let count = places.rows(launch.agents, launch.worlds());
    let stride = rows.len() / count.max(1);
    let width = places.width;
    let samples = part.samples(manifest.samplings[series.sampling as usize]);
    for (sample, words) in samples.zip(words.chunks_mut((count * width).max(1))) {
        let from = first as usize + places.word(sample);
        for (words, row) in words.chunks_exact_mut(width).zip(rows.chunks_exact(stride)) {
            words.copy_from_slice(&row[from..from + width]);
        }
    }
}

/// Copies fields out of rows of `stride` words, one row per agent.
fn gather_all(fields: &[Field], rows: &[u32], stride: usize, columns: &mut [Vec<u32>]) {
    for (field, column) in fields.iter().zip(columns) {
        gather(field, rows, stride, column);
    }
}

fn gather(field: &Field, rows: &[u32], stride: usize, column: &mut [u32]) {
    let width = field.words() as usize;
    let first = field.word as usize;
    column
        .par_chunks_mut(BLOCK * width)
        .zip(rows.par_chunks(BLOCK * stride))
        .for_each(|(column, rows)| {
            for (values, row) in column
                .chunks_exact_mut(width)
                .zip(rows.chunks_exact(stride))
            {
                values.copy_from_slice(&row[first..first + width]);
            }
        });
}
