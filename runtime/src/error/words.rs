//! The texts of messages and help lines that depend on values.

use super::Role;
use sim_compiler::{diagnostic::Diagnostic, manifest::Scalar};

/// What the model has in place of a name that it does not have.
pub(super) fn known_names(role: Role, nearest: Option<&str>, known: &[String]) -> String {
    match nearest {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None if known.is_empty() => format!("the model has no {role} at all"),
        None => format!("the model has {}", quoted(known)),
    }
}

/// That there is no such name, or that it is something else.
pub(super) fn unknown_name(role: Role, name: &str, meant: Option<Role>) -> String {
    match meant {
        Some(meant) => format!("`{name}` is {}, not {}", article(meant), article(role)),
        None => format!("the model has no {role} `{name}`"),
    }
}

/// What a launch says to set a name of this role.
pub(super) fn role_options(role: Role, name: &str) -> String {
    match role {
        Role::Param => format!("a param has one value per run: `--param {name}=VALUE`"),
        Role::Data => format!("a table is read from a file: `--data {name}=FILE`"),
        _ => format!("an input has a value per agent, from a file: `--input {name}=FILE`"),
    }
}

fn article(role: Role) -> String {
    match role {
        Role::Data => "data".to_owned(),
        Role::Input | Role::Output | Role::Observation => format!("an {role}"),
        Role::Param | Role::State | Role::Record => format!("a {role}"),
    }
}

/// Which numbers a scalar type holds.
pub(super) fn what_fits(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::F32 => {
            "an f32 holds every integer up to 16,777,216, fewer beyond, and nothing beyond 3.4e38"
        }
        Scalar::F64 => "an f64 holds no number beyond 1.8e308",
        Scalar::I32 => "an i32 lies in -2147483648..=2147483647",
        Scalar::U32 => "a u32 lies in 0..=4294967295",
        Scalar::Bool => "a bool is true or false",
    }
}

/// A line for each diagnostic: place, code, message and help.
pub(super) fn all_messages(diagnostics: &[Diagnostic], source: &str) -> String {
    let mut text = String::new();
    for diagnostic in diagnostics {
        let (line, column) = diagnostic.span().position(source);
        let (code, message) = (diagnostic.code, &diagnostic.message);
        text += &format!("\n  line {line}, column {column}: [{code}] {message}");
        if let Some(help) = &diagnostic.help {
            text += &format!(" ({help})");
        }
    }
    text
}

/// How arguments of a draw that follow from these params can be mended.
pub(super) fn other_arguments(params: &[String]) -> String {
    match params.is_empty() {
        true => "run another number of agents or steps, or correct the model".to_owned(),
        false => format!(
            "it follows from {}; where a param switches a draw off, make the draw conditional on it",
            quoted(params)
        ),
    }
}

/// What else is missing.
pub(super) fn also_missing(others: &[(Role, String)]) -> String {
    let names: Vec<String> = (others.iter())
        .map(|(role, name)| format!("{role} `{name}`"))
        .collect();
    match names.is_empty() {
        true => String::new(),
        false => format!("; also missing: {}", names.join(", ")),
    }
}

/// That a value is not the only one.
pub(super) fn and_others(count: u64) -> String {
    match count {
        0 | 1 => String::new(),
        2 => ", and that of another agent, too".to_owned(),
        count => format!(", and those of {} others, too", count - 1),
    }
}

pub(super) fn is_or_are(what: &str) -> &'static str {
    match what {
        "agents" | "steps" => "are",
        _ => "is",
    }
}

pub(super) fn quoted(names: &[String]) -> String {
    names
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

pub(super) fn no_adapter(wanted: Option<&str>, found: &[String]) -> String {
    let found = if found.is_empty() {
        "there is none".to_owned()
    } else {
        format!("there is {}", quoted(found))
    };
    match wanted {
        Some(wanted) => format!("no adapter is called `{wanted}`: {found}"),
        None => format!("no adapter can run the kernel: {found}"),
    }
}

pub(super) fn host_memory(bytes: u64, available: Option<u64>, parts: &[(&str, u64)]) -> String {
    let each: Vec<String> = (parts.iter())
        .map(|&(what, bytes)| format!("{what} {}", size(bytes)))
        .collect();
    let of = match each.is_empty() {
        true => String::new(),
        false => format!(" ({})", each.join(", ")),
    };
    let there = match available {
        Some(available) => format!("but {} are available", size(available)),
        None => "which cannot be had".to_owned(),
    };
    format!("the run needs {} of memory{of}, {there}", size(bytes))
}

/// Bytes in a unit that suits them.
fn size(bytes: u64) -> String {
    match bytes as f64 {
        bytes if bytes >= 1e9 => format!("{:.1} GB", bytes / 1e9),
        bytes => format!("{:.1} MB", bytes / 1e6),
    }
}

/// Digits in groups of three, as models may write them.
fn grouped(number: u32) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push('_');
        }
        text.push(digit);
    }
    text
}

/// How to run with less memory.
pub(super) fn less_memory(most_agents: Option<u32>, samples: bool, keeps_outputs: bool) -> String {
    let rarely = match samples {
        true => "sample less often, by a larger `every`, or run fewer steps; or ",
        false => "",
    };
    let most = match most_agents {
        Some(most) => format!("run at most {} agents at a time", grouped(most)),
        None => "run fewer agents at a time".to_owned(),
    };
    let or = match keeps_outputs {
        true => ", or keep statistics only: `keep_outputs(false)`",
        false => "",
    };
    format!("{rarely}{most}: `first_agent` continues where a run ended{or}")
}

pub(super) fn snapshot_differs(what: &str, values: Option<&[String; 2]>) -> String {
    match values {
        Some([here, there]) => format!("{what} is {here} here, but {there} in the snapshot"),
        None => format!("{what} is not as it was for the snapshot"),
    }
}

/// Adapters with their numbers.
pub(super) fn numbered(found: &[String]) -> String {
    let all: Vec<_> = (found.iter().enumerate())
        .map(|(number, name)| format!("{number} is {name}"))
        .collect();
    match all.as_slice() {
        [] => "there is no adapter".to_owned(),
        all => all.join(", "),
    }
}
