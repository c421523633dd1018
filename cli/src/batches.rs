//! `simc run --output FILE` for populations beyond memory: agents are run in batches, and their rows are
//! written as they come.

use crate::{
    costs::Own,
    failure::Failure,
    fault, interrupt, number,
    progress::{Progress, ProgressArgs},
    results::{Plan, Stream, metadata::Marks},
    source::Source,
    summary::{Done, Summary, rows_of_moments},
    usage,
};
use sim_compiler::manifest::{Field, Manifest};
use sim_runtime::{AgentBatches, Column, Control, Report, Tallies, Timing, available_memory};
use std::time::Instant;

/// Most bytes of the rows of a batch, if memory allows.
const BATCH_BYTES: u64 = 256 << 20;

/// Arguments of batches.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct BatchArgs {
    /// Run so many agents at a time and write their rows as they come [default: all agents together, if
    /// their outputs take no more than a third of the memory].
    #[arg(
        long,
        value_name = "AGENTS",
        value_parser = number::count,
        allow_negative_numbers = true,
        requires = "output",
        help_heading = "Results"
    )]
    batch: Option<u32>,
}

impl BatchArgs {
    /// Batches of so many agents, or none.
    pub(crate) fn of(batch: Option<u32>) -> BatchArgs {
        BatchArgs { batch }
    }

    /// The agents of a batch that the command line asks for.
    pub(crate) fn asked(self) -> Option<u32> {
        self.batch
    }

    /// The agents of a batch, if a run of so many agents is in batches. `others` are options that need all
    /// agents at once, and whether they are given.
    ///
    /// # Errors
    /// If batches are asked for that cannot be.
    pub(crate) fn size(
        self,
        plan: &Plan,
        manifest: &Manifest,
        agents: Option<u32>,
        others: &[(&str, bool)],
    ) -> Result<Option<u32>, Failure> {
        let other = others.iter().find(|(_, given)| *given);
        match (self.batch, other) {
            (Some(0), _) => Err(usage::refused(
                "`--batch` cannot be `0`",
                "a batch has at least one agent",
            )),
            (Some(_), Some((option, _))) => Err(usage::refused(
                format!("`{option}` needs all agents at once, and `--batch` runs them in batches"),
                "leave out one of the two",
            )),
            (Some(size), None) => plan.check_streams().map(|()| Some(size)),
            (None, Some(_)) => Ok(None),
            (None, None) if !plan.streams() || !manifest.series.is_empty() => Ok(None),
            (None, None) => Ok(agents.and_then(|agents| fitting(manifest, agents))),
        }
    }
}

/// The agents of a batch where all of them together would take more than a third of the memory.
fn fitting(manifest: &Manifest, agents: u32) -> Option<u32> {
    let words = u64::from(manifest.output_words) + u64::from(manifest.input_words) + 1;
    let each = 4 * words;
    let available = available_memory()?;
    let bytes = BATCH_BYTES.min(available / 6);
    let size = u32::try_from(bytes / each).unwrap_or(u32::MAX).max(1 << 12);
    (each * u64::from(agents) > available / 3).then_some(size)
}

/// How batches are run.
#[derive(Clone, Copy)]
pub(crate) struct How<'a> {
    pub(crate) source: &'a Source,
    pub(crate) manifest: &'a Manifest,
    pub(crate) progress: ProgressArgs,
    pub(crate) json: bool,
}

/// What all batches of a run did.
pub(crate) struct Batched {
    /// The sums of their numbers and times.
    pub(crate) report: Report,
    pub(crate) marks: Marks,
    /// How many there were.
    batches: u32,
    agent_steps: u64,
    stopped: u64,
    /// By output of agents and of worlds.
    tallies: [Vec<Tallies>; 2],
}

impl Batched {
    /// Runs all batches, and adds the rows of each to the stream, if there is one.
    ///
    /// # Errors
    /// Those of a run and of writing.
    pub(crate) fn run(
        how: How<'_>,
        batches: &mut AgentBatches<'_>,
        mut stream: Option<&mut Stream<'_>>,
    ) -> Result<Batched, Failure> {
        let progress = Progress::start(how.progress);
        let control = Control {
            cancel: Some(interrupt::flag()),
            progress: Some(&|done, total| progress.update(done, total)),
            timing: how.json.then_some(Timing::ONCE),
        };
        let manifest = how.manifest;
        let tallies = |fields: &[Field]| fields.iter().map(Tallies::new).collect::<Vec<_>>();
        let mut marks = Marks::default();
        let mut tallies = [
            tallies(&manifest.outputs),
            tallies(&manifest.world_rows().outputs),
        ];
        let (mut agent_steps, mut stopped) = (0, 0);
        let mut all: Option<Report> = None;
        for number in 0..batches.count() {
            let run = batches.run(number, &control);
            let run = run.map_err(|error| {
                progress.finish();
                fault::refusal(how.source, error, how.json)
            })?;
            let started = Instant::now();
            let columns: [&[Column]; 2] = [run.outputs(), run.world_outputs()];
            for (tally, column) in tallies
                .iter_mut()
                .flatten()
                .zip(columns.into_iter().flatten())
            {
                tally.add(column);
            }
            marks.add(&run);
            agent_steps += run.agent_steps();
            stopped += run.stopped_agents();
            let mut report = run.report().clone();
            report.statistics_seconds += started.elapsed().as_secs_f64();
            if let Some(stream) = &mut stream {
                stream.add(&run)?;
            }
            match &mut all {
                Some(all) => all.add(&report),
                None => all = Some(report),
            }
        }
        progress.finish();
        let report = all.expect("a population has at least one agent, and so one batch");
        Ok(Batched {
            report,
            marks,
            batches: batches.count(),
            agent_steps,
            stopped,
            tallies,
        })
    }

    /// What is said about them.
    pub(crate) fn summary(&self, manifest: &Manifest, own: Own) -> Summary {
        let done = Done {
            report: &self.report,
            agent_steps: self.agent_steps,
            stopped: self.stopped,
        };
        let worlds = &manifest.world_rows().outputs;
        let fields = [&manifest.outputs, worlds];
        let rows = [0, 1].map(|at| {
            let tallied = fields[at].iter().zip(&self.tallies[at]);
            let rows = tallied.map(|(field, tally)| rows_of_moments(field, tally.moments()));
            rows.flatten().collect()
        });
        Summary::of_batches(self.batches, done, manifest, own, rows)
    }
}
