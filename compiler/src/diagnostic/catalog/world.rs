//! Complaints about worlds: where their agents can be read, and what belongs to whom (E0450–E0499).

use super::{catalog, did_you_mean};
use crate::{builtin::sampled::FOLDS_OF_AGENTS, diagnostic::Diagnostic, span::Span};

/// The folds of agents in a row, without one.
fn folds(without: &str) -> String {
    let names = FOLDS_OF_AGENTS.iter().map(|fold| fold.name);
    let shown: Vec<String> = names
        .filter(|name| *name != without)
        .map(|name| format!("`{name}`"))
        .collect();
    shown.join(", ")
}

catalog! {
    /// `world` where the agents of a world cannot be read.
    ///
    /// `for other in world` and `world[k]` are legal in `step`, `finish`, `output` and world code. What
    /// `record` and `observe` sample of an agent is read of that agent alone. Initial values and `init`
    /// come before there are agents to read; a function and the body of `integrate` get what they need from
    /// outside.
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
    /// `world step`, initial values of world states, world outputs and `world observe` run once for a
    /// world, which has many agents. They read agents by a fold, or one agent by its place.
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
    /// `world input`, `world state`, `world output`, `world observe` and `world step` are one per world;
    /// the others are not one per agent either, or have no counterpart: what is recorded is a value of each
    /// agent, and `world observe` keeps one of each world. Alone, `world 1_000` says how many agents a
    /// world has.
    E0456 not_of_world(word: &str, span: Span) {
        let report = Diagnostic::new(format!("there is no `world {word}`"))
            .at(span, "`world` stands before `input`, `state`, `output`, `observe`, `step` or a number");
        match word {
            "record" => report.help("a value of each world is `world observe`").replace(span, "observe"),
            _ => report,
        }
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
    /// all quantiles histogram` of a value that each agent has.
    ///
    /// ```text
    /// observe price                 // of which agent?
    /// ```
    ///
    /// Write `observe price = mean(price)` for a value of the population, `record price` for those of all
    /// agents. The fold stands outside: `mean(2.0 * price)`, not `2.0 * mean(price)`.
    E0460 observe_without_fold(name: &str, value: &str, inner: Option<&str>, span: Span) {
        let report = Diagnostic::new(format!("`observe {name}` needs a fold of what the agents have"));
        match inner {
            Some(fold) => report.at(span, format!("`{fold}` stands within an expression"))
                .help(format!("put the expression into the fold: `observe {name} = {fold}(…)`")),
            None => report.at(span, "a value of each agent")
                .help(format!(
                    "say how the agents' values are combined: `observe {name} = mean({value})`, or with {}; \
                     `record {name}` keeps the value of each agent",
                    folds("mean")
                )),
        }
    }

    /// A fold of a comprehension, observed of the population.
    ///
    /// `observe m = mean(x)` already takes the mean over all agents: it needs no `for`. What is folded within
    /// an agent, such as its array, is a value of that agent: `observe m = mean(sum(array))`.
    E0461 observe_of_comprehension(fold: &str, span: Span) {
        Diagnostic::new(format!("`{fold}` of agents needs no `for`"))
            .at(span, "a comprehension, where a value of each agent belongs")
            .help(format!("write `{fold}(x)`, with the value of an agent for x: it is taken over all agents"))
    }

    /// A fraction of `quantiles` that is none.
    ///
    /// `quantiles(x, 0.1, 0.5, 0.9)` are the values below which a tenth, half and nine tenths of the agents
    /// lie. Its fractions are constants from 0 to 1.
    E0462 bad_quantile(value: f32, span: Span) {
        let report = Diagnostic::new(format!("there is no quantile {value}"))
            .at(span, "a fraction of the agents, 0 to 1");
        match value {
            2.0..=100.0 => {
                let fraction = (f64::from(value) / 100.0).to_string();
                report.help(format!("for {value} % write `{fraction}`")).replace(span, fraction)
            }
            _ => report.help("the median is `quantiles(x, 0.5)`"),
        }
    }

    /// Bins of `histogram` that cannot be.
    ///
    /// `histogram(x, low, high, n)` counts the values in n equal bins from low to high.
    E0463 bad_bins(what: &str, must: &str, span: Span) {
        Diagnostic::new(format!("a histogram cannot have {what}")).at(span, must)
            .help("write `histogram(x, low, high, n)`, such as `histogram(x, 0.0, 1.0, 20)`")
    }

    /// A call in `observe` of what is neither a fold nor a function.
    ///
    /// The folds of agents are `mean sum min max var sd count any all quantiles histogram`. The median is
    /// `quantiles(x, 0.5)`.
    E0464 unknown_fold(name: &str, near: Option<&str>, span: Span) {
        let report = Diagnostic::new(format!("`{name}` is not a fold of agents"))
            .at(span, "no fold has this name");
        match (name, near) {
            ("median", _) => report.help("write `quantiles(x, 0.5)`"),
            (_, Some(_)) => did_you_mean(report, near),
            (_, None) => report.help(format!("the folds are {}", folds(""))),
        }
    }

    /// A fold that only `observe` has, called elsewhere.
    ///
    /// `var`, `sd`, `quantiles` and `histogram` combine the values of all agents of the run or of a world, at
    /// the end of a step: `observe spread = sd(price)`. Within a step, write them with other folds, such as
    /// `mean(for other in world: other.x * other.x)`.
    E0465 fold_of_observe(name: &str, span: Span) {
        Diagnostic::new(format!("`{name}` can be called in `observe` only"))
            .at(span, "a fold of all agents")
            .help(format!(
                "write `observe m = {name}(…)` as a declaration; a step reads nothing that is observed"
            ))
    }

    /// A type of `observe` that its fold does not give.
    ///
    /// A mean, a variance and a standard deviation are `f32`s, also of integers; quantiles are an array of
    /// `f32`s, one for each fraction, and a histogram is an array of `i32`s, one for each bin. A fold
    /// cannot be converted: leave the type out.
    E0466 type_of_fold(fold: &str, found: &str, written: &str, span: Span) {
        Diagnostic::new(format!("`{fold}` gives `{found}` here, not `{written}`"))
            .at(span, format!("must be `{found}`"))
            .help(format!("write `{found}`, or no type"))
            .replace(span, found)
    }

    /// A statement that only an agent can execute, in world code.
    E0459 not_for_worlds(what: &str, help: &str, span: Span) {
        Diagnostic::new(format!("{what} in world code")).at(span, "a world cannot do this").help(help)
    }
}
