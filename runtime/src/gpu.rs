//! The GPU backend, the only module that names wgpu.
//!
//! In the order of their dependencies; a file uses only files above it.
//!
//! * `processors`: what wgpu does not say. `pending`: errors that a browser has yet to report. `adapter`,
//!   `device`: the adapters of the machine, an open device.
//! * `chunk`, `pace`: how a run is split into chunks of agents and ranges of steps; pure arithmetic. `jobs`:
//!   the chunks of a batch.
//! * `entry_point`: a compiled entry point, the buffers bound to it, and its dispatches. `cache`: pipelines
//!   on disk. `kernel`: the entry points of a model.
//! * `results`, `readback`, `reduce`: results on the device and their conversion for the caller.
//! * `submission`: one command buffer, and the staging buffer for what is read back. `buffer_set`: the other
//!   buffers of a submission. `resident`: states that stay between parts of a run. `buffer_pool`: what is
//!   kept of the buffers.
//! * `batch_run`: the state machine that runs a batch. `breeding`: generations of a search on the device.
//!   `choose`: the facts that the choice of a kernel needs.
//!   `session`: a device with its kernels, which runs batches.

mod adapter;
mod batch_run;
#[cfg(not(target_family = "wasm"))]
mod breeding;
mod buffer_pool;
mod buffer_set;
mod cache;
mod choose;
mod chunk;
mod device;
mod entry_point;
mod jobs;
mod kernel;
mod pace;
#[cfg(target_family = "wasm")]
mod pending;
mod processors;
mod readback;
mod reduce;
mod resident;
mod results;
mod session;
mod step_check;
mod submission;

pub use adapter::{Preload, adapter_details, adapters, auto_adapter, preload};
pub(crate) use adapter::{alike, best, best_gpu, numbered};
pub(crate) use session::Session;
pub(crate) use wgpu::Adapter;
