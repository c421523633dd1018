//! Warnings: what a model says that compiles, but hardly means (W0200–W0299).

use super::catalog;
use crate::{
    diagnostic::{Diagnostic, Fix},
    span::Span,
};

catalog! {
    /// A name that nothing uses.
    ///
    /// ```text
    /// step {
    ///     let drift = 0.5 * sigma
    ///     price *= exp(sigma * normal())
    /// }
    /// ```
    ///
    /// Use it or remove it. A `var` counts as unused if it is only assigned, a state if nothing reads or
    /// assigns it. A name that begins with `_` is never reported. Indices of loops, outputs and what is
    /// recorded or observed need no use; nor do fields and variants.
    W0201 unused_name(what: &str, name: &str, assigned: bool, span: Span, fixes: Vec<Fix>) {
        let says = if assigned { "is assigned, but never read" } else { "is never used" };
        let mut report = Diagnostic::new(format!("the {what} `{name}` {says}")).at(span, says);
        report.fixes = fixes;
        report.help("remove it, or begin its name with `_` to keep it")
    }

    /// A param, a table or an input that nothing reads.
    ///
    /// ```text
    /// param rate  = 0.05
    /// param sigma = 0.2
    ///
    /// step {
    ///     price *= exp(sigma * normal())
    /// }
    /// ```
    ///
    /// A launch may set it, and nothing changes. Read it or remove it. A name that begins with `_` is never
    /// reported.
    W0202 unread_value(what: &str, name: &str, span: Span) {
        Diagnostic::new(format!("the {what} `{name}` is never read"))
            .at(span, "whatever a launch sets here changes nothing")
            .help("read it or remove it")
    }

    /// A variable with the name of a state, which it hides.
    ///
    /// ```text
    /// state price = 100.0
    ///
    /// step {
    ///     let price = price * exp(normal())
    /// }
    /// ```
    ///
    /// The state keeps its value: from here on the name means the variable. Assign the state (`price = …`),
    /// or give the variable another name. Parameters of functions are not reported: functions see no
    /// states.
    W0203 hidden_state(name: &str, what: &str, span: Span, state: Span) {
        let report = Diagnostic::new(format!("this {what} hides the state `{name}`"))
            .at(span, "from here on the name means this")
            .at(state, "the state, which keeps its value");
        match what {
            "variable" => {
                let help = format!("to change the state write `{name} = …`; else choose another name");
                report.help(help)
            }
            _ => report.help("choose another name"),
        }
    }

    /// A condition that is true, or false, whatever the values of a run are.
    ///
    /// ```text
    /// if state != Open || state != Closed { … }
    /// if count >= 0u { … }
    /// ```
    ///
    /// Of two different values one is always unequal, and a `u32` is never negative. Conditions of constants
    /// that have a name are not reported: they switch parts of a model on and off.
    W0204 constant_condition(value: bool, reason: Option<(Span, String)>, help: Option<&str>, span: Span) {
        let what = format!("always {value}");
        let mut report = Diagnostic::new(format!("this condition is {what}")).at(span, what);
        if let Some((place, text)) = reason {
            report = report.at(place, text);
        }
        match help {
            Some(help) => report.help(help),
            None => report,
        }
    }

    /// A division of integers whose result is used as a float.
    ///
    /// ```text
    /// state x: f32 = 1 / 2
    /// output share = f32(wins / games)
    /// ```
    ///
    /// Integers divide without a remainder: `1 / 2` is 0. Write `1.0 / 2.0`, or convert before the division:
    /// `f32(wins) / f32(games)`. Where the whole quotient is meant, give it a name first, of type `i32`.
    W0205 integer_division(value: Option<i64>, span: Span, used: Span) {
        let label = match value {
            Some(value) => format!("this is {value}, without the remainder"),
            None => "an integer, without the remainder".to_owned(),
        };
        let help = match value {
            Some(_) => "write a float: `1.0 / 2.0`",
            None => "convert both before the division: `f32(a) / f32(b)`",
        };
        let report = Diagnostic::new("a division of integers is used as a float").at(span, label);
        let report = if used == span { report } else { report.at(used, "used as a float here") };
        report.help(help)
    }

    /// A loop that changes nothing, or never runs.
    ///
    /// ```text
    /// for i in 9..0 { total += x[i] }
    /// for i in 0..9 { let y = 2.0 * x[i] }
    /// ```
    ///
    /// A range counts up, so one that ends before it begins has no iterations; to count down, compute the
    /// index: `x[8 - i]`. A loop whose body assigns nothing but variables of its own, draws nothing and
    /// leaves nothing has no effect.
    W0206 idle_loop(never: Option<&str>, span: Span) {
        match never {
            Some(help) => Diagnostic::new("this loop never runs")
                .at(span, "has no iterations")
                .help(help),
            None => Diagnostic::new("this loop changes nothing")
                .at(span, "assigns nothing that is seen outside of it")
                .help("assign a `var` that is declared before the loop, or remove it"),
        }
    }

    /// Time that a float cannot count: more steps than an `f32` tells apart, or increments that it loses.
    ///
    /// ```text
    /// steps 50_000_000
    ///
    /// state time = 0.0
    ///
    /// step {
    ///     time += 0.001
    /// }
    /// ```
    ///
    /// An `f32` has 24 bits: 16,777,217 is 16,777,216, and what is added to a large sum is rounded to what
    /// its last bit can hold. Count in an `i32`, such as the number of the step, and compute the time from
    /// it; or let `integrate` advance the state, which keeps it as a sum of two floats.
    W0207 inexact_time(message: &str, label: &str, span: Span) {
        Diagnostic::new(message)
            .at(span, label)
            .help("count in an `i32` such as `step t`, or let `integrate` advance the state")
    }

    /// A comment that allows a warning which is not given there.
    ///
    /// ```text
    /// // allow(W0201)
    /// let used = 1.0
    /// ```
    ///
    /// Remove it. `// allow(W0201)` stands on the line of a declaration or statement, or before it; at the
    /// top of the file, before the first declaration, it is for the whole file.
    W0208 unused_allow(code: &str, span: Span, whole: Span) {
        Diagnostic::new(format!("nothing here gives the warning {code}"))
            .at(span, "silences nothing")
            .help("remove it")
            .replace(whole, "")
    }

    /// A comment that allows something that is no warning.
    ///
    /// ```text
    /// // allow(E0201)
    /// ```
    ///
    /// Only warnings can be allowed, by their codes: `// allow(W0201)`, or several, `// allow(W0201, W0203)`.
    W0209 unknown_warning(written: &str, span: Span) {
        Diagnostic::new(format!("`{written}` is not a warning"))
            .at(span, "no code of a warning")
            .help("codes of warnings are like W0201; `simc explain` lists them")
    }

    /// A comment that reads as a division.
    ///
    /// ```text
    /// let half = count // 2
    /// ```
    ///
    /// `//` begins a comment, so `half` is all of `count`. A division is written `/`; of integers it leaves
    /// the remainder out, as `//` does elsewhere, but rounds toward zero.
    W0210 division_as_comment(comment: Span, slashes: Span) {
        Diagnostic::new("a comment reads as a division")
            .at(comment, "this is a comment, and divides nothing")
            .help("to divide write `/`, which leaves out the remainder of integers")
            .replace(slashes, "/")
    }
}
