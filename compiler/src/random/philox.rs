//! Philox4x32-10: the published counter-based generator, as the reference.
//!
//! The 64-bit seed is the key, and the counter is (n / 4, step, agent, 0);
//! word `n` is word `n % 4` of the block. So distinct (agent, step, n) never
//! share a word of a block. Algorithm and constants: Salmon, Moraes, Dror and
//! Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.

use super::Key;

/// The multipliers of the two halves of a round.
const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
/// What a round adds to the two key words.
const KEY_WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
/// The published number of rounds that passes BigCrush with a safety margin.
const ROUNDS: u32 = 10;

/// The WGSL text; [`super::Generator::wgsl`] says what it declares.
pub(super) const WGSL: &str = include_str!("philox.wgsl");

/// The agent's part of the counter, behind the key.
#[inline(always)]
pub fn agent_key([s0, s1]: [u32; 2], agent: u32) -> Key {
    [s0, s1, agent, 0]
}

/// The counter's words that stay throughout a step, behind the key.
#[inline(always)]
pub fn step_key([s0, s1, agent, _]: Key, step: u32) -> Key {
    [s0, s1, agent, step]
}

/// Word number `n` of the step with this key.
#[inline(always)]
pub fn word([s0, s1, agent, step]: Key, n: u32) -> u32 {
    let [x0, x1, x2, x3] = block([n / 4, step, agent, 0], [s0, s1]);
    // Not an index: vector lanes have selects only.
    let (even, odd) = if n & 2 == 0 { (x0, x1) } else { (x2, x3) };
    if n & 1 == 0 { even } else { odd }
}

/// The four words of one counter.
#[inline(always)]
pub fn block(counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    let mut x = counter;
    for _ in 0..ROUNDS {
        let (lo0, hi0) = full_product(MULTIPLIERS[0], x[0]);
        let (lo1, hi1) = full_product(MULTIPLIERS[1], x[2]);
        x = [hi1 ^ x[1] ^ key[0], lo1, hi0 ^ x[3] ^ key[1], lo0];
        key = [
            key[0].wrapping_add(KEY_WEYL[0]),
            key[1].wrapping_add(KEY_WEYL[1]),
        ];
    }
    x
}

/// The low and the high word of a 64-bit product.
#[inline(always)]
fn full_product(a: u32, b: u32) -> (u32, u32) {
    let product = u64::from(a) * u64::from(b);
    (product as u32, (product >> 32) as u32)
}
