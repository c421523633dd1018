//! `simc trace`: one agent step by step, on the reference interpreter.

mod columns;
mod write;

use crate::{
    compilation::Compilation,
    failure::Failure,
    interrupt,
    launch::LaunchOptions,
    number::{self, grouped},
    output, problem,
    source::Source,
    standard_output, terminal,
};
use columns::{Columns, columns};
use sim_runtime::{Control, Progress, Simulation};
use std::{
    io::{self, Write},
    path::PathBuf,
};
use write::{Csv, Json, Lines, Row, Rows};

/// Arguments of `simc trace`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  simc trace gbm.sim --agent 17
  simc trace gbm.sim --agent 17 --lets --steps 0..10
  simc trace gbm.sim --agent 17 --columns price,dt --csv > path.csv
  simc trace boids.sim --agent 3 --param speed=0.2 --seed 7 -o boid.csv

The first row has the initial values; the row of a step has the values after it. A `let` that a step did
not reach is empty there; of one that it reached several times, in a loop or a function, the last value
is shown and how often there was one: `0.5 ×3`. Names that occur twice have their line behind them.")]
pub(crate) struct Args {
    /// Model to trace; `-` is standard input.
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: PathBuf,
    /// Number of the agent.
    #[arg(
        long,
        value_name = "N",
        value_parser = number::count,
        allow_negative_numbers = true,
        default_value = "0"
    )]
    agent: u32,
    /// Steps to show, `A..B` from A to before B, either of which may be left out; or, as in `simc run`, the
    /// number of steps of the run. It can be given once for each.
    #[arg(long, value_name = "A..B|N", value_parser = Steps::parse, allow_negative_numbers = true)]
    steps: Vec<Steps>,
    /// Show every `let`, `var` and index of a loop, too.
    #[arg(long)]
    lets: bool,
    /// States, `let`s and `var`s to show, with commas, instead of all. A wide array is shown only so.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    columns: Vec<String>,
    /// Print CSV.
    #[arg(long, conflicts_with_all = ["json", "output"])]
    csv: bool,
    /// Print JSON.
    #[arg(long, conflicts_with = "output")]
    json: bool,
    /// File for the table: .csv or .json; `-` is CSV to standard output.
    #[arg(long, short, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    output: Option<PathBuf>,
    #[command(flatten)]
    compilation: Compilation,
    #[command(flatten)]
    launch: LaunchOptions,
}

/// What `--steps` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Steps {
    /// How many the run has.
    Count(u32),
    /// Which are shown.
    Range(u32, Option<u32>),
}

impl Steps {
    fn parse(text: &str) -> Result<Steps, String> {
        let Some((first, end)) = text.split_once("..") else {
            return number::count(text).map(Steps::Count);
        };
        let part = |text: &str| match text {
            "" => Ok(None),
            text => number::count(text).map(Some),
        };
        let (first, end) = (part(first)?.unwrap_or(0), part(end)?);
        match end {
            Some(end) if end <= first => {
                Err(format!("there is no step from {first} to before {end}"))
            }
            end => Ok(Steps::Range(first, end)),
        }
    }
}

/// The simulation with the values of the launch. A model that says nothing of its number of agents has as
/// many as the one that is shown needs.
fn launched(
    args: &Args,
    mut simulation: Simulation,
    steps: Option<u32>,
) -> Result<Simulation, Failure> {
    let manifest = simulation.manifest();
    let world = manifest.world.as_ref();
    let members = args.launch.world.or(world.and_then(|world| world.members));
    let each = members.unwrap_or(1).max(1);
    let enough = (args.agent / each).saturating_add(1).saturating_mul(each);
    let known = manifest.agents.unwrap_or(enough);
    simulation.set_agents(known);
    if let Some(steps) = steps {
        simulation.set_steps(steps);
    }
    args.launch.give(&mut simulation, (Some(known), None))?;
    Ok(simulation)
}

/// Where the table goes, and in which form.
enum Form {
    Table,
    Csv,
    Json,
}

/// Shows an agent step by step.
pub(crate) fn trace(args: &Args) -> Result<(), Failure> {
    let source = Source::read(&args.file)?;
    let artifact = args.compilation.compile(&source)?;
    let columns = columns(
        &source,
        &artifact.lowered,
        &artifact.manifest,
        args.lets,
        &args.columns,
    )?;
    let (mut count, mut range) = (None, (0, None));
    for steps in &args.steps {
        match *steps {
            Steps::Count(steps) => count = Some(steps),
            Steps::Range(first, end) => range = (first, end),
        }
    }
    let own = artifact.manifest.steps;
    let needed = range
        .1
        .filter(|_| own.is_none() && artifact.manifest.has_step);
    let simulation = Simulation::from_artifact(artifact);
    let simulation = launched(args, simulation, count.or(needed))?;
    if let Some(steps) = count.or(own).or(needed) {
        let last = range.1.map_or(range.0, |end| end - 1);
        let beyond = [range.0, last].into_iter().find(|&step| step >= steps);
        if let Some(step) = beyond.filter(|_| range != (0, None)) {
            return Err(problem::steps_beyond(step, steps).into());
        }
    }
    let run = Traced {
        args,
        source: &source,
        simulation,
        columns: &columns,
        range,
    };
    let told = match (&args.output, args.csv, args.json) {
        (Some(path), ..) if path.as_os_str() == "-" => run.print(Form::Csv)?,
        (Some(path), ..) => run.save(path)?,
        (None, true, _) => run.print(Form::Csv)?,
        (None, _, true) => run.print(Form::Json)?,
        (None, false, false) => run.print(Form::Table)?,
    };
    let wide = columns
        .wide
        .iter()
        .map(|(name, count)| format!("`{name}` ({count} values)"));
    let wide: Vec<String> = wide.collect();
    if !wide.is_empty() {
        terminal::note(format!(
            "not shown: {}; name them with `--columns`\n",
            wide.join(", ")
        ));
    }
    terminal::note(told + "\n");
    Ok(())
}

/// A trace that is ready to run.
struct Traced<'a> {
    args: &'a Args,
    source: &'a Source,
    simulation: Simulation,
    columns: &'a Columns,
    range: (u32, Option<u32>),
}

impl Traced<'_> {
    /// Prints the table, and returns what happened to the agent.
    fn print(&self, form: Form) -> Result<String, Failure> {
        let mut told = Ok(String::new());
        standard_output::write(|out| {
            told = self.write(form, out)?;
            Ok(())
        })?;
        told
    }

    fn save(&self, path: &std::path::Path) -> Result<String, Failure> {
        let form = match path.extension().and_then(|end| end.to_str()) {
            Some("csv") => Form::Csv,
            Some("json") => Form::Json,
            _ => return Err(problem::trace_form(path).into()),
        };
        let mut told = Ok(String::new());
        let saved = output::replace(path, |out| {
            told = self.write(form, out)?;
            // A file is there as a whole or not at all.
            match told {
                Ok(_) => Ok(()),
                Err(_) => Err(io::ErrorKind::Interrupted.into()),
            }
        });
        let told = told?;
        saved?;
        Ok(told)
    }

    fn write(&self, form: Form, out: &mut impl Write) -> io::Result<Result<String, Failure>> {
        match form {
            Form::Table => self.rows(Lines::new(out, self.columns)),
            Form::Csv => self.rows(Csv::new(out, self.columns)?),
            Form::Json => self.rows(Json::new(out, self.columns, self.args.agent)?),
        }
    }

    /// Runs the agent and writes its rows. The outer error is that of the output.
    fn rows(&self, mut rows: impl Rows) -> io::Result<Result<String, Failure>> {
        let (first, end) = self.range;
        let mut written = Ok(());
        let (mut progress, mut steps) = (Progress::default(), 0);
        let mut seen = None;
        let control = Control {
            cancel: Some(interrupt::flag()),
            ..Control::default()
        };
        let ran = self
            .simulation
            .trace(self.args.agent, &control, &mut |trace| {
                (progress, steps, seen) = (trace.progress, trace.steps, trace.step);
                let is_shown = trace.step.map_or(first == 0, |step| step >= first);
                if is_shown {
                    let cells = self
                        .columns
                        .shown
                        .iter()
                        .map(|it| it.cells(trace))
                        .collect();
                    written = rows.row(Row {
                        step: trace.step,
                        cells,
                    });
                }
                written.is_ok() && trace.step.map_or(0, |step| step + 1) < end.unwrap_or(u32::MAX)
            });
        written?;
        if let Err(error) = ran {
            return Ok(Err(self.source.refusal(error)));
        }
        rows.finish()?;
        Ok(Ok(self.told(progress, steps, seen)))
    }

    /// What happened to the agent.
    fn told(&self, progress: Progress, steps: u32, seen: Option<u32>) -> String {
        let (agent, first) = (grouped(self.args.agent.into()), self.range.0);
        let all = grouped(steps.into());
        let named = |step: u32| grouped(step.into());
        match (progress.stopped, seen) {
            (true, Some(step)) if step < first => {
                let (step, first) = (named(step), named(first));
                format!("agent {agent} stopped in step {step}, before step {first}")
            }
            (true, Some(step)) => format!("agent {agent} stopped in step {} of {all}", named(step)),
            (false, Some(step)) if step + 1 < steps => {
                let step = named(step);
                format!("agent {agent} goes on after step {step}: the run has {all} steps")
            }
            (_, None) if steps > 0 => {
                format!("agent {agent} before its first step: the run has {all} steps")
            }
            (..) => format!("agent {agent} ran all {all} steps"),
        }
    }
}
