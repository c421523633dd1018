//! Folds over arrays and comprehensions. `min` and `max` of one array are folds, too: see `Fold::of`.

use crate::builtin::{Builtin, Fold, Meaning};

ids! {
    LEN,
}

/// The rows, by name.
pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        name: "all",
        params: &["array"],
        meaning: Meaning::Fold(Fold::All),
        doc: "Are all true? True for nothing.",
        example: "all([true, true])",
    },
    Builtin {
        name: "any",
        params: &["array"],
        meaning: Meaning::Fold(Fold::Any),
        doc: "Is one true? False for nothing.",
        example: "any([false, true])",
    },
    Builtin {
        name: "argmax",
        params: &["array"],
        meaning: Meaning::Fold(Fold::ArgMax),
        doc: "The index of the first largest element, `i32`; NaN counts as the worst, and 0 is the index of \
            nothing.",
        example: "argmax([1.0, 3.0, 2.0]) == 1",
    },
    Builtin {
        name: "argmin",
        params: &["array"],
        meaning: Meaning::Fold(Fold::ArgMin),
        doc: "The index of the first smallest element, `i32`; NaN counts as the worst, and 0 is the index \
            of nothing.",
        example: "argmin([2.0, 1.0, 3.0]) == 1",
    },
    Builtin {
        name: "count",
        params: &["array"],
        meaning: Meaning::Fold(Fold::Count),
        doc: "How many are true, or how many pass the comprehension's filter; `i32`.",
        example: "count(for k in 0..10 if k % 3 == 0: 1) == 4",
    },
    Builtin {
        name: "len",
        params: &["array"],
        meaning: Meaning::Length,
        doc: "The number of elements of an array or of rows of a table, `i32`.",
        example: "len([1.0, 2.0, 3.0]) == 3",
    },
    Builtin {
        name: "mean",
        params: &["array"],
        meaning: Meaning::Fold(Fold::Mean),
        doc: "The sum over the number of elements; NaN for nothing.",
        example: "mean([1.0, 2.0, 6.0]) == 3.0",
    },
    Builtin {
        name: "product",
        params: &["array"],
        meaning: Meaning::Fold(Fold::Product),
        doc: "The product of the elements; 1 for nothing.",
        example: "product([2.0, 3.0, 4.0]) == 24.0",
    },
    Builtin {
        name: "sum",
        params: &["array"],
        meaning: Meaning::Fold(Fold::Sum),
        doc: "The sum of the elements, from the first to the last; 0 for nothing.",
        example: "sum(for k in 0..4: k) == 6",
    },
];
