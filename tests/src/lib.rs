//! What the tests are built from: random well-typed models, disturbed texts, the specimens' expectations, the
//! blocks of code on pages. The tests themselves are in `tests/`.

pub mod distribution;
pub mod disturb;
pub mod expectation;
pub mod generate;
pub mod launch;
pub mod page;
pub mod sharing;

pub use sim_runtime::compare;
