//! Everything that can go wrong between a compiled model and its results: one enum, each variant with a
//! stable code, a sentence, a way out and a long explanation.

mod explain;

pub use explain::explanations;

use sim_compiler::{diagnostic::Diagnostic, manifest::Scalar};
use std::fmt;

/// What a launch or a device can complain about. Codes `E07xx` are about the launch, `E08xx` about the
/// device.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The source is no model.
    #[error("the model does not compile: {}", first_message(diagnostics))]
    Compile {
        /// What the compiler says, at least one.
        diagnostics: Vec<Diagnostic>,
        /// The source text, for drawing the diagnostics.
        source_text: String,
    },
    /// The model has nothing of this name.
    #[error("the model has no {role} `{name}`")]
    UnknownName {
        /// What was asked for.
        role: Role,
        /// The name as given.
        name: String,
        /// The most similar legal name.
        nearest: Option<String>,
        /// Every legal name.
        known: Vec<String>,
    },
    /// A value is of another scalar type than the model's.
    #[error("{role} `{name}` holds {}, not {}", scalar_name(*expected), scalar_name(*found))]
    WrongType {
        /// What it is.
        role: Role,
        /// Its name.
        name: String,
        /// The model's type.
        expected: Scalar,
        /// The type that was given or asked for.
        found: Scalar,
    },
    /// A number that its type cannot hold, such as a negative `u32`.
    #[error("{role} `{name}` holds {}, and {value} is none", scalar_name(*expected))]
    NotRepresentable {
        /// What it is.
        role: Role,
        /// Its name.
        name: String,
        /// The model's type.
        expected: Scalar,
        /// The number.
        value: f64,
    },
    /// Another number of values than the model needs.
    #[error("{role} `{name}` needs {expected}, but was given {found}")]
    WrongShape {
        /// What it is.
        role: Role,
        /// Its name.
        name: String,
        /// The shape that the model needs, in words.
        expected: String,
        /// The shape that was given, in words.
        found: String,
    },
    /// A param outside its declared range.
    #[error("param `{name}` must lie in {first}..{last}, but is {value}")]
    OutOfRange {
        /// Its name.
        name: String,
        /// The offending element.
        value: f64,
        /// Smallest legal value.
        first: f64,
        /// Largest legal value.
        last: f64,
    },
    /// A param that is NaN.
    #[error("param `{name}` is not a number (NaN)")]
    NotANumber {
        /// Its name.
        name: String,
    },
    /// A number that names no variant of an enum.
    #[error("{role} `{name}` has no variant number {value}")]
    UnknownVariant {
        /// What it is.
        role: Role,
        /// Its name.
        name: String,
        /// The number.
        value: u32,
        /// The variants' names; variant `k` is number `k`.
        variants: Vec<String>,
    },
    /// Something without a default was not given.
    #[error("{role} `{name}` has no default and was not given")]
    Missing {
        /// What it is.
        role: Role,
        /// Its name.
        name: String,
        /// Its type and shape, in words.
        needs: String,
    },
    /// Neither the model nor the launch says how many.
    #[error("neither the model nor the launch says how many {what}")]
    MissingCount {
        /// `agents` or `steps`.
        what: &'static str,
    },
    /// Agents or steps that no run can have.
    #[error("{what} must lie in {least}..={most}, but are {value}")]
    CountOutOfRange {
        /// `agents`, `steps` or `population`.
        what: &'static str,
        /// What was asked for.
        value: u64,
        /// Smallest legal number.
        least: u64,
        /// Largest legal number.
        most: u64,
    },
    /// The model reads rows that a table does not have.
    #[error("the model reads row {index} of data `{data}`, which has {rows} rows: {why}")]
    TableTooShort {
        /// The table's name.
        data: String,
        /// Rows that it has.
        rows: u64,
        /// The row that is read; negative ones lie before the first.
        index: i64,
        /// The number that leads there, in words.
        why: String,
    },
    /// A draw that every agent makes has no distribution, by the values of params.
    #[error("`{draw}` needs {needs}; here {found}")]
    NoDistribution {
        /// The draw's name.
        draw: &'static str,
        /// What it needs, in words.
        needs: &'static str,
        /// What it was given, in words.
        found: String,
        /// The params that this follows from.
        params: Vec<String>,
    },
    /// The run was told to leave the final states on the device.
    #[error("the final states were not read back, so state `{name}` is not known")]
    StatesNotKept {
        /// The state's name.
        name: String,
    },
    /// The run was told to keep statistics only, and not the results of each agent.
    #[error("the results of each agent were not kept, and {what} is one of them")]
    OutputsNotKept {
        /// What was asked for, in words.
        what: String,
    },
    /// The processor lacks the vector instructions that were asked for.
    #[error("this processor has no {name} instructions")]
    NoSuchInstructions {
        /// The instruction set.
        name: &'static str,
    },
    /// The run does not fit into the memory that there is for it.
    #[error("{}", host_memory(*bytes, *available, parts))]
    HostMemory {
        /// Bytes that it needs.
        bytes: u64,
        /// Bytes that there are, where that is known.
        available: Option<u64>,
        /// What needs how many of them.
        parts: Vec<(&'static str, u64)>,
        /// Agents that would fit.
        most_agents: Option<u32>,
        /// The outputs of each agent were asked for, and not statistics alone.
        keeps_outputs: bool,
    },
    /// The caller cancelled the run.
    #[error("the run was cancelled")]
    Cancelled,
    /// No GPU was found, or none of the name that was asked for.
    #[error("{}", no_adapter(wanted.as_deref(), found))]
    NoAdapter {
        /// The name that was asked for.
        wanted: Option<String>,
        /// Every adapter that there is.
        found: Vec<String>,
    },
    /// A GPU was asked for, but the feature `gpu` was left out of this build.
    #[error("this build has no GPU support")]
    NoGpuSupport,
    /// The driver gives no device.
    #[error("the driver of {adapter} gives no device: {message}")]
    DeviceRefused {
        /// The adapter's name.
        adapter: String,
        /// The driver's words.
        message: String,
    },
    /// The model needs more of something than the adapter has.
    #[error("the model needs {needed} {limit}, but {adapter} allows {available}")]
    AdapterLimit {
        /// The adapter's name.
        adapter: String,
        /// What is limited, in words.
        limit: &'static str,
        /// How much the model needs.
        needed: u64,
        /// How much there is.
        available: u64,
    },
    /// The device's memory does not suffice.
    #[error("{adapter} has no memory left for {what} ({bytes} bytes)")]
    GpuMemory {
        /// The adapter's name.
        adapter: String,
        /// What did not fit.
        what: String,
        /// Its size.
        bytes: u64,
    },
    /// The shader validator or the driver refuses our kernel: our bug.
    #[error("the kernel was refused while {during}: {message}")]
    KernelRefused {
        /// What we were doing.
        during: &'static str,
        /// The validator's words.
        message: String,
    },
    /// The device went away in the middle of the run.
    #[error("{adapter} was lost: {message}")]
    DeviceLost {
        /// The adapter's name.
        adapter: String,
        /// The driver's words.
        message: String,
    },
    /// An agent did not run all its steps: the driver cut a loop short.
    #[error("on {adapter}, agent {agent} ran {found} steps instead of {expected}")]
    WrongStepCount {
        /// The adapter's name.
        adapter: String,
        /// The first such agent's number.
        agent: u64,
        /// Steps that it should have run.
        expected: u32,
        /// Steps that it ran.
        found: u32,
    },
    /// The kernel noticed that the driver had cut an inner loop short, even with one step a dispatch.
    #[error("{adapter} cuts the loops of a single step short (first in agent {agent})")]
    LoopCutShort {
        /// The adapter's name.
        adapter: String,
        /// The first such agent's number.
        agent: u64,
    },
    /// The driver failed in a way that has no name.
    #[error("{adapter} failed while {during}: {message}")]
    Device {
        /// The adapter's name.
        adapter: String,
        /// What we were doing.
        during: &'static str,
        /// The driver's words.
        message: String,
    },
}

/// The kinds of named things at a model's border.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// A launch parameter.
    Param,
    /// A table.
    Data,
    /// A per-agent input.
    Input,
    /// A per-agent state.
    State,
    /// A per-agent result.
    Output,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Role::Param => "param",
            Role::Data => "data",
            Role::Input => "input",
            Role::State => "state",
            Role::Output => "output",
        })
    }
}

impl Error {
    /// May what runs the model be broken?
    pub(crate) fn is_of_device(&self) -> bool {
        matches!(
            self,
            Error::HostMemory { .. }
                | Error::NoAdapter { .. }
                | Error::DeviceRefused { .. }
                | Error::AdapterLimit { .. }
                | Error::GpuMemory { .. }
                | Error::KernelRefused { .. }
                | Error::DeviceLost { .. }
                | Error::WrongStepCount { .. }
                | Error::LoopCutShort { .. }
                | Error::Device { .. }
        )
    }

    /// The code under which [`explanations`] has more. For a model that does not compile it is the code of
    /// the first diagnostic.
    pub fn code(&self) -> &'static str {
        match self {
            Error::Compile { diagnostics, .. } => {
                diagnostics.first().map_or("E0700", |first| first.code)
            }
            Error::UnknownName { .. } => "E0701",
            Error::WrongType { .. } => "E0702",
            Error::NotRepresentable { .. } => "E0703",
            Error::WrongShape { .. } => "E0704",
            Error::OutOfRange { .. } => "E0705",
            Error::NotANumber { .. } => "E0706",
            Error::UnknownVariant { .. } => "E0707",
            Error::Missing { .. } => "E0708",
            Error::MissingCount { .. } => "E0709",
            Error::CountOutOfRange { .. } => "E0710",
            Error::TableTooShort { .. } => "E0711",
            Error::StatesNotKept { .. } => "E0712",
            Error::HostMemory { .. } => "E0713",
            Error::Cancelled => "E0714",
            Error::NoSuchInstructions { .. } => "E0715",
            Error::OutputsNotKept { .. } => "E0716",
            Error::NoDistribution { .. } => "E0717",
            Error::NoAdapter { .. } => "E0801",
            Error::DeviceRefused { .. } => "E0802",
            Error::AdapterLimit { .. } => "E0803",
            Error::GpuMemory { .. } => "E0804",
            Error::KernelRefused { .. } => "E0805",
            Error::DeviceLost { .. } => "E0806",
            Error::WrongStepCount { .. } => "E0807",
            Error::LoopCutShort { .. } => "E0808",
            Error::Device { .. } => "E0809",
            Error::NoGpuSupport => "E0810",
        }
    }

    /// How to mend it, where that is known.
    pub fn help(&self) -> Option<String> {
        Some(match self {
            Error::Compile { .. } | Error::CountOutOfRange { .. } | Error::Cancelled => {
                return None;
            }
            Error::UnknownName {
                role,
                nearest,
                known,
                ..
            } => known_names(*role, nearest.as_deref(), known),
            Error::WrongType { expected, .. } => {
                format!("give or ask for {}", scalar_name(*expected))
            }
            Error::NotRepresentable { expected, .. } => what_fits(*expected).to_owned(),
            Error::WrongShape { .. } => {
                "values lie row by row: the last dimension varies fastest".to_owned()
            }
            Error::OutOfRange { name, .. } => {
                format!("give another value, or widen the range of `{name}` in the model")
            }
            Error::NotANumber { name } => format!("give `{name}` a number"),
            Error::UnknownVariant { variants, .. } => {
                format!("the variants are {}, numbered from 0", quoted(variants))
            }
            Error::Missing { needs, .. } => format!("give it {needs}"),
            Error::MissingCount { what } => {
                format!("give a number of {what}, or write `{what} 1_000` into the model")
            }
            Error::TableTooShort { .. } => {
                "give a longer table, or run fewer steps or agents".to_owned()
            }
            Error::NoDistribution { params, .. } => other_arguments(params),
            Error::StatesNotKept { .. } => {
                "leave out `keep_states(false)`, or make the state an output".to_owned()
            }
            Error::OutputsNotKept { .. } => "ask for `statistics`, or keep outputs".to_owned(),
            Error::NoSuchInstructions { .. } => "leave the choice to the runtime".to_owned(),
            Error::HostMemory { .. } => self.less_memory(),
            Error::NoAdapter { .. } => {
                "run on the CPU backend, or install a Vulkan, Metal or DirectX 12 driver".to_owned()
            }
            Error::NoGpuSupport => "run on the CPU, or build with the feature `gpu`".to_owned(),
            Error::DeviceRefused { .. } => {
                "close other programs that use the GPU, or run on the CPU backend".to_owned()
            }
            Error::AdapterLimit { .. } => {
                "run on the CPU backend, which has no such limit".to_owned()
            }
            Error::GpuMemory { .. } => {
                "run fewer agents at a time, smaller tables, or on the CPU backend".to_owned()
            }
            Error::KernelRefused { .. } => {
                "this is a bug of the compiler, not of the model: please report it with the model, \
                 this message and the adapter's name; the CPU backend runs the model meanwhile"
                    .to_owned()
            }
            Error::DeviceLost { .. } => {
                "run again; if it happens again, run fewer steps per dispatch or on the CPU backend"
                    .to_owned()
            }
            Error::WrongStepCount { .. } | Error::LoopCutShort { .. } => {
                "no result of this run is right, so none is given; run on the CPU backend or on \
                 another adapter"
                    .to_owned()
            }
            Error::Device { .. } => "run on the CPU backend or on another adapter".to_owned(),
        })
    }

    /// How to run with less memory.
    fn less_memory(&self) -> String {
        let (most, or) = match self {
            Error::HostMemory {
                most_agents,
                keeps_outputs,
                ..
            } => (*most_agents, *keeps_outputs),
            _ => (None, false),
        };
        let most = match most {
            Some(most) => format!("run at most {} agents at a time", grouped(most)),
            None => "run fewer agents at a time".to_owned(),
        };
        let or = match or {
            true => ", or keep statistics only: `keep_outputs(false)`",
            false => "",
        };
        format!("{most}: `first_agent` continues where a run ended{or}")
    }

    /// The long text of `simc explain` for this error's code; empty for a diagnostic of the compiler, which
    /// the compiler's own catalog explains.
    pub fn explanation(&self) -> &'static str {
        let code = self.code();
        explanations()
            .iter()
            .find(|(known, _, _)| *known == code)
            .map_or("", |(_, _, text)| text)
    }
}

/// A scalar type as a `.sim` file writes it.
pub(crate) fn scalar_name(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::F32 => "f32",
        Scalar::I32 => "i32",
        Scalar::U32 => "u32",
        Scalar::Bool => "bool",
    }
}

/// What the model has in place of a name that it does not have.
fn known_names(role: Role, nearest: Option<&str>, known: &[String]) -> String {
    match nearest {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None if known.is_empty() => format!("the model has no {role} at all"),
        None => format!("the model has {}", quoted(known)),
    }
}

/// Which numbers a scalar type holds.
fn what_fits(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::F32 => {
            "an f32 holds every integer up to 16,777,216, fewer beyond, and nothing beyond 3.4e38"
        }
        Scalar::I32 => "an i32 lies in -2147483648..=2147483647",
        Scalar::U32 => "a u32 lies in 0..=4294967295",
        Scalar::Bool => "a bool is true or false",
    }
}

fn first_message(diagnostics: &[Diagnostic]) -> &str {
    diagnostics
        .first()
        .map_or("no reason given", |first| first.message.as_str())
}

/// How arguments of a draw that follow from these params can be mended.
fn other_arguments(params: &[String]) -> String {
    match params.is_empty() {
        true => "run another number of agents or steps, or correct the model".to_owned(),
        false => format!(
            "it follows from {}; where a param switches a draw off, make the draw conditional on it",
            quoted(params)
        ),
    }
}

fn quoted(names: &[String]) -> String {
    names
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

fn no_adapter(wanted: Option<&str>, found: &[String]) -> String {
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

fn host_memory(bytes: u64, available: Option<u64>, parts: &[(&str, u64)]) -> String {
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
