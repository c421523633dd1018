//! `simc bench`: checks that a model's results are right, then times its runs.

mod floor;
mod interval;
mod measure;
mod rates;
mod report;
mod tune;
mod verify;

use crate::{
    cache,
    compilation::Compilation,
    failure::Failure,
    interrupt,
    knobs::DispatchKnobs,
    launch::{self, Assignment},
    number, output,
    place::{self, Place, Placed},
    problem, standard_output,
    table::reading::Reading,
    usage,
    warnings::Warnings,
};
use measure::{Batched, Beside, InARow, Measured};
use report::Row;
use sim_compiler::{artifact::Artifact, ir::cost::operations};
use sim_runtime::{Control, Device, Simulation, Timing, Tuning};
use std::{
    fmt,
    path::{Path, PathBuf},
    time::Instant,
};
use tune::Tuned;

/// Timed runs of each kernel that `--tune` tries.
const TRIAL_RUNS: u32 = 5;

/// Arguments of `simc bench`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  simc bench acrobot.sim --agents 4_096,1e6 --backend gpu
  simc bench gbm.sim lorenz.sim --runs 20 --json -o results.json
  simc bench portfolio.sim --data signals=signals.npy --data apex=apex.npy
  simc bench pi.sim --agents 1_048_576 --steps 100_000 --devices 2

Results are checked before anything is timed: a GPU's against the CPU backend, the CPU's against
the reference interpreter, for up to 256 agents (16) of the very population that is timed, or one world.
99 % of the values of each output must agree: floats within 1e-3 of its largest value, integers exactly.
Where more agents diverge, as in chaotic models, they must agree one by one after the first 16
steps, and in their means, within 4 standard errors, after all steps. Every timed run must repeat
the first one's bits. A model that is not verified gets no rate, and the exit code is 1.

Medians stand with a confidence interval of at least 95 % from order statistics, for 6 runs or
more. The time of the GPU is that of its own clock: `gpu` is one run, started on an idle device
and timed by itself, the clock's own microsecond included; `in a row`, for runs below a
millisecond, is a run's share of many that the device computes one after the other. With
`--devices`, the first device alone and all devices take turns; the bits are compared.")]
pub(crate) struct Args {
    /// Models to measure; `-` is standard input.
    #[arg(
        value_name = "FILE",
        required_unless_present_any = ["rates", "adapter"],
        value_hint = clap::ValueHint::FilePath
    )]
    files: Vec<PathBuf>,
    /// Numbers of agents, such as 4_096,1e6, instead of the model's; each is measured.
    #[arg(long, value_name = "N", value_parser = number::count, value_delimiter = ',')]
    agents: Vec<u32>,
    /// Number of steps, instead of the model's.
    #[arg(long, value_name = "N", value_parser = number::count)]
    steps: Option<u32>,
    /// Number of agents in a world, of the models that have worlds.
    #[arg(long, value_name = "N", value_parser = number::count)]
    world: Option<u32>,
    /// Timed runs, after the first one, which is timed separately.
    #[arg(long, value_name = "N", value_parser = number::count, default_value = "10")]
    runs: u32,
    /// Also measure a batch of N runs that differ by their seeds, and the same runs one by one.
    #[arg(long, value_name = "N", value_parser = number::count)]
    batch: Option<u32>,
    /// Seed of all random draws.
    #[arg(long, value_name = "N", value_parser = number::seed, default_value = "0")]
    seed: u64,
    #[command(flatten)]
    compilation: Compilation,
    #[command(flatten)]
    warnings: Warnings,
    /// Value of a param, of the models that have it.
    #[arg(long, value_name = "NAME=VALUE", value_parser = Assignment::parse)]
    param: Vec<Assignment>,
    /// File of a data table, of the models that have it, as for `simc run`.
    #[arg(long, value_name = "NAME=FILE[:COLUMNS]", value_parser = Assignment::parse)]
    data: Vec<Assignment>,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    place: Place,
    /// Print the results as JSON.
    #[arg(long)]
    json: bool,
    /// File for the results as JSON; `-` is standard output, and the same as --json.
    #[arg(long, short, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// Compile kernels anew, and keep no compiled pipeline.
    #[arg(long)]
    no_cache: bool,
    /// Search for the tuning under which the kernel is fastest, by trying values of the options that are not
    /// given, measure with it, and print the arguments that set it. Only on a GPU.
    #[arg(long)]
    tune: bool,
    /// Measure how many operations of each kind the GPU does per second, instead of models, and print the
    /// rates that the floor is computed from.
    #[arg(long, conflicts_with = "files")]
    rates: bool,
    #[command(flatten)]
    knobs: DispatchKnobs,
}

/// A model that compiled.
struct Model {
    name: String,
    artifact: Artifact,
    compile_seconds: f64,
}

/// Why a model has no rate.
enum Unmeasured {
    /// It does not run.
    Failed(Failure),
    /// Its results are not what they should be.
    Unverified(String),
}

impl<F: Into<Failure>> From<F> for Unmeasured {
    fn from(failure: F) -> Self {
        Unmeasured::Failed(failure.into())
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Measures the models; those that can be are reported even where others cannot.
pub(crate) fn bench(args: &Args) -> Result<(), Failure> {
    if args.place.is_list() {
        return place::list();
    }
    if args.files.is_empty() && !args.rates {
        return Err(usage::refused(
            "the command line lacks `<FILE>`",
            "name a model",
        ));
    }
    let printed = args.output.as_deref() == Some(Path::new("-"));
    let json = args.json || printed;
    let file = args.output.as_deref().filter(|_| !printed);
    if let Some(path) = file {
        output::check_place(path)?;
    }
    let placed = &args.place.resolve()?;
    if args.rates {
        return standard_output::print(rates::row()?);
    }
    let mut rows = Vec::new();
    let mut complete = true;
    for file in &args.files {
        let model = match compiled(args, file) {
            Ok(model) => model,
            Err(failure) => {
                failure.print();
                complete = false;
                continue;
            }
        };
        let populations = match args.agents.as_slice() {
            [] => vec![None],
            some => some.iter().copied().map(Some).collect(),
        };
        for agents in populations {
            match measured(args, placed, &model, agents) {
                Ok(row) => {
                    if !json {
                        standard_output::print(row.text())?;
                    }
                    rows.push(row);
                }
                Err(Unmeasured::Failed(Failure::Interrupted)) => return Err(Failure::Interrupted),
                Err(Unmeasured::Failed(failure)) => {
                    failure.print();
                    complete = false;
                }
                Err(Unmeasured::Unverified(why)) => {
                    Failure::from(problem::not_verified(&model.name, &why)).print();
                    complete = false;
                }
            }
        }
    }
    let text = report::json(&rows);
    if json {
        standard_output::print(&text)?;
    }
    if let Some(path) = file {
        output::replace(path, |out| std::io::Write::write_all(out, text.as_bytes()))?;
    }
    if complete {
        Ok(())
    } else {
        Err(Failure::Reported)
    }
}

fn compiled(args: &Args, file: &Path) -> Result<Model, Failure> {
    let source = args.warnings.read(file)?;
    let started = Instant::now();
    let artifact = args.compilation.compile(&source)?;
    Ok(Model {
        name: source.name,
        artifact,
        compile_seconds: started.elapsed().as_secs_f64(),
    })
}

/// One model with one population.
fn measured(
    args: &Args,
    placed: &Placed,
    model: &Model,
    agents: Option<u32>,
) -> Result<Row, Unmeasured> {
    let control = Control {
        cancel: Some(interrupt::flag()),
        ..Control::default()
    };
    let mut simulation = placed.on(launched(args, model, agents)?);
    let tuned = match args.tune {
        true => tuned(args, placed, model, agents, &control)?,
        false => None,
    };
    if let Some(tuned) = &tuned {
        simulation = simulation.tuning(tuned.tuning);
    }
    let first = simulation.run_with(&Control {
        timing: Some(Timing::ONCE),
        ..control
    })?;
    let start = |sample| {
        let mut simulation = launched(args, model, Some(sample))?;
        if let Some(tuned) = &tuned {
            simulation = simulation.tuning(tuned.tuning);
        }
        Ok(simulation.population(first.report().population))
    };
    let (simulation, agreement) = verify::verify(simulation, &first, &control, start)?;
    let measured = Measured::of(&simulation, &first, args.runs, &control)?;
    let in_a_row = InARow::of(&simulation, &first, &measured, &control)?;
    let batched = (args.batch)
        .map(|batch| Batched::of(&simulation, &first, (batch, args.runs), &control))
        .transpose()?;
    let beside = (placed.alone())
        .map(|alone| {
            let mut alone = alone.on(launched(args, model, agents)?);
            if let Some(tuned) = &tuned {
                alone = alone.tuning(tuned.tuning);
            }
            Beside::of((&simulation, &alone), args.runs, &control)
        })
        .transpose()?;
    let cost = operations::cost(&model.artifact.program, model.artifact.options.generator);
    Ok(Row::new(
        &model.name,
        model.compile_seconds,
        &first,
        agreement,
        &measured,
        cost,
    )
    .tuned(tuned)
    .in_a_row(in_a_row)
    .batched(batched)
    .beside(beside))
}

/// The tuning under which a model's kernel is fastest; none where there is nothing to tune.
fn tuned(
    args: &Args,
    placed: &Placed,
    model: &Model,
    agents: Option<u32>,
    control: &Control<'_>,
) -> Result<Option<Tuned>, Unmeasured> {
    let time = |tuning: Tuning| -> Result<Option<f64>, Unmeasured> {
        let simulation = placed.on(launched(args, model, agents)?).tuning(tuning);
        let run = simulation.run_with(control)?;
        if !matches!(run.report().backend, Device::Gpu(_)) {
            return Ok(None);
        }
        let measured = Measured::of(&simulation, &run, TRIAL_RUNS, control)?;
        Ok(Some(measured.gpu.unwrap_or(measured.total).median))
    };
    let start = args.knobs.tuning;
    tune::search(start, |tuning| match time(tuning) {
        Err(Unmeasured::Failed(Failure::Interrupted)) => Err(Failure::Interrupted.into()),
        // A kernel that fails is none to choose; without a choice it is an error.
        Err(_) if tuning != start => Ok(None),
        time => time,
    })
}

/// A simulation with what the command line says about it, but for the backend.
fn launched(args: &Args, model: &Model, agents: Option<u32>) -> Result<Simulation, Failure> {
    let mut simulation = Simulation::from_artifact(model.artifact.clone())
        .seed(args.seed)
        .tuning(args.knobs.tuning)
        .pipeline_cache(cache::directory().filter(|_| !args.no_cache))
        .keep_states(false);
    if let Some(agents) = agents {
        simulation = simulation.agents(agents);
    }
    if let Some(steps) = args.steps {
        simulation = simulation.steps(steps);
    }
    let manifest = &model.artifact.manifest;
    if let Some(members) = args
        .world
        .filter(|_| args.files.len() == 1 || manifest.world.is_some())
    {
        simulation = simulation.world(members);
    }
    let params = manifest.params.iter().map(|param| &param.field.name);
    let tables = manifest.data.iter().map(|table| &table.field.name);
    launch::params(&mut simulation, &theirs(&args.param, args, params))?;
    launch::data(
        &mut simulation,
        &theirs(&args.data, args, tables),
        &args.reading,
    )?;
    Ok(simulation)
}

/// What is meant for this model: all if it is the only one, so that a wrong name is noticed.
fn theirs<'a>(
    given: &[Assignment],
    args: &Args,
    names: impl Iterator<Item = &'a String> + Clone,
) -> Vec<Assignment> {
    let fits = |assignment: &&Assignment| {
        let name = &assignment.name;
        let struct_name = format!("{name}.");
        args.files.len() == 1
            || names
                .clone()
                .any(|known| known == name || known.starts_with(&struct_name))
    };
    given.iter().filter(fits).cloned().collect()
}
