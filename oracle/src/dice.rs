//! A small random generator for tests: SplitMix64. One seed, one sequence, on every machine.

/// Rolls numbers from a seed.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// Dice for a seed; neighbouring seeds give unrelated sequences.
    pub fn new(seed: u64) -> Dice {
        let mut dice = Dice(seed ^ 0x5bf0_3635_dcf2_88a1);
        dice.word();
        dice
    }

    /// The next 64 bits.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// A number below `count`, which is at least 1.
    pub fn below(&mut self, count: usize) -> usize {
        (self.word() % count.max(1) as u64) as usize
    }

    /// A number from `low` to `high`, both included.
    pub fn range(&mut self, low: i64, high: i64) -> i64 {
        low + (self.word() % (high - low + 1) as u64) as i64
    }

    /// True in so many of a hundred rolls.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of several.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }
}
