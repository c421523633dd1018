//! Complaints about statements: what may be assigned, where control may go, what must be bounded
//! (E0400–E0499).

use super::catalog;
use crate::{diagnostic::Diagnostic, span::Span};

catalog! {
    /// A `while` without a limit.
    ///
    /// Every loop is bounded, so that no model can hang a GPU: `while error > 1e-6 limit 50 { … }`.
    E0401 missing_limit(span: Span) {
        Diagnostic::new("`while` needs a limit").at(span, "may never end")
            .help("say how many iterations it takes at most: `while … limit 100 { … }`; without a \
                condition `for i in 0..100 { … }` does the same")
            .append(span, "limit 100 ")
    }

    /// An assignment to something that keeps its value.
    ///
    /// Only `var`s and states can be assigned. `let`, `const`, `param`, `data`, `input`, loop indices and
    /// parameters of functions keep their value; `output`s are evaluated after the last step.
    E0402 cannot_assign(name: &str, what: &str, span: Span, declared: Option<Span>, help: Option<&str>) {
        let mut report = Diagnostic::new(format!("`{name}` cannot be assigned: it is {what}"))
            .at(span, "assigned here");
        if let Some(declared) = declared {
            report = report.at(declared, "declared here");
        }
        match help {
            Some(help) => report.help(help),
            None => report,
        }
    }

    /// An assignment to an expression that names no variable.
    E0403 not_a_place(span: Span) {
        Diagnostic::new("this cannot be assigned")
            .at(span, "not a variable, an element or a component of one")
    }

    /// `break` or `continue` outside a loop.
    E0404 outside_loop(word: &str, span: Span) {
        Diagnostic::new(format!("`{word}` outside a loop")).at(span, "there is no loop to leave here")
            .help("`stop` ends the agent's run, `return` a function")
    }

    /// `stop` outside `step`.
    ///
    /// `stop` says that this agent is done: it makes sense only while steps run. A function cannot stop
    /// the agent; let it return a value and stop in `step`.
    E0405 stop_outside_step(span: Span) {
        Diagnostic::new("`stop` outside `step`").at(span, "only a `step` block can stop its agent")
    }

    /// `return` outside a function.
    E0406 return_outside_function(span: Span) {
        Diagnostic::new("`return` outside a function").at(span, "not inside a function")
            .help("put the rest of the block into `else { … }`; `stop` ends all further steps of the agent")
    }

    /// A function with a path that returns nothing.
    E0407 missing_return(name: &str, span: Span) {
        Diagnostic::new(format!("`{name}` does not return a value on every path"))
            .at(span, "its end can be reached")
            .help("end it with `return …`")
    }

    /// A `return` without a value.
    E0408 return_without_value(span: Span) {
        Diagnostic::new("`return` needs a value").at(span, "returns nothing")
    }

    /// `x' = …` outside `integrate`.
    E0409 equation_outside_integrate(name: &str, span: Span) {
        Diagnostic::new(format!("`{name}' = …` outside `integrate`"))
            .at(span, "a derivative has no meaning here")
            .help("write it inside `integrate rk4(dt) { … }`, at its top level")
    }

    /// An equation for something that cannot be integrated.
    ///
    /// `integrate` advances states of type `f32` or a vector. A state that is declared as `state x = 0` is an
    /// integer: write `0.0`. An array is advanced by loops outside of `integrate`, with the method written
    /// out, as in `for i in 0..10 { x[i] += dt * v[i] }`.
    E0410 equation_for(name: &str, what: &str, span: Span, declared: Option<Span>, help: Option<&str>) {
        let report = Diagnostic::new(format!("`{name}` cannot be integrated: it is {what}"))
            .at(span, "only a state of the agents, an `f32` or a vector, has a derivative");
        let report = match help {
            Some(help) => report.help(help),
            None => report,
        };
        match declared {
            Some(declared) => report.at(declared, "declared here"),
            None => report,
        }
    }

    /// Two equations for one state in one `integrate`.
    E0411 duplicate_equation(name: &str, span: Span, first: Span) {
        Diagnostic::new(format!("`{name}` has two equations")).at(span, "again here").at(first, "first here")
    }

    /// A statement that has no place inside `integrate`.
    ///
    /// The body of `integrate` is evaluated once per stage of the method: it computes derivatives from
    /// the stage values and must not change anything else, nor draw, stop or return.
    E0412 not_in_integrate(what: &str, span: Span) {
        Diagnostic::new(format!("{what} inside `integrate`")).at(span, "the body runs once per stage")
            .help("move it before or after the `integrate` block")
    }

    /// An `integrate` without any equation.
    E0413 nothing_to_integrate(span: Span) {
        Diagnostic::new("`integrate` without an equation").at(span, "advances nothing")
            .help("write equations such as `x' = v`")
    }

    /// A `match` that leaves values out.
    E0414 not_exhaustive(missing: &str, span: Span) {
        Diagnostic::new(format!("`match` does not cover {missing}")).at(span, "not every value has an arm")
            .help("add the missing arms, or `_ => …` for the rest")
    }

    /// An arm of a `match` that an earlier one makes useless.
    E0415 unreachable_arm(span: Span, earlier: Span) {
        Diagnostic::new("this arm is never reached").at(span, "already covered").at(earlier, "by this arm")
    }

    /// A `match` on a value that is no enum, integer or bool.
    E0416 cannot_match(ty: &str, span: Span) {
        Diagnostic::new(format!("`match` works on enums, integers and `bool`, but this is `{ty}`"))
            .at(span, format!("this is `{ty}`"))
            .help("use `if … else if …`")
    }

    /// A random draw where none can be made.
    ///
    /// Draws are numbered within an agent's step. They are legal in initial values of states, in `init`,
    /// `step`, `finish` and in functions called from there; not in constants, outputs, what is recorded or
    /// observed, and `integrate`.
    E0417 draw_not_allowed(name: &str, place: &str, span: Span) {
        let help = match place {
            "what is recorded or observed" | "`world observe`" => {
                "draw in `step`, into a state, and sample that"
            }
            "an output" => "draw in `finish`, into a state, and output the state",
            "a world output" => "draw in `world step`, into a world state, and output that",
            "a constant" => "give a `state` the draw as its initial value: one for each agent",
            "the default of an input" | "the default of a world input" => {
                "write `~` in place of `=`: `input x ~ normal(0.0, 1.0)`"
            }
            _ => "draw before it and give the number a name: `let z = normal()`",
        };
        Diagnostic::new(format!("`{name}` draws a random number, which {place} cannot"))
            .at(span, "draws here")
            .help(help)
    }

    /// A random draw in the condition of an `assert`.
    ///
    /// Only a run with `--check` computes the conditions. A draw in one would change all draws after it, so
    /// that such a run gave other numbers than the one that it checks.
    ///
    /// ```text
    /// assert normal() < 6.0, "no draw is that far out"
    /// ```
    ///
    /// Draw before it: `let z = normal()` and `assert z < 6.0, "no draw is that far out"`.
    E0430 draw_in_assert(name: &str, span: Span) {
        Diagnostic::new(format!("`{name}` draws a random number, which an `assert` cannot"))
            .at(span, "draws here")
            .help("draw before it and give the number a name: `let z = normal()`")
    }

    /// A function that calls itself, directly or through others.
    ///
    /// GPUs have no call stack. Write a loop.
    E0418 recursion(name: &str, path: &str, span: Span) {
        Diagnostic::new(format!("`{name}` calls itself: {path}")).at(span, "this call closes the circle")
            .help("write a loop: `for i in 0..n { … }` or `while … limit n { … }`")
    }

    /// An expression that stands alone as a statement.
    ///
    /// At the end of a function write `return` before its result; elsewhere a name: `let x = …`.
    E0419 useless_expression(span: Span, of_function: bool) {
        let report = Diagnostic::new("the value of this expression is not used").at(span, "has no effect");
        let start = Span { end: span.start, ..span };
        if of_function {
            return report.help("a function returns what follows `return`").replace(start, "return ");
        }
        report.help("give it a name: `let x = …`").replace(start, "let value = ")
    }

    /// Statements after `return`, `break`, `continue` or `stop` in the same block.
    E0420 unreachable_code(word: &str, span: Span, cause: Span) {
        Diagnostic::new("this is never reached")
            .at(span, "never runs")
            .at(cause, format!("`{word}` leaves here"))
    }

    /// A function without a result.
    ///
    /// Functions have no effects, so one without a result would do nothing.
    E0421 function_without_result(name: &str, span: Span) {
        Diagnostic::new(format!("`{name}` returns nothing")).at(span, "its result has no type")
            .help("write the type of the result, `fn name(…) -> f32 { … }`; what changes states stands in \
                `step { … }`")
    }

    /// `integrate` in a function.
    ///
    /// States are advanced in `init`, `step` and `finish`; a function sees none.
    E0423 integrate_in_function(span: Span) {
        Diagnostic::new("`integrate` in a function").at(span, "a function has no states to advance")
            .help("write it in `step`, and call the function for the right-hand sides")
    }

    /// A draw from a distribution that does not exist.
    ///
    /// `uniform(a, b)` needs `a` not above `b`, both finite; `randint(a, b)` needs `a` below `b`;
    /// `bernoulli(p)` a chance from 0 to 1; `normal(mean, deviation)` a deviation that is not negative;
    /// `exponential(rate)` a rate above 0; `poisson(mean)` a mean from 0 to 2^30; `categorical(weights)`
    /// weights that are not negative, one of them above 0. Constant arguments are checked here, and what
    /// params say at the launch; docs/random.md says what a draw gives for others.
    E0424 no_distribution(name: &str, needs: &str, found: &str, span: Span) {
        Diagnostic::new(format!("`{name}` needs {needs}")).at(span, format!("here {found}"))
            .help("give it other arguments; where they switch the draw off, make the draw conditional on a \
                param")
    }

    /// A filter in a comprehension that builds an array: the array's length would not be known.
    E0422 filter_in_array(span: Span) {
        Diagnostic::new("an array comprehension cannot filter").at(span, "the length would depend on it")
            .help("fold it instead (`sum`, `count`, …), or choose the value: `if c { a } else { b }`")
    }
}
