//! Random numbers of the searches themselves; models have their own.

/// G. L. Steele, D. Lea and C. H. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// Uniform, above 0 and below 1.
    pub(super) fn unit(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Standard normal: G. E. P. Box and M. E. Muller, Annals of Mathematical Statistics 29 (1958).
    pub(super) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.unit().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normals_have_mean_0_and_deviation_1() {
        let mut random = Random::new(7);
        let values: Vec<f64> = (0..100_000).map(|_| random.normal()).collect();
        let mean = values.iter().sum::<f64>() / 1e5;
        let square = values.iter().map(|value| value * value).sum::<f64>() / 1e5;
        // Four standard errors: 1 / √n, and √(2 / n).
        assert!(mean.abs() < 4.0 / 1e5_f64.sqrt(), "{mean}");
        assert!(
            (square - 1.0).abs() < 4.0 * (2.0 / 1e5_f64).sqrt(),
            "{square}"
        );
    }
}
