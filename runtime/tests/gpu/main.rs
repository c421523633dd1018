//! The GPU backend, driven through the public interface with a hand-written kernel.
//!
//! Without an adapter these tests print a message and pass; with `SIM_REQUIRE_GPU=1` they fail.

mod batch;
mod breeding;
mod coarsening;
mod devices;
mod large_arrays;
mod large_worlds;
mod launch;
mod parts;
mod points;
mod reduced;
mod runs;
mod series;
mod step_counts;
mod telemetry;
mod walk;
mod worlds;
