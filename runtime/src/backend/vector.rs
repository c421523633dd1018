//! The CPU backend: runs launches on the vector machine.

use crate::parallel;
use crate::parallel::*;
use crate::{
    batch::{Batch, Deliver, Executor, Running},
    bind::Launch,
    cancel::{cancellable, cancelled},
    control::Keep,
    cpu::{
        self,
        vector::{
            LANES, Lane, Program, Values,
            drive::{self, Before, Column, Job, Results, Samples, Shown},
        },
    },
    cut::Part,
    error::Error,
    memory::{Need, zeroed},
    results::{RawResults, Sampled, Target, columns},
    run::Device,
    statistics::{self, Stream, Sums, stream_bytes},
};
use sim_compiler::{
    artifact::Artifact,
    manifest::{Manifest, Series},
    value::WORD_BYTES,
};
use std::sync::Arc;

/// Outputs of more bytes than this are computed again for their quartiles rather than held, if the caller
/// does not keep them.
const HELD_BYTES: u64 = 256 << 20;

/// Blocks of agents for each thread, of runs that are computed at the same time.
const BLOCKS: usize = 16;
/// Most bytes of their results.
const SHARED_BYTES: u64 = 64 << 20;

/// Instructions times lanes of the runs that are worth compiling functions for: some milliseconds of a core.
const WORTH_FUNCTIONS: u64 = 1 << 26;

/// The vector machine with a model's program.
pub(crate) struct VectorBackend<L = u32> {
    pub(crate) program: Program<L>,
    pub(crate) artifact: Arc<Artifact>,
    /// See [`Tuning::reduce`](crate::Tuning::reduce).
    pub(crate) reduce: Option<bool>,
    /// See [`Tuning::jit`](crate::Tuning::jit).
    pub(crate) jit: Option<bool>,
    /// What the runs so far took: instructions times lanes.
    pub(crate) work: u64,
}

impl<L: Lane> Executor for VectorBackend<L> {
    fn device(&self) -> Device {
        Device::Cpu(self.program.isa())
    }

    fn need(&self, launch: &Launch, keep: Keep, held: usize) -> Need {
        let manifest = &self.artifact.manifest;
        let threads = parallel::current_num_threads();
        let mut need = Need::new(launch.agents);
        need.fixed(
            "work space of all threads",
            drive::work_space(&self.program, launch.agents, launch.members),
        );
        match self.reduces(launch.agents, keep) {
            true => need.fixed("statistics", stream_bytes(&manifest.outputs, threads)),
            false => need.results(manifest, keep, held),
        }
        need.series(manifest, launch.steps, launch.worlds(), held);
        need
    }

    fn run<'a>(&'a mut self, batch: &'a Batch<'a>, deliver: Deliver<'a>) -> Running<'a> {
        Box::pin(async { self.run_all(batch, deliver) })
    }
}

impl<L: Lane> VectorBackend<L> {
    /// Runs a batch, as many runs side by side as share the threads.
    fn run_all(&mut self, batch: &Batch<'_>, deliver: Deliver<'_>) -> Result<(), Error> {
        let mut now = self.launches(batch, 0)?;
        let agents = now.0[0].agents;
        let each = u64::from(agents) * batch.part.steps().len() as u64;
        let passes = match self.reduces(agents, batch.keep) && !batch.part.is_cut(now.0[0].steps) {
            true => self.stream().passes(),
            false => 1,
        };
        let all = each * u64::from(passes) * batch.runs as u64;
        self.install_functions(all);
        let machine = &*self;
        cancellable(all, batch.control, |control| {
            let mut first = 0;
            loop {
                let (launches, failed) = now;
                let raw = machine.run_side_by_side(batch, &launches, control)?;
                for (number, mut raw) in (first..).zip(raw) {
                    raw.decisions.extend(machine.program.jit().decision());
                    if number > first {
                        batch.control.check()?;
                    }
                    deliver(number, raw);
                }
                first += launches.len();
                failed.map_or(Ok(()), Err)?;
                if first == batch.runs {
                    return Ok(());
                }
                batch.control.check()?;
                now = machine.launches(batch, first)?;
            }
        })
    }

    /// Compiles functions for the program, if that is asked for, or worth it with so many agent-steps more.
    fn install_functions(&mut self, agent_steps: u64) {
        let instructions = self.program.lane_instructions() as u64;
        self.work = (agent_steps.saturating_mul(instructions)).saturating_add(self.work);
        if self.jit.unwrap_or(self.work >= WORTH_FUNCTIONS) {
            self.program.install_functions();
        }
    }

    fn stream(&self) -> Stream {
        Stream::new(&self.manifest().outputs, parallel::current_num_threads())
    }

    fn manifest(&self) -> &Manifest {
        &self.artifact.manifest
    }

    /// Whether outputs that the caller does not keep are reduced to statistics block by block and never held.
    /// Those of `f64` are taken of sorted values, which are held.
    fn reduces(&self, agents: u32, keep: Keep) -> bool {
        let bytes = u64::from(self.manifest().output_words) * u64::from(agents) * WORD_BYTES;
        let may = !keep.outputs && !keep.states && L::REAL.is_single();
        may && self.reduce.unwrap_or(bytes > HELD_BYTES)
    }

    /// Runs launches that share the threads. A part that is cut and a run that is reduced are alone.
    fn run_side_by_side(
        &self,
        batch: &Batch<'_>,
        launches: &[Arc<Launch>],
        control: &cpu::Control<'_>,
    ) -> Result<Vec<RawResults>, Error> {
        let first = &launches[0];
        if batch.part.is_cut(first.steps) {
            return Ok(vec![self.run_cut(first, batch.part, control)?]);
        }
        match self.reduces(first.agents, batch.keep) {
            true => Ok(vec![self.run_reduced(first, batch.part, control)?]),
            false => self.run_kept(batch, launches, control),
        }
    }

    /// The launches of the next runs, which share the threads; and what is wrong with the one after them, if
    /// anything. There is at least one.
    fn launches(
        &self,
        batch: &Batch<'_>,
        first: usize,
    ) -> Result<(Vec<Arc<Launch>>, Option<Error>), Error> {
        let mut launches = vec![(batch.launch)(first)?];
        let most = self.together(&launches[0], batch.keep);
        for number in first + 1..batch.runs.min(first + most) {
            match (batch.launch)(number) {
                Ok(launch) => launches.push(launch),
                Err(error) => return Ok((launches, Some(error))),
            }
        }
        Ok((launches, None))
    }

    /// How many runs like this one share the threads: as many as give each thread some blocks.
    fn together(&self, launch: &Launch, keep: Keep) -> usize {
        let manifest = self.manifest();
        let mut need = Need::new(launch.agents);
        need.results(manifest, keep.with_outputs(), 1);
        need.series(manifest, launch.steps, launch.worlds(), 1);
        let by_memory = SHARED_BYTES / need.bytes().max(1);
        let by_blocks = parallel::current_num_threads() * BLOCKS * LANES / launch.agents as usize;
        by_blocks.min(by_memory as usize).max(1)
    }

    /// Runs a part that ends before the last of all steps, and keeps what the next part needs.
    fn run_cut(
        &self,
        launch: &Launch,
        part: Part<'_>,
        control: &cpu::Control<'_>,
    ) -> Result<RawResults, Error> {
        let (manifest, of_worlds) = (self.manifest(), self.manifest().world_rows());
        let mut raw = RawResults::empty(manifest, launch, Keep::NOTHING, part)?;
        if part.previews {
            raw.outputs = columns(&manifest.outputs, launch.agents)?;
            raw.world_outputs = columns(&of_worlds.outputs, launch.worlds())?;
        }
        let mut saved = raw.saved.take().expect("the part is cut");
        let mut to = raw.target(manifest, launch, part);
        with_job(&self.program, &self.artifact, launch, (part, 1), |job| {
            let results = Results {
                outputs: Column::of(&manifest.outputs, &mut to.outputs),
                world_outputs: Column::of(&of_worlds.outputs, &mut to.world_outputs),
                saved: Column::by_word(&mut saved.states),
                world_saved: Column::by_word(&mut saved.world_states),
                series: samples(manifest, part, &mut to.series),
                progress: &mut saved.progress,
                ..Results::default()
            };
            drive::run(job, results, control).map_err(cancelled)
        })?;
        raw.saved = Some(saved);
        Ok(raw)
    }

    fn run_reduced(
        &self,
        launch: &Launch,
        part: Part<'_>,
        control: &cpu::Control<'_>,
    ) -> Result<RawResults, Error> {
        let mut raw = RawResults::empty(self.manifest(), launch, Keep::NOTHING, part)?;
        let (sums, passes) = self.sums(launch, part, &mut raw, control)?;
        Ok(RawResults {
            sums: Some(sums),
            passes,
            ..raw
        })
    }

    /// The statistics of a run, and how many times it was computed for them.
    fn sums(
        &self,
        launch: &Launch,
        part: Part<'_>,
        raw: &mut RawResults,
        control: &cpu::Control<'_>,
    ) -> Result<(Sums, u32), Error> {
        let mut stream = self.stream();
        let passes = stream.passes();
        let mut to = raw.target(self.manifest(), launch, part);
        for _ in 0..passes {
            let see = |sums: &mut statistics::Part, block: &Shown<'_, L>| {
                block.outputs(|word, values| stream.see(sums, word, values));
                stream.see_progress(sums, block.progress());
            };
            let parts = with_job(&self.program, &self.artifact, launch, (part, 1), |job| {
                let fields = &self.manifest().world_rows().outputs;
                let results = Results {
                    world_outputs: Column::of(fields, &mut to.world_outputs),
                    series: samples(self.manifest(), part, &mut to.series),
                    ..Results::default()
                };
                drive::show(job, results, control, || stream.part(), see).map_err(cancelled)
            })?;
            stream.end_pass(parts);
        }
        Ok((stream.sums(), passes))
    }

    /// Runs launches side by side.
    fn run_kept(
        &self,
        batch: &Batch<'_>,
        launches: &[Arc<Launch>],
        control: &cpu::Control<'_>,
    ) -> Result<Vec<RawResults>, Error> {
        let (manifest, keep) = (self.manifest(), batch.keep.with_outputs());
        let empty = |launch: &Arc<Launch>| batch.room(manifest, launch, keep);
        let mut all = launches.iter().map(empty).collect::<Result<Vec<_>, _>>()?;
        let (part, how) = (batch.part, (batch.part, launches.len()));
        if let ([raw], [launch]) = (&mut all[..], launches) {
            let run = |to: &mut Target<'_>| self.run_into(launch, to, how, control);
            (batch.with_target(manifest, launch, raw, run)).map_err(cancelled)?;
            return Ok(all);
        }
        let runs = all.par_iter_mut().zip(launches);
        runs.try_for_each(|(raw, launch)| {
            self.run_into(
                launch,
                &mut raw.target(manifest, launch, part),
                how,
                control,
            )
        })
        .map_err(cancelled)?;
        Ok(all)
    }

    /// Runs one of `jobs` launches that share the threads.
    fn run_into(
        &self,
        launch: &Launch,
        to: &mut Target<'_>,
        (part, jobs): (Part<'_>, usize),
        control: &cpu::Control,
    ) -> Result<(), cpu::Cancelled> {
        let manifest = self.manifest();
        with_job(&self.program, &self.artifact, launch, (part, jobs), |job| {
            let states = to.states.as_deref_mut().unwrap_or_default();
            let world_states = to.world_states.as_deref_mut().unwrap_or_default();
            let rows = manifest.world_rows();
            let results = Results {
                outputs: Column::of(&manifest.outputs, &mut to.outputs),
                states: Column::of(&manifest.states, states),
                world_outputs: Column::of(&rows.outputs, &mut to.world_outputs),
                world_states: Column::of(&rows.states, world_states),
                series: samples(manifest, part, &mut to.series),
                progress: &mut *to.progress,
                ..Results::default()
            };
            drive::run(job, results, control)
        })
    }
}

/// The destinations of what is sampled.
fn samples<'a>(manifest: &Manifest, part: Part<'_>, to: &'a mut [Sampled<'_>]) -> Vec<Samples<'a>> {
    let of = |(series, to): (&Series, &'a mut Sampled<'_>)| {
        let taken = part.samples(manifest.samplings[series.sampling as usize]);
        Samples {
            sampling: series.sampling as usize,
            of_agents: to.of_agents,
            word: series.field.word,
            width: series.stored_words(manifest.real) as usize,
            first: taken.start,
            samples: to.samples.iter_mut().map(|words| &mut **words).collect(),
        }
    };
    manifest.series.iter().zip(to).map(of).collect()
}

/// The launch with every input computed.
///
/// # Errors
/// [`Error::HostMemory`]
pub(crate) fn with_all_inputs<L: Lane>(
    program: &Program<L>,
    artifact: &Artifact,
    launch: &Launch,
) -> Result<Launch, Error> {
    let stride = artifact.manifest.input_words as usize;
    let mut inputs = match launch.inputs.is_empty() {
        true => zeroed(launch.agents as usize * stride)?,
        false => launch.inputs.to_vec(),
    };
    let part = Part::whole(launch.steps);
    with_job(program, artifact, launch, (part, 1), |job| {
        // Defaults of inputs are short: no need to cancel them.
        drive::fill_inputs(job, &mut inputs, &cpu::Control::default())
    })
    .map_err(cancelled)?;
    Ok(launch.with_inputs(inputs))
}

/// Calls `act` with the job that describes a part of a launch, one of `jobs` that run at the same time.
fn with_job<L: Lane, T>(
    program: &Program<L>,
    artifact: &Artifact,
    launch: &Launch,
    (part, jobs): (Part<'_>, usize),
    act: impl FnOnce(&Job<'_, L>) -> T,
) -> T {
    let data = launch.tables(&artifact.program, artifact);
    act(&Job {
        program,
        values: Values {
            seed: launch.seed,
            population: launch.population,
            steps: launch.steps,
            members: launch.members,
            uniform: &launch.uniform,
            data: &data,
        },
        first: launch.first_agent,
        agents: launch.agents,
        inputs: &launch.inputs,
        input_words: artifact.manifest.input_words as usize,
        world_inputs: &launch.world_inputs,
        world_input_words: artifact.manifest.world_rows().input_words as usize,
        given: &launch.given,
        absent: &launch.absent,
        steps: part.steps(),
        finishes: part.previews || !part.is_cut(launch.steps),
        before: part.from.map(|from| Before {
            states: &from.states,
            world_states: &from.world_states,
            progress: &from.progress,
        }),
        jobs,
    })
}
