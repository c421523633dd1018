//! What the integration tests are built from: random well-typed models, disturbed texts, and the specimens'
//! expectations. The tests themselves are in `tests/`.

pub mod distribution;
pub mod disturb;
pub mod expectation;
pub mod generate;
pub mod launch;
pub mod sharing;

pub use sim_runtime::compare;
