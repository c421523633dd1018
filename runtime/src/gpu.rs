//! The GPU backend, the only module that names wgpu.
//!
//! In the order of their dependencies; a file uses only files above it.
//!
//! * `adapter`, `device`: the adapters of the machine, an open device. `processors`: what wgpu does not say.
//! * `chunk`, `pace`: how a run is split into chunks of agents and ranges of steps; pure arithmetic.
//! * `cache`: pipelines on disk. `kernel`: shader module and pipelines.
//! * `results`, `readback`, `staging`, `reduce`: results on the device and their way to the host.
//! * `inputs`, `uniforms`, `step_table`, `buffer_set`: the buffers of a submission. `commands`: what it does.
//!   `buffer_pool`: what is kept of these.
//! * `batch_run`: the state machine that runs a batch. `choose`: the facts that the choice of a kernel needs.
//!   `session`: a device with its kernels, which runs batches.

mod adapter;
mod batch_run;
mod buffer_pool;
mod buffer_set;
mod cache;
mod choose;
mod chunk;
mod commands;
mod device;
mod inputs;
mod kernel;
mod pace;
mod processors;
mod readback;
mod reduce;
mod results;
mod session;
mod staging;
mod step_table;
mod uniforms;

pub use adapter::{Preload, adapters, preload};
pub(crate) use adapter::{best, best_gpu};
pub(crate) use session::Session;
pub(crate) use wgpu::Adapter;
