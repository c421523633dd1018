//! The errors of searches, `E0745` and after.

/// Defines the errors that it is given, and those of a search and of devices after them.
macro_rules! with_search_errors {
    ($($others:tt)*) => {
        with_split_errors! {
            $($others)*

    /// A search varies float inputs: each agent is a candidate, and the values of its inputs are its genome.
    /// An input that the whole world shares, of integers, or of booleans cannot be searched over.
    E0745 no_genome NoGenome {
        /// What lacks a float input.
        message: String,
        /// The float inputs of agents.
        known: Vec<String>,
    }
        says("{message}")
        help(Some(match known.as_slice() {
            [] => "declare what is searched as an input, `input w: [f32; 8] ~ normal(0.0, 1.0)`; params are \
                searched by `simc fit`".to_owned(),
            known => format!("the float inputs of agents are {}", quoted(known)),
        }))
        after(KeepBackend)

    /// The fitness of a search is an output of agents with one float: the value of each candidate.
    E0746 not_a_fitness NotAFitness {
        /// The output.
        name: String,
        /// What it is instead.
        found: String,
    }
        says("output `{name}` is {found}, and a fitness is one float per agent")
        help(Some(format!(
            "add an output of one number, `output fitness = …`, of the states that `{name}` is computed \
             from"
        )))
        after(KeepBackend)

    /// Each agent is a candidate of a search, and its method needs several: to choose parents, to pair
    /// opposite steps, or to learn a covariance. Each island needs as many.
    E0747 too_few_candidates TooFewCandidates {
        /// The method.
        method: &'static str,
        /// The agents of a run, or of an island.
        found: u32,
        /// The fewest that it takes.
        least: u32,
        /// Whether these are the agents of an island.
        of_island: bool,
    }
        says(
            "{method} needs at least {least} candidates, but {} {found}",
            if *of_island { "an island has" } else { "a run has" }
        )
        help(Some(if *of_island { "use fewer islands, or more agents".to_owned() } else {
            format!("run more agents, `--agents {}`", (*least).max(100))
        }))
        after(KeepBackend)

    /// The fitness of every candidate of the first generation is NaN or infinite, so that no candidate is
    /// better than another. A candidate whose fitness is no finite number is worse than all others.
    E0748 no_fitness NoFitness {
        /// The output.
        name: String,
        /// The number of candidates.
        candidates: u32,
    }
        says("output `{name}` is no finite number for any of {candidates} candidates")
        help(Some("`simc run --check` finds the operation that gives the first of them; start elsewhere with \
            `--from LOW:HIGH`, or give such candidates a bad fitness that is finite".into()))
        after(KeepBackend)

    /// A setting of a search that no search can have, or two that exclude each other.
    E0749 search_setting SearchSetting {
        /// What is wrong.
        message: String,
        /// What to do instead.
        help: String,
    }
        says("{message}")
        help(Some(help.clone()))
        after(KeepBackend)
        }
    };
}
pub(super) use with_search_errors;
