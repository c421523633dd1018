//! Affine maps of 32-bit words, `x -> factor * x + offset` modulo 2^32: what a linear congruential generator
//! does to its state. They compose to affine maps, so that a generator can be skipped ahead by any number of
//! steps in one (F. B. Brown, "Random number generation with arbitrary strides", 1994).

/// A map `x -> factor * x + offset`; of an `i32`, of its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Affine {
    /// What a word is multiplied by.
    pub factor: u32,
    /// What is added then.
    pub offset: u32,
}

impl Affine {
    /// Leaves each word as it is.
    pub const IDENTITY: Affine = Affine {
        factor: 1,
        offset: 0,
    };

    /// Maps each word to this one.
    pub const fn constant(offset: u32) -> Affine {
        Affine { factor: 0, offset }
    }

    /// The image of a word.
    pub const fn apply(self, word: u32) -> u32 {
        self.factor.wrapping_mul(word).wrapping_add(self.offset)
    }

    /// This map, and then another one.
    #[must_use]
    pub const fn then(self, next: Affine) -> Affine {
        Affine {
            factor: self.factor.wrapping_mul(next.factor),
            offset: next.apply(self.offset),
        }
    }

    /// The sum of the images of a word under two maps.
    #[must_use]
    pub const fn plus(self, other: Affine) -> Affine {
        Affine {
            factor: self.factor.wrapping_add(other.factor),
            offset: self.offset.wrapping_add(other.offset),
        }
    }

    /// This map applied `count` times.
    #[must_use]
    pub const fn power(self, mut times: u32) -> Affine {
        let (mut all, mut square) = (Affine::IDENTITY, self);
        while times > 0 {
            if times % 2 == 1 {
                all = all.then(square);
            }
            square = square.then(square);
            times /= 2;
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small ones, and ones that wrap around.
    fn maps() -> Vec<Affine> {
        let words = [
            0,
            1,
            2,
            5,
            0x8000_0000,
            747_796_405,
            2_891_336_453,
            u32::MAX,
        ];
        let pairs = words.map(|factor| words.map(|offset| Affine { factor, offset }));
        pairs.into_iter().flatten().collect()
    }

    const WORDS: [u32; 5] = [0, 1, 12_345, 0x8000_0000, u32::MAX];

    #[test]
    fn compositions_and_sums_are_affine() {
        for a in maps() {
            for b in maps() {
                for x in WORDS {
                    assert_eq!(a.then(b).apply(x), b.apply(a.apply(x)), "{a:?} {b:?} {x}");
                    let sum = a.apply(x).wrapping_add(b.apply(x));
                    assert_eq!(a.plus(b).apply(x), sum, "{a:?} {b:?} {x}");
                }
            }
        }
    }

    #[test]
    fn powers_are_what_a_loop_gives() {
        for map in maps() {
            for start in WORDS {
                let mut x = start;
                for times in 0..70 {
                    assert_eq!(map.power(times).apply(start), x, "{map:?} {start} {times}");
                    x = map.apply(x);
                }
            }
        }
        // The period of a generator modulo 2^32 with an odd offset and a factor of 4 k + 1.
        let generator = Affine {
            factor: 747_796_405,
            offset: 2_891_336_453,
        };
        let half = generator.power(1 << 31);
        assert_ne!(half, Affine::IDENTITY);
        assert_eq!(half.then(half), Affine::IDENTITY);
    }
}
