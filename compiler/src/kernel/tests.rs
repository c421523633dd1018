//! Rewrites of kernels keep their invariants.

mod constant_factors;
mod constants_in_weights;
mod fences;
mod lanes;
mod latency;
mod relax;
mod rewrites;
mod shuffles;
mod split;
mod step_table;
