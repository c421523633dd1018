//! The backends that write text: from the IR to what a device compiles.

pub mod limits;
mod usage;
mod wgsl;

pub use wgsl::{Origin, origins, wgsl};
