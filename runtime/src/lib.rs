//! Runs compiled Sim models, on a GPU through wgpu or on the CPU.
//!
//! ```no_run
//! use sim_runtime::Simulation;
//!
//! let source = std::fs::read_to_string("call.sim")?;
//! let simulation = Simulation::compile(&source)?
//!     .agents(10_000)
//!     .steps(252)
//!     .seed(7)
//!     .param("sigma", 0.3)?;
//! let run = simulation.run()?;
//! let payoff: &[f32] = run.output("payoff")?;
//! println!("{}", payoff.iter().sum::<f32>() / payoff.len() as f32);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The rooms: `simulation` is what a caller holds, `bind` checks and lays out what the caller gave, `launches`
//! what the runs of a `batch` make of it, `engine` chooses among `gpu`, `vectors` and `interpreter` (both over `cpu`), `run` is what comes out, `error` is everything that
//! can go wrong.
//!
//! The feature `gpu`, on by default, brings the GPU backend and wgpu. Without it the crate builds for targets
//! that have no GPU or no threads, such as `wasm32-unknown-unknown`; [`Backend::Auto`] means the CPU there, and
//! [`Backend::Gpu`] is an error.

mod adapter;
mod batch;
mod bind;
mod clock;
mod control;
pub mod cpu;
mod engine;
mod error;
#[cfg_attr(not(feature = "gpu"), path = "no_gpu.rs")]
mod gpu;
mod interpreter;
mod launches;
mod memory;
mod run;
mod simulation;
mod statistics;
mod telemetry;
mod turn;
mod vectors;
mod watch;

pub use adapter::{AdapterKind, AdapterSummary};
pub use batch::Variation;
pub use bind::{Array, Number};
pub use control::{Control, Tuning};
pub use cpu::vector::Isa;
pub use error::{Error, Role, explanations};
pub use gpu::{Preload, adapters, preload};
pub use memory::available as available_memory;
pub use run::{Column, Device, Element, Report, Run, Values};
pub use sim_compiler::{
    manifest::{MOST_AGENTS, MOST_STEPS},
    schedule::Load,
};
pub use simulation::{Backend, Simulation};
pub use statistics::Statistics;
pub use telemetry::{CacheUse, Telemetry};
