//! `simc run --sweep …`: runs of a model at many points of its params, and a row of statistics for each.

mod measure;
mod points;
mod report;
mod table;

use crate::{
    failure::Failure,
    fault, interrupt,
    launch::Assignment,
    number, problem,
    progress::{Progress, ProgressArgs},
    source::Source,
    standard_output, terminal, usage,
};
use measure::{Measures, Plan};
use points::Points;
use report::{Place, Report};
use sim_compiler::kernel::schedule::Tuning;
use sim_runtime::Simulation;
use std::path::PathBuf;

/// Most runs of a sweep: points times repeats.
const MOST_RUNS: usize = 1_000_000;

/// Arguments of a sweep.
#[derive(clap::Args)]
#[command(next_help_heading = "Sweeps")]
pub(crate) struct Sweep {
    /// Values of a param, LOW:HIGH:COUNT with both ends or a list with commas; several of these options make
    /// a grid. An element of an array is `w[3]=…`.
    #[arg(long, value_name = "NAME=VALUES", value_parser = Assignment::parse)]
    sweep: Vec<Assignment>,
    /// So many points drawn uniformly from the ranges of the params.
    #[arg(
        long,
        value_name = "N",
        value_parser = number::count,
        allow_negative_numbers = true,
        conflicts_with = "sweep"
    )]
    sweep_random: Option<u32>,
    /// So many points of a scrambled Sobol sequence in the ranges of the params.
    #[arg(
        long,
        value_name = "N",
        value_parser = number::count,
        allow_negative_numbers = true,
        conflicts_with_all = ["sweep", "sweep_random"]
    )]
    sweep_sobol: Option<u32>,
    /// Params of random and Sobol points, with commas [default: all that have a range].
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    sweep_over: Vec<String>,
    /// CSV file of points: a column per param, a row per point; `-` is standard input.
    #[arg(
        long,
        value_name = "FILE",
        value_hint = clap::ValueHint::FilePath,
        conflicts_with_all = ["sweep", "sweep_random", "sweep_sobol"]
    )]
    sweep_file: Option<PathBuf>,
    /// Runs of each point with different seeds, whose values are pooled [default: 1].
    #[arg(long, value_name = "R", value_parser = number::count, allow_negative_numbers = true)]
    repeats: Option<u32>,
    /// Whether all points have the same draws, so that they do not differ by noise [default: true].
    #[arg(long, value_name = "BOOL")]
    common_draws: Option<bool>,
    /// Two outputs whose covariance over the agents of each point is computed.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    covariance: Vec<String>,
}

/// What `simc run` knows of a sweep beside [`Sweep`].
pub(crate) struct Call<'a> {
    pub(crate) source: &'a Source,
    pub(crate) simulation: Simulation,
    /// Agents of each run, if their number is known.
    pub(crate) agents: Option<u32>,
    pub(crate) params: &'a [Assignment],
    pub(crate) tuning: Tuning,
    pub(crate) output: Option<&'a PathBuf>,
    /// May the file be replaced if it is there?
    pub(crate) replaces: bool,
    pub(crate) progress: ProgressArgs,
    pub(crate) quantiles: &'a [f64],
    pub(crate) json: bool,
    pub(crate) quiet: bool,
}

impl Sweep {
    /// Is a sweep asked for?
    ///
    /// # Errors
    /// If there are options of a sweep, but none that says what is swept.
    pub(crate) fn is_asked(&self) -> Result<bool, Failure> {
        let drawn = self.sweep_random.or(self.sweep_sobol).is_some();
        if !self.sweep_over.is_empty() && !drawn {
            return Err(usage::refused(
                "`--sweep-over` needs `--sweep-random` or `--sweep-sobol`",
                "`--sweep NAME=LOW:HIGH:COUNT` sweeps a param over a grid",
            ));
        }
        let asked = drawn || !self.sweep.is_empty() || self.sweep_file.is_some();
        let others = [
            ("--repeats", self.repeats.is_some()),
            ("--common-draws", self.common_draws.is_some()),
            ("--covariance", !self.covariance.is_empty()),
        ];
        match others.iter().find(|(_, given)| *given) {
            Some((option, _)) if !asked => Err(usage::refused(
                format!("`{option}` is for sweeps, and nothing is swept"),
                "add `--sweep NAME=LOW:HIGH:COUNT`, or another option of a sweep",
            )),
            Some(_) | None => Ok(asked),
        }
    }
}

/// Runs a sweep, prints its table and writes it to a file.
pub(crate) fn run(args: &Sweep, call: Call<'_>) -> Result<(), Failure> {
    let output = call.output.map(PathBuf::as_path);
    let place = Place::check(output, call.replaces, call.json)?;
    let mut simulation = call.simulation;
    let manifest = simulation.manifest().clone();
    let has_none = manifest.outputs.is_empty() && manifest.world_rows().outputs.is_empty();
    if has_none {
        return Err(problem::no_outputs().into());
    }
    let points = Points::of(args, &mut simulation, &manifest, call.params)?;
    let repeats = args.repeats.unwrap_or(1) as usize;
    if repeats == 0 {
        return Err(usage::refused(
            "`--repeats` cannot be `0`",
            "a point has at least one run",
        ));
    }
    refuse_many(points.rows.len(), repeats)?;
    let mut tuning = call.tuning;
    if let Some(agents) = call.agents {
        measure::refuse_large(&manifest, agents, repeats)?;
        // Points share dispatches, which keep as much of a device busy as all their agents together.
        let together = points.rows.len() as u64 * repeats as u64 * u64::from(agents);
        let all = u32::try_from(together).unwrap_or(u32::MAX).max(1);
        tuning.kernel_agents.get_or_insert(all);
        simulation.set_tuning(tuning);
    }
    let plan = Plan {
        repeats,
        common_draws: args.common_draws.unwrap_or(true),
        quantiles: match call.quantiles {
            [] => &[0.25, 0.5, 0.75],
            asked => asked,
        },
        covariance: measure::pair(&manifest, &args.covariance)?,
        timed: call.json,
        kernel_agents: tuning.kernel_agents,
    };
    let progress = Progress::start(call.progress);
    let cancel = interrupt::flag();
    let measures = Measures::of(&simulation, &points, &plan, cancel, &|done, total| {
        progress.update(done, total);
    });
    progress.finish();
    // What is wrong with the launch itself is wrong at every point, and says more at its place in the model.
    let measures = measures.map_err(|error| fault::refusal(call.source, error, call.json))?;
    let report = Report::new(&points, &plan, &measures, &manifest);
    let written = report.write(&place);
    let text = match (call.json, call.quiet) {
        (true, _) => report.json(),
        (false, quiet) => report.text(quiet, &place),
    };
    let printed = match place {
        Place::StandardOutput => {
            terminal::note(text);
            Ok(())
        }
        Place::Nowhere | Place::Csv(_) | Place::Json(_) => standard_output::print(text),
    };
    written.and(printed).and(measures.verdict())
}

fn refuse_many(points: usize, repeats: usize) -> Result<(), Failure> {
    match points.checked_mul(repeats) {
        Some(runs) if runs <= MOST_RUNS => Ok(()),
        runs => {
            let runs = runs.map_or("too many".to_owned(), |runs| number::grouped(runs as u64));
            Err(problem::too_large_sweep(
                &format!(
                    "the sweep has {runs} runs, and at most {} are run at a time",
                    number::grouped(MOST_RUNS as u64)
                ),
                "take fewer values of each param or fewer repeats, draw points by `--sweep-sobol N`, or run \
                 parts of the sweep one after the other",
            )
            .into())
        }
    }
}
