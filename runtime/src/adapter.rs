//! The public description of an adapter.

use std::fmt;

/// A GPU, or a software adapter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdapterSummary {
    /// The name that the driver reports, such as `llvmpipe (LLVM 15.0.6, 256 bits)`.
    pub name: String,
    /// The kind of adapter.
    pub kind: AdapterKind,
    /// The driver and its version.
    pub driver: String,
    /// The API: `vulkan`, `metal` or `dx12`.
    pub api: &'static str,
}

/// The kind of an adapter. Kinds are ordered from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AdapterKind {
    /// A GPU with memory of its own.
    Discrete,
    /// A GPU that shares the processor's memory.
    Integrated,
    /// A GPU in a virtual machine.
    Virtual,
    /// An adapter of unknown kind.
    Other,
    /// A driver that computes on the processor.
    Software,
}

/// What an adapter can do, as far as kernels depend on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdapterDetails {
    /// Its name, kind and driver.
    pub summary: AdapterSummary,
    /// Most invocations of a workgroup.
    pub workgroup_invocations: u32,
    /// Bytes of workgroup memory.
    pub workgroup_bytes: u32,
    /// Most bytes of a storage buffer.
    pub buffer_bytes: u64,
    /// The least and greatest size of a subgroup; `None` without subgroups.
    pub subgroups: Option<(u32, u32)>,
    /// Whether it takes the time of dispatches.
    pub timestamps: bool,
    /// Whether shaders can compute in double precision.
    pub f64: bool,
    /// Whether its driver gives compiled pipelines away for a cache.
    pub pipeline_cache: bool,
    /// The number of its processors (SMs), if the driver reports it.
    pub processors: Option<u32>,
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
    /// Whether it is a GPU, which [`Backend::Auto`](crate::Backend::Auto) may choose.
    pub fn is_gpu(self) -> bool {
        match self {
            AdapterKind::Discrete | AdapterKind::Integrated | AdapterKind::Virtual => true,
            AdapterKind::Other | AdapterKind::Software => false,
        }
    }

    /// Whether the driver may silently end loops after 65,535 iterations. Mesa's llvmpipe does; adapters of
    /// unknown kind are assumed to.
    #[cfg(feature = "gpu")]
    pub(crate) fn cuts_long_loops(self) -> bool {
        !self.is_gpu()
    }
}
