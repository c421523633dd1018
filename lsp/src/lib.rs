//! The language server of Sim.
//!
//! ```text
//! editor ─ stdio ─► server ─► analysis::Document (text + survey) ─► answers
//! ```
//!
//! `analysis` is pure: a document's text and what the compiler knows of it, to answers in the protocol's
//! types. `server` moves messages, one after the other on one thread; whatever a request does, the next one
//! is answered. Without the feature `server`, which is on by default, there is `analysis` alone: it builds
//! for wasm.

pub mod analysis;
#[cfg(feature = "server")]
mod server;

#[cfg(feature = "server")]
pub use server::{Farewell, serve, serve_stdio, serve_streams};
