//! `simc run`: compiles a model, runs it and summarises its outputs.

use crate::{
    batches::{BatchArgs, Batched, How},
    cache, calibration,
    checkpoint::CheckpointArgs,
    compilation::{Compilation, RealArgs},
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
        metadata::{self, Asked, Marks, Metadata, Origin},
    },
    shadow::ShadowOptions,
    source::Source,
    standard_output,
    summary::Summary,
    sweep, terminal, usage,
    warnings::Warnings,
};
use sim_compiler::manifest::Manifest;
use sim_runtime::{Artifact, Control, Preload, Report, Run, Simulation, Snapshot, Timing};
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
  simc run gbm.sim --sweep sigma=0.1:0.5:9 --output sigma.parquet --plot sigma.svg
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
    real: RealArgs,
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
    batches: BatchArgs,
    #[command(flatten)]
    progress: ProgressArgs,
    #[command(flatten)]
    checkpoint: CheckpointArgs,
    #[command(flatten)]
    knobs: AllKnobs,
}

impl Args {
    /// The number of agents, of the command line or the model.
    fn agents(&self, manifest: &Manifest) -> Option<u32> {
        self.launch.agents.or(manifest.agents)
    }

    /// The agents of a batch, if the run is in batches.
    fn batch_size(
        &self,
        plan: &results::Plan,
        manifest: &Manifest,
    ) -> Result<Option<u32>, Failure> {
        let others = [
            ("--plot", self.plot.is_given()),
            ("--checkpoint", self.checkpoint.is_given()),
            ("--quantiles", !self.quantiles.is_empty()),
        ];
        (self.batches).size(plan, manifest, self.agents(manifest), &others)
    }

    /// Is it a sweep?
    ///
    /// # Errors
    /// If there are options of a sweep, but none that says what is swept.
    pub(crate) fn sweeps(&self) -> Result<bool, Failure> {
        self.sweep.is_asked()
    }

    /// Asks for the values that a run had, wherever it had them from, and for a run in one piece.
    pub(crate) fn repeat_values(&mut self, before: &Metadata) {
        self.checkpoint = CheckpointArgs::default();
        self.batches = BatchArgs::of(before.batch);
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
    let sweeps = args.sweeps()?;
    let mut target = args.results.target(args.json)?;
    let sweep_target = target.take_if(|_| sweeps);
    if let Some(target) = &sweep_target {
        target.check_sweep()?;
    }
    let printed = target.as_ref().or(sweep_target.as_ref());
    let prints_outputs = printed.is_some_and(results::Target::is_standard_output);
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
        return swept(args, launched, (sweep_target, plot), quiet);
    }
    if args.shadow.is_on() {
        let how = (args.json, args.progress);
        return (args.shadow).report(&launched.source, &launched.simulation, how);
    }
    let simulation = &launched.simulation;
    let size = plan
        .as_ref()
        .map(|plan| args.batch_size(plan, launched.simulation.manifest()));
    let metadata = plan.as_ref().and_then(results::Plan::metadata);
    let origin = metadata
        .map(|metadata| launched.origin(args, metadata))
        .transpose()?;
    let print = |summary: &Summary| {
        let text = match (args.json, quiet) {
            (true, _) => summary.json(),
            (false, true) => summary.table().trim_end().to_owned() + "\n",
            (false, false) => summary.text(),
        };
        match prints_outputs {
            true => {
                terminal::note(text);
                Ok(())
            }
            false => standard_output::print(text),
        }
    };
    if let (Some(plan), Some(size)) = (&plan, size.transpose()?.flatten()) {
        return print(&in_batches(args, &launched, (plan, size), origin, called)?);
    }
    let run = launched.run(args, resumed)?;

    let own = launched.costs(called);
    let mut summary = Summary::of(&run, simulation.manifest(), own, &args.quantiles)?;
    // The summary is printed even where the files cannot be written, so that the work is not lost.
    let metadata = origin.map(|origin| launched.metadata(origin, run.report(), Marks::of(&run)));
    let plotted = write(&run, plan, metadata, plot, &mut summary);
    let printed = print(&summary);
    (args.checkpoint).close(plotted.and_then(standard_output::print).and(printed))
}

/// Runs batches of agents and writes the rows of each before the next.
fn in_batches(
    args: &Args,
    launched: &Launched,
    (plan, size): (&results::Plan, u32),
    origin: Option<Origin>,
    called: Instant,
) -> Result<Summary, Failure> {
    let mut batches = launched.simulation.agent_batches(size)?;
    let manifest = launched.simulation.manifest();
    let cancel = interrupt::flag();
    let rows = [batches.agents(), batches.worlds()];
    plan.check_space(manifest, rows)?;
    let (mut summary, files) = plan.write_batches(rows, cancel, |stream| {
        let batched = Batched::run(launched.how(args), &mut batches, Some(stream))?;
        let summary = batched.summary(manifest, launched.costs(called));
        let Batched { report, marks, .. } = batched;
        let metadata = origin.map(|origin| Metadata {
            batch: Some(size),
            ..launched.metadata(origin, &report, marks)
        });
        Ok((summary, metadata))
    })?;
    files.into_iter().for_each(|file| summary.wrote(file));
    Ok(summary)
}

/// Runs a sweep of the model.
fn swept(
    args: &Args,
    launched: Launched,
    (target, plot): (Option<results::Target>, Option<Plan>),
    quiet: bool,
) -> Result<(), Failure> {
    if args.checkpoint.is_given() {
        return Err(usage::refused(
            "`--checkpoint` is for one run, and a sweep has many",
            "Ctrl-C in a sweep with `--output FILE.csv` keeps the points that are complete",
        ));
    }
    if let Some(plot) = &plot {
        plot.check_sweep()?;
    }
    launched.sweep(args, quiet, |sweep, mut call| {
        call.plot = plot;
        sweep::run(sweep, call, target)
    })
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
        let compilation = args.compilation.in_real(args.real);
        let artifact = compilation.compile_with(&source, args.check)?;
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
        origin(args, &self.source, &self.simulation, metadata)
    }

    /// Runs a sweep of it, or whatever else `with` does.
    ///
    /// # Errors
    /// Those of `with`.
    pub(crate) fn sweep<T>(
        self,
        args: &Args,
        quiet: bool,
        with: impl FnOnce(&sweep::Sweep, sweep::Call<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let source = &self.source;
        let origin =
            |simulation: &Simulation, metadata: &Path| origin(args, source, simulation, metadata);
        let manifest = self.simulation.manifest();
        let params = args.launch.assignments()?;
        let call = sweep::Call {
            source,
            agents: args.agents(manifest),
            params: &params,
            tuning: args.knobs.tuning,
            origin: &origin,
            plot: None,
            steps: args.steps.or(manifest.steps),
            compile: self.compile,
            progress: args.progress,
            quantiles: &args.quantiles,
            json: args.json,
            quiet,
            simulation: self.simulation,
        };
        with(&args.sweep, call)
    }

    /// How a run of it was done.
    pub(crate) fn metadata(&self, origin: Origin, report: &Report, marks: Marks) -> Metadata {
        let has_worlds = self.simulation.manifest().world.is_some();
        Metadata::of(origin, report, marks.finish(), has_worlds, self.compile)
    }

    fn how(&self, args: &Args) -> How<'_> {
        How {
            source: &self.source,
            manifest: self.simulation.manifest(),
            progress: args.progress,
            json: args.json,
        }
    }

    /// What the command itself took since it was called.
    fn costs(&self, called: Instant) -> Own {
        Own {
            compile: self.compile,
            load: self.load,
            total: called.elapsed().as_secs_f64(),
        }
    }

    /// Runs it again as it was run for a file, and says how.
    ///
    /// # Errors
    /// Those of a run.
    pub(crate) fn repeat(&self, args: &Args, origin: Origin) -> Result<Metadata, Failure> {
        let Some(size) = args.batches.asked() else {
            let run = self.run(args, None)?;
            return Ok(self.metadata(origin, run.report(), Marks::of(&run)));
        };
        let mut batches = self.simulation.agent_batches(size)?;
        let Batched { report, marks, .. } = Batched::run(self.how(args), &mut batches, None)?;
        Ok(self.metadata(origin, &report, marks))
    }
}

/// What is known before the runs of a simulation, for metadata in this file.
fn origin(
    args: &Args,
    source: &Source,
    simulation: &Simulation,
    metadata: &Path,
) -> Result<Origin, Failure> {
    let asked = Asked {
        model: args.file.as_deref().unwrap_or(Path::new("-")),
        text: &source.text,
        data: &args.launch.data,
        input: &args.launch.input,
        compilation: &args.compilation.in_real(args.real).words(),
        tuning: &knobs::arguments(&args.knobs.tuning),
    };
    Origin::of(asked, simulation, metadata)
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
