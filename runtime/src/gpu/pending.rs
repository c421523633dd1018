//! Errors that a browser has not reported yet: those of error scopes, each of which is a promise.

use super::device::Task;
use std::{cell::RefCell, future::Future, pin::Pin};

/// The error of a scope, once it is known.
type Promised = Pin<Box<dyn Future<Output = Option<wgpu::Error>>>>;

/// The error scopes whose errors are not known yet.
#[derive(Default)]
pub(crate) struct Pending(RefCell<Vec<(Task, Promised)>>);

// SAFETY: without atomics, which we do not build with, a module of WebAssembly has one thread.
unsafe impl Send for Pending {}

impl Pending {
    /// Closes the scopes of a task.
    pub(crate) fn add<const N: usize>(&self, task: Task, scopes: [wgpu::ErrorScopeGuard; N]) {
        let scopes = scopes.into_iter().rev();
        let promised = scopes.map(|scope| (task, Box::pin(scope.pop()) as Promised));
        self.0.borrow_mut().extend(promised);
    }

    /// Waits until all errors are known, and returns the first one.
    pub(crate) async fn first_error(&self) -> Option<(Task, wgpu::Error)> {
        let pending = self.0.take();
        let mut first = None;
        for (task, promised) in pending {
            let error = promised.await;
            first = first.or(error.map(|error| (task, error)));
        }
        first
    }
}
