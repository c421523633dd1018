//! Complaints about the tests of a model (E0172–E0179, E0467–E0469).

use super::{catalog, did_you_mean};
use crate::{diagnostic::Diagnostic, span::Span};

catalog! {
    /// A test without a name.
    ///
    /// ```text
    /// test { expect mean(payoff) > 0.0 }
    /// ```
    ///
    /// The report of `simc test` calls a test by its name, a text: `test "a call has a value" { … }`.
    E0172 test_without_name(word: Option<&str>, span: Span) {
        let report = Diagnostic::new("a test needs a name");
        match word {
            Some(word) => report.at(span, "no text").offer(span, format!("\"{word}\""), "write it in marks"),
            None => report.at(span, "which test?").help("write `test \"what it shows\" { … }`"),
        }
    }

    /// Something in a test that is no part of one.
    ///
    /// A test says what it launches (`agents`, `steps`, `world`, `seed`, `param`, `data`, `input`) and what
    /// it expects (`expect`). It has no statements and declares nothing.
    E0173 not_in_a_test(word: &str, span: Span) {
        let shown = super::syntax::short(word);
        let report = Diagnostic::new(format!("{shown} does not belong in a test")).at(span, "here");
        match word {
            "assert" | "require" | "ensure" | "check" => {
                report.help("write `expect`").replace(span, "expect")
            }
            "let" | "var" | "const" => {
                report.help("declare a `const` or a `fn` outside the test, and name it in `expect`")
            }
            "state" | "output" | "record" | "observe" => {
                report.help("declare it outside the test: a test looks at outputs and series of the model")
            }
            _ => report.help(
                "a test has `agents`, `steps`, `world`, `seed`, `param`, `data`, `input` and `expect`",
            ),
        }
    }

    /// `~` without a tolerance.
    ///
    /// Results are rounded, and those of random models vary: `~` needs to know how far off a value may be.
    /// `within 0.05` is a difference, `within 1 %` is relative to the value on the right, and `within 4 se`
    /// counts standard errors of a mean.
    E0174 near_without_tolerance(value: Span) {
        Diagnostic::new("`~` needs a tolerance")
            .at(value, "how near?")
            .help("write `within` behind it: `within 0.05`, `within 1 %` or `within 4 se`")
    }

    /// `within` without `~`.
    ///
    /// A tolerance belongs to `~`: `expect mean(x) ~ 8.02 within 0.05`. The comparisons `== != < <= > >=`
    /// have none, and for bounds there is `in`: `expect mean(x) in 7.9..8.1`.
    E0175 within_without_near(span: Span) {
        Diagnostic::new("`within` belongs to `~`")
            .at(span, "there is no `~` before it")
            .help("write `expect value ~ expected within tolerance`")
    }

    /// A test that leaves out what a launch must give.
    ///
    /// A test launches the model as `simc run` does: params and inputs without a default, and tables, need a
    /// value. `param x = 0.3` gives a param; `data x = [1.0, 2.0]` or `data x from "file.csv"` a table;
    /// `input x = 1.0` or `input x from "file.csv"` an input.
    E0176 incomplete_test(role: &str, name: &str, help: &str, span: Span, declared: Span) {
        Diagnostic::new(format!("the test gives no {role} `{name}`"))
            .at(span, "a launch of this test lacks it")
            .at(declared, "it has no default")
            .help(help)
    }

    /// `from` without the path of a file.
    ///
    /// ```text
    /// data prices from prices.csv
    /// ```
    ///
    /// The path is a text: `data prices from "prices.csv"`. It is relative to the file of the model.
    E0177 file_without_path(span: Span) {
        Diagnostic::new("`from` needs the path of a file")
            .at(span, "no text")
            .help("write it in marks: `from \"prices.csv\"`")
    }

    /// A name in a test that the model does not have.
    ///
    /// `expect` looks at outputs, world outputs, and what is recorded or observed. States and inputs are
    /// not seen: an output shows them (`output price`). `param`, `data` and `input` give values to those
    /// that the model declares.
    E0467 unknown_in_test(
        wanted: &str,
        name: &str,
        what: &str,
        help: Option<&str>,
        span: Span,
        near: Option<&str>,
    ) {
        let report = Diagnostic::new(format!("the model has no {wanted} `{name}`")).at(span, what);
        match help {
            Some(help) => report.help(help),
            None => did_you_mean(report, near),
        }
    }

    /// An `expect` that says nothing about a run, or combines what does not fit.
    ///
    /// An output has a value for each agent: a fold makes one of them, `mean(payoff)`, `all(payoff >= 0.0)`,
    /// `quantile(payoff, 0.9)`, or one agent is named, `agents[0].payoff`. A series has a value for each
    /// sample: `at(infected, 10)` is that after 10 steps, and folds combine all. An expectation compares
    /// two such values, or one and a constant.
    E0468 not_an_expectation(message: &str, label: &str, help: &str, span: Span) {
        Diagnostic::new(message).at(span, label).help(help)
    }

    /// A number in a test that cannot be.
    ///
    /// An agent that the test does not have, a step at which no sample is taken, a fraction outside 0 to 1,
    /// a tolerance below 0, a value outside the range of its param.
    E0469 bad_number_in_test(message: &str, label: &str, help: &str, span: Span) {
        Diagnostic::new(message).at(span, label).help(help)
    }
}
