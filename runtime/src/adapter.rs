//! What a caller is told about an adapter.

use std::fmt;

/// An adapter: a GPU, or software that acts as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdapterSummary {
    /// As the driver calls it, such as `NVIDIA H200` or `llvmpipe (LLVM 15.0.6, 256 bits)`.
    pub name: String,
    /// What it is.
    pub kind: AdapterKind,
    /// The driver and its version.
    pub driver: String,
    /// The API that it is reached by: `vulkan`, `metal`, `dx12`.
    pub api: &'static str,
}

/// What an adapter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AdapterKind {
    /// A GPU with memory of its own.
    Discrete,
    /// A GPU that shares the processor's memory.
    Integrated,
    /// A GPU of the host of a virtual machine.
    Virtual,
    /// Unknown.
    Other,
    /// A driver that computes on the processor.
    Software,
}

impl fmt::Display for AdapterKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AdapterKind::Discrete => "discrete GPU",
            AdapterKind::Integrated => "integrated GPU",
            AdapterKind::Virtual => "virtual GPU",
            AdapterKind::Other => "adapter of unknown kind",
            AdapterKind::Software => "software adapter",
        })
    }
}

impl fmt::Display for AdapterSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {})", self.name, self.kind, self.api)
    }
}

impl AdapterKind {
    /// Is it a GPU, so that `auto` may take it?
    pub fn is_gpu(self) -> bool {
        match self {
            AdapterKind::Discrete | AdapterKind::Integrated | AdapterKind::Virtual => true,
            AdapterKind::Other | AdapterKind::Software => false,
        }
    }
}
