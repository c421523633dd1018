//! The order in which runs of a batch are handed over: that of their numbers, though one that is cut into more
//! submissions, or begins again, is done later than those after it.

use std::collections::BTreeMap;

/// Hands over in order what is done in any.
#[derive(Debug)]
pub(crate) struct InOrder<T> {
    /// The number that is due.
    next: usize,
    /// Those that are done before they are due.
    early: BTreeMap<usize, T>,
}

impl<T> InOrder<T> {
    /// Begins with number 0.
    pub(crate) fn new() -> InOrder<T> {
        InOrder {
            next: 0,
            early: BTreeMap::new(),
        }
    }

    /// Takes what is done, and hands over all that is due now.
    pub(crate) fn done(&mut self, number: usize, value: T, each: &mut dyn FnMut(usize, T)) {
        self.early.insert(number, value);
        while let Some(value) = self.early.remove(&self.next) {
            self.next += 1;
            each(self.next - 1, value);
        }
    }

    /// Is anything done before it is due?
    pub(crate) fn waits(&self) -> bool {
        !self.early.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_early_waits_for_what_is_due() {
        let mut order = InOrder::new();
        let mut handed = Vec::new();
        for (number, expected) in [(1, 0), (2, 0), (0, 3), (3, 4), (5, 4), (4, 6)] {
            let mut each = |number: usize, value: usize| handed.push((number, value));
            order.done(number, 10 * number, &mut each);
            assert_eq!(handed.len(), expected, "after {number}");
            assert_eq!(order.waits(), matches!(number, 1 | 2 | 5));
        }
        let expected: Vec<(usize, usize)> = (0..6).map(|number| (number, 10 * number)).collect();
        assert_eq!(handed, expected);
    }
}
