//! Rewrites of kernels keep what they promise.

mod constant_factors;
mod constants_in_weights;
mod exponential_quotients;
mod fences;
mod lanes;
mod latency;
mod relax;
mod rewrites;
mod speculate;
mod step_table;
