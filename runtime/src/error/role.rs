//! Names for what a model exchanges with its host.

use std::fmt;

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
    /// Values of each agent over time.
    Record,
    /// Values of all agents or of a world over time.
    Observation,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Role::Param => "param",
            Role::Data => "data",
            Role::Input => "input",
            Role::State => "state",
            Role::Output => "output",
            Role::Record => "record",
            Role::Observation => "observation",
        })
    }
}
