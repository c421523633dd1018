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
//! # Modules
//!
//! In the order of their dependencies; a module uses only modules above it.
//!
//! * `clock`, `adapter`, `telemetry`, `error`, `field`: time, and plain data with its descriptions.
//! * `control`, `array`, `variation`: what a caller asks for. `memory`: host memory and its limits.
//! * `cpu`: the two machines for the IR, which use nothing of the above.
//! * `values`, `statistics`, `series`, `results`, `run`: what a run gives, from raw words to typed columns.
//!   `compare`: whether two runs gave the same. `nd`: the same as arrays.
//! * `cut`: the steps of a part of a run, and what travels from one part to the next. `snapshot`: the same
//!   for callers, with what it is bound to, and as bytes.
//! * `bind`: checks what the caller gave and lays it out in words. `batch`: the interface of all backends.
//!   `breeding`: the operators of the genetic algorithm, which devices have as well.
//! * `cancel`: cancellation of runs on the CPU. `gpu`: everything that names wgpu; see there for its files.
//! * `walk`, `shadow`, `trace`: agents on the interpreter in `f64` and step by step.
//! * `backend`: the backends for the CPU, `backend::reference` and `backend::vector`.
//! * `launches`: the launches of a batch. `calibration`: speeds of the machine. `select`: chooses a backend.
//!   `exclusive`: serialises runs.
//! * `simulation`: the public entry point, with derivatives of runs. `fit`: params at which a loss is least.
//!   `search`: inputs with which a fitness is best. `calibrate`: measures a machine.
//!
//! # Features
//!
//! `ndarray` gives results as arrays of the crate [ndarray](https://docs.rs/ndarray), and takes such arrays
//! as values: see `Column::array`.
//!
//! The feature `gpu`, on by default, brings the GPU backend and wgpu. Without it the crate builds for targets
//! that have no GPU or no threads, such as `wasm32-unknown-unknown`; [`Backend::Auto`] means the CPU there,
//! and [`Backend::Gpu`] is an error.

#![cfg_attr(sim_web, feature(optimize_attribute))]

mod adapter;
mod array;
mod backend;
mod batch;
mod bind;
mod breeding;
mod calibrate;
mod calibration;
mod cancel;
mod clock;
pub mod compare;
mod control;
pub mod cpu;
mod cut;
mod devices;
mod error;
mod exclusive;
mod fault;
mod field;
mod fit;
#[cfg_attr(not(feature = "gpu"), path = "no_gpu.rs")]
mod gpu;
mod launches;
mod memory;
#[cfg(feature = "ndarray")]
mod nd;
mod parallel;
mod results;
mod run;
mod search;
mod select;
mod series;
mod shadow;
mod simulation;
mod snapshot;
mod statistics;
mod telemetry;
mod trace;
mod values;
mod variation;
mod walk;

pub use adapter::{AdapterDetails, AdapterKind, AdapterSummary};
pub use array::{Array, Number};
pub use backend::Backend;
pub use calibrate::{Measured, calibrate};
pub use calibration::Calibration;
pub use control::{Control, Timing};
pub use cpu::vector::Isa;
pub use devices::{DeviceName, Devices};
pub use error::{Error, Role, explanations};
pub use fault::{Fault, FaultValue};
pub use fit::{Ended, Estimate, Fit, FitProgress, Fitted, Goal, Method, Watch};
pub use gpu::{Preload, adapter_details, adapters, auto_adapter, preload};
pub use memory::available as available_memory;
pub use run::{Device, DeviceShare, Parts, Report, Run};
pub use search::{
    Again, Aim, CmaEs, Crossover, Elite, Found, Generation, Genetic, OpenEs, Optimiser, Range,
    SavedSearch, Search, SearchEnded, SearchMethod, SearchSeconds, Searching, Trials,
};
pub use series::Series;
pub use shadow::{Compared, Of, Shadow, Verdict};
/// What a caller meets of the compiler, so that it need not be a dependency of its own.
pub use sim_compiler::{
    Artifact, Diagnostic, Math, Options, RealType, compile_with, diagnostic, gradient,
    ir::checks::{CheckKind, Moment},
    ir::interpret::Progress,
    kernel::schedule::{Decision, Occupancy, Tuning, WorldDispatch},
    manifest::{self, Field, MOST_AGENTS, MOST_STEPS, Manifest, Scalar, SeriesOf},
    random::Generator,
    span::Span,
};
pub use simulation::{
    AgentBatches, AgentDerivatives, Agreement, CheckedComponent, Differentiated, Float, Fold,
    GradientCheck, GradientMode, Loss, LossGradient, Session, Simulation, Slope,
};
pub use snapshot::Snapshot;
pub use statistics::{Moments, Statistics, Tallies};
pub use telemetry::{CacheUse, Telemetry};
pub use trace::Trace;
pub use values::{Column, Element, Values};
pub use variation::Variation;
pub use walk::{DoubleColumn, DoubleRun};

/// The README's code.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
