//! Complaints of `simc test` (E0978–E0981).

use super::{Problem, catalog};

catalog! {
    /// A test whose run is not what it expects.
    ///
    /// The message says what was found, and what was expected. Of a mean over random agents another seed
    /// gives another value: the standard error says how far such values spread, and a tolerance of three or
    /// four of them, `within 4 se`, rarely fails by chance. If the model is right, mend the expectation.
    E0978 expectation_failed(message: &str, help: Option<&str>) {
        let problem = Problem::new(message);
        match help {
            Some(help) => problem.help(help),
            None => problem,
        }
    }

    /// `simc test` found no test to run.
    ///
    /// A test is a block of the model, `test "name" { expect mean(x) > 0.0 }`. `--filter` runs those whose
    /// names contain a text, and `simc test --list` shows all names.
    E0979 no_tests(filter: &[String]) {
        match filter {
            [] => Problem::new("there is no test in these models")
                .help("write one into a model: `test \"x is positive\" { expect min(x) > 0.0 }`"),
            parts => Problem::new(format!("no test has a name with `{}` in it", parts.join("` or `")))
                .help("`simc test --list` shows the names"),
        }
    }

    /// A test of a model that does not say how many agents or steps it has.
    ///
    /// A test launches what `simc run` would. Where the model has no default, the test must say the number.
    E0980 test_without_count(what: &str) {
        Problem::new(format!("neither the test nor the model says `{what}`"))
            .help(format!("write `{what} 100` into the test"))
    }

    /// An input that a test writes out for very many agents.
    ///
    /// Elements that are all equal take no memory. Others are repeated for each agent or world.
    E0981 test_input_too_large(name: &str, rows: u32, values: usize) {
        Problem::new(format!("the input `{name}` has {values} values for each of {rows} rows"))
            .help("write fewer `agents` into the test, or give the same value to all elements")
    }
}
