//! Known answers and the identities that the rest of the project relies on.

use super::*;

/// Random123's `kat_vectors`, the three lines `philox4x32 10`: counter, key, block.
const PHILOX_KNOWN_ANSWERS: [([u32; 4], [u32; 2], [u32; 4]); 3] = [
    (
        [0; 4],
        [0; 2],
        [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8],
    ),
    (
        [u32::MAX; 4],
        [u32::MAX; 2],
        [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd],
    ),
    (
        [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
        [0xa409_3822, 0x299f_31d0],
        [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
    ),
];

#[test]
fn philox_gives_the_published_known_answers() {
    for (counter, key, expected) in PHILOX_KNOWN_ANSWERS {
        assert_eq!(philox::block(counter, key), expected);
    }
}

#[test]
fn philox_words_are_the_words_of_the_documented_block() {
    let seed = 0x0123_4567_89ab_cdef;
    let (agent, step) = (77, 1_000);
    for n in 0..12 {
        let block = philox::block([n / 4, step, agent, 0], [0x89ab_cdef, 0x0123_4567]);
        let word = Generator::Philox4x32.draw(seed, agent, step, n);
        assert_eq!(word, block[(n % 4) as usize]);
    }
}

/// (seed, agent, step, n) and the word, from an independent evaluation of `keyed_hash.wgsl`:
/// a change here changes every stochastic result that anybody has kept.
const KEYED_HASH_WORDS: [((u64, u32, u32, u32), u32); 5] = [
    ((0, 0, 0, 0), 0x2546_82aa),
    ((1, 0, 0, 1), 0xce95_29a7),
    ((0x0123_4567_89ab_cdef, 77, 1_000, 3), 0xefca_191c),
    ((u64::MAX, u32::MAX, INIT_STEP, u32::MAX), 0x3bde_4add),
    ((7, 999_999, FINISH_STEP, 6), 0x0fac_3199),
];

#[test]
fn keyed_hash_gives_the_words_of_its_wgsl_text() {
    for ((seed, agent, step, n), expected) in KEYED_HASH_WORDS {
        assert_eq!(Generator::KeyedHash.draw(seed, agent, step, n), expected);
    }
}

#[test]
fn the_default_is_the_keyed_hash() {
    assert_eq!(Generator::default(), Generator::KeyedHash);
    assert_eq!(Generator::ALL[0], Generator::default());
}

#[test]
fn unit_is_exact_and_below_one() {
    assert_eq!(unit(0), 0.0);
    assert_eq!(unit(0xff), 0.0);
    assert_eq!(unit(0x8000_0000), 0.5);
    assert_eq!(unit(u32::MAX), 1.0 - 2f32.powi(-24));
    assert!(unit(u32::MAX) < 1.0);
}

#[test]
fn agents_of_one_seed_never_share_a_key() {
    let mut keys: Vec<Key> = (0..200_000)
        .map(|agent| Generator::KeyedHash.agent_key(7, agent))
        .collect();
    keys.sort_unstable();
    assert!(keys.windows(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn every_argument_changes_half_of_the_bits() {
    for generator in Generator::ALL {
        let mut flipped = [0u32; 4];
        let trials = 4_000;
        for i in 0..trials {
            let (seed, agent, step, n) = (u64::from(i) << 7, 3 * i, i % 1_500, i % 8);
            let word = generator.draw(seed, agent, step, n);
            let neighbours = [
                generator.draw(seed + 1, agent, step, n),
                generator.draw(seed, agent + 1, step, n),
                generator.draw(seed, agent, step + 1, n),
                generator.draw(seed, agent, step, n + 1),
            ];
            for (sum, other) in flipped.iter_mut().zip(neighbours) {
                *sum += (word ^ other).count_ones();
            }
        }
        for sum in flipped {
            // A word flips 16 ± sqrt(8) of its bits: five standard errors of the mean.
            let mean = f64::from(sum) / f64::from(trials);
            let tolerance = 5.0 * 8f64.sqrt() / f64::from(trials).sqrt();
            assert!(
                (mean - 16.0).abs() < tolerance,
                "{generator:?}: mean {mean}"
            );
        }
    }
}

#[test]
fn both_halves_of_the_seed_matter() {
    for generator in Generator::ALL {
        assert_ne!(generator.draw(1, 0, 0, 0), generator.draw(1 << 32, 0, 0, 0));
        assert_ne!(generator.draw(0, 0, 0, 0), generator.draw(1 << 63, 0, 0, 0));
    }
}
