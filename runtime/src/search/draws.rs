//! The draws of a search: the project's generator, addressed by purpose, generation, candidate and number. No
//! draw depends on an order, so the operators may run in parallel, on any machine, to the same bits.

use crate::cpu::vector::{Work, vectorised};
use sim_compiler::{
    builtin::math::wide,
    random::{Generator, Key},
};
use std::f64::consts::TAU;

/// What a draw is for. Each purpose has a seed of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// First genomes within ranges, and genomes after an extinction.
    Found = 1,
    /// Selection, crossover and mutation, and the steps of evolution strategies.
    Vary = 2,
    /// The seeds of runs.
    Seed = 3,
}

/// All draws of a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draws {
    seed: u64,
}

impl Draws {
    pub(super) fn new(seed: u64) -> Draws {
        Draws { seed }
    }

    /// The seed of all draws for a purpose.
    pub(super) fn seed(self, purpose: Purpose) -> u64 {
        // The odd constant is 2^64 over the golden ratio: seeds of two purposes share no low bits.
        self.seed ^ (purpose as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    /// The draws of a candidate in a generation.
    pub(super) fn of(self, purpose: Purpose, generation: u32, candidate: u32) -> Drawn {
        let seed = self.seed(purpose);
        let generator = Generator::KeyedHash;
        Drawn {
            key: generator.step_key(generator.agent_key(seed, candidate), generation),
        }
    }

    /// The seed of run `number` of a generation.
    pub(super) fn run_seed(self, generation: u32, number: u32) -> u64 {
        let drawn = self.of(Purpose::Seed, generation, number);
        (u64::from(drawn.word(0)) << 32) | u64::from(drawn.word(1))
    }
}

/// The draws of one candidate in one generation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drawn {
    key: Key,
}

impl Drawn {
    /// A word.
    pub(super) fn word(self, number: u32) -> u32 {
        Generator::KeyedHash.word(self.key, number)
    }

    /// Words one after the other, from this number on.
    pub(super) fn words(self, first: u32, into: &mut [u32]) {
        vectorised(Words {
            drawn: self,
            first,
            into,
        });
    }

    /// Uniform, above 0 and below 1, in units of 2^-33.
    pub(super) fn unit(self, number: u32) -> f64 {
        unit(self.word(number))
    }

    /// A number below `count`, which is above 0.
    pub(super) fn below(self, number: u32, count: usize) -> usize {
        // Less than one part in 2^32 from uniform for each of `count` numbers.
        ((u64::from(self.word(number)) * count as u64) >> 32) as usize
    }

    /// Standard normals, both of each pair of words, from word 0 on.
    pub(super) fn normals(self, into: &mut [f64]) {
        for (block, into) in into.chunks_mut(2 * BLOCK).enumerate() {
            vectorised(Normals {
                drawn: self,
                first: (2 * BLOCK * block) as u32,
                into,
            });
        }
    }
}

/// Pairs of normals that are computed together.
const BLOCK: usize = 64;

struct Words<'a> {
    drawn: Drawn,
    first: u32,
    into: &'a mut [u32],
}

impl Work for Words<'_> {
    #[inline(always)]
    fn run(self) {
        for (k, word) in self.into.iter_mut().enumerate() {
            *word = self.drawn.word(self.first.wrapping_add(k as u32));
        }
    }
}

/// At most two blocks of normals.
struct Normals<'a> {
    drawn: Drawn,
    first: u32,
    into: &'a mut [f64],
}

impl Work for Normals<'_> {
    #[inline(always)]
    fn run(self) {
        let mut pairs = [[0.0; BLOCK]; 2];
        let [firsts, seconds] = &mut pairs;
        for k in 0..BLOCK {
            let number = self.first.wrapping_add(2 * k as u32);
            let words = [number, number.wrapping_add(1)].map(|number| self.drawn.word(number));
            [firsts[k], seconds[k]] = normals_of(words);
        }
        for (k, value) in self.into.iter_mut().enumerate() {
            *value = pairs[k % 2][k / 2];
        }
    }
}

/// The uniform number of a word, above 0 and below 1, in units of 2^-33.
#[inline(always)]
pub(super) fn unit(word: u32) -> f64 {
    (f64::from(word) + 0.5) / 4_294_967_296.0
}

/// Two standard normals that are independent: G. E. P. Box and M. E. Muller, Annals of Mathematical
/// Statistics 29 (1958). Without branches, by functions whose bits are the same on every processor.
#[inline(always)]
pub(super) fn normals_of([a, b]: [u32; 2]) -> [f64; 2] {
    let radius = (-2.0 * wide::log(unit(a))).sqrt();
    let (quadrant, rest) = wide::quadrant(TAU * unit(b));
    let (sine, cosine) = (wide::sin_kernel(rest), wide::cos_kernel(rest));
    let is_odd = quadrant & 1 == 1;
    let [x, y] = if is_odd {
        [sine, cosine]
    } else {
        [cosine, sine]
    };
    let sign = |is_negative: bool| if is_negative { -radius } else { radius };
    [
        sign((quadrant + 1) & 2 == 2) * x,
        sign(quadrant & 2 == 2) * y,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_have_the_moments_of_their_distributions() {
        let draws = Draws::new(3);
        let values: Vec<[f64; 2]> = (0..100_000)
            .map(|k| {
                let drawn = draws.of(Purpose::Vary, k / 1000, k % 1000);
                [
                    normals_of([0, 1].map(|number| drawn.word(number)))[0],
                    drawn.unit(2),
                ]
            })
            .collect();
        let mean = |of: &dyn Fn(&[f64; 2]) -> f64| values.iter().map(of).sum::<f64>() / 1e5;
        // Four standard errors: of a normal's mean 1 / √n, of its square √(2 / n), of a uniform's
        // 1 / √(12 n).
        let error = 4.0 / 1e5_f64.sqrt();
        assert!(mean(&|it| it[0]).abs() < error);
        assert!((mean(&|it| it[0] * it[0]) - 1.0).abs() < error * 2.0_f64.sqrt());
        assert!((mean(&|it| it[1]) - 0.5).abs() < error / 12.0_f64.sqrt());
    }

    #[test]
    fn both_normals_of_a_pair_of_words_are_independent() {
        let mut values = vec![0.0; 100_001];
        Draws::new(3).of(Purpose::Vary, 1, 2).normals(&mut values);
        let mean = |of: &dyn Fn(&[f64]) -> f64| values.chunks_exact(2).map(of).sum::<f64>() / 5e4;
        // Four standard errors, each 1 / √n times the deviation of what is averaged.
        let error = 4.0 / 5e4_f64.sqrt();
        assert!(mean(&|it| it[0]).abs() < error && mean(&|it| it[1]).abs() < error);
        assert!((mean(&|it| it[1] * it[1]) - 1.0).abs() < error * 2.0_f64.sqrt());
        assert!(mean(&|it| it[0] * it[1]).abs() < error);
        assert!(values[100_000] != 0.0);
    }

    #[test]
    fn normals_are_those_of_the_formula() {
        let drawn = Draws::new(3).of(Purpose::Vary, 1, 2);
        let mut words = vec![0; 1_001];
        drawn.words(0, &mut words);
        let mut values = vec![0.0; 1_001];
        drawn.normals(&mut values);
        for (k, (pair, words)) in values
            .chunks_exact(2)
            .zip(words.chunks_exact(2))
            .enumerate()
        {
            let number = 2 * k as u32;
            assert_eq!(words, [drawn.word(number), drawn.word(number + 1)]);
            let radius = (-2.0 * drawn.unit(number).ln()).sqrt();
            let (sine, cosine) = (TAU * drawn.unit(number + 1)).sin_cos();
            for (value, exact) in pair.iter().zip([radius * cosine, radius * sine]) {
                assert!((value - exact).abs() < 4e-9 * radius, "{value} {exact}");
            }
        }
    }

    #[test]
    fn every_part_of_the_address_counts() {
        let draws = Draws::new(3);
        let first = draws.of(Purpose::Vary, 5, 7).word(9);
        for other in [
            Draws::new(4).of(Purpose::Vary, 5, 7).word(9),
            draws.of(Purpose::Found, 5, 7).word(9),
            draws.of(Purpose::Vary, 6, 7).word(9),
            draws.of(Purpose::Vary, 5, 8).word(9),
            draws.of(Purpose::Vary, 5, 7).word(10),
        ] {
            assert_ne!(first, other);
        }
    }
}
