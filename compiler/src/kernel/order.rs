//! Rewrites that keep every bit and help devices where a step waits for its own values.

pub(crate) mod interleave_chains;
