//! The default generator: a hash of the word number under a 64-bit key.
//!
//! A word is a hash of a Weyl sequence in `n`: two rounds of a right xorshift
//! and the permutation x(2x + c) modulo 2^32 with odd c, which RC6 uses
//! (Rivest, Robshaw, Sidney and Yin, 1998). Its square makes the carries of a
//! difference depend on the data; a constant multiplier in its place is as
//! expensive and let the batteries distinguish keys that differ in one bit.
//! Both key words enter before the first round, one by addition and one by
//! exclusive or, so neither sees fewer than two rounds. The second enters
//! again between the rounds, so two keys whose words cancel at the entrance
//! still give different streams.

/// 2^32 divided by the golden ratio: the Weyl increment of the word number.
pub const WORD_WEYL: u32 = 0x9E37_79B9;
/// 2^32 divided by the plastic number: the Weyl increment of the step.
pub const STEP_WEYL: u32 = 0xC13F_A9A9;
/// 2^32 divided by the square of the plastic number: the same for the second key word.
pub const STEP_WEYL_2: u32 = 0x91E1_0DA5;
/// The linear coefficient of the first round; this and the next are the
/// multipliers with the least known avalanche bias of Wellons' hash prospector.
pub const ROUND_1: u32 = 0x21F0_AAAD;
/// The linear coefficient of the second round.
pub const ROUND_2: u32 = 0xD35A_2D97;

/// The WGSL text; [`super::Generator::wgsl`] says what it declares.
pub(super) const WGSL: &str = include_str!("keyed_hash.wgsl");

/// Four Feistel rounds with [`word`] as the round function: for one seed a
/// permutation of 64-bit blocks, so that no two agents share a key.
#[inline(always)]
pub fn agent_key([s0, s1]: [u32; 2], agent: u32) -> [u32; 2] {
    let round = |i: u32, half: u32| {
        let seed = [
            s0.wrapping_add(i.wrapping_mul(STEP_WEYL)),
            s1.wrapping_add(i.wrapping_mul(STEP_WEYL_2)),
        ];
        word(seed, half)
    };
    let mut k0 = agent;
    let mut k1 = round(0, k0);
    k0 ^= round(1, k1);
    k1 ^= round(2, k0);
    k0 ^= round(3, k1);
    [k0, k1]
}

/// One round for the first word; the second, a Weyl sequence in the step,
/// keeps the keys of all steps of an agent distinct.
#[inline(always)]
pub fn step_key([k0, k1]: [u32; 2], step: u32) -> [u32; 2] {
    let x = step.wrapping_mul(STEP_WEYL).wrapping_add(k0);
    [
        (x ^ (x >> 16)).wrapping_mul(ROUND_1).wrapping_add(k1),
        step.wrapping_mul(STEP_WEYL_2).wrapping_add(k1),
    ]
}

/// Word number `n` of the step with this key.
#[inline(always)]
pub fn word([k0, k1]: [u32; 2], n: u32) -> u32 {
    let mut x = n.wrapping_mul(WORD_WEYL).wrapping_add(k0) ^ k1;
    x ^= x >> 17;
    x = quadratic(x, ROUND_1).wrapping_add(k1);
    x ^= x >> 16;
    x = quadratic(x, ROUND_2);
    x ^ (x >> 17)
}

/// x(2x + c) modulo 2^32: a permutation of the 32-bit integers for odd `c`.
#[inline(always)]
fn quadratic(x: u32, c: u32) -> u32 {
    x.wrapping_mul(x.wrapping_mul(2).wrapping_add(c))
}
