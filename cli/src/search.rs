//! `simc search`: the inputs with which a fitness is best. Each agent is a candidate.

mod method;
mod report;
mod saving;

use crate::{
    failure::Failure,
    interrupt, number,
    prepared::{ModelArgs, Prepared},
    problem,
    progress::ProgressArgs,
    results::Plain,
    standard_output, terminal,
};
use method::{Name, Settings, range, real};
use report::Report;
use saving::Saving;
use serde_json::json;
use sim_runtime::{Aim, Control, Generation, Range, Search, SearchEnded, Searching};
use std::{
    path::PathBuf,
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

/// Time between two lines about the progress.
const PAUSE: Duration = Duration::from_secs(1);
/// The same as JSON.
const PAUSE_JSON: Duration = Duration::from_millis(250);

/// Arguments of `simc search`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  simc search cartpole.sim --maximise reward --over w1,b1,w2,b2 -o elites.npz
  simc run cartpole.sim --agents 10 --input w1=elites.npz --input b1=elites.npz \\
      --input w2=elites.npz --input b2=elites.npz
  simc search ackley.sim --maximise fitness --over x --method cma-es --agents 100 --target -1e-4
  simc search policy.sim --maximise score --over w --generations 1000 --islands 8 --patience 50
  simc search policy.sim --maximise score --over w --method open-es --evaluations 4
  simc search policy.sim --maximise score --over w --checkpoint search.ckpt
  simc search policy.sim --maximise score --over w --resume search.ckpt --generations 2000

Genomes begin as the model draws its inputs, or uniformly in --from. Fitness that depends on draws is noisy:
--evaluations averages it, --common-draws gives all candidates the same draws, and the table has the fitness
of the best in new draws, which luck has not chosen. Ctrl-C lets the generation end and gives the best so
far, with exit code 130. docs/search.md says which method is for what.")]
pub(crate) struct Args {
    #[command(flatten)]
    model: ModelArgs,
    /// The output of agents that is made large.
    #[arg(
        long,
        visible_alias = "maximize",
        value_name = "OUTPUT",
        required_unless_present_any = ["minimise", "adapter"],
        conflicts_with = "minimise"
    )]
    maximise: Option<String>,
    /// The output of agents that is made small.
    #[arg(long, visible_alias = "minimize", value_name = "OUTPUT")]
    minimise: Option<String>,
    /// Float inputs of agents to search over, with commas: the genome.
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        required_unless_present = "adapter"
    )]
    over: Vec<String>,
    /// Generations.
    #[arg(long, value_name = "N", value_parser = number::count, default_value = "100")]
    generations: u32,
    /// How genomes are found.
    #[arg(long, value_enum, default_value = "ga")]
    method: Name,
    /// End when the best candidate has this fitness.
    #[arg(long, value_name = "FITNESS", value_parser = real, allow_hyphen_values = true)]
    target: Option<f64>,
    /// Runs of a generation, each with draws of its own; fitness is the mean over them.
    #[arg(long, value_name = "N", value_parser = number::count, default_value = "1")]
    evaluations: u32,
    /// Give all candidates of a generation the same draws: each has a run of its own, of --evaluations
    /// agents.
    #[arg(long)]
    common_draws: bool,
    /// Give every generation the draws of --seed, instead of new ones.
    #[arg(long)]
    fixed_draws: bool,
    /// Begin with genes that are uniform in this range, of one input or of all, instead of those that the
    /// launch gives or draws.
    #[arg(
        long,
        value_name = "[NAME=]LOW:HIGH",
        value_parser = range,
        allow_hyphen_values = true
    )]
    from: Vec<Range>,
    /// Keep genes in this range, of one input or of all.
    #[arg(
        long,
        value_name = "[NAME=]LOW:HIGH",
        value_parser = range,
        allow_hyphen_values = true
    )]
    within: Vec<Range>,
    /// The best candidates of all generations that are kept, compared and written.
    #[arg(long, value_name = "N", value_parser = number::count, default_value = "10")]
    elites: u32,
    /// Seed of the search; the first genomes, where the model draws them, have --seed.
    #[arg(long, value_name = "N", value_parser = number::seed, default_value = "0")]
    search_seed: u64,
    #[command(flatten)]
    settings: Settings,
    #[command(flatten)]
    saving: Saving,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// File for the best candidates: their inputs and fitness, a row each, as .npz, .npy, .csv, .parquet,
    /// .arrow or .feather. `simc run --input NAME=FILE` takes it.
    #[arg(long, short, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// Replace that file if it is there.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    progress: ProgressArgs,
}

impl Args {
    /// What is searched, and how.
    fn search(&self) -> Result<Search, Failure> {
        let (aim, fitness) = match (&self.maximise, &self.minimise) {
            (Some(name), _) => (Aim::Maximise, name.as_str()),
            (None, Some(name)) => (Aim::Minimise, name.as_str()),
            // `--adapter list` alone.
            (None, None) => (Aim::Maximise, ""),
        };
        Ok(Search {
            fitness: fitness.trim().to_owned(),
            aim,
            over: (self.over.iter())
                .map(|name| name.trim().to_owned())
                .collect(),
            method: self.settings.method(self.method)?,
            generations: self.generations.max(1),
            target: self.target,
            evaluations: self.evaluations.max(1),
            common_draws: self.common_draws,
            fixed_draws: self.fixed_draws,
            from: self.from.clone(),
            within: self.within.clone(),
            elites: self.elites.max(1),
            seed: self.search_seed,
        })
    }
}

/// Searches and prints what was found.
pub(crate) fn search(args: &Args) -> Result<(), Failure> {
    let search = args.search()?;
    let plain = match &args.output {
        Some(path) => {
            let plain = Plain::new(path, args.force);
            Some(plain.ok_or_else(|| problem::elites_form(path))?)
        }
        None => None,
    };
    let Some(prepared) = args.model.prepare()? else {
        return Ok(());
    };
    let saved = args.saving.open()?;
    let Prepared { source, simulation } = &prepared;
    let refusal = |error| source.refusal(error);
    let mut searching = args.saving.begin(simulation, &search, saved, refusal)?;
    if let Some(plain) = &plain {
        plain.check(&searching.fields())?;
    }
    let before = searching.generation();
    let started = Instant::now();
    let ran = run(args, &mut searching);
    let seconds = started.elapsed().as_secs_f64();
    args.saving.save(&mut searching);
    let generations = searching.generation() - before;
    let failed = match ran {
        // What was found before an error is given nevertheless.
        Err(error) if searching.generation() > 0 => Some(error),
        Err(error) => return Err(refusal(error)),
        Ok(()) => None,
    };
    let control = Control {
        cancel: Some(interrupt::flag()),
        ..Control::default()
    };
    let found = searching.finish(&control).map_err(refusal)?;
    let files = match &plain {
        Some(plain) => plain.write(&found.columns)?,
        None => Vec::new(),
    };
    let report = Report {
        search: &search,
        found: &found,
        seed: simulation.current_seed(),
        // Those of this process.
        rate: (generations > 0).then(|| f64::from(generations) / seconds),
        files: &files,
    };
    standard_output::print(match args.json {
        true => format!("{:#}\n", report.object()),
        false => report.text(),
    })?;
    let failure = match (failed, found.ended) {
        (Some(error), _) => refusal(error),
        (None, SearchEnded::Interrupted) => {
            let count = number::grouped(found.history.len() as u64);
            Failure::Stopped(format!(
                "interrupted: the result is the best of {count} generations\n"
            ))
        }
        (None, SearchEnded::Generations | SearchEnded::Target) => return Ok(()),
    };
    Err(args.saving.resumable(failure, plain.is_some()))
}

/// Runs generation after generation, until the search is done or a signal asks for the end. A generation that
/// has begun is completed; a second signal ends the process.
fn run(args: &Args, searching: &mut Searching) -> Result<(), sim_runtime::Error> {
    let asked = interrupt::flag();
    let mut progress = Progress {
        is_json: args.progress.is_json(),
        started: Instant::now(),
        last: None,
        before: searching.generation(),
        of: args.generations,
    };
    let mut saved = Instant::now();
    while !searching.is_done() {
        searching.advance(&Control::default())?;
        if let Some(generation) = searching.history().last() {
            progress.show(generation, searching.is_done());
        }
        if asked.load(Ordering::Relaxed) {
            break;
        }
        args.saving.save_now_and_then(searching, &mut saved);
    }
    Ok(())
}

/// What is shown on standard error meanwhile.
struct Progress {
    is_json: bool,
    started: Instant,
    last: Option<Instant>,
    /// The generations of earlier processes.
    before: u32,
    of: u32,
}

impl Progress {
    fn show(&mut self, generation: &Generation, is_last: bool) {
        let pause = match self.is_json {
            true => PAUSE_JSON,
            false => PAUSE,
        };
        let is_due =
            self.last.is_none_or(|last| last.elapsed() >= pause) || is_last && self.is_json;
        if !is_due || !(self.is_json || terminal::is_watched()) {
            return;
        }
        self.last = Some(Instant::now());
        let done = generation.number + 1;
        let rate = f64::from(done - self.before) / self.started.elapsed().as_secs_f64().max(1e-9);
        let Generation {
            best,
            mean,
            best_so_far,
            ..
        } = generation;
        if self.is_json {
            let event = json!({
                "event": "progress",
                "done": done,
                "total": self.of,
                "unit": "generations",
                "best": best,
                "mean": mean,
                "best_so_far": best_so_far,
                "seconds": self.started.elapsed().as_secs_f64(),
                "rate": rate,
            });
            terminal::remark(format!("{event}\n"));
        } else {
            terminal::note(format!(
                "generation {done} of {}: best {best:.6}, mean {mean:.6}, best so far {best_so_far:.6}, \
                 {rate:.1} generations/s\n",
                self.of
            ));
        }
    }
}
