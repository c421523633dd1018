//! Statistics of many values in memory, by several threads.

use super::{
    Tally, feed,
    select::{QUANTILES, Selection},
};
use crate::parallel::{self, *};
use sim_compiler::manifest::Scalar;

/// The number of values from which several threads count them.
pub(super) const SHARED: usize = 1 << 19;

/// Moments and order statistics of many values in memory, each thread a part of them.
pub(super) fn select_shared(
    scalar: Scalar,
    probabilities: [f64; QUANTILES],
    count: usize,
    word: impl Fn(usize) -> u32 + Sync,
) -> (Tally, Selection) {
    /// Parts for each thread, so that all end at about the same time.
    const PARTS: usize = 4;
    let parts = parallel::current_num_threads() * PARTS;
    let size = count.div_ceil(parts);
    // Wider digits would leave the caches of each thread.
    let mut selection = Selection::new(11, probabilities);
    let mut tally = Tally::new();
    let mut is_first = true;
    while !selection.is_done() {
        let part = |part: usize| {
            let mut counts = selection.counts();
            let mut tally = is_first.then(Tally::new);
            let places = (part * size).min(count)..((part + 1) * size).min(count);
            feed(
                scalar,
                places.map(&word),
                tally.as_mut(),
                &selection,
                &mut counts,
            );
            (tally, counts)
        };
        let found: Vec<_> = (0..parts).into_par_iter().map(part).collect();
        let mut counts = selection.counts();
        for (own, others) in found {
            own.iter().for_each(|own| tally.merge(own));
            counts
                .iter_mut()
                .zip(others)
                .for_each(|(sum, other)| *sum += other);
        }
        selection.narrow(&counts, tally.count);
        is_first = false;
    }
    (tally, selection)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        statistics::{select::QUARTILES, select_from},
        values::Values,
    };

    #[test]
    fn threads_find_what_one_finds() {
        let mut word = 9_u32;
        let mut next = || {
            word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            word
        };
        let words: Vec<u32> = (0..2 * SHARED + 77).map(|_| next()).collect();
        // Of all bit patterns, some are NaN.
        let floats = words.iter().map(|&word| f32::from_bits(word)).collect();
        for values in [Values::F32(floats), Values::U32(words)] {
            for (first, stride) in [(0, 1), (1, 2)] {
                let count = (values.len() - first).div_ceil(stride);
                let bits = values.words();
                let word = |at: usize| bits[first + at * stride];
                let scalar = values.scalar();
                let shared = select_shared(scalar, QUARTILES, count, word);
                let alone = select_from(scalar, QUARTILES, || (0..count).map(word));
                let of = |(tally, selection): (Tally, Selection)| {
                    format!("{:?}", tally.statistics(scalar, selection.keys()))
                };
                assert_eq!(of(shared), of(alone));
            }
        }
    }
}
