//! Complaints about values known at compile time (E0500–E0599).

use super::catalog;
use crate::{diagnostic::Diagnostic, span::Span};

catalog! {
    /// A value that is not known at compile time where it must be.
    ///
    /// `const`, array lengths, `agents`, `steps`, defaults and ranges of params and patterns are computed
    /// by the compiler from literals, other constants, builtin functions and functions of the model, which
    /// then read nothing of the run, either.
    E0501 not_constant(place: &str, span: Span) {
        Diagnostic::new(format!("{place} must be known at compile time"))
            .at(span, "depends on the run")
            .help("use literals and constants; what depends on the run is a `let` in a block, or a function")
    }

    /// A fold where a value must be known at compile time.
    ///
    /// Constants are computed from literals, other constants, operators, builtin functions of numbers and
    /// functions of the model, which may have loops. Folds such as `sum` are computed in the run only.
    E0512 fold_in_constant(fold: &str, span: Span) {
        Diagnostic::new(format!("`{fold}` folds an array in the run only, not in a constant"))
            .at(span, "must be known at compile time")
            .help("let a function of the model do it with a loop: constants may call that")
    }

    /// Integer arithmetic on constants that leaves 64 bits.
    E0502 constant_overflow(op: &str, span: Span) {
        Diagnostic::new(format!("integer overflow in a constant: `{op}`"))
            .at(span, "too large for any integer type")
            .help("use floats: `1.0` instead of `1`")
    }

    /// A constant that its type cannot hold.
    ///
    /// `i32` holds -2147483648 to 2147483647, `u32` 0 to 4294967295, `f32` up to 3.4e38.
    E0503 constant_out_of_range(value: &str, ty: &str, span: Span) {
        Diagnostic::new(format!("{value} does not fit `{ty}`")).at(span, format!("out of range for `{ty}`"))
    }

    /// An integer constant divided by zero.
    E0504 division_by_zero(span: Span) {
        Diagnostic::new("division of a constant by zero").at(span, "this is zero")
    }

    /// A constant index outside its array.
    E0505 index_out_of_range(index: i64, length: u32, span: Span, array: Span) {
        let report = Diagnostic::new(format!("index {index} is outside an array of {length} elements"))
            .at(span, format!("valid indices are 0 to {}", length.saturating_sub(1)))
            .at(array, format!("has {length} elements"));
        let last = length.saturating_sub(1);
        match index {
            -1 => report.help(format!("the last element is that of index {last}"))
                .replace(span, last.to_string()),
            _ if index == i64::from(length) => report
                .help(format!("the first element is that of index 0, the last that of index {last}"))
                .replace(span, last.to_string()),
            _ => report,
        }
    }

    /// A length that is no positive number, or too large.
    E0506 bad_length(length: &str, span: Span) {
        Diagnostic::new(format!("an array cannot have {length} elements")).at(span, "must be 1 to 16777216")
    }

    /// Float arithmetic on constants whose result is not a finite number.
    E0507 not_finite(span: Span) {
        Diagnostic::new("this constant is not a finite number").at(span, "overflows, or is not a number")
    }

    /// A comprehension whose length is not known at compile time.
    E0508 range_not_constant(span: Span) {
        Diagnostic::new("the range of an array comprehension must be known at compile time")
            .at(span, "depends on the run")
            .help("use constants for both ends; `if` can choose the value inside")
    }

    /// Constants that take too many numbers to compute.
    ///
    /// The compiler computes constants while it reads the model: at most 1,048,576 numbers, and 2,097,152
    /// expressions in the iterations of comprehensions. Large tables belong into `data`.
    E0510 constants_too_large(limit: &str, span: Span) {
        Diagnostic::new("the constants of this model are too large")
            .at(span, format!("goes beyond {limit} in all"))
            .help("read large tables as `data`, or compute them in `init`")
    }

    /// A range that ends before it begins.
    E0509 empty_range(start: i64, end: i64, span: Span) {
        Diagnostic::new(format!("the range {start}..{end} is empty")).at(span, "has no element")
    }

    /// A constant number that no variant of an enum has.
    ///
    /// ```text
    /// enum Health { Susceptible, Infected, Recovered }
    /// state health = Health(3)
    /// ```
    ///
    /// Variants are numbered from 0. A number that is no constant is clamped: below 0 it means the first
    /// variant, beyond the end the last.
    E0511 no_such_variant(number: i64, owner: &str, variants: usize, span: Span) {
        let last = variants.saturating_sub(1);
        Diagnostic::new(format!("`{owner}` has no variant with the number {number}"))
            .at(span, format!("not in 0..{variants}"))
            .help(format!("its variants have the numbers 0 to {last}"))
    }
}
