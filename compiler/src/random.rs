//! The random numbers of the language: counter-based generators.
//!
//! A draw is a pure function of (seed, agent, step, n), where `n` numbers the
//! 32-bit words that one agent takes within one step. No generator has a state
//! that moves, so a run gives the same draws on any backend, in any batch,
//! chunk, shard or order.
//!
//! The work is factored as a kernel does it: [`Generator::agent_key`] once per
//! agent, [`Generator::step_key`] once per step, [`Generator::word`] once per
//! draw. [`Generator::wgsl`] is the same arithmetic as WGSL text, equal to the bit.
//!
//! The choice of the default generator, its cost and its test reports are in
//! `docs/random.md`.

pub mod keyed_hash;
pub mod philox;

/// The pseudo-step of the draws in `input` distributions.
pub const INPUT_STEP: u32 = 0xFFFF_FFFD;
/// The pseudo-step of the draws in `finish` and in the outputs.
pub const FINISH_STEP: u32 = 0xFFFF_FFFE;
/// The pseudo-step of the draws in `state` initialisers and in `init`.
pub const INIT_STEP: u32 = 0xFFFF_FFFF;

/// A world draws as an agent of this number plus its own: no agent has it, as populations end below.
pub const FIRST_WORLD: u32 = 0x8000_0000;

/// What a generator carries from one stage to the next.
///
/// The WGSL type is `vec2<u32>` for [`Generator::KeyedHash`], which leaves the
/// last two words 0, and `vec4<u32>` for [`Generator::Philox4x32`].
pub type Key = [u32; 4];

/// A counter-based random number generator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Generator {
    /// A hash of the word number under a 64-bit key: the default, much cheaper
    /// than Philox in 32-bit arithmetic (see `docs/random.md`).
    #[default]
    KeyedHash,
    /// Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random
    /// numbers: as easy as 1, 2, 3" (SC 2011): the published reference.
    Philox4x32,
}

impl Generator {
    /// Every generator, the default first.
    pub const ALL: [Self; 2] = [Self::KeyedHash, Self::Philox4x32];

    /// The name in the manifest and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::KeyedHash => "keyed-hash",
            Self::Philox4x32 => "philox4x32-10",
        }
    }

    /// The key of one agent's stream under `seed`: computed once per agent.
    #[inline(always)]
    pub fn agent_key(self, seed: u64, agent: u32) -> Key {
        match self {
            Self::KeyedHash => widen(keyed_hash::agent_key(halves(seed), agent)),
            Self::Philox4x32 => philox::agent_key(halves(seed), agent),
        }
    }

    /// The key of one step within an agent's stream: computed once per step.
    ///
    /// `step` is the index of a step, or one of the pseudo-steps
    /// [`INPUT_STEP`], [`INIT_STEP`] and [`FINISH_STEP`].
    #[inline(always)]
    pub fn step_key(self, agent_key: Key, step: u32) -> Key {
        match self {
            Self::KeyedHash => widen(keyed_hash::step_key(narrow(agent_key), step)),
            Self::Philox4x32 => philox::step_key(agent_key, step),
        }
    }

    /// Word number `n` of the step whose [`Generator::step_key`] is `key`:
    /// uniform over all 32-bit integers.
    #[inline(always)]
    pub fn word(self, key: Key, n: u32) -> u32 {
        match self {
            Self::KeyedHash => keyed_hash::word(narrow(key), n),
            Self::Philox4x32 => philox::word(key, n),
        }
    }

    /// Word number `n` of `agent` in `step` under `seed`, in one call.
    #[inline(always)]
    pub fn draw(self, seed: u64, agent: u32, step: u32, n: u32) -> u32 {
        self.word(self.step_key(self.agent_key(seed, agent), step), n)
    }

    /// The WGSL text of `agent_key`, `step_key` and `random_word`.
    ///
    /// With `K` for the key type (see [`Key`]) it declares
    /// `fn agent_key(seed: vec2<u32>, agent: u32) -> K` (the low word of the
    /// seed in `x`), `fn step_key(key: K, step: u32) -> K` and
    /// `fn random_word(key: K, n: u32) -> u32`.
    pub fn wgsl(self) -> &'static str {
        match self {
            Self::KeyedHash => keyed_hash::WGSL,
            Self::Philox4x32 => philox::WGSL,
        }
    }

    /// The WGSL name of the key type.
    pub fn wgsl_key_type(self) -> &'static str {
        match self {
            Self::KeyedHash => "vec2<u32>",
            Self::Philox4x32 => "vec4<u32>",
        }
    }
}

/// The uniform number in [0, 1) that a word stands for: its top 24 bits, in
/// units of 2^-24. Exact, and never 1.0.
#[inline(always)]
pub fn unit(word: u32) -> f32 {
    (word >> 8) as f32 * (1.0 / 16_777_216.0)
}

/// The low and the high word of a seed.
#[inline(always)]
pub fn halves(seed: u64) -> [u32; 2] {
    [seed as u32, (seed >> 32) as u32]
}

#[inline(always)]
fn widen([k0, k1]: [u32; 2]) -> Key {
    [k0, k1, 0, 0]
}

#[inline(always)]
fn narrow([k0, k1, _, _]: Key) -> [u32; 2] {
    [k0, k1]
}

#[cfg(test)]
mod tests;
