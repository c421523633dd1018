//! Two ways to find mistakes of the compiler that share nothing with it.
//!
//! [`mutants`] are sources that were changed at random; [`examine`] holds the compiler to what must be
//! true of any text: an answer within a second and 500 MB, no panic, diagnostics with a place, kernels
//! that validate. [`attack`] does so in worker processes, [`campaign`] with many texts.

pub mod attack;
pub mod campaign;
pub mod compare;
pub mod dice;
pub mod examine;
pub mod language;
pub mod mutants;
pub mod programs;
pub mod shrink;

/// The top of the repository that this crate was built in.
pub fn repository() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
