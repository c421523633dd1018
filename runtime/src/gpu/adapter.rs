//! Which adapters there are, and which one a run takes.

use crate::{
    adapter::{AdapterKind, AdapterSummary},
    error::Error,
};
use std::sync::OnceLock;

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

/// May the driver of such an adapter end loops silently after 65,535 rounds? Mesa's llvmpipe does; nothing is
/// known of adapters of unknown kind, so they are trusted as little.
pub(crate) fn cuts_long_loops(kind: AdapterKind) -> bool {
    !kind.is_gpu()
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
