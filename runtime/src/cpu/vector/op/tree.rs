//! Combining many values in the order of a tree: neighbours first, a last one without a neighbour stays, then
//! the results likewise.

use super::{Op, Plain, table as plain};
use crate::cpu::vector::kernel::Lane;
use sim_compiler::builtin::math::arithmetic::Lanes;

/// Combines the words of rows of equal length, which fill `words`, and leaves one word per row at its front.
/// The second list is work space of the same length.
pub type Tree<L> = fn(words: &mut Vec<L>, space: &mut Vec<L>, row: usize);

impl Plain {
    /// The tree of an operation of two operands, if values may be combined by it.
    pub(in crate::cpu::vector) fn tree<L: Lane>(self) -> Option<Tree<L>> {
        Some(match self {
            Plain::AddF => combine::<L, plain::AddF>,
            Plain::AddI => combine::<L, plain::AddI>,
            Plain::MulF => combine::<L, plain::MulF>,
            Plain::MulI => combine::<L, plain::MulI>,
            Plain::MinF => combine::<L, plain::MinF>,
            Plain::MinI => combine::<L, plain::MinI>,
            Plain::MinU => combine::<L, plain::MinU>,
            Plain::MaxF => combine::<L, plain::MaxF>,
            Plain::MaxI => combine::<L, plain::MaxI>,
            Plain::MaxU => combine::<L, plain::MaxU>,
            Plain::And => combine::<L, plain::And>,
            Plain::Or => combine::<L, plain::Or>,
            _ => return None,
        })
    }
}

fn combine<L: Lane, O: Op>(words: &mut Vec<L>, space: &mut Vec<L>, mut row: usize) {
    let none = L::ZERO;
    let mut count = words.len();
    while row > 1 {
        let next = row.div_ceil(2);
        // Pairs of rows of even length do not overlap, so that all rows are one.
        let (from, to) = match row % 2 {
            0 => (count, count / 2),
            _ => (row, next),
        };
        let rows = words[..count].chunks_exact(from);
        for (from, to) in rows.zip(space.chunks_exact_mut(to)) {
            let pairs = from.chunks_exact(2);
            if let (&[last], Some(to)) = (pairs.remainder(), to.last_mut()) {
                *to = last;
            }
            for (to, pair) in to.iter_mut().zip(pairs) {
                *to = O::apply::<L, Lanes>(none, pair[0], pair[1], none, none);
            }
        }
        count = count / row * next;
        row = next;
        std::mem::swap(words, space);
    }
}
