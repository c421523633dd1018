//! Order statistics by radix selection, without sorting or storing values. A pass counts values by the next
//! digit of their keys and reads off that digit for each rank; passes are repeated until all 32 bits are
//! known.

use sim_compiler::manifest::Scalar;

/// Quantiles that one selection finds.
pub(crate) const QUANTILES: usize = 3;
/// The probabilities of the quartiles.
pub(crate) const QUARTILES: [f64; QUANTILES] = [0.25, 0.5, 0.75];
/// Ranks to find: two for each quantile, between which is interpolated.
const RANKS: usize = 2 * QUANTILES;
/// Bits of a key.
const BITS: u32 = 32;
/// The sign of a float or an `i32`.
const SIGN: u32 = 1 << 31;

/// Whether a word is NaN.
#[inline]
pub(crate) fn is_nan(word: u32) -> bool {
    word & !SIGN > 0x7f80_0000
}

/// A key that is ordered like the values, -0 before 0. Meaningless for NaNs.
#[inline]
pub(crate) fn key(scalar: Scalar, word: u32) -> u32 {
    match scalar {
        Scalar::F32 if word & SIGN != 0 => !word,
        Scalar::F32 => word | SIGN,
        Scalar::F64 => unreachable!("a double is no word"),
        Scalar::I32 => word ^ SIGN,
        Scalar::U32 => word,
        Scalar::Bool => (word != 0).into(),
    }
}

/// The value of a key.
pub(crate) fn value(scalar: Scalar, key: u32) -> f64 {
    match scalar {
        Scalar::F32 if key & SIGN != 0 => f32::from_bits(key ^ SIGN).into(),
        Scalar::F32 => f32::from_bits(!key).into(),
        Scalar::F64 => unreachable!("a double is no word"),
        Scalar::I32 => ((key ^ SIGN) as i32).into(),
        Scalar::U32 | Scalar::Bool => key.into(),
    }
}

/// The number of passes for digits of `bits` bits.
pub(crate) const fn passes(digit: u32) -> u32 {
    BITS.div_ceil(digit)
}

/// Bytes of the histograms of a selection.
pub(crate) const fn bytes(digit: u32) -> u64 {
    (RANKS as u64 * 8) << digit
}

/// The place of the quantile `p` among `count` sorted values: the rank below it, and the fraction of the way
/// to the next one. Exact for quartiles.
pub(crate) fn position(count: u64, p: f64) -> (u64, f64) {
    let last = count.saturating_sub(1);
    let place = last as f64 * p;
    let below = (place as u64).min(last);
    (below, place - below as f64)
}

/// The keys of some ranks among values that are iterated several times.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    probabilities: [f64; QUANTILES],
    /// Bits of a digit.
    digit: u32,
    /// Low bits of the keys that are not known yet.
    open: u32,
    /// The known prefix of the key of each rank.
    prefixes: [u32; RANKS],
    /// The ranks among the keys with that prefix.
    ranks: [u64; RANKS],
    /// The distinct prefixes.
    wanted: Vec<u32>,
}

impl Selection {
    /// A selection with digits of `digit` bits, 1 to 31.
    pub(crate) fn new(digit: u32, probabilities: [f64; QUANTILES]) -> Selection {
        Selection {
            probabilities,
            digit,
            open: BITS,
            prefixes: [0; RANKS],
            ranks: [0; RANKS],
            wanted: vec![0],
        }
    }

    /// What a selection finds among these keys, whose order it changes; meaningless without any.
    pub(crate) fn of_keys(keys: &mut [u32], probabilities: [f64; QUANTILES]) -> Selection {
        let mut done = Selection::new(BITS - 1, probabilities);
        done.open = 0;
        done.ranks = ranks(keys.len() as u64, probabilities);
        if keys.is_empty() {
            return done;
        }
        // In rising order, each rank is among the keys from the one before it on.
        let mut order: [usize; RANKS] = std::array::from_fn(|at| at);
        order.sort_unstable_by_key(|&at| done.ranks[at]);
        let mut first = 0;
        for at in order {
            let rank = done.ranks[at] as usize;
            let (_, key, _) = keys[first..].select_nth_unstable(rank - first);
            done.prefixes[at] = *key;
            first = rank;
        }
        done
    }

    /// Whether the keys are known.
    pub(crate) fn is_done(&self) -> bool {
        self.open == 0
    }

    /// The bits of the next digit, and those below it.
    fn next(&self) -> (u32, u32) {
        let width = self.digit.min(self.open);
        (width, self.open - width)
    }

    /// A histogram for a pass over some values; histograms of several threads are summed.
    pub(crate) fn counts(&self) -> Vec<u64> {
        vec![0; self.wanted.len() << self.next().0]
    }

    /// Counts a value by its key.
    #[inline]
    pub(crate) fn count(&self, counts: &mut [u64], key: u32) {
        let (width, below) = self.next();
        let prefix = (u64::from(key) >> self.open) as u32;
        if let Some(at) = self.wanted.iter().position(|&wanted| wanted == prefix) {
            let digit = (key >> below) & ((1 << width) - 1);
            counts[at << width | digit as usize] += 1;
        }
    }

    /// Takes the histogram of all values, `count` in number.
    pub(crate) fn narrow(&mut self, counts: &[u64], count: u64) {
        let (width, below) = self.next();
        if self.open == BITS {
            self.ranks = ranks(count, self.probabilities);
        }
        for (prefix, rank) in self.prefixes.iter_mut().zip(&mut self.ranks) {
            let known = self.wanted.iter().position(|wanted| wanted == prefix);
            let counts = &counts[known.unwrap_or(0) << width..][..1 << width];
            let mut digit = 0;
            while digit + 1 < counts.len() && *rank >= counts[digit] {
                *rank -= counts[digit];
                digit += 1;
            }
            *prefix = (u64::from(*prefix) << width) as u32 | digit as u32;
        }
        self.open = below;
        self.wanted = self.prefixes.to_vec();
        self.wanted.sort_unstable();
        self.wanted.dedup();
    }

    /// The keys on both sides of each quantile, once they are known.
    pub(crate) fn keys(&self) -> [u32; RANKS] {
        self.prefixes
    }
}

/// The ranks on both sides of each quantile of `count` values.
fn ranks(count: u64, probabilities: [f64; QUANTILES]) -> [u64; RANKS] {
    let last = count.saturating_sub(1);
    std::array::from_fn(|at| {
        let (below, _) = position(count, probabilities[at / 2]);
        (below + at as u64 % 2).min(last)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_the_order_of_values_and_lead_back() {
        let floats = [
            f32::NEG_INFINITY,
            -1.5,
            -1e-45,
            -0.0,
            0.0,
            1e-45,
            2.0,
            f32::INFINITY,
        ];
        let keys = floats.map(|float| key(Scalar::F32, float.to_bits()));
        assert!(keys.is_sorted_by(|a, b| a < b));
        for (float, key) in floats.into_iter().zip(keys) {
            assert_eq!(
                value(Scalar::F32, key).to_bits(),
                f64::from(float).to_bits()
            );
        }
        let whole = [i32::MIN, -1, 0, 1, i32::MAX];
        let keys = whole.map(|whole| key(Scalar::I32, whole as u32));
        assert!(keys.is_sorted_by(|a, b| a < b));
        assert_eq!(keys.map(|key| value(Scalar::I32, key) as i32), whole);
    }

    #[test]
    fn digits_of_any_width_find_the_same_ranks() {
        let mut word = 12345_u32;
        for (count, spread) in [(1, 32), (2, 32), (7, 0), (1000, 32), (1001, 3), (5000, 12)] {
            let mut keys: Vec<u32> = (0..count)
                .map(|_| {
                    word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (u64::from(word) >> (32 - spread)) as u32
                })
                .collect();
            for digit in [1, 8, 11, 16, 31] {
                let mut selection = Selection::new(digit, QUARTILES);
                let mut seen = 0;
                while !selection.is_done() {
                    let mut counts = selection.counts();
                    keys.iter()
                        .for_each(|&key| selection.count(&mut counts, key));
                    selection.narrow(&counts, count);
                    seen += 1;
                }
                assert_eq!(seen, passes(digit));
                keys.sort_unstable();
                let expected = ranks(count, QUARTILES).map(|rank| keys[rank as usize]);
                assert_eq!(selection.keys(), expected, "{count} {spread} {digit}");
            }
            let expected = ranks(count, QUARTILES).map(|rank| keys[rank as usize]);
            keys.reverse();
            let found = Selection::of_keys(&mut keys, QUARTILES);
            assert!(found.is_done());
            assert_eq!(found.keys(), expected, "{count} {spread}");
        }
        assert_eq!(ranks(5, QUARTILES), [1, 2, 2, 3, 3, 4]);
    }

    #[test]
    fn quartiles_have_exact_places() {
        for count in [1, 2, 3, 1000, (1 << 45) + 2, (1 << 45) + 3] {
            for (quarter, p) in QUARTILES.into_iter().enumerate() {
                let exact = u128::from(count - 1) * (quarter as u128 + 1);
                let expected = ((exact / 4) as u64, (exact % 4) as f64 / 4.0);
                assert_eq!(position(count, p), expected, "{count} {p}");
            }
        }
        assert_eq!((position(9, 0.0), position(9, 1.0)), ((0, 0.0), (8, 0.0)));
        assert_eq!(position(0, 0.5), (0, 0.0));
    }
}
