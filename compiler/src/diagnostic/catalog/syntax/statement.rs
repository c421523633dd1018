//! Complaints about statements (in E0100–E0199).

use super::short;
use crate::{
    diagnostic::{
        Diagnostic,
        catalog::{catalog, meant_or_near},
    },
    foreign::Meant,
    span::Span,
};

catalog! {
    /// A `'` that is not part of an equation.
    ///
    /// The prime means the derivative by time; it stands after the name of a state, at the start of an
    /// equation in an `integrate` block.
    ///
    /// ```text
    /// pos.x' = vel.x
    /// ```
    ///
    /// Write an equation for the state as a whole: `pos' = vel`.
    E0107 misplaced_prime(span: Span) {
        Diagnostic::new("a `'` stands only after the name of a state, at the start of an equation")
            .at(span, "not an equation")
            .help("write `x' = …` inside `integrate`, with `x` the name of a state")
    }

    /// `elif` and its like, which are `else if` here.
    ///
    /// ```text
    /// if a { x = 1 } elif b { x = 2 }
    /// ```
    ///
    /// Write `else if b`.
    E0131 else_if_word(word: &str, span: Span) {
        Diagnostic::new(format!("`{word}` is written `else if`"))
            .at(span, "write `else if`")
            .help("write `else if`")
            .replace(span, "else if")
    }

    /// Two names in a row.
    ///
    /// ```text
    /// auto x = 3.0
    /// ```
    ///
    /// Write `let x = 3.0`, or `var x = 3.0` for a variable that changes.
    E0132 two_names(first: &str, second: &str, first_span: Span, span: Span) {
        let help = if matches!(first, "auto" | "val" | "local") {
            format!("write `let {second} = …`, or `var {second} = …` for a variable that changes")
        } else {
            format!("to declare a name write `let {second} = …`; to multiply write `{first} * {second}`")
        };
        Diagnostic::new(format!("expected `=` or an operator after `{first}`, found `{second}`"))
            .at(span, "does not continue the statement")
            .at(first_span, "a statement begins here")
            .help(help)
    }

    /// An `else` that follows no `if`.
    ///
    /// ```text
    /// for i in 0..3 { } else { stop }
    /// ```
    ///
    /// An `else` stands right after the block of an `if`.
    E0133 else_without_if(span: Span) {
        Diagnostic::new("this `else` follows no `if`")
            .at(span, "no `if` before it")
    }

    /// An `=` where a statement should begin.
    ///
    /// ```text
    /// a = b = 0.0
    /// ```
    ///
    /// An assignment is no value; write two: `a = 0.0` and `b = 0.0`. If the line before ends with an
    /// operator or an `=`, its value is missing.
    E0135 chained_assignment(span: Span) {
        Diagnostic::new("an assignment has no value")
            .at(span, "what stands before this is already a statement")
            .help("write one statement for each; if the line before is unfinished, finish it")
    }

    /// A `for` loop with parentheses, as in C.
    ///
    /// ```text
    /// for (int i = 0; i < 10; i++) { total += x[i] }
    /// ```
    ///
    /// Write `for i in 0..10 { … }`.
    E0136 for_with_parentheses(span: Span, meant: Option<(Span, String)>) {
        let report = Diagnostic::new("a `for` loop runs over a range").at(span, "no parentheses here");
        match meant {
            Some((whole, meant)) => report.help(format!("write `for {meant} {{ … }}`")).replace(whole, meant),
            None => report
                .help("write `for i in 0..10 { … }`; for other loops `while c limit 100 { … }`"),
        }
    }

    /// A `for` loop without `in`.
    ///
    /// ```text
    /// for i = 0..10 { total += x[i] }
    /// ```
    ///
    /// Write `for i in 0..10 { … }`.
    E0137 for_without_in(name: &str, span: Span) {
        Diagnostic::new("a `for` loop needs `in` after its index")
            .at(span, "write `in`")
            .help(format!("write `for {name} in a..b {{ … }}`: a range ends before its second value"))
            .replace(span, "in")
    }

    /// A `for` over something that is no range.
    ///
    /// ```text
    /// for i in range(10) { total += x[i] }
    /// ```
    ///
    /// Write `for i in 0..10`; to visit an array, run over its indices.
    E0138 for_without_range(text: &str, span: Span, meant: Option<(Span, String)>) {
        let report = Diagnostic::new("a `for` runs over a range `a..b`").at(span, "not a range");
        match (text, meant) {
            (_, Some((whole, meant))) => report
                .help(format!("write `{meant}`: a range ends before its second value"))
                .replace(whole, meant),
            ("agents" | "worlds" | "turtles", None) => {
                report.help("to visit the agents of the world, write `for other in world`")
            }
            _ => report.help(format!(
                "write `0..n`; to visit an array, run over its indices: `for i in 0..len({text})` and \
                 `{text}[i]`"
            )),
        }
    }

    /// An assignment where a condition belongs.
    ///
    /// ```text
    /// if age = 3 { stop }
    /// ```
    ///
    /// Write `==` to compare.
    E0139 assignment_in_condition(word: &str, span: Span) {
        Diagnostic::new(format!("an assignment in the condition of `{word}`"))
            .at(span, "assigns, and has no value")
            .help("write `==` to compare")
            .replace(span, "==")
    }

    /// A block without braces.
    ///
    /// ```text
    /// if age > 3 stop
    /// ```
    ///
    /// Write `if age > 3 { stop }`.
    E0140 missing_braces(
        word: &str,
        word_span: Span,
        found: &str,
        span: Span,
        edits: Option<Vec<(Span, String)>>,
    ) {
        let place = match found {
            ":" | "then" | "do" | "begin" | "[" => "a `{` belongs here",
            _ => "a `{` is missing before this",
        };
        let report = Diagnostic::new(format!("expected `{{` after this `{word}`, found {}", short(found)))
            .at(span, place)
            .at(word_span, format!("this `{word}` needs a block"))
            .help("a block stands between braces, `{ … }`; indentation means nothing");
        match edits {
            Some(edits) => report.edit("Put braces around the block", edits),
            None => report,
        }
    }

    /// An arm of a `match` without `=>`.
    ///
    /// ```text
    /// match health { Infected: days += 1, _ => {} }
    /// ```
    ///
    /// Write `Infected => days += 1`.
    E0141 arm_without_arrow(found: &str, span: Span) {
        Diagnostic::new(format!("an arm of a `match` has `=>`, not {}", short(found)))
            .at(span, "write `=>`")
            .help("write `Pattern => statement,` or `Pattern => { … }`")
            .replace(span, if matches!(found, "case" | "when") { "" } else { "=>" })
    }

    /// A line that ends before its statement does.
    ///
    /// ```text
    /// total =
    /// price = 1.0
    /// ```
    ///
    /// A statement goes on over the end of the line, so here the next line would be a part of it. Write the
    /// value: `total = 0.0`.
    E0145 unfinished_statement(sign: Span, next: Span) {
        Diagnostic::new("this line ends before its statement does")
            .at(sign, "a value is missing after this")
            .at(next, "so this would be the value")
            .help("finish the line; statements go on over line ends")
    }

    /// A statement of another language.
    ///
    /// ```text
    /// loop { price *= 1.01 }
    /// ```
    ///
    /// The loops are `for i in 0..n { … }` and `while c limit 100 { … }`, the choices `if` and `match`.
    E0147 foreign_statement(word: &str, meant: Meant, span: Span) {
        let report = Diagnostic::new(format!("there is no statement `{word}`"))
            .at(span, "not a statement of Sim");
        meant_or_near(report, Some(meant), None)
    }

    /// `set x e`, as NetLogo assigns.
    ///
    /// ```text
    /// set energy energy - 1.0
    /// ```
    ///
    /// Write `energy = energy - 1.0`.
    E0167 set(span: Span, meant: &str) {
        Diagnostic::new("an assignment is written with `=`").at(span, "not an assignment")
            .help(format!("write `{meant} …`"))
            .replace(span, meant)
    }

    /// An assignment to several places.
    ///
    /// ```text
    /// a, b = b, a
    /// ```
    ///
    /// Keep the old value in a `let`: `let old = a`, then `a = b` and `b = old`.
    E0168 several_places(span: Span) {
        Diagnostic::new("an assignment changes one place").at(span, "expected `=`")
            .help("write one after the other, and keep an old value that is needed later: `let old = a`")
    }

    /// An `assert` without a message.
    ///
    /// The message is what a run with `--check` says where the condition does not hold.
    ///
    /// ```text
    /// assert price > 0.0
    /// ```
    ///
    /// Write what should be true: `assert price > 0.0, "a price is positive"`.
    E0160 missing_message(comma: bool, span: Span) {
        let missing = if comma { "a text belongs" } else { "a `,` and a text belong" };
        Diagnostic::new("this `assert` has no message")
            .at(span, format!("{missing} behind this"))
            .help("say what should be true: `assert x > 0.0, \"x is positive\"`")
    }

    /// An `assert` with parentheses around its condition and message, as a function has them.
    ///
    /// ```text
    /// assert(price > 0.0, "a price is positive")
    /// ```
    ///
    /// `assert` is a statement: `assert price > 0.0, "a price is positive"`.
    E0161 assert_with_parentheses(span: Span) {
        Diagnostic::new("`assert` is a statement, not a function")
            .at(span, "no parentheses belong around both")
            .help("write `assert x > 0.0, \"x is positive\"`")
    }
}
