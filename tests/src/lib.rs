//! What the test house is built from: random well-typed models, and the specimens' expectations. The
//! tests themselves are in `tests/`.

pub mod expectation;
pub mod generate;
pub mod launch;
