//! Normal numbers from words, in integers alone: by inversion, in segments of the chance that are halved
//! towards the tail, each cut into eight.
//!
//! Source: D.-U. Lee, R. C. C. Cheung, J. D. Villasenor and W. Luk, "Inversion-Based Hardware Gaussian Random
//! Number Generator: A Case Study of Function Evaluation via Hierarchical Segmentation", FPT 2006.

use sim_compiler::builtin::math::double::normal_quantile;

/// Halvings of the chance.
const OCTAVES: usize = 31;
/// Parts of each.
const PARTS: usize = 8;
/// A standard deviation.
const ONE: f64 = (1 << 20) as f64;
/// The steps within a part, as a power of 2: the products of steps and differences have 32 bits.
const STEP_BITS: u32 = 14;

/// The coefficients of a parabola for each part: the number at its beginning, in units of 2^-20, and what is
/// added for the place in it and for its square.
#[derive(Clone, Debug)]
pub(crate) struct Normals {
    parts: Vec<[i32; 3]>,
}

impl Normals {
    pub(crate) fn new() -> Normals {
        let part = |at: usize| {
            let (octave, part) = (at / PARTS, at % PARTS);
            let of = |place: f64| {
                let within = 1.0 + (part as f64 + place) / PARTS as f64;
                let word = within * f64::from(1_u32 << (OCTAVES - 1 - octave));
                // The tail's chance is at most a half: the numbers are positive.
                -normal_quantile((word + 0.5) / 4_294_967_296.0) * ONE
            };
            let [first, middle, last] = [0.0, 0.5, 1.0].map(of);
            [
                first,
                4.0 * middle - 3.0 * first - last,
                2.0 * (first + last) - 4.0 * middle,
            ]
            .map(|it| it.round() as i32)
        };
        Normals {
            parts: (0..OCTAVES * PARTS).map(part).collect(),
        }
    }

    /// The normal number of a word: the highest bit is the sign, the others are its chance. 0 counts as 1.
    #[inline(always)]
    pub(crate) fn value(&self, word: u32) -> f32 {
        let chance = (word & 0x7fff_ffff).max(1);
        // The leading one is in bit 31 at most one place up.
        let octave = chance.leading_zeros() - 1;
        let fraction = chance << octave << 2;
        let part = octave as usize * PARTS + (fraction >> 29) as usize;
        let step = ((fraction >> (29 - STEP_BITS)) & ((1 << STEP_BITS) - 1)) as i32;
        let [first, slope, bend] = self.parts[part];
        let square = (step * step) >> STEP_BITS;
        let size = first + ((slope * step) >> STEP_BITS) + ((bend * square) >> STEP_BITS);
        let signed = if word >> 31 == 0 { size } else { -size };
        // Both are exact: a number has at most 23 bits.
        signed as f32 * (1.0 / ONE as f32)
    }

    /// The coefficients, part by part.
    pub(crate) fn words(&self) -> Vec<u32> {
        let words = self.parts.as_flattened().iter();
        words.map(|&word| word as u32).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_quantile() {
        let normals = Normals::new();
        let mut worst = 0.0_f64;
        for k in 0..2_000_000_u32 {
            // Also tails: words whose highest bits are 0.
            let word = k.wrapping_mul(0x9e37_79b9) >> (1 + k % 20);
            let exact = -normal_quantile((f64::from(word.max(1)) + 0.5) / 4_294_967_296.0);
            let found = normals.value(word);
            worst = worst.max((f64::from(found) - exact).abs());
            assert_eq!(normals.value(word | 1 << 31), -found);
        }
        assert!(worst < 2e-5, "{worst}");
        assert!((6.1..6.2).contains(&normals.value(1)));
        assert!(normals.value(0x7fff_ffff).abs() < 1e-5);
    }

    #[test]
    fn moments_are_those_of_a_normal_number() {
        let normals = Normals::new();
        let count = 1 << 22;
        let mut sums = [0.0; 4];
        for k in 0..count {
            // Each word of a regular grid: the mean is an integral, without noise.
            let x = f64::from(normals.value(k * 1024 + 512));
            for (sum, power) in sums.iter_mut().zip([1, 2, 3, 4]) {
                *sum += x.powi(power) / f64::from(count);
            }
        }
        for (sum, exact) in sums.into_iter().zip([0.0, 1.0, 0.0, 3.0]) {
            assert!((sum - exact).abs() < 1e-3, "{sums:?}");
        }
    }
}
