//! The runtime for JavaScript, of programs that were compiled before. Everything that computes is the crate
//! `sim-runtime`; this crate converts what JavaScript gives and gets, and `js/` is the shell around it, which
//! moves runs to a worker.
//!
//! * `memory`: the allocator, which remembers that it failed.
//! * `fused`: the fused multiply–add of the module for hosts without one.
//! * `failure`: errors as objects with code, message and help.
//! * `launch`: what a run is asked for, from an object of JavaScript.
//! * `results`: what it gives, as typed arrays.

#![cfg_attr(sim_web, feature(optimize_attribute))]

mod failure;
mod fused;
mod launch;
mod memory;
mod results;

use failure::Failure;
use js_sys::{Function, Object};
use launch::Asked;
use sim_compiler::Artifact;
use sim_runtime::{Calibration, Control, Manifest, Simulation};
use std::{
    cell::RefCell,
    sync::atomic::{AtomicBool, Ordering},
};
use wasm_bindgen::prelude::*;

/// Seconds per instruction and agent in a module that has one thread and vectors of four lanes: ten times
/// those of a processor's own.
const INSTRUCTION_SECONDS: f64 = 6e-10;

thread_local! {
    /// The function that gets the progress of the run, if there is one, and says whether to go on.
    static PROGRESS: RefCell<Option<Function>> = const { RefCell::new(None) };
}

/// The version of the runtime.
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

/// A model that runs.
#[wasm_bindgen]
pub struct Model {
    simulation: Simulation,
    /// The text of the first of its kernels.
    wgsl: String,
}

#[wasm_bindgen]
impl Model {
    /// Reads a program, as [`Artifact::pack`] writes it.
    ///
    /// # Errors
    /// An object that says that they are none of this version.
    #[wasm_bindgen(constructor)]
    pub fn read(program: &[u8]) -> Result<Model, JsValue> {
        let artifact = unpacked(program)?;
        let calibration = Calibration {
            cpu_instruction_seconds: INSTRUCTION_SECONDS,
            ..Calibration::default()
        };
        let wgsl = artifact.kernels.first();
        let wgsl = wgsl.map_or_else(String::new, |chosen| chosen.kernel.wgsl.clone());
        let simulation = Simulation::from_artifact(artifact).calibration(calibration);
        Ok(Model { simulation, wgsl })
    }

    /// What the model takes and gives, as JSON.
    pub fn manifest(&self) -> String {
        json(self.simulation.manifest())
    }

    /// The text of the kernel for a GPU; empty if the program has none.
    pub fn wgsl(&self) -> String {
        self.wgsl.clone()
    }

    /// Runs the model. `asked` has the launch, see `js/simc-runtime.d.ts`. `progress` gets the agent-steps
    /// that are done and all of them, and returns `false` to end the run.
    ///
    /// # Errors
    /// An object with code, message and help.
    pub async fn run(
        &mut self,
        asked: Object,
        progress: Option<Function>,
    ) -> Result<Object, JsValue> {
        let asked = Asked::of(&asked, self.simulation.manifest())?;
        let statistics = asked.statistics;
        asked.set(&mut self.simulation)?;
        let _watched = Watched::by(progress);
        let cancel = AtomicBool::new(false);
        let report = |done: u64, all: u64| report(&cancel, done, all);
        let run = self.simulation.run_async(&control(&cancel, &report)).await;
        Ok(results::object(&run.map_err(Failure::of)?, statistics))
    }

    /// The same on this thread, which it blocks, and on the CPU unless the launch asks for the reference
    /// interpreter.
    ///
    /// # Errors
    /// An object with code, message and help.
    #[wasm_bindgen(js_name = runNow)]
    pub fn run_now(
        &mut self,
        asked: &Object,
        progress: Option<Function>,
    ) -> Result<Object, JsValue> {
        let asked = Asked::of(asked, self.simulation.manifest())?.without_gpu();
        let statistics = asked.statistics;
        asked.set(&mut self.simulation)?;
        let _watched = Watched::by(progress);
        let cancel = AtomicBool::new(false);
        let report = |done: u64, all: u64| report(&cancel, done, all);
        let run = self.simulation.run_with(&control(&cancel, &report));
        Ok(results::object(&run.map_err(Failure::of)?, statistics))
    }
}

#[cfg_attr(sim_web, optimize(size))]
#[inline(never)]
fn unpacked(program: &[u8]) -> Result<Artifact, Failure> {
    Artifact::unpack(program).map_err(|why| Failure::unreadable(&why))
}

#[cfg_attr(sim_web, optimize(size))]
#[inline(never)]
fn json(manifest: &Manifest) -> String {
    manifest.json()
}

fn control<'a>(cancel: &'a AtomicBool, report: &'a (dyn Fn(u64, u64) + Sync)) -> Control<'a> {
    Control {
        cancel: Some(cancel),
        progress: Some(report),
        timing: None,
    }
}

/// Reports progress, and cancels the run if its caller has had enough.
fn report(cancel: &AtomicBool, done: u64, all: u64) {
    if !goes_on(done, all) {
        cancel.store(true, Ordering::Relaxed);
    }
}

/// Keeps the function that gets the progress until it is dropped.
struct Watched;

impl Watched {
    fn by(progress: Option<Function>) -> Watched {
        PROGRESS.with_borrow_mut(|kept| *kept = progress);
        Watched
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        PROGRESS.with_borrow_mut(|kept| *kept = None);
    }
}

/// Reports progress; whether the run goes on.
fn goes_on(done: u64, all: u64) -> bool {
    let progress = PROGRESS.with_borrow(Clone::clone);
    let Some(progress) = progress else {
        return true;
    };
    let (done, all) = (JsValue::from(done as f64), JsValue::from(all as f64));
    // What the function throws is its own affair, and must not end a run.
    let answer = progress.call2(&JsValue::NULL, &done, &all);
    answer.map_or(true, |answer| answer != JsValue::FALSE)
}
