//! The compiler of Sim and what editors ask of it, as one wasm module without imports.
//!
//! ```text
//! JavaScript ─ text ─► module ─► answer ─► sim-compiler, sim-format, sim-lsp's analysis
//!            ◄─ JSON ─
//! ```
//!
//! [`answer`] is pure: one request in, one reply as JSON out. `module` moves the bytes over the
//! border of the module, and exists in wasm alone.

mod build;
mod editing;
#[cfg(target_family = "wasm")]
mod module;
mod places;
mod request;
mod tokens;

pub use request::answer;
