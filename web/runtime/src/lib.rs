//! The runtime for JavaScript. Everything that computes is the crate `sim-runtime`; this crate converts what
//! JavaScript gives and gets, and `js/` is the shell around it, which moves runs to a worker.
//!
//! * `failure`: errors as objects with code, message and help.
//! * `launch`: what a run is asked for, from an object of JavaScript.
//! * `results`: what it gives, as typed arrays.

mod failure;
mod launch;
mod results;

use failure::Failure;
use js_sys::{Function, Object};
use launch::Asked;
use sim_runtime::{Calibration, Control, Math, Options, Simulation};
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
    /// The message of the panic that ends the module.
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Prepares the module: what a panic says is kept for [`last_panic`].
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|panic| {
        PANIC.with_borrow_mut(|kept| *kept = Some(panic.to_string()));
    }));
}

/// Why the module has ended, if it has.
#[wasm_bindgen(js_name = lastPanic)]
pub fn last_panic() -> Option<String> {
    PANIC.with_borrow(Clone::clone)
}

/// The version of the runtime.
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

/// A compiled model.
#[wasm_bindgen]
pub struct Model {
    simulation: Simulation,
}

#[wasm_bindgen]
impl Model {
    /// Compiles a source text. `generator` names the random generator, `precise` asks for mathematical
    /// functions with the same bits on every GPU, `checks` for a message at the first bad index, division,
    /// NaN or failed `assert`.
    ///
    /// # Errors
    /// An object with the mistakes.
    #[wasm_bindgen(constructor)]
    pub fn compile(
        source: &str,
        generator: Option<String>,
        precise: bool,
        checks: bool,
    ) -> Result<Model, JsValue> {
        let options = Options {
            generator: launch::generator(generator.as_deref())?,
            math: if precise { Math::Precise } else { Math::Fast },
            checks,
            ..Options::default()
        };
        let simulation = Simulation::compile_with(source, options).map_err(Failure::of)?;
        let simulation = simulation.calibration(Calibration {
            cpu_instruction_seconds: INSTRUCTION_SECONDS,
            ..Calibration::default()
        });
        Ok(Model { simulation })
    }

    /// What the model takes and gives, as JSON.
    pub fn manifest(&self) -> String {
        self.simulation.manifest().json()
    }

    /// The text of the kernel for hosts that rely on the manifest alone.
    pub fn wgsl(&self) -> String {
        self.simulation.wgsl()
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
