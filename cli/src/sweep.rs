//! `simc run --sweep …`: runs of a model at many points of its params, and a row of statistics for each.

mod about;
mod forms;
mod measure;
mod pictures;
mod points;
mod report;
mod sampled;
mod table;
mod tables;

use crate::{
    failure::Failure,
    fault, interrupt,
    launch::Assignment,
    number,
    plot::{self, Drawn},
    problem,
    progress::{Progress, ProgressArgs},
    results::{
        self, Form, Target,
        metadata::{Metadata, Origin},
    },
    source::Source,
    standard_output, terminal, usage,
};
use about::Before;
use measure::{Measures, Plan};
use points::Points;
use report::Report;
use sim_compiler::{kernel::schedule::Tuning, manifest::Manifest};
use sim_runtime::Simulation;
use std::path::{Path, PathBuf};
use tables::Tables;

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
    /// What is known before the runs of a simulation, for metadata in a file.
    pub(crate) origin: &'a dyn Fn(&Simulation, &Path) -> Result<Origin, Failure>,
    /// The picture to be drawn.
    pub(crate) plot: Option<plot::Plan>,
    /// Steps of each run, if their number is known.
    pub(crate) steps: Option<u32>,
    /// Seconds from source to artifact.
    pub(crate) compile: f64,
    pub(crate) progress: ProgressArgs,
    pub(crate) quantiles: &'a [f64],
    pub(crate) json: bool,
    pub(crate) quiet: bool,
}

impl Sweep {
    /// How points are chosen.
    fn kind(&self) -> &'static str {
        match (&self.sweep_file, self.sweep_random, self.sweep_sobol) {
            (Some(_), ..) => "file",
            (None, Some(_), _) => "random",
            (None, None, Some(_)) => "sobol",
            (None, None, None) => "grid",
        }
    }

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

/// Runs a sweep, prints its table and writes it to files.
pub(crate) fn run(args: &Sweep, mut call: Call<'_>, target: Option<Target>) -> Result<(), Failure> {
    let manifest = call.simulation.manifest().clone();
    let is_printed = target.as_ref().is_some_and(Target::is_standard_output);
    let (points, mut plan) = planned(args, &mut call, &manifest)?;
    let draws_series = call.plot.as_ref().is_some_and(plot::Plan::has_series);
    plan.samples = draws_series || call.json || target.is_some();
    let planned = tables::planned(&manifest, points.axes.len(), &plan);
    sampled::refuse_large(&manifest, &planned, points.rows.len(), call.steps)?;
    let files = target
        .map(|target| target.plan_sweep(&planned))
        .transpose()?;
    let metadata = files.as_ref().and_then(results::Plan::metadata);
    let before = metadata
        .map(|path| Before::of((call.origin)(&call.simulation, path)?, args, &points))
        .transpose()?;
    let measures = measured(&call, &points, &plan)?;
    let tables = Tables::of(&points, &plan, &measures, &manifest);
    let mut report = Report::new(&points, &plan, &measures, &tables);
    let about = before.and_then(|before| {
        let seed = call.simulation.current_seed();
        let launch = (&manifest, call.compile, seed);
        before.metadata(args, (&points, &plan), (&measures, &tables), launch)
    });
    // What was computed is printed even where the files cannot be written.
    let written = files.map_or(Ok(Vec::new()), |files| match is_printed {
        true => print(&tables, files.form()).map(|()| Vec::new()),
        false => files.write_tables(about, &|form, of, about, out| {
            tables.write(form, of, about, out)
        }),
    });
    report.wrote(written.iter().flatten().cloned());
    let drawn = match (&call.plot, &measures.report) {
        (Some(plot), Some(ran)) => {
            let ran = (ran, call.simulation.current_seed());
            let swept = pictures::swept((args, &points), (&plan, &measures), ran, &manifest);
            plot.draw_sweep(&swept).map(Some)
        }
        // Where no run completed there is nothing to draw.
        (Some(_), None) | (None, _) => Ok(None),
    };
    let picture = match &drawn {
        Ok(Some(Drawn::File(file))) => {
            report.wrote([file.clone()]);
            ""
        }
        Ok(Some(Drawn::Text(text))) => text.as_str(),
        Ok(None) | Err(_) => "",
    };
    let text = match (call.json, call.quiet) {
        (true, _) => report.json(),
        (false, quiet) => report.text(quiet) + picture,
    };
    let printed = match is_printed {
        true => {
            terminal::note(text);
            Ok(())
        }
        false => standard_output::print(text),
    };
    let made = written.map(drop).and(drawn.map(drop));
    made.and(printed).and(measures.verdict())
}

/// Runs a sweep again, and says how; `metadata` is the file that says how it was done first.
///
/// # Errors
/// Those of a sweep, but points may fail; that no run of it completed.
pub(crate) fn repeat(
    args: &Sweep,
    mut call: Call<'_>,
    metadata: &Path,
) -> Result<Metadata, Failure> {
    let manifest = call.simulation.manifest().clone();
    let (points, plan) = planned(args, &mut call, &manifest)?;
    let before = Before::of((call.origin)(&call.simulation, metadata)?, args, &points)?;
    let measures = measured(&call, &points, &plan)?;
    if measures.interrupted {
        return Err(Failure::Interrupted);
    }
    let tables = Tables::of(&points, &plan, &measures, &manifest);
    let launch = (&manifest, call.compile, call.simulation.current_seed());
    let about = before.metadata(args, (&points, &plan), (&measures, &tables), launch);
    match (about, measures.verdict()) {
        (Some(about), _) => Ok(about),
        (None, Err(failure)) => Err(failure),
        (None, Ok(())) => Err(problem::no_outputs().into()),
    }
}

/// The points of a sweep, and what is computed of each.
fn planned<'a, 'c: 'a>(
    args: &Sweep,
    call: &mut Call<'c>,
    manifest: &'a Manifest,
) -> Result<(Points<'a>, Plan<'a>), Failure> {
    let has_outputs = !manifest.outputs.is_empty() || !manifest.world_rows().outputs.is_empty();
    if !has_outputs && manifest.series.is_empty() {
        return Err(problem::no_outputs().into());
    }
    let points = Points::of(args, &mut call.simulation, manifest, call.params)?;
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
        measure::refuse_large(manifest, agents, repeats)?;
        // Points share dispatches, which keep as much of a device busy as all their agents together.
        let together = points.rows.len() as u64 * repeats as u64 * u64::from(agents);
        let all = u32::try_from(together).unwrap_or(u32::MAX).max(1);
        tuning.kernel_agents.get_or_insert(all);
        call.simulation.set_tuning(tuning);
    }
    let plan = Plan {
        repeats,
        common_draws: args.common_draws.unwrap_or(true),
        quantiles: match call.quantiles {
            [] => &[0.25, 0.5, 0.75],
            asked => asked,
        },
        covariance: measure::pair(manifest, &args.covariance)?,
        samples: true,
        timed: call.json,
        kernel_agents: tuning.kernel_agents,
    };
    Ok((points, plan))
}

/// Runs all points, with a bar of their progress.
fn measured(call: &Call<'_>, points: &Points<'_>, plan: &Plan<'_>) -> Result<Measures, Failure> {
    let progress = Progress::start(call.progress);
    let cancel = interrupt::flag();
    let measures = Measures::of(&call.simulation, points, plan, cancel, &|done, total| {
        progress.update(done, total);
    });
    progress.finish();
    // What is wrong with the launch itself is wrong at every point, and says more at its place in the model.
    measures.map_err(|error| fault::refusal(call.source, error, call.json))
}

/// Writes the first table to standard output, and notes which others there are; or all as JSON.
fn print(tables: &Tables, form: Form) -> Result<(), Failure> {
    if form == Form::Json {
        return standard_output::write(|out| tables.write_json(out));
    }
    standard_output::write(|out| tables.points().write_csv(out))?;
    let others = tables.all[1..].iter().map(|(of, _)| of.word());
    let others = others.collect::<Vec<_>>().join(", ");
    if !others.is_empty() {
        terminal::note(format!(
            "standard output has the first table only; with `--output FILE.csv` the others have files: \
             {others}\n"
        ));
    }
    Ok(())
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
