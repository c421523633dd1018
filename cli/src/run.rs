//! `simc run`: compiles a model, runs it and summarises its outputs.

use crate::{
    cache, calibration,
    checkpoint::CheckpointArgs,
    compilation::Compilation,
    costs::Own,
    failure::Failure,
    fault, interrupt,
    knobs::{self, AllKnobs},
    launch::{Assignment, LaunchOptions},
    number,
    place::{self, Place},
    plot::{Drawn, Plan, PlotArgs},
    progress::{Progress, ProgressArgs},
    results::{
        self,
        metadata::{self, Asked, Metadata, Origin},
    },
    shadow::ShadowOptions,
    source::Source,
    standard_output,
    summary::Summary,
    sweep, terminal, usage,
    warnings::Warnings,
};
use sim_runtime::{Artifact, Control, Preload, Run, Simulation, Snapshot, Timing};
use std::{
    path::{Path, PathBuf},
    time::Instant,
};

/// Arguments of `simc run`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  simc run gbm.sim
  simc run gbm.sim --agents 1e6 --seed 7 --param sigma=0.3 --output paths.parquet
  simc rerun paths.meta.json
  simc run gbm.sim --output paths/ --format csv
  simc run portfolio.sim --data signals=signals.npy --input w1=weights.csv --backend cpu
  simc run gbm.sim --json | jq '.outputs[0].mean'
  generate | simc run - --output - | sort -g
  simc run gbm.sim --plot gbm.svg --show price,call
  simc run gbm.sim --adapter list

The same model, values, seed and backend repeat a run to the bit: `simc rerun` does it from
the metadata beside the results. Files that are read are CSV with a header, Parquet, Arrow, NPY or
NPZ; a row is one agent or world (--input, --output) or one outermost element (--data). Outputs of
worlds and what is observed and recorded are tables of their own: paths.csv, paths.world.csv,
paths.observe.csv, paths.world.observe.csv, paths.record.csv, or in a directory outputs.parquet,
world.parquet and so on. .npz and .json hold them all. `--output -` writes the first of them as CSV
to standard output, and the summary to standard error.")]
pub(crate) struct Args {
    /// Model to run; `-` is standard input.
    #[arg(
        value_name = "FILE",
        required_unless_present = "adapter",
        value_hint = clap::ValueHint::FilePath
    )]
    file: Option<PathBuf>,
    /// Number of steps, instead of the model's.
    #[arg(long, value_name = "N", value_parser = number::count, allow_negative_numbers = true)]
    steps: Option<u32>,
    #[command(flatten)]
    launch: LaunchOptions,
    #[command(flatten)]
    compilation: Compilation,
    #[command(flatten)]
    warnings: Warnings,
    #[command(flatten)]
    sweep: sweep::Sweep,
    #[command(flatten)]
    pub(crate) place: Place,
    /// Check indices, divisions of integers, floats, limits of `while` and each `assert`, and report the
    /// first fault with its place and values. Takes longer.
    #[arg(long)]
    check: bool,
    /// Quantiles of the summary, as probabilities with commas: 0.01,0.5,0.99. They need the outputs of all
    /// agents in memory [default: the quartiles].
    #[arg(long, value_name = "P", value_parser = number::probability, value_delimiter = ',')]
    quantiles: Vec<f64>,
    #[command(flatten)]
    plot: PlotArgs,
    /// Print the summary as JSON.
    #[arg(long)]
    json: bool,
    /// Compile the kernel anew, and keep no compiled pipeline.
    #[arg(long)]
    no_cache: bool,
    #[command(flatten)]
    shadow: ShadowOptions,
    #[command(flatten)]
    results: results::Destination,
    #[command(flatten)]
    progress: ProgressArgs,
    #[command(flatten)]
    checkpoint: CheckpointArgs,
    #[command(flatten)]
    knobs: AllKnobs,
}

impl Args {
    /// Asks for the values that a run had, wherever it had them from, and for a run in one piece.
    pub(crate) fn repeat_values(&mut self, before: &Metadata) {
        self.checkpoint = CheckpointArgs::default();
        let launch = &mut self.launch;
        launch.agents = Some(before.agents);
        launch.world = before.world;
        launch.seed = Some(before.seed);
        launch.first_agent = Some(before.first_agent);
        launch.population = Some(before.population);
        self.steps = Some(before.steps);
        for (name, value) in &before.origin.params {
            if !launch.param.iter().any(|given| given.name == *name) {
                launch.param.push(Assignment {
                    name: name.clone(),
                    value: metadata::listed(value),
                });
            }
        }
    }
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
    let target = match sweeps {
        true => None,
        false => args.results.target(args.json)?,
    };
    let prints_outputs = (target.as_ref()).is_some_and(results::Target::is_standard_output);
    check_plot(args, prints_outputs)?;
    let resumed = args.checkpoint.open()?;
    let called = Instant::now();
    let compiled = Compiled::of(args, file)?;
    let manifest = &compiled.artifact.visible_manifest();
    let plan = target.map(|target| target.plan(manifest)).transpose()?;
    let plot = args.plot.plan(manifest)?;
    let keeps_outputs = args.results.are_wanted() || args.plot.is_given() || sweeps;
    let launched = compiled.launched(args, keeps_outputs, resumed.as_ref())?;
    if sweeps {
        return swept(args, launched, quiet);
    }
    if args.shadow.is_on() {
        let how = (args.json, args.progress);
        return (args.shadow).report(&launched.source, &launched.simulation, how);
    }
    let simulation = &launched.simulation;
    let metadata = plan.as_ref().and_then(results::Plan::metadata);
    let origin = metadata
        .map(|metadata| launched.origin(args, metadata))
        .transpose()?;
    let run = launched.run(args, resumed)?;

    let own = Own {
        compile: launched.compile,
        load: launched.load,
        total: called.elapsed().as_secs_f64(),
    };
    let mut summary = Summary::of(&run, simulation.manifest(), own, &args.quantiles)?;
    // The summary is printed even where the files cannot be written, so that the work is not lost.
    let metadata = origin.map(|origin| launched.metadata(origin, &run));
    let plotted = write(&run, plan, metadata, plot, &mut summary);
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
    (args.checkpoint).close(plotted.and_then(standard_output::print).and(printed))
}

/// Runs a sweep of the model.
fn swept(args: &Args, launched: Launched, quiet: bool) -> Result<(), Failure> {
    let other = [
        ("--plot", args.plot.is_given()),
        ("--checkpoint", args.checkpoint.is_given()),
    ];
    if let Some((option, _)) = other.iter().find(|(_, given)| *given) {
        return Err(usage::refused(
            format!("`{option}` is for one run, and a sweep has many"),
            "write the table of the sweep to a file, `--output FILE.csv`",
        ));
    }
    let Launched {
        source, simulation, ..
    } = launched;
    let params = args.launch.assignments()?;
    let call = sweep::Call {
        source: &source,
        agents: args.launch.agents.or(simulation.manifest().agents),
        simulation,
        params: &params,
        output: args.results.file(),
        replaces: args.results.replaces(),
        progress: args.progress,
        quantiles: &args.quantiles,
        json: args.json,
        quiet,
    };
    sweep::run(&args.sweep, call)
}

/// Writes results and a plot into their files, and notes these. Returns a plot for the terminal as text.
fn write(
    run: &Run,
    results: Option<results::Plan>,
    metadata: Option<Metadata>,
    plot: Option<Plan>,
    summary: &mut Summary,
) -> Result<String, Failure> {
    let written = results.map(|plan| plan.write(run, metadata, interrupt::flag()));
    // A plot is drawn even where the results cannot be written.
    let drawn = plot.map(|plot| plot.draw(run)).transpose();
    for file in written.iter().flatten().flatten() {
        summary.wrote(file.clone());
    }
    if let Ok(Some(Drawn::File(file))) = &drawn {
        summary.wrote(file.clone());
    }
    written.transpose()?;
    Ok(match drawn? {
        Some(Drawn::Text(text)) => text,
        Some(Drawn::File(_)) | None => String::new(),
    })
}

/// Refuses what cannot go to standard output together, and a place where a plot cannot be.
fn check_plot(args: &Args, prints_outputs: bool) -> Result<(), Failure> {
    if args.plot.is_of_terminal() && (args.json || prints_outputs) {
        return Err(usage::refused(
            "`--plot` without a file draws to standard output, where the results go",
            "name a file: `--plot FILE.svg`",
        ));
    }
    args.plot.check(args.results.replaces())
}

/// A model that is compiled for a run.
pub(crate) struct Compiled {
    source: Source,
    artifact: Artifact,
    /// Seconds from source to artifact.
    seconds: f64,
    /// The drivers take longer to load than a model to compile; where a GPU is certain, both are done at
    /// once.
    preload: Option<Preload>,
}

impl Compiled {
    /// Reads and compiles the model.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn of(args: &Args, file: &Path) -> Result<Compiled, Failure> {
        let preload = args.place.opens_adapter().then(sim_runtime::preload);
        let source = args.warnings.read(file)?;
        let started = Instant::now();
        let artifact = args.compilation.compile_with(&source, args.check)?;
        Ok(Compiled {
            source,
            artifact,
            seconds: started.elapsed().as_secs_f64(),
            preload,
        })
    }

    /// Reads what it is given.
    ///
    /// # Errors
    /// What is wrong with that.
    pub(crate) fn launched(
        self,
        args: &Args,
        keeps_outputs: bool,
        resumed: Option<&Snapshot>,
    ) -> Result<Launched, Failure> {
        let started = Instant::now();
        let simulation = Simulation::from_artifact(self.artifact)
            .keep_states(false)
            .keep_outputs(keeps_outputs || !args.quantiles.is_empty());
        let simulation = launched(args, simulation, resumed)?;
        let load = started.elapsed().as_secs_f64();
        drop(self.preload);
        Ok(Launched {
            source: self.source,
            simulation,
            compile: self.seconds,
            load,
        })
    }
}

/// A model with everything that the command line says about its run.
pub(crate) struct Launched {
    source: Source,
    simulation: Simulation,
    /// Seconds from source to artifact.
    compile: f64,
    /// Seconds for reading params, tables and inputs.
    load: f64,
}

impl Launched {
    /// Runs it from its beginning, or from where it was cut, with a bar of its progress.
    ///
    /// # Errors
    /// Those of a run.
    pub(crate) fn run(&self, args: &Args, resumed: Option<Snapshot>) -> Result<Run, Failure> {
        let progress = Progress::start(args.progress);
        let control = Control {
            cancel: Some(interrupt::flag()),
            progress: Some(&|done, total| progress.update(done, total)),
            timing: args.json.then_some(Timing::ONCE),
        };
        let refusal = |error| fault::refusal(&self.source, error, args.json);
        let model = (&refusal as &dyn Fn(_) -> _, &self.simulation);
        let result = (args.checkpoint).run(model, resumed, &control, &progress);
        progress.finish();
        result
    }

    /// What is known before the run, for metadata in this file.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub(crate) fn origin(&self, args: &Args, metadata: &Path) -> Result<Origin, Failure> {
        let asked = Asked {
            model: args.file.as_deref().unwrap_or(Path::new("-")),
            text: &self.source.text,
            data: &args.launch.data,
            input: &args.launch.input,
            compilation: &args.compilation.words(),
            tuning: &knobs::arguments(&args.knobs.tuning),
        };
        Origin::of(asked, &self.simulation, metadata)
    }

    /// How a run of it was done.
    pub(crate) fn metadata(&self, origin: Origin, run: &Run) -> Metadata {
        let has_worlds = self.simulation.manifest().world.is_some();
        Metadata::of(origin, run, has_worlds, self.compile)
    }
}

/// The simulation with everything that the command line says about it.
fn launched(
    args: &Args,
    mut simulation: Simulation,
    resumed: Option<&Snapshot>,
) -> Result<Simulation, Failure> {
    if let Some(snapshot) = resumed {
        let set = simulation.set_from(snapshot);
        set.map_err(|error| args.checkpoint.refusal(error, Failure::from))?;
    }
    simulation = simulation
        .tuning(args.knobs.tuning)
        .calibration(calibration::stored())
        .pipeline_cache(cache::directory().filter(|_| !args.no_cache));
    let place = args.place.or_on(resumed.and_then(Snapshot::device));
    simulation = place.resolve()?.on(simulation);
    if let Some(steps) = args.steps {
        simulation = simulation.steps(steps);
    }
    let known = (
        resumed.map(Snapshot::agents),
        resumed.map(Snapshot::members),
    );
    args.launch.give(&mut simulation, known)?;
    Ok(simulation)
}
