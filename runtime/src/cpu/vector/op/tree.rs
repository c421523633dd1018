//! Combining many values in the order of a tree: neighbours first, a last one without a neighbour stays, then
//! the results likewise.

use super::{Op, Plain, table as plain};
use sim_compiler::builtin::math::arithmetic::Lanes;

/// Combines the words of rows of equal length, which fill `words`, and leaves one word per row at its front.
/// The second list is work space of the same length.
pub type Tree = fn(words: &mut Vec<u32>, space: &mut Vec<u32>, row: usize);

impl Plain {
    /// The tree of an operation of two operands, if values may be combined by it.
    pub(in crate::cpu::vector) fn tree(self) -> Option<Tree> {
        Some(match self {
            Plain::AddF => combine::<plain::AddF>,
            Plain::AddI => combine::<plain::AddI>,
            Plain::MulF => combine::<plain::MulF>,
            Plain::MulI => combine::<plain::MulI>,
            Plain::MinF => combine::<plain::MinF>,
            Plain::MinI => combine::<plain::MinI>,
            Plain::MinU => combine::<plain::MinU>,
            Plain::MaxF => combine::<plain::MaxF>,
            Plain::MaxI => combine::<plain::MaxI>,
            Plain::MaxU => combine::<plain::MaxU>,
            Plain::And => combine::<plain::And>,
            Plain::Or => combine::<plain::Or>,
            _ => return None,
        })
    }
}

fn combine<O: Op>(words: &mut Vec<u32>, space: &mut Vec<u32>, mut row: usize) {
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
                *to = O::apply::<Lanes>(0, pair[0], pair[1], 0, 0);
            }
        }
        count = count / row * next;
        row = next;
        std::mem::swap(words, space);
    }
}
