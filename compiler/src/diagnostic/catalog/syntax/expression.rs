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
    E0106 chained_comparison(first: Span, second: Span) {
        Diagnostic::new("comparisons cannot be chained")
            .at(second, "compares the result of a comparison")
            .at(first, "the first comparison")
            .help("join two comparisons with `&&`: `a < b && b < c`")
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
        Diagnostic::new(format!("`{word}` is no operator"))
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
    E0112 increment(sign: &str, span: Span) {
        Diagnostic::new(format!("there is no operator `{sign}{sign}`"))
            .at(span, "not an operator")
            .help(format!("to change a variable by one write `x {sign}= 1`"))
    }

    /// A conditional value as C or Python writes it.
    ///
    /// ```text
    /// let x = c ? a : b
    /// let y = a if c else b
    /// ```
    ///
    /// Write `if c { a } else { b }`, which is a value.
    E0113 ternary(word: &str, span: Span) {
        Diagnostic::new(format!("there is no operator `{word}`"))
            .at(span, "not an operator")
            .help("write `if c { a } else { b }`, which is a value")
    }

    /// An assignment with an operator that has none.
    ///
    /// ```text
    /// x **= 2
    /// ```
    ///
    /// Write `x = x ** 2`. There are `+=`, `-=`, `*=`, `/=`, `%=`, `&=`, `|=`, `^=`, `<<=` and `>>=`.
    E0114 no_such_assignment(op: &str, span: Span) {
        Diagnostic::new(format!("there is no assignment `{op}=`"))
            .at(span, "not an operator")
            .help(format!("write `x = x {op} …`"))
    }

    /// An operator as another language spells it.
    ///
    /// ```text
    /// if age === 3 { stop }
    /// ```
    ///
    /// The help line says the spelling of this one: here `==`.
    E0115 operator_spelling(written: &str, meant: &str, span: Span) {
        Diagnostic::new(format!("`{written}` is spelt `{meant}` here"))
            .at(span, format!("write `{meant}`"))
            .help(format!("write `{meant}`"))
            .replace(span, meant)
    }

    /// A range that would include its end.
    ///
    /// ```text
    /// for i in 0..=9 { total += x[i] }
    /// ```
    ///
    /// Ranges end before their second value: write `0..10`.
    E0116 inclusive_range(span: Span) {
        Diagnostic::new("a range ends before its second value")
            .at(span, "there is no range with its end included")
            .help("write `a..b + 1` for the numbers from `a` to `b`")
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
            .help("to multiply write `*`; values are no functions")
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
            .help("`if c { a } else { b }` is a value, with one expression in each branch; otherwise assign \
                to a `var`")
    }

    /// A comprehension with its value before the `for`.
    ///
    /// ```text
    /// let total = sum(x[i] for i in 0..3)
    /// ```
    ///
    /// The value stands at the end: `sum(for i in 0..3: x[i])`.
    E0146 comprehension_order(span: Span) {
        Diagnostic::new("the value of a comprehension stands after its `for`")
            .at(span, "begins too late")
            .help("write `sum(for i in 0..n: x[i])` or `[for i in 0..n: x[i]]`")
    }

    /// More mistakes than anyone reads at once.
    ///
    /// Only the first are shown. A file with so many mistakes may not be a model at all.
    E0199 too_many_mistakes(limit: usize, span: Span) {
        Diagnostic::new(format!("more than {limit} mistakes: the others are not listed"))
            .at(span, "and more from here on")
    }
}
