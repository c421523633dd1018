//! Complaints about worlds: where their agents can be read, and what belongs to whom (E0450–E0499).

use super::{catalog, did_you_mean};
use crate::{diagnostic::Diagnostic, span::Span};

catalog! {
    /// `world` where the agents of a world cannot be read.
    ///
    /// `for other in world` and `world[k]` are legal in `step`, `finish`, `output` and world code. What `record`
    /// and `observe` sample of an agent is read of that agent alone. Initial
    /// values and `init` come before there are agents to read; a function and the body of `integrate` get
    /// what they need from outside.
    E0450 no_world_here(place: &str, help: &str, span: Span) {
        Diagnostic::new(format!("the agents of the world cannot be read in {place}"))
            .at(span, "read here")
            .help(help)
    }

    /// `world` where a value is needed.
    ///
    /// `world` is a collection of agents: loop over it (`for other in world`), take one agent (`world[k]`),
    /// or ask for its size (`len(world)`).
    E0451 world_as_value(span: Span) {
        Diagnostic::new("`world` is not a value").at(span, "the agents of the world, a collection")
            .help("loop over it: `for other in world`; take an agent: `world[k].x`; or ask for `len(world)`")
    }

    /// An agent where a value is needed.
    ///
    /// `world[k]` and the index of `for other in world` stand for an agent. An agent can be named by a `let`,
    /// and its states and inputs can be read; it can be neither stored nor compared.
    E0452 agent_as_value(span: Span) {
        Diagnostic::new("an agent is not a value").at(span, "an agent of the world")
            .help("read one of its states or inputs, or its number: `other.x`, `other.member`")
    }

    /// A field that agents do not have.
    ///
    /// Behind an agent stand its states and inputs, `member` and `agent`. Outputs are evaluated last, and
    /// what belongs to the world is read by its own name.
    E0453 not_of_agent(name: &str, what: Option<&str>, span: Span, near: Option<&str>) {
        let report = Diagnostic::new(format!("an agent has no state or input `{name}`"));
        match what {
            Some(what) => report.at(span, what),
            None => did_you_mean(report.at(span, "unknown"), near),
        }
    }

    /// A value of an agent, read in world code.
    ///
    /// `world step`, initial values of world states and world outputs run once for a world, which has many
    /// agents. They read agents by a fold, or one agent by its place.
    E0454 many_agents(name: &str, place: &str, help: &str, span: Span) {
        Diagnostic::new(format!("`{name}` is a value of one agent, and {place} is of the world"))
            .at(span, "which agent's?")
            .help(help)
    }

    /// A function that reads something of an agent, called in world code.
    E0455 function_of_agent(name: &str, place: &str, span: Span) {
        Diagnostic::new(format!("`{name}` cannot be called in {place}"))
            .at(span, "reads inputs of an agent, `agent` or `member`")
            .help("pass what it needs as arguments")
    }

    /// `world` before a declaration that it cannot make one of the world.
    ///
    /// `world input`, `world state`, `world output`, `world observe` and `world step` are one per world; the
    /// others are not one per agent either, or have no counterpart: what is recorded is a value of each agent. Alone, `world 1_000` says how many agents a world has.
    E0456 not_of_world(word: &str, span: Span) {
        Diagnostic::new(format!("there is no `world {word}`"))
            .at(span, "`world` stands before `input`, `state`, `output`, `observe`, `step` or a number")
    }

    /// An array with an element for each agent of the world.
    ///
    /// The size of a world is known at launch only; the length of an array when the model is compiled.
    E0457 array_of_agents(span: Span) {
        Diagnostic::new("an array cannot have an element for each agent of the world")
            .at(span, "as long as the world, which the launch says")
            .help("fold over the world: `sum(for other in world: …)`, or keep the values in a state")
    }

    /// A draw in an element of a fold over the world, in world code.
    ///
    /// A world draws numbers one after another, and its folds are computed by all its agents at once.
    E0458 draw_per_agent(name: &str, span: Span) {
        Diagnostic::new(format!("`{name}` draws in an element of a fold over the world"))
            .at(span, "world code makes no draw per agent")
            .help("let the agents draw, in `step`, into a state of theirs")
    }

    /// `observe` without a fold.
    ///
    /// `observe` keeps a value of the whole population: one of the folds `mean sum min max var sd count any
    /// all quantiles histogram` of a value that each agent has. `record` keeps the value of each agent.
    E0460 observe_without_fold(name: &str, span: Span) {
        Diagnostic::new(format!("`observe {name}` needs a fold of what the agents have"))
            .at(span, "a value of each agent")
            .help("write `mean(…)`, `sum`, `min`, `max`, `var`, `sd`, `count`, `any`, `all`, `quantiles` or \
                `histogram`; or `record` it, for each agent")
    }

    /// A fold of a comprehension, observed of the population.
    ///
    /// `observe m = mean(x)` already takes the mean over all agents: it needs no `for`.
    E0461 observe_of_comprehension(fold: &str, span: Span) {
        Diagnostic::new(format!("`{fold}` of agents needs no `for`")).at(span, "a comprehension")
            .help(format!("write `{fold}(x)`: it is taken over all agents"))
    }

    /// A fraction of `quantiles` that is none.
    E0462 bad_quantile(value: f64, span: Span) {
        Diagnostic::new(format!("there is no quantile {value}")).at(span, "must be 0 to 1")
    }

    /// Bins of `histogram` that cannot be.
    ///
    /// `histogram(x, low, high, n)` counts the values in n equal bins from low to high.
    E0463 bad_bins(what: &str, span: Span) {
        Diagnostic::new("these bins cannot be").at(span, what)
            .help("`histogram(x, low, high, n)` has n equal bins, 1 to 65,536, from low to a greater high")
    }

    /// A statement that only an agent can execute, in world code.
    E0459 not_for_worlds(what: &str, help: &str, span: Span) {
        Diagnostic::new(format!("{what} in world code")).at(span, "a world cannot do this").help(help)
    }
}
