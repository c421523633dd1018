//! `simc run`: compiles a model, runs it and summarises its outputs.

use crate::{
    cache, calibration,
    compilation::Compilation,
    costs::Own,
    failure::Failure,
    interrupt,
    knobs::AllKnobs,
    launch::{self, Assignment},
    number,
    output::Target,
    place::{self, Place},
    problem,
    progress::Progress,
    source::Source,
    standard_output,
    summary::Summary,
    sweep, terminal, usage,
    warnings::Warnings,
};
use sim_runtime::{Control, Simulation, Timing};
use std::{path::PathBuf, time::Instant};

/// Arguments of `simc run`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  simc run gbm.sim
  simc run gbm.sim --agents 1e6 --seed 7 --param sigma=0.3 --output paths.csv
  simc run portfolio.sim --data signals=signals.npy --input w1=weights.csv --backend cpu
  simc run gbm.sim --json | jq '.outputs[0].mean'
  generate | simc run - --output - | sort -g
  simc run gbm.sim --adapter list

The same model, values, seed and backend repeat a run to the bit. Files are CSV with
a header or NumPy's NPY; one CSV row is one agent or world (--input, --output) or one outermost
element (--data). Outputs of worlds and what is observed and recorded go to CSV files of their
own: paths.world.csv, paths.observe.csv, paths.world.observe.csv, paths.record.csv. `--output -`
writes the first of them to standard output, and the summary to standard error.")]
pub(crate) struct Args {
    /// Model to run; `-` is standard input.
    #[arg(
        value_name = "FILE",
        required_unless_present = "adapter",
        value_hint = clap::ValueHint::FilePath
    )]
    file: Option<PathBuf>,
    /// Number of agents, such as 1_000 or 1e6, instead of the model's.
    #[arg(long, value_name = "N", value_parser = number::count, allow_negative_numbers = true)]
    agents: Option<u32>,
    /// Number of steps, instead of the model's.
    #[arg(long, value_name = "N", value_parser = number::count, allow_negative_numbers = true)]
    steps: Option<u32>,
    /// Number of agents in a world, instead of the model's.
    #[arg(long, value_name = "N", value_parser = number::count, allow_negative_numbers = true)]
    world: Option<u32>,
    /// Seed of all random draws.
    #[arg(
        long,
        value_name = "N",
        value_parser = number::seed,
        allow_negative_numbers = true,
        default_value = "0"
    )]
    seed: u64,
    #[command(flatten)]
    compilation: Compilation,
    #[command(flatten)]
    warnings: Warnings,
    /// Value of a param; the values of an array or vector row by row, with commas.
    #[arg(long, value_name = "NAME=VALUE", value_parser = Assignment::parse)]
    param: Vec<Assignment>,
    /// File of a data table, .csv or .npy; `-` is CSV from standard input.
    #[arg(long, value_name = "NAME=FILE", value_parser = Assignment::parse)]
    data: Vec<Assignment>,
    /// File of an input of all agents or all worlds, .csv or .npy; `-` is CSV from standard input.
    #[arg(long, value_name = "NAME=FILE", value_parser = Assignment::parse)]
    input: Vec<Assignment>,
    #[command(flatten)]
    sweep: sweep::Sweep,
    #[command(flatten)]
    place: Place,
    /// Check every `assert` of the model, on the reference interpreter.
    #[arg(long, conflicts_with_all = ["backend", "adapter"])]
    check: bool,
    /// File for the outputs of all agents and worlds, and for series: .csv, .npy or .json; `-` is CSV to
    /// standard output.
    #[arg(long, short, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// Quantiles of the summary, as probabilities with commas: 0.01,0.5,0.99. They need the outputs of all
    /// agents in memory [default: the quartiles].
    #[arg(long, value_name = "P", value_parser = number::probability, value_delimiter = ',')]
    quantiles: Vec<f64>,
    /// Print the summary as JSON.
    #[arg(long)]
    json: bool,
    /// Compile the kernel anew, and keep no compiled pipeline.
    #[arg(long)]
    no_cache: bool,
    /// Number of the first agent, to run a part of a larger population.
    #[arg(
        long,
        value_name = "N",
        value_parser = number::count,
        allow_negative_numbers = true,
        default_value = "0"
    )]
    first_agent: u32,
    /// Agents of the whole population, which the model calls `agents`, when only a part is run.
    #[arg(long, value_name = "N", value_parser = number::count, allow_negative_numbers = true)]
    population: Option<u32>,
    #[command(flatten)]
    knobs: AllKnobs,
}

/// Runs a model.
pub(crate) fn run(args: &Args, quiet: bool) -> Result<(), Failure> {
    if args.place.is_list() {
        return place::list();
    }
    let Some(file) = &args.file else {
        return Err(usage::refused(
            "the command line lacks `<FILE>`",
            "name a model",
        ));
    };
    let sweeps = args.sweep.is_asked()?;
    let target = if sweeps { None } else { target(args)? };
    let prints_outputs = target.as_ref().is_some_and(Target::is_standard_output);
    let called = Instant::now();
    // The drivers take longer to load than a model to compile; where a GPU is certain, both are done at once.
    let preload = args.place.opens_adapter().then(sim_runtime::preload);
    let source = args.warnings.read(file)?;
    let started = Instant::now();
    let artifact = args.compilation.compile_with(&source, args.check)?;
    let compile = started.elapsed().as_secs_f64();
    let manifest = &artifact.manifest;
    let has_none = manifest.outputs.is_empty()
        && manifest.world_rows().outputs.is_empty()
        && manifest.series.is_empty();
    if target.is_some() && has_none {
        return Err(problem::no_outputs().into());
    }
    let started = Instant::now();
    let simulation = launched(args, Simulation::from_artifact(artifact))?;
    let load = started.elapsed().as_secs_f64();
    drop(preload);
    if sweeps {
        return swept(args, &source, simulation, quiet);
    }

    let cancel = interrupt::flag();
    let progress = Progress::start();
    let result = simulation.run_with(&Control {
        cancel: Some(cancel),
        progress: Some(&|done, total| progress.update(done, total)),
        timing: args.json.then_some(Timing::ONCE),
    });
    progress.finish();
    let run = result.map_err(|error| source.refusal(error))?;

    let own = Own {
        compile,
        load,
        total: called.elapsed().as_secs_f64(),
    };
    let mut summary = Summary::of(&run, simulation.manifest(), own, &args.quantiles)?;
    // The summary is printed even where the files cannot be written, so that the work is not lost.
    let written = match target.map(|target| target.write(&run, cancel)) {
        Some(Ok(files)) => {
            summary.wrote(files);
            Ok(())
        }
        Some(Err(failure)) => Err(failure),
        None => Ok(()),
    };
    let text = match (args.json, quiet) {
        (true, _) => summary.json(),
        (false, true) => summary.table().trim_end().to_owned() + "\n",
        (false, false) => summary.text(),
    };
    let printed = match prints_outputs {
        true => {
            terminal::note(text);
            Ok(())
        }
        false => standard_output::print(text),
    };
    written.and(printed)
}

/// Runs a sweep of the simulation.
fn swept(args: &Args, source: &Source, simulation: Simulation, quiet: bool) -> Result<(), Failure> {
    let call = sweep::Call {
        source,
        agents: args.agents.or(simulation.manifest().agents),
        simulation,
        params: &args.param,
        output: args.output.as_ref(),
        quantiles: &args.quantiles,
        json: args.json,
        quiet,
    };
    sweep::run(&args.sweep, call)
}

/// Where the outputs go, if anywhere.
fn target(args: &Args) -> Result<Option<Target>, Failure> {
    let target = args.output.as_deref().map(Target::check).transpose()?;
    if args.json && target.as_ref().is_some_and(Target::is_standard_output) {
        return Err(usage::refused(
            "`--output -` and `--json` both write to standard output",
            "write the outputs to a file, or leave out `--json`",
        ));
    }
    Ok(target)
}

/// The simulation with everything that the command line says about it.
fn launched(args: &Args, mut simulation: Simulation) -> Result<Simulation, Failure> {
    simulation = simulation
        .seed(args.seed)
        .first_agent(args.first_agent)
        .tuning(args.knobs.tuning)
        .calibration(calibration::stored())
        .pipeline_cache(cache::directory().filter(|_| !args.no_cache))
        .keep_states(false)
        .keep_outputs(
            args.output.is_some() || !args.quantiles.is_empty() || args.sweep.is_asked()?,
        );
    simulation = args.place.resolve()?.on(simulation);
    if let Some(agents) = args.agents {
        simulation = simulation.agents(agents);
    }
    if let Some(steps) = args.steps {
        simulation = simulation.steps(steps);
    }
    if let Some(members) = args.world {
        simulation = simulation.world(members);
    }
    if let Some(population) = args.population {
        simulation = simulation.population(population);
    }
    let manifest = simulation.manifest();
    let agents = args.agents.or(manifest.agents);
    let members = args
        .world
        .or(manifest.world.as_ref().and_then(|world| world.members));
    launch::params(&mut simulation, &args.param)?;
    launch::data(&mut simulation, &args.data)?;
    launch::inputs(&mut simulation, &args.input, (agents, members))?;
    Ok(simulation)
}
