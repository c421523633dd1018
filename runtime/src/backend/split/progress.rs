//! The progress of several devices as that of one run.

use super::lock;
use crate::control::Control;
use std::sync::{
    Mutex,
    atomic::{AtomicU64, Ordering},
};

/// The agent-steps that several devices have done.
pub(super) struct Done<'a> {
    control: Control<'a>,
    all: u64,
    /// By device.
    done: Vec<AtomicU64>,
    /// Held while the caller is told, so that it gets one number after the other.
    telling: Mutex<()>,
}

impl<'a> Done<'a> {
    /// Nothing is done yet, of `all` agent-steps.
    pub(super) fn new(control: Control<'a>, all: u64, devices: usize) -> Done<'a> {
        Done {
            control,
            all,
            done: (0..devices).map(|_| AtomicU64::new(0)).collect(),
            telling: Mutex::new(()),
        }
    }

    /// What a device has done.
    pub(super) fn of(&self, device: usize) -> u64 {
        self.done[device].load(Ordering::Relaxed)
    }

    /// Sets what a device has done, and tells the caller.
    pub(super) fn set(&self, device: usize, done: u64) {
        self.done[device].store(done, Ordering::Relaxed);
        if self.control.progress.is_some() {
            let _telling = lock(&self.telling);
            let sum = self.done.iter().map(|it| it.load(Ordering::Relaxed)).sum();
            self.control.report(sum, self.all);
        }
    }

    /// Calls `run` with a control for a device that is to do so many agent-steps; they count if it succeeds.
    pub(super) fn with<T, E>(
        &self,
        device: usize,
        agent_steps: u64,
        run: impl FnOnce(Control<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let before = self.of(device);
        let progress = |done: u64, all: u64| {
            // A backend may compute all agents more than once.
            let part = done as f64 / all.max(1) as f64;
            self.set(device, before + (part * agent_steps as f64) as u64);
        };
        // It is noted whether the caller asks for it or not: how much others have left depends on it.
        let result = run(Control {
            progress: Some(&progress),
            ..self.control
        });
        let done = if result.is_ok() { agent_steps } else { 0 };
        self.set(device, before + done);
        result
    }
}
