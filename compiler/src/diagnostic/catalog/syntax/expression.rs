//! Complaints about brackets, operators and expressions (in E0100–E0199).

use super::short;
use crate::{
    diagnostic::{Diagnostic, catalog::catalog},
    span::Span,
};

catalog! {
    /// A token that does not fit where it stands.
    ///
    /// The message says what could stand there instead.
    ///
    /// ```text
    /// let x = max(1.0 2.0)
    /// ```
    ///
    /// Here a comma is missing: `max(1.0, 2.0)`.
    E0100 unexpected_token(expected: &str, found: &str, span: Span) {
        let found = short(found);
        Diagnostic::new(format!("expected {expected}, found {found}"))
            .at(span, format!("expected {expected}"))
    }

    /// A bracket that nothing closes.
    ///
    /// ```text
    /// step {
    ///     price *= exp(drift
    /// }
    /// ```
    ///
    /// Write the closing bracket: `exp(drift)`.
    E0101 unclosed_bracket(open: &str, close: &str, span: Span, found: Option<Span>, suspect: Option<Span>) {
        let mut diagnostic = Diagnostic::new(format!("this `{open}` is never closed"))
            .at(span, format!("needs a `{close}`"));
        if let Some(suspect) = suspect {
            diagnostic = diagnostic.at(suspect, "this `}` closes another `{` than its indentation says");
        }
        if let Some(found) = found {
            diagnostic = diagnostic.at(found, format!("the `{close}` is missing before this"));
        }
        diagnostic
    }

    /// A closing bracket that nothing opens.
    ///
    /// ```text
    /// let x = (a + b))
    /// ```
    ///
    /// Take it out, or write the opening bracket.
    E0102 stray_bracket(token: &str, span: Span) {
        Diagnostic::new(format!("this `{token}` closes nothing"))
            .at(span, "no bracket is open here that it could close")
            .replace(span, "")
    }

    /// A closing bracket of another kind than the open one.
    ///
    /// ```text
    /// let x = max(a, b]
    /// ```
    ///
    /// Write the one that fits: `max(a, b)`.
    E0103 mismatched_bracket(found: &str, meant: &str, span: Span, open: Span) {
        Diagnostic::new(format!("`{found}` where `{meant}` belongs"))
            .at(span, format!("write `{meant}`"))
            .at(open, "this bracket is open")
            .replace(span, meant)
    }

    /// Brackets within brackets, too many of them.
    ///
    /// ```text
    /// let x = ((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1)))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))
    /// ```
    ///
    /// Give the inner part a name with `let`, or put it in a `fn`.
    E0104 nesting_too_deep(limit: usize, span: Span) {
        Diagnostic::new(format!("brackets are nested more than {limit} deep"))
            .at(span, "this one is too deep")
            .help("give the inner part a name with `let`, or put it in a `fn`")
    }

    /// An expression with too many operators in a row or within each other.
    ///
    /// ```text
    /// let x = a + a + a + … + a
    /// ```
    ///
    /// Give parts of it names with `let`, or write a fold: `sum(for i in 0..1000: a)`.
    E0105 expression_too_deep(limit: u32, span: Span) {
        Diagnostic::new(format!("this expression is more than {limit} operations deep"))
            .at(span, "too long a chain")
            .help("give parts of it names with `let`, or write a fold such as `sum(for i in 0..n: x[i])`")
    }

    /// Two comparisons in a row.
    ///
    /// In mathematics `a < b < c` compares both; here it would compare a truth value with `c`.
    ///
    /// ```text
    /// if 0.0 < x < 1.0 { hits += 1 }
    /// ```
    ///
    /// Write `0.0 < x && x < 1.0`.
    E0106 chained_comparison(first: Span, second: Span, middle: Option<&str>) {
        let report = Diagnostic::new("comparisons cannot be chained")
            .at(second, "compares the result of a comparison")
            .at(first, "the first comparison")
            .help("join two comparisons with `&&`: `a < b && b < c`");
        match middle {
            Some(middle) => report.replace(Span { end: second.start, ..second }, format!("&& {middle} ")),
            None => report,
        }
    }

    /// `if` values in the conditions of `if` values, too many of them.
    ///
    /// ```text
    /// let x = if if if a { b } else { c } { d } else { e } { f } else { g }
    /// ```
    ///
    /// Give the conditions names with `let`.
    E0110 nested_if_values(limit: usize, span: Span) {
        Diagnostic::new(format!("`if` values are nested more than {limit} deep"))
            .at(span, "this one is too deep")
            .help("give the conditions names with `let`")
    }

    /// An operator spelt as a word.
    ///
    /// ```text
    /// if age > 3 and alive { stop }
    /// ```
    ///
    /// Write `&&` for and, `||` for or, `!` for not, `^` for exclusive or, `%` for the remainder.
    E0111 word_operator(word: &str, meant: &str, span: Span) {
        Diagnostic::new(format!("`{word}` is not an operator"))
            .at(span, format!("write `{meant}`"))
            .help(format!("the operator is `{meant}`"))
            .replace(span, meant)
    }

    /// `++` or `--`, which the language does not have.
    ///
    /// ```text
    /// i++
    /// ```
    ///
    /// Write `i += 1`. For a double negation write `-(-x)`.
    E0112 increment(sign: &str, span: Span, edits: Option<Vec<(Span, String)>>) {
        let report = Diagnostic::new(format!("there is no operator `{sign}{sign}`"))
            .at(span, "not an operator")
            .help(format!("to change a variable by one write `x {sign}= 1`"));
        match edits {
            Some(edits) => report.edit(format!("Write `{sign}= 1`"), edits),
            None => report,
        }
    }

    /// A conditional value as C or Python writes it.
    ///
    /// ```text
    /// let x = c ? a : b
    /// let y = a if c else b
    /// ```
    ///
    /// Write `if c { a } else { b }`, which is a value.
    E0113 ternary(word: &str, span: Span, meant: Option<(Span, String)>) {
        const GENERAL: &str = "write `if c { a } else { b }`, which is a value";
        let report = Diagnostic::new(format!("`{word}` does not stand between values"))
            .at(span, "not an operator");
        match meant {
            Some((whole, meant)) => report.offer(whole, meant, GENERAL),
            None => report.help(GENERAL),
        }
    }

    /// An assignment with an operator that has none.
    ///
    /// ```text
    /// x **= 2
    /// ```
    ///
    /// Write `x = x ** 2`. There are `+=`, `-=`, `*=`, `/=`, `%=`, `&=`, `|=`, `^=`, `<<=` and `>>=`.
    E0114 no_such_assignment(op: &str, place: &str, span: Span) {
        Diagnostic::new(format!("there is no assignment `{op}=`"))
            .at(span, "not an operator")
            .help(format!("write `{place} = {place} {op} …`"))
            .replace(span, format!("= {place} {op}"))
    }

    /// An operator as another language spells it.
    ///
    /// ```text
    /// if age === 3 { stop }
    /// ```
    ///
    /// The help line says the spelling of this one: here `==`.
    E0115 operator_spelling(written: &str, meant: &str, span: Span) {
        let help = match written {
            "%%" => "write `%`: its result has the sign of the left operand, as in C".to_owned(),
            ".*" | "./" | ".+" | ".-" => format!(
                "write `{meant}`, which takes numbers and vectors; the elements of an array are written \
                 `[for i in 0..len(a): a[i] {meant} b[i]]`"
            ),
            _ => format!("write `{meant}`"),
        };
        Diagnostic::new(format!("`{written}` is written `{meant}` here"))
            .at(span, format!("write `{meant}`"))
            .help(help)
            .replace(span, meant)
    }

    /// A range that would include its end.
    ///
    /// ```text
    /// for i in 0..=9 { total += x[i] }
    /// ```
    ///
    /// Ranges end before their second value: write `0..10`.
    E0116 inclusive_range(span: Span, meant: Option<(Span, String)>) {
        let report = Diagnostic::new("a range ends before its second value")
            .at(span, "no range includes its end")
            .help("write `a..b + 1` for the numbers from `a` to `b`");
        match meant {
            Some((span, meant)) => report.replace(span, meant),
            None => report,
        }
    }

    /// Two things in a list without a comma between them.
    ///
    /// ```text
    /// let x = max(1.0 2.0)
    /// ```
    ///
    /// Write `max(1.0, 2.0)`.
    E0130 missing_comma(found: &str, span: Span, end: Span) {
        Diagnostic::new(format!("expected `,` before {}", short(found)))
            .at(span, "the next of the list")
            .at(end, "a `,` is missing here")
            .replace(end, ",")
    }

    /// Parentheses after something that is no name.
    ///
    /// ```text
    /// x = table[0](y)
    /// ```
    ///
    /// Only a name can be called. To multiply write `*`.
    E0134 call_of_value(span: Span) {
        Diagnostic::new("only a name can be called")
            .at(span, "this calls no function")
            .help("to multiply write `*`; values are not functions")
    }

    /// An `if` value without `else`.
    ///
    /// ```text
    /// let fee = if big { 0.1 }
    /// ```
    ///
    /// A value is needed either way: `if big { 0.1 } else { 0.0 }`.
    E0142 if_value_without_else(span: Span) {
        Diagnostic::new("an `if` value needs an `else`")
            .at(span, "expected `else` after this")
            .help("write `if c { a } else { b }`")
    }

    /// A `for` where a value belongs.
    ///
    /// ```text
    /// let squares = for i in 0..4: i * i
    /// ```
    ///
    /// Put it between brackets for an array, `[for i in 0..4: i * i]`, or into a fold, `sum(for …)`.
    E0143 for_as_value(span: Span) {
        Diagnostic::new("a `for` is a value only between brackets")
            .at(span, "not a value by itself")
            .help("write `[for i in 0..n: e]` for an array or `sum(for i in 0..n: e)` for a sum")
    }

    /// A statement where a value belongs.
    ///
    /// ```text
    /// let days = match health { Infected => 7, _ => 0 }
    /// ```
    ///
    /// Only `if` is also a value. Declare a `var` and assign to it in the arms.
    E0144 statement_as_value(word: &str, span: Span) {
        Diagnostic::new(format!("`{word}` is a statement and has no value"))
            .at(span, "a value belongs here")
            .help("`if c { a } else { b }` is a value, with one expression in each branch; otherwise write \
                a function with the `match`, and `return` in each arm")
    }

    /// A comprehension with its value before the `for`.
    ///
    /// ```text
    /// let total = sum(x[i] for i in 0..3)
    /// ```
    ///
    /// The value stands at the end: `sum(for i in 0..3: x[i])`.
    E0146 comprehension_order(span: Span, meant: Option<(Span, String)>) {
        const GENERAL: &str = "write `sum(for i in 0..n: x[i])` or `[for i in 0..n: x[i]]`";
        let report = Diagnostic::new("the value of a comprehension follows its `for`")
            .at(span, "the value goes after the range and a `:`");
        match meant {
            Some((whole, meant)) => report.offer(whole, meant, GENERAL),
            None => report.help(GENERAL),
        }
    }

    /// A function called as if it belonged to a value.
    ///
    /// ```text
    /// y = x.sqrt()
    /// ```
    ///
    /// Write `sqrt(x)`.
    E0149 method_call(name: &str, help: &str, span: Span, meant: Option<(Span, &str)>) {
        let report = Diagnostic::new(format!("values have no methods, so no `.{name}(…)`"))
            .at(span, "not a method");
        match meant {
            Some((whole, meant)) => report.offer(whole, meant, help),
            None => report.help(help),
        }
    }

    /// A function without a name.
    ///
    /// ```text
    /// let square = lambda x: x * x
    /// ```
    ///
    /// Functions are no values. Declare it at the top level, `fn square(x: f32) -> f32 { return x * x }`, and
    /// call it by its name.
    E0150 anonymous_function(span: Span) {
        Diagnostic::new("functions are not values")
            .at(span, "a function without a name")
            .help("declare it at the top level, `fn square(x: f32) -> f32 { return x * x }`, and call it; \
                for the elements of an array write `[for i in 0..3: x[i] * x[i]]`")
    }

    /// A name before an argument of a call.
    ///
    /// ```text
    /// let z = normal(mean = 0.0, deviation = 1.0)
    /// ```
    ///
    /// Arguments stand in the order of the parameters: `normal(0.0, 1.0)`. So do the fields of a struct.
    E0151 named_argument(function: &str, span: Span, edits: Vec<(Span, String)>) {
        Diagnostic::new("arguments have no names")
            .at(span, "a value belongs here")
            .help(format!("write the values of `{function}` alone, in the order of its parameters or fields"))
            .edit("Leave the names out", edits)
    }

    /// Several indices between one pair of brackets.
    ///
    /// ```text
    /// let x = m[0, 1]
    /// ```
    ///
    /// A matrix is an array of rows: write `m[0][1]`.
    E0152 several_indices(span: Span) {
        Diagnostic::new("one index stands between brackets")
            .at(span, "a second index")
            .help("a matrix is an array of rows: write `m[0][1]`")
            .replace(span, "][")
    }

    /// A part of an array.
    ///
    /// ```text
    /// let middle = x[1:3]
    /// ```
    ///
    /// Write the elements, `[for i in 1..3: x[i]]`, or what they are for, `sum(for i in 1..3: x[i])`.
    E0153 slice(name: &str, span: Span) {
        Diagnostic::new("an index is one number: there are no slices")
            .at(span, "more than one element")
            .help(format!(
                "write `[for i in 1..3: {name}[i]]` for an array of elements 1 and 2, or fold them: \
                 `sum(for i in 1..3: {name}[i])`"
            ))
    }

    /// Braces where a value belongs.
    ///
    /// ```text
    /// var y: [f32; 2] = {1.0, 2.0}
    /// ```
    ///
    /// Braces stand around statements. An array is written `[1.0, 2.0]`, a struct as a call, `Order(1.0, 2)`.
    E0154 braces_as_value(span: Span, edits: Option<Vec<(Span, String)>>) {
        let report = Diagnostic::new("braces stand around statements, not values")
            .at(span, "a value belongs here")
            .help("write an array as `[1.0, 2.0]`, and values with names as a struct: `struct Rates { low: \
                f32, high: f32 }` and `Rates(0.1, 0.5)`");
        match edits {
            Some(edits) => report.edit("Write `[…]`", edits),
            None => report,
        }
    }

    /// A struct with its fields between braces.
    ///
    /// ```text
    /// state order = Order { price: 100.0, size: 5 }
    /// ```
    ///
    /// A struct is built by a call with its fields in order: `Order(100.0, 5)`.
    E0155 struct_literal(name: &str, span: Span, edits: Vec<(Span, String)>) {
        Diagnostic::new("a struct is built by a call")
            .at(span, "not between braces")
            .help(format!("write `{name}(…)` with the values of all fields, in their order"))
            .edit(format!("Write `{name}(…)`"), edits)
    }

    /// A conversion as C or Rust writes it.
    ///
    /// ```text
    /// let half = 0.5 * (float)n
    /// ```
    ///
    /// Write `f32(n)`.
    E0162 cast(span: Span, meant: (Span, &str)) {
        let (whole, meant) = meant;
        Diagnostic::new("a value is converted by a call")
            .at(span, "not a conversion")
            .offer(whole, meant, "write `f32(x)`")
    }

    /// `in` between a value and a list.
    ///
    /// ```text
    /// let found = n in [1, 2, 3]
    /// ```
    ///
    /// Write `n == 1 || n == 2 || n == 3`, or `any(for i in 0..3: x[i] == n)` with `x` an array.
    E0163 membership(span: Span) {
        Diagnostic::new("`in` is not an operator").at(span, "stands only in `for`")
            .help("compare with each: `n == 1 || n == 2`, or `any(for i in 0..3: x[i] == n)` with an array \
                `x`")
    }

    /// A macro of Rust.
    ///
    /// ```text
    /// state x = vec![0.0; 3]
    /// ```
    ///
    /// Write the array: `[0.0; 3]`.
    E0164 no_macro(name: &str, span: Span, array: bool) {
        let report = Diagnostic::new("there are no macros").at(span, "a macro");
        if array {
            return report.help("an array needs no word before it: `[0.0; 3]`").replace(span, "");
        }
        report.help("a call has no `!`").replace(span, name)
    }

    /// A fold over agents as NetLogo writes it.
    ///
    /// ```text
    /// world output cases = count turtles with [ ill ]
    /// ```
    ///
    /// Write `count(for other in world: other.ill)`.
    E0165 agent_set(counted: bool, span: Span) {
        Diagnostic::new("agents are counted and summed by a fold over the world")
            .at(span, "not a set of agents")
            .help(match counted {
                true => "write `count(for other in world: other.ill)`, with `ill` a state",
                false => "write `mean(for other in world: other.wealth)`, with `wealth` a state",
            })
    }

    /// A matrix as MATLAB writes it.
    ///
    /// ```text
    /// state m = [1.0 2.0; 3.0 4.0]
    /// ```
    ///
    /// A matrix is an array of rows: `[[1.0, 2.0], [3.0, 4.0]]`.
    E0169 matrix(span: Span, meant: Option<&str>) {
        const GENERAL: &str = "write `[[1.0, 2.0], [3.0, 4.0]]`";
        let report = Diagnostic::new("a matrix is an array of rows").at(span, "rows in one array");
        match meant {
            Some(meant) => report.offer(span, meant, GENERAL),
            None => report.help(GENERAL),
        }
    }

    /// A call for each element of an array, as Julia writes it.
    ///
    /// ```text
    /// output b = exp.(a)
    /// ```
    ///
    /// Write `[for i in 0..len(a): exp(a[i])]`.
    E0166 call_by_element(span: Span, meant: Option<(Span, &str)>) {
        let report = Diagnostic::new("a function is called for each element in a comprehension")
            .at(span, "not a call");
        match meant {
            Some((whole, meant)) => report.help(format!("write `{meant}`")).replace(whole, meant),
            None => report.help("write `[for i in 0..3: exp(a[i])]`"),
        }
    }

    /// More mistakes than anyone reads at once.
    ///
    /// Only the first are shown. A file with so many mistakes may not be a model at all.
    E0199 too_many_mistakes(limit: usize, span: Span) {
        Diagnostic::new(format!("more than {limit} mistakes: the others are not listed"))
            .at(span, "and more from here on")
    }
}
