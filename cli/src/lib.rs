//! The `simc` command: arguments in, files and reports out. The only crate of the project that prints. It is
//! a library so that `python -m simc` is the same command.
//!
//! One file a subcommand, by its name. Behind them: `source` reads models, `table` reads tables, `output`
//! writes files and `results` those of a run, `translate` translates a kernel into other shading languages,
//! `summary` is the report of `run`, `plot` draws it, `calibration` keeps what `doctor` measured, `problem`
//! is the catalog of the command's own complaints, `usage` those about its arguments, and `failure` turns
//! whatever ended a command into a report and an exit code.

mod batches;
mod bench;
mod build;
mod cache;
mod calibration;
mod check;
mod checkpoint;
mod columns;
mod compilation;
mod completions;
mod costs;
mod doctor;
mod explain;
mod failure;
mod fault;
mod fit;
mod fmt;
mod grad;
mod inspect;
mod interrupt;
mod knobs;
mod launch;
mod lsp;
mod man;
mod models;
mod new;
mod number;
mod open;
mod output;
mod place;
mod plot;
mod prepared;
mod problem;
mod progress;
mod rerun;
mod results;
mod run;
mod search;
mod shadow;
mod source;
mod standard_output;
mod summary;
mod sweep;
mod table;
mod terminal;
mod test;
mod trace;
mod translate;
mod usage;
mod warnings;

use clap::{CommandFactory, Parser, Subcommand};
use failure::Failure;
use sim_runtime::Calibration;
use std::{ffi::OsString, path::PathBuf};

/// Check, build and run Sim models: per-agent step functions that become one GPU kernel.
#[derive(Parser)]
#[command(name = "simc", version, max_term_width = 100, after_help = EXIT_CODES)]
struct Cli {
    /// Print results and errors only.
    #[arg(long, short, global = true, display_order = 900)]
    quiet: bool,
    #[command(subcommand)]
    command: Command,
}

/// What the help and the manual page end with.
const EXIT_CODES: &str = "\
Exit codes:
  0    done; also where the reader of standard output stopped early, as `head` does
  1    a mistake of a model, a file, the launch or the device, which standard error explains
  2    the arguments are not understood
  130  ended by Ctrl-C, SIGTERM or SIGHUP";

#[derive(Subcommand)]
enum Command {
    /// Check models and report their mistakes.
    Check(check::Args),
    /// Compile a model and write its kernel, its manifest or a stage of the compiler.
    Build(build::Args),
    /// Compile a model, run it and summarise its outputs.
    Run(Box<run::Args>),
    /// Show the states of an agent, and every `let`, step by step.
    Trace(trace::Args),
    /// Compute derivatives of a loss by params and inputs.
    Grad(Box<grad::Args>),
    /// Search the params at which a loss or residuals are least.
    Fit(Box<fit::Args>),
    /// Search the inputs with which a fitness is best: each agent is a candidate.
    Search(Box<search::Args>),
    /// Repeat a run by the metadata beside its results, and compare the results.
    Rerun(rerun::Args),
    /// Run the tests of models and report those that fail.
    Test(test::Args),
    /// Show what a model takes and gives: names, types, shapes and documentation.
    Inspect(inspect::Args),
    /// Verify the results of models, then time them.
    Bench(bench::Args),
    /// Format models in the canonical style.
    Fmt(fmt::Args),
    /// Explain an error by its code, or list all codes.
    Explain(explain::Args),
    /// Show what this machine has, and measure what `--backend auto` decides by.
    Doctor(doctor::Args),
    /// Write a model to start from.
    New(new::Args),
    /// Start the language server, for editors.
    Lsp(lsp::Args),
    /// Print completions of the arguments for a shell.
    Completions(completions::Args),
    /// Print the manual page of a command, or write all pages.
    Man(man::Args),
}

/// Runs the command with these arguments, the first of which is its name, and gives the exit code. Help and
/// versions end the process.
pub fn main_with(arguments: Vec<OsString>) -> u8 {
    match usage::parse(arguments).and_then(act) {
        Ok(()) => 0,
        Err(failure) => failure.report(),
    }
}

/// What `simc doctor` measured of this machine before, or estimates.
pub fn stored_calibration() -> Calibration {
    calibration::stored()
}

/// The directory in which pipelines that a driver compiled are cached between calls; none if the system has
/// no directory of caches.
pub fn cache_directory() -> Option<PathBuf> {
    cache::directory()
}

fn act(cli: Cli) -> Result<(), Failure> {
    if cli.quiet {
        terminal::be_quiet();
    }
    match cli.command {
        Command::Check(args) => check::check(&args),
        Command::Build(args) => build::build(&args),
        Command::Run(args) => run::run(&args, cli.quiet),
        Command::Trace(args) => trace::trace(&args),
        Command::Grad(args) => grad::grad(&args),
        Command::Fit(args) => fit::fit(&args),
        Command::Search(args) => search::search(&args),
        Command::Rerun(args) => rerun::rerun(&args),
        Command::Test(args) => test::test(&args, cli.quiet),
        Command::Inspect(args) => inspect::inspect(&args),
        Command::Bench(args) => bench::bench(&args),
        Command::Fmt(args) => fmt::fmt(&args),
        Command::Explain(args) => explain::explain(&args),
        Command::Lsp(args) => lsp::lsp(&args),
        Command::Completions(args) => completions::completions(&args, Cli::command()),
        Command::Doctor(args) => doctor::doctor(&args),
        Command::Man(args) => man::man(&args, Cli::command()),
        Command::New(args) => new::new(&args),
    }
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_well_formed() {
        Cli::command().debug_assert();
    }
}
