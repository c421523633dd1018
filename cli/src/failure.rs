//! Everything that can end a command early, as one report on standard error and one exit code.

use crate::{
    interrupt,
    number::grouped,
    problem::{self, Problem},
    terminal,
};
use sim_compiler::diagnostic::{Diagnostic, render};
use sim_runtime::Role;
use std::fmt::Write;

/// Why a command ended early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The model has mistakes.
    Model {
        /// The file as the user called it.
        name: String,
        /// Its text.
        source: String,
        /// At least one.
        diagnostics: Vec<Diagnostic>,
    },
    /// The launch or the device has a complaint.
    Launch(Box<sim_runtime::Error>),
    /// The command has a complaint.
    Problem(Box<Problem>),
    /// The command line is not understood.
    Usage(Box<Problem>),
    /// All that there is to say has been said.
    Reported,
    /// The user pressed Ctrl-C, or another signal asked the command to end.
    Interrupted,
    /// The same of a search that gave what it had, and what is said of it.
    Stopped(String),
    /// The same of a run that was saved, after so many steps of all.
    Suspended {
        /// The steps that are done.
        step: u32,
        /// Those of the whole run.
        steps: u32,
    },
    /// The same of a sweep, some of whose points are complete.
    Unfinished {
        /// Points that have results.
        complete: usize,
        /// All points.
        points: usize,
    },
    /// A failure that leaves a checkpoint, and the command that goes on from it.
    Resumable(Box<Failure>, String),
    /// Whoever read standard output has stopped.
    ClosedPipe,
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Failure::Problem(Box::new(problem))
    }
}

impl From<sim_runtime::Error> for Failure {
    fn from(error: sim_runtime::Error) -> Self {
        if let sim_runtime::Error::Cancelled = error {
            return Failure::Interrupted;
        }
        Failure::Launch(Box::new(error))
    }
}

impl Failure {
    /// The same, with the command that goes on.
    pub(crate) fn resumable(self, command: String) -> Failure {
        Failure::Resumable(Box::new(self), command)
    }

    /// Prints it to standard error.
    pub(crate) fn print(&self) {
        let style = terminal::error_style();
        match self {
            Failure::Model {
                name,
                source,
                diagnostics,
            } => {
                let mut text = render::render(name, source, diagnostics, style);
                // Every diagnostic has a code; the first one's is as good an example as any.
                if let Some(first) = diagnostics.first() {
                    let _ = writeln!(text, "`simc explain {}` says more", first.code);
                }
                terminal::remark(text);
            }
            Failure::Launch(error) => terminal::remark(problem::frame(
                style,
                error.code(),
                &error.to_string(),
                None,
                help(error).as_deref(),
            )),
            Failure::Problem(problem) | Failure::Usage(problem) => {
                terminal::remark(problem.text(style));
            }
            Failure::Interrupted => terminal::remark("interrupted: the run has no results\n"),
            Failure::Stopped(text) => terminal::remark(text),
            Failure::Suspended { step, steps } => terminal::remark(format!(
                "interrupted: {} of {} steps are done and saved\n",
                grouped((*step).into()),
                grouped((*steps).into())
            )),
            Failure::Unfinished { complete, points } => terminal::remark(format!(
                "interrupted: {} of {} points are complete, and {} {} not\n",
                grouped(*complete as u64),
                grouped(*points as u64),
                grouped((points - complete) as u64),
                if points - complete == 1 { "is" } else { "are" }
            )),
            Failure::Resumable(failure, command) => {
                failure.print();
                terminal::remark(format!("to go on from the last checkpoint: {command}\n"));
            }
            Failure::Reported | Failure::ClosedPipe => {}
        }
    }

    /// Prints it, and gives the exit code: 2 where the command line is not understood, 130 after Ctrl-C and
    /// other signals that ask for the end, 0 where the reader of standard output had enough (as `head` does),
    /// otherwise 1.
    pub(crate) fn report(&self) -> u8 {
        self.print();
        self.code()
    }

    fn code(&self) -> u8 {
        match self {
            Failure::Resumable(failure, _) => failure.code(),
            Failure::Interrupted
            | Failure::Stopped(_)
            | Failure::Suspended { .. }
            | Failure::Unfinished { .. } => interrupt::CODE,
            Failure::ClosedPipe => 0,
            Failure::Usage(_) => 2,
            Failure::Model { .. }
            | Failure::Launch(_)
            | Failure::Problem(_)
            | Failure::Reported => 1,
        }
    }
}

/// The way out of a launch's complaint, with the option that leads there.
fn help(error: &sim_runtime::Error) -> Option<String> {
    let general = error.help();
    match error {
        sim_runtime::Error::Missing {
            role, name, others, ..
        } => {
            let option = |role: &Role, name: &str| {
                let value = match role {
                    Role::Param => "VALUE",
                    Role::Data
                    | Role::Input
                    | Role::State
                    | Role::Output
                    | Role::Record
                    | Role::Observation => "FILE",
                };
                format!("--{role} {name}={value}")
            };
            let mut options = vec![option(role, name)];
            options.extend(others.iter().map(|(role, name)| option(role, name)));
            let general = general.unwrap_or_default();
            Some(format!("{general}: `{}`", options.join(" ")))
        }
        sim_runtime::Error::NoAdapter {
            wanted: Some(_), ..
        } => Some("`--adapter list` prints all, and a part of a name is enough".to_owned()),
        sim_runtime::Error::MissingCount { what } => Some(format!(
            "add `--{what} N`, or write `{what} 1_000` into the model"
        )),
        sim_runtime::Error::HostMemory {
            most_agents,
            samples,
            keeps_outputs,
            ..
        } => {
            let rarely = match samples {
                true => {
                    "sample less often, by a larger `every`, or run fewer steps, `--steps N`; or "
                }
                false => "",
            };
            let most = match most_agents {
                Some(most) => {
                    let most = grouped((*most).into());
                    format!("run at most {most} agents at a time, `--agents {most}`")
                }
                None => "run fewer agents at a time, `--agents N`".to_owned(),
            };
            let or = match keeps_outputs {
                true => {
                    "; `simc run --backend cpu` without `--output` holds no outputs, and outputs alone \
                     are written in batches to .csv, .parquet, .arrow and .npy"
                }
                false => "",
            };
            Some(format!(
                "{rarely}{most}, and go on with `--first-agent`{or}"
            ))
        }
        _ => general,
    }
}
