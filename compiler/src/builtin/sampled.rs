//! The folds of agents: what `observe` and `world observe` make of the values that agents have. Some share
//! their names with builtin folds; none but those can be called elsewhere.

/// A fold of agents, for messages, editors and the language server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoldOfAgents {
    /// As `observe` calls it.
    pub name: &'static str,
    /// Names of the parameters; the first is the value of each agent.
    pub params: &'static [&'static str],
    /// The type of a sample.
    pub gives: &'static str,
    /// One sentence.
    pub doc: &'static str,
}

impl FoldOfAgents {
    /// The fold of this name.
    pub fn of(name: &str) -> Option<&'static FoldOfAgents> {
        FOLDS_OF_AGENTS.iter().find(|row| row.name == name)
    }

    /// Its call, as the manual writes it: `quantiles(e, p, …) -> [f32; n]`.
    pub fn signature(&self) -> String {
        format!(
            "{}({}) -> {}",
            self.name,
            self.params.join(", "),
            self.gives
        )
    }
}

/// All of them, in the order of the manual.
pub const FOLDS_OF_AGENTS: [FoldOfAgents; 11] = [
    FoldOfAgents {
        name: "mean",
        params: &["e"],
        gives: "T",
        doc: "The sum of the agents' values, divided by their number; of `bool`s, the share that is true.",
    },
    FoldOfAgents {
        name: "sum",
        params: &["e"],
        gives: "T",
        doc: "The sum of the agents' values; of `bool`s, how many are true.",
    },
    FoldOfAgents {
        name: "min",
        params: &["e"],
        gives: "T",
        doc: "The least of the agents' values.",
    },
    FoldOfAgents {
        name: "max",
        params: &["e"],
        gives: "T",
        doc: "The greatest of the agents' values.",
    },
    FoldOfAgents {
        name: "var",
        params: &["e"],
        gives: "f32",
        doc: "The variance of the agents' values, with n - 1 below the sum.",
    },
    FoldOfAgents {
        name: "sd",
        params: &["e"],
        gives: "f32",
        doc: "The standard deviation of the agents' values: the square root of `var`.",
    },
    FoldOfAgents {
        name: "count",
        params: &["e"],
        gives: "i32",
        doc: "For how many agents a condition holds.",
    },
    FoldOfAgents {
        name: "any",
        params: &["e"],
        gives: "bool",
        doc: "Does a condition hold for any agent?",
    },
    FoldOfAgents {
        name: "all",
        params: &["e"],
        gives: "bool",
        doc: "Does a condition hold for all agents?",
    },
    FoldOfAgents {
        name: "quantiles",
        params: &["e", "p", "…"],
        gives: "[f32; n]",
        doc: "The values at the fractions p of the agents' sorted values: `quantiles(x, 0.1, 0.5, 0.9)`.",
    },
    FoldOfAgents {
        name: "histogram",
        params: &["e", "low", "high", "n"],
        gives: "[i32; n]",
        doc: "How many of the agents' values lie in each of n equal bins from low to high.",
    },
];
