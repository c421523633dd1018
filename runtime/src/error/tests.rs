//! Every error says what happened and what to do.

use super::*;

#[test]
fn entries_are_in_the_order_of_their_codes() {
    assert!(explanations().is_sorted_by(|a, b| a.0 < b.0));
}
