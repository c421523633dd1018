//! `simc fit`: the params at which a loss is least, or at which residuals are.

mod report;

use crate::{
    failure::Failure, interrupt, number, output, prepared::ModelArgs, problem, standard_output,
    terminal, usage,
};
use report::Report;
use sim_runtime::{Control, Ended, Fit, FitProgress, Goal, GradientMode};
use std::{
    io::Write,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// Time between two lines about the progress.
const PAUSE: Duration = Duration::from_secs(1);

/// Arguments of `simc fit`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  simc fit sir.sim --minimise \"mean(loss)\" --over beta,gamma -o best.json
  simc run sir.sim --params best.json
  simc fit decay.sim --least-squares residual --over a,b,c --data points=points.csv
  simc fit policy.sim --minimise \"mean(cost)\" --over w --method cma-es --iterations 300
  simc fit sir.sim --minimise \"mean(loss)\" --over beta,gamma --starts 8

All points have the same draws, those of --seed, so that they do not differ by noise. Params stay in their
ranges, and those that end at an end of it are marked. Ctrl-C ends the search and gives the best point so
far, with exit code 130. docs/fitting.md says which method is for what.")]
pub(crate) struct Args {
    #[command(flatten)]
    model: ModelArgs,
    /// The loss that is made small: `mean(OUTPUT)` or `sum(OUTPUT)`.
    #[arg(
        long,
        visible_alias = "minimize",
        value_name = "LOSS",
        required_unless_present_any = ["least_squares", "adapter"],
        conflicts_with = "least_squares"
    )]
    minimise: Option<String>,
    /// The output whose sum of squares over agents is made small: one residual per agent.
    #[arg(long, value_name = "OUTPUT")]
    least_squares: Option<String>,
    /// Params to fit, with commas; of an array all values, or `w[3]`.
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        required_unless_present = "adapter"
    )]
    over: Vec<String>,
    /// How the least value is searched [default: lbfgs, or lm for least squares].
    #[arg(long, value_enum)]
    method: Option<Method>,
    /// Searches from different points: the first from the values of the launch, the others drawn from the
    /// ranges of the params.
    #[arg(long, value_name = "N", value_parser = number::count, default_value = "1")]
    starts: u32,
    /// Most iterations of a search [default: by method].
    #[arg(long, value_name = "N", value_parser = number::count)]
    iterations: Option<u32>,
    /// Seed of starts and of cma-es; draws of the model have --seed.
    #[arg(long, value_name = "N", value_parser = number::seed, default_value = "0")]
    search_seed: u64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// File for the result, .json, which `simc run --params FILE` takes.
    #[arg(long, short, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// Replace that file if it is there.
    #[arg(long)]
    force: bool,
}

/// `--method`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Method {
    /// L-BFGS, by gradients: for smooth losses.
    Lbfgs,
    /// Adam, by gradients: for losses with kinks and noise.
    Adam,
    /// Levenberg–Marquardt, by the derivatives of residuals: for least squares.
    Lm,
    /// Nelder–Mead, without derivatives: for a few params.
    NelderMead,
    /// CMA-ES, without derivatives: for rough losses and more params.
    CmaEs,
}

impl Method {
    fn name(self) -> &'static str {
        match self {
            Method::Lbfgs => "lbfgs",
            Method::Adam => "adam",
            Method::Lm => "lm",
            Method::NelderMead => "nelder-mead",
            Method::CmaEs => "cma-es",
        }
    }
}

impl From<Method> for sim_runtime::Method {
    fn from(method: Method) -> sim_runtime::Method {
        match method {
            Method::Lbfgs => sim_runtime::Method::Lbfgs,
            Method::Adam => sim_runtime::Method::Adam,
            Method::Lm => sim_runtime::Method::LevenbergMarquardt,
            Method::NelderMead => sim_runtime::Method::NelderMead,
            Method::CmaEs => sim_runtime::Method::CmaEs,
        }
    }
}

/// Fits and prints what was found.
pub(crate) fn fit(args: &Args) -> Result<(), Failure> {
    if let Some(path) = &args.output {
        check_output(path, args.force)?;
    }
    let (goal, method) = asked(args)?;
    let Some(prepared) = args.model.prepare()? else {
        return Ok(());
    };
    let fit = Fit {
        goal,
        over: args
            .over
            .iter()
            .map(|name| name.trim().to_owned())
            .collect(),
        method: method.into(),
        mode: GradientMode::Auto,
        starts: args.starts,
        iterations: args.iterations,
        seed: args.search_seed,
    };
    if fit.starts > 1 {
        check_ranges(&prepared.simulation, &fit)?;
    }
    let mut last: Option<Instant> = None;
    let is_watched = terminal::is_watched();
    let mut watch = |progress: &FitProgress| {
        if is_watched && last.is_none_or(|last| last.elapsed() >= PAUSE) {
            last = Some(Instant::now());
            terminal::note(line(progress));
        }
    };
    let control = Control {
        cancel: Some(interrupt::flag()),
        ..Control::default()
    };
    let started = Instant::now();
    let found = prepared.simulation.fit(&fit, &control, &mut watch);
    let found = found.map_err(|error| prepared.source.refusal(error))?;
    let report = Report {
        fit: &fit,
        method: method.name(),
        found: &found,
        simulation: &prepared.simulation,
        seconds: started.elapsed().as_secs_f64(),
    };
    if let Some(path) = &args.output {
        let text = format!("{:#}\n", report.object()?);
        output::replace(path, |out| out.write_all(text.as_bytes()))?;
    }
    standard_output::print(match args.json {
        true => format!("{:#}\n", report.object()?),
        false => report.text(args.output.as_deref()),
    })?;
    match found.ended {
        Ended::Interrupted => Err(Failure::Stopped(
            "interrupted: the result is the best point so far\n".to_owned(),
        )),
        Ended::Gradient | Ended::Loss | Ended::Step | Ended::Iterations => Ok(()),
    }
}

/// What is made small, and how.
fn asked(args: &Args) -> Result<(Goal, Method), Failure> {
    match (&args.minimise, &args.least_squares, args.method) {
        (Some(_), _, Some(Method::Lm)) => Err(usage::refused(
            "`--method lm` is for residuals, and `--minimise` names a loss",
            "name the output of residuals, `--least-squares OUTPUT`, or use `--method lbfgs`",
        )),
        (Some(loss), _, method) => Ok((Goal::Loss(loss.parse()?), method.unwrap_or(Method::Lbfgs))),
        (None, Some(output), method) => Ok((
            Goal::Residuals(output.trim().to_owned()),
            method.unwrap_or(Method::Lm),
        )),
        // `--adapter list` alone.
        (None, None, method) => Ok((Goal::Residuals(String::new()), method.unwrap_or(Method::Lm))),
    }
}

/// Refuses a file that is there, or that cannot be written.
fn check_output(path: &Path, force: bool) -> Result<(), Failure> {
    if path.extension().is_none_or(|end| end != "json") {
        return Err(problem::fit_form(path).into());
    }
    if path.is_file() && !force {
        return Err(problem::file_exists(&[path]).into());
    }
    output::check_place(path)
}

/// Several searches need ranges to begin in.
fn check_ranges(simulation: &sim_runtime::Simulation, fit: &Fit) -> Result<(), Failure> {
    let names: Vec<&str> = fit.over.iter().map(String::as_str).collect();
    let floats = simulation.floats(&names)?;
    let is_bounded = |float: &sim_runtime::Float| (float.range[1] - float.range[0]).is_finite();
    match floats.iter().any(is_bounded) {
        true => Ok(()),
        false => Err(problem::no_start_range(&floats[0].param).into()),
    }
}

fn line(progress: &FitProgress) -> String {
    let norm = progress
        .gradient_norm
        .map_or(String::new(), |norm| format!(", gradient {norm:.2e}"));
    let FitProgress {
        start,
        iteration,
        evaluations,
        loss,
        step,
        ..
    } = progress;
    format!(
        "search {}, iteration {iteration}: loss {loss:.6e}{norm}, step {step:.1e}, {evaluations} runs\n",
        start + 1
    )
}
