//! The adapters of the machine, and the choice among them.

use crate::{
    adapter::{AdapterDetails, AdapterKind, AdapterSummary},
    clock::Stopwatch,
    error::Error,
    gpu::processors,
};
#[cfg(target_family = "wasm")]
use js_sys::Reflect;
use std::{
    mem,
    sync::{Mutex, OnceLock, PoisonError},
    thread,
};
#[cfg(target_family = "wasm")]
use wasm_bindgen::JsValue;

/// Lists the adapters of this machine, the best first.
pub fn adapters() -> Vec<AdapterSummary> {
    all().iter().map(summary).collect()
}

/// Lists the adapters of this machine with what they can do, the best first.
pub fn adapter_details() -> Vec<AdapterDetails> {
    all().iter().map(details).collect()
}

fn details(adapter: &wgpu::Adapter) -> AdapterDetails {
    let (limits, features, info) = (adapter.limits(), adapter.features(), adapter.get_info());
    let subgroups = features.contains(wgpu::Features::SUBGROUP);
    AdapterDetails {
        summary: summary(adapter),
        workgroup_invocations: limits.max_compute_invocations_per_workgroup,
        workgroup_bytes: limits.max_compute_workgroup_storage_size,
        buffer_bytes: (limits.max_storage_buffer_binding_size).min(limits.max_buffer_size),
        subgroups: subgroups.then_some((info.subgroup_min_size, info.subgroup_max_size)),
        timestamps: features.contains(wgpu::Features::TIMESTAMP_QUERY),
        f64: features.contains(wgpu::Features::SHADER_F64),
        pipeline_cache: features.contains(wgpu::Features::PIPELINE_CACHE),
        processors: processors::count(adapter),
    }
}

/// The adapter that [`Backend::Auto`](crate::Backend::Auto) takes for long runs.
///
/// # Errors
/// Why there is none, in words.
pub fn auto_adapter() -> Result<AdapterSummary, String> {
    best_gpu_of(all()).map(|adapter| summary(&adapter))
}

/// Starts to load the drivers on another thread, so that a caller can compile meanwhile. Dropping the guard
/// waits for the thread, so that no process exits while a driver is being loaded.
#[must_use]
pub fn preload() -> Preload {
    Preload(Some(thread::spawn(|| {
        all();
    })))
}

/// Waits, when it is dropped, for the thread of [`preload`].
#[derive(Debug)]
pub struct Preload(Option<thread::JoinHandle<()>>);

impl Drop for Preload {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            // A panic is reported where the adapters are used: the same one occurs there.
            let _ = thread.join();
        }
    }
}

/// The adapter for [`Backend::Auto`](crate::Backend::Auto), or why there is none.
pub(crate) async fn best_gpu() -> Result<wgpu::Adapter, String> {
    best_gpu_of(&found().await)
}

fn best_gpu_of(found: &[wgpu::Adapter]) -> Result<wgpu::Adapter, String> {
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

/// The first adapter whose name is or else contains `wanted` (case-insensitive), including software adapters.
pub(crate) async fn best(wanted: Option<&str>) -> Result<wgpu::Adapter, Error> {
    let found = found().await;
    let part = wanted.unwrap_or_default().to_lowercase();
    let name = |adapter: &wgpu::Adapter| summary(adapter).name.to_lowercase();
    let whole = found.iter().find(|adapter| name(adapter) == part);
    match whole.or_else(|| found.iter().find(|adapter| name(adapter).contains(&part))) {
        Some(adapter) => Ok(adapter.clone()),
        None => Err(Error::NoAdapter {
            wanted: wanted.map(str::to_owned),
            found: found.iter().map(|one| summary(one).to_string()).collect(),
        }),
    }
}

/// The adapter with this number in the list of all, from 0 on.
pub(crate) async fn numbered(number: usize) -> Result<wgpu::Adapter, Error> {
    let found = found().await;
    (found.get(number).cloned()).ok_or_else(|| Error::NoSuchDevice {
        number,
        found: found.iter().map(|one| summary(one).to_string()).collect(),
    })
}

/// All adapters of the kind of the best one, or so many of them.
pub(crate) async fn alike(count: Option<usize>) -> Result<Vec<wgpu::Adapter>, Error> {
    let best = summary(&best(None).await?);
    let mut all = found().await;
    all.retain(|adapter| summary(adapter) == best);
    match count {
        Some(wanted) if wanted > all.len() => Err(Error::TooFewDevices {
            wanted,
            kind: best.to_string(),
            found: all.len(),
        }),
        count => {
            all.truncate(count.unwrap_or(usize::MAX));
            Ok(all)
        }
    }
}

/// The seconds for loading the drivers and for listing the adapters.
static SECONDS: Mutex<(f64, f64)> = Mutex::new((0.0, 0.0));

/// Takes the seconds for loading the drivers and for listing the adapters, so that one run counts them;
/// others get 0.
pub(crate) fn take_seconds() -> (f64, f64) {
    mem::take(&mut SECONDS.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The public description of an adapter.
pub(crate) fn summary(adapter: &wgpu::Adapter) -> AdapterSummary {
    let info = adapter.get_info();
    AdapterSummary {
        name: match info.name.is_empty() {
            // Browsers tell it to few.
            true => "WebGPU".to_owned(),
            false => info.name,
        },
        kind: match info.device_type {
            wgpu::DeviceType::DiscreteGpu => AdapterKind::Discrete,
            wgpu::DeviceType::IntegratedGpu => AdapterKind::Integrated,
            wgpu::DeviceType::VirtualGpu => AdapterKind::Virtual,
            wgpu::DeviceType::Cpu => AdapterKind::Software,
            // Browsers only say of software that it is.
            wgpu::DeviceType::Other if cfg!(target_family = "wasm") => AdapterKind::Integrated,
            wgpu::DeviceType::Other => AdapterKind::Other,
        },
        driver: format!("{} {}", info.driver, info.driver_info)
            .trim()
            .to_owned(),
        api: info.backend.to_str(),
    }
}

/// Found once per process: loading the drivers takes up to a tenth of a second, and listing the adapters
/// longer.
static FOUND: OnceLock<Vec<wgpu::Adapter>> = OnceLock::new();

/// Every adapter with compute shaders, the best first.
#[cfg(not(target_family = "wasm"))]
fn all() -> &'static [wgpu::Adapter] {
    FOUND.get_or_init(|| crate::clock::block_on(find()))
}

/// Those that were found, as browsers find them only in a future.
#[cfg(target_family = "wasm")]
fn all() -> &'static [wgpu::Adapter] {
    FOUND.get().map_or(&[], Vec::as_slice)
}

/// Every adapter with compute shaders, the best first.
#[cfg(not(target_family = "wasm"))]
async fn found() -> Vec<wgpu::Adapter> {
    all().to_vec()
}

/// The adapter that the browser has for us, or another one: an adapter gives one device, so each run that
/// opens one asks anew.
#[cfg(target_family = "wasm")]
async fn found() -> Vec<wgpu::Adapter> {
    let found = find().await;
    FOUND.get_or_init(|| found.clone());
    found
}

/// Whether there is something to ask for adapters. On other targets than browsers wgpu looks itself.
#[cfg(not(target_family = "wasm"))]
fn has_api() -> bool {
    true
}

/// Whether this browser has WebGPU; wgpu panics in surroundings that have no `navigator`.
#[cfg(target_family = "wasm")]
fn has_api() -> bool {
    let get = |object: &JsValue, name: &str| {
        let value = Reflect::get(object, &name.into()).ok()?;
        (!value.is_undefined() && !value.is_null()).then_some(value)
    };
    let global = JsValue::from(js_sys::global());
    let is_browser =
        get(&global, "Window").is_some() || get(&global, "WorkerGlobalScope").is_some();
    let gpu = get(&global, "navigator").and_then(|navigator| get(&navigator, "gpu"));
    is_browser && gpu.is_some()
}

async fn find() -> Vec<wgpu::Adapter> {
    if wgpu::Instance::enabled_backend_features().is_empty() || !has_api() {
        return Vec::new();
    }
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    // With validation layers, debug builds of callers would differ from release builds.
    descriptor.flags = wgpu::InstanceFlags::empty();
    let started = Stopwatch::start();
    let instance = wgpu::Instance::new(descriptor);
    let instance_seconds = started.seconds();
    let started = Stopwatch::start();
    let mut adapters = instance.enumerate_adapters(wgpu::Backends::all()).await;
    adapters.retain(|adapter| {
        let flags = adapter.get_downlevel_capabilities().flags;
        flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS)
    });
    adapters.sort_by_key(|adapter| summary(adapter).kind);
    let seconds = (instance_seconds, started.seconds());
    *SECONDS.lock().unwrap_or_else(PoisonError::into_inner) = seconds;
    adapters
}
