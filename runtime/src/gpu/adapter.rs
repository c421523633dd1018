//! Which adapters there are, and which one a run takes.

use crate::error::Error;
use std::{fmt, sync::OnceLock};

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

    /// May its driver end loops silently after 65,535 rounds? Mesa's llvmpipe does; nothing is known of
    /// adapters of unknown kind, so they are trusted as little.
    pub(crate) fn cuts_long_loops(self) -> bool {
        !self.is_gpu()
    }
}

/// Every adapter of this machine, the best first.
pub fn adapters() -> Vec<AdapterSummary> {
    all().iter().map(summary).collect()
}

/// The adapter that `auto` takes, or in words why there is none.
pub(crate) fn best_gpu() -> Result<wgpu::Adapter, String> {
    let found = all();
    match found.iter().find(|adapter| summary(adapter).kind.is_gpu()) {
        Some(adapter) => Ok(adapter.clone()),
        None if found.is_empty() => Err("no GPU found: no adapter at all".to_owned()),
        None => {
            let others: Vec<String> = found
                .iter()
                .map(|adapter| format!("the {} {}", summary(adapter).kind, summary(adapter).name))
                .collect();
            Err(format!("no GPU found: only {}", others.join(" and ")))
        }
    }
}

/// The best adapter whose name contains `wanted` (in any case), software too.
pub(crate) fn best(wanted: Option<&str>) -> Result<wgpu::Adapter, Error> {
    let found = all();
    let fits = |adapter: &&wgpu::Adapter| {
        wanted.is_none_or(|wanted| {
            let name = summary(adapter).name.to_lowercase();
            name.contains(&wanted.to_lowercase())
        })
    };
    match found.iter().find(fits) {
        Some(adapter) => Ok(adapter.clone()),
        None => Err(Error::NoAdapter {
            wanted: wanted.map(str::to_owned),
            found: found.iter().map(|one| summary(one).to_string()).collect(),
        }),
    }
}

/// What we tell about an adapter.
pub(crate) fn summary(adapter: &wgpu::Adapter) -> AdapterSummary {
    let info = adapter.get_info();
    AdapterSummary {
        name: info.name,
        kind: match info.device_type {
            wgpu::DeviceType::DiscreteGpu => AdapterKind::Discrete,
            wgpu::DeviceType::IntegratedGpu => AdapterKind::Integrated,
            wgpu::DeviceType::VirtualGpu => AdapterKind::Virtual,
            wgpu::DeviceType::Cpu => AdapterKind::Software,
            wgpu::DeviceType::Other => AdapterKind::Other,
        },
        driver: format!("{} {}", info.driver, info.driver_info)
            .trim()
            .to_owned(),
        api: info.backend.to_str(),
    }
}

/// Every adapter that can compute, the best first.
fn all() -> Vec<wgpu::Adapter> {
    // Loading the drivers takes up to a tenth of a second, so the instance is kept for the process.
    static INSTANCE: OnceLock<Option<wgpu::Instance>> = OnceLock::new();
    let instance = INSTANCE.get_or_init(|| {
        if wgpu::Instance::enabled_backend_features().is_empty() {
            return None;
        }
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        // Validation layers would make debug builds of callers differ from release builds.
        descriptor.flags = wgpu::InstanceFlags::empty();
        Some(wgpu::Instance::new(descriptor))
    });
    let Some(instance) = instance else {
        return Vec::new();
    };
    let mut found = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    found.retain(|adapter| {
        let capabilities = adapter.get_downlevel_capabilities();
        capabilities
            .flags
            .contains(wgpu::DownlevelFlags::COMPUTE_SHADERS)
    });
    found.sort_by_key(|adapter| summary(adapter).kind);
    found
}
