//! What an editor may ask about one document. Pure: no I/O, no state but the document.

pub mod action;
pub mod complete;
pub mod document;
pub mod hover;
pub mod navigate;
pub mod outline;
pub mod problems;
mod testing;
pub mod tokens;
pub mod wgsl;

pub use document::Document;
