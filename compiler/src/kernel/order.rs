//! Rewrites that keep every bit, and suit devices where a step waits for its own values.

pub(crate) mod interleave_chains;
pub(crate) mod speculate;
