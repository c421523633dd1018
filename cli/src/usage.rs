//! The command line, and the complaints about one that is not understood, in the style of all others.

use crate::{
    failure::Failure,
    problem::{Problem, bad_arguments},
};
use clap::{
    Command, Parser,
    error::{ContextKind, ContextValue, ErrorKind},
};
use std::{env, error::Error, ffi::OsString};

/// Reads arguments. Prints help and versions, and ends the process after them.
///
/// # Errors
/// [`Failure::Usage`]
pub(crate) fn parse<Cli: Parser>(arguments: Vec<OsString>) -> Result<Cli, Failure> {
    Cli::try_parse_from(arguments).map_err(|error| {
        if !error.use_stderr()
            || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        {
            error.exit();
        }
        Failure::Usage(Box::new(complaint(&error, &help_command(&Cli::command()))))
    })
}

/// A complaint about arguments that are understood one by one, but not together.
pub(crate) fn refused(message: impl Into<String>, help: impl Into<String>) -> Failure {
    Failure::Usage(Box::new(bad_arguments(message.into(), help.into())))
}

/// The command whose help has the arguments: `simc run --help`.
fn help_command(command: &Command) -> String {
    let given = env::args().skip(1);
    let mut known = given.filter(|word| command.find_subcommand(word).is_some());
    match known.next() {
        Some(name) => format!("simc {name} --help"),
        None => "simc --help".to_owned(),
    }
}

fn complaint(error: &clap::Error, help: &str) -> Problem {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let list = |kind| match error.get(kind) {
        Some(ContextValue::Strings(all)) => all.clone(),
        Some(ContextValue::String(one)) => vec![one.clone()],
        _ => Vec::new(),
    };
    let argument = text(ContextKind::InvalidArg).unwrap_or_default();
    let value = text(ContextKind::InvalidValue).unwrap_or_default();
    let message = match error.kind() {
        ErrorKind::UnknownArgument => format!("there is no argument `{argument}`"),
        ErrorKind::InvalidSubcommand => {
            let command = text(ContextKind::InvalidSubcommand).unwrap_or_default();
            format!("there is no command `{command}`")
        }
        ErrorKind::InvalidValue if value.is_empty() => format!("`{argument}` needs a value"),
        ErrorKind::InvalidValue => format!("`{argument}` cannot be `{value}`"),
        ErrorKind::ValueValidation if !argument.is_empty() => {
            let why = error.source().map(ToString::to_string).unwrap_or_default();
            format!("`{argument}` cannot be `{value}`: {why}")
        }
        ErrorKind::MissingRequiredArgument => {
            let missing = quoted(&list(ContextKind::InvalidArg));
            format!("the command line lacks {missing}")
        }
        ErrorKind::ArgumentConflict => {
            let others = list(ContextKind::PriorArg);
            match others.iter().any(|other| other == argument) {
                true => format!("`{argument}` was given twice"),
                false => format!("`{argument}` cannot be used with {}", quoted(&others)),
            }
        }
        _ => first_line(&error.to_string()),
    };
    let suggested = [
        ContextKind::SuggestedSubcommand,
        ContextKind::SuggestedArg,
        ContextKind::SuggestedValue,
    ];
    let suggested: Vec<String> = suggested.into_iter().flat_map(list).collect();
    let values = list(ContextKind::ValidValue);
    let way_out = match (suggested.is_empty(), values.is_empty()) {
        (false, _) => format!("did you mean {}?", quoted(&suggested)),
        (true, false) => format!("it is one of {}", quoted(&values)),
        (true, true) => format!("`{help}` lists the arguments"),
    };
    bad_arguments(message, way_out)
}

fn quoted(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// What clap says, without its `error: `.
fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}
