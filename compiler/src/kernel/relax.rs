//! Rewrites that round floats differently than a model writes them, each in a file with its invariant and
//! what it gains. [`super::rewrites`] has their order and the conditions under which they run.

pub(crate) mod constant_factors;
pub(crate) mod constants_in_weights;
pub(crate) mod fma_chains;
pub(crate) mod late_terms_last;
pub(crate) mod shared_reciprocals;
