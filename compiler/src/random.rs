//! The counter-based random generators (placeholder until the measured choice lands).

/// Step number of `init`.
pub const INIT_STEP: u32 = 0xFFFF_FFFF;
/// Step number of `finish`.
pub const FINISH_STEP: u32 = 0xFFFF_FFFE;
/// Step number of drawn inputs; input `k` uses `INPUT_STEP - k`.
pub const INPUT_STEP: u32 = 0xFFFF_FFFD;

/// A generator of 32-bit words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Generator {
    /// Philox4x32-10.
    #[default]
    Philox4x32,
}
