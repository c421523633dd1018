//! What stands in for `gpu` in a build without the feature of that name: there is no adapter, and no session
//! can be made.

use crate::{
    adapter::AdapterSummary,
    backend::Deliver,
    batch::Batch,
    bind::Launch,
    control::{Keep, Tuning},
    error::Error,
    memory::Need,
};
use sim_compiler::artifact::Artifact;
use std::{path::Path, sync::Arc};

/// An adapter, of which there is none.
pub(crate) enum Adapter {}

/// A device with a kernel, of which there is none.
pub(crate) enum Session {}

/// Every adapter of this machine, the best first: none in this build, which has no GPU support.
pub fn adapters() -> Vec<AdapterSummary> {
    Vec::new()
}

/// Begins nothing: this build has no drivers to load.
#[must_use]
pub fn preload() -> Preload {
    Preload
}

/// What [`preload`] began: nothing.
#[derive(Debug)]
pub struct Preload;

/// Why `auto` takes no adapter.
pub(crate) fn best_gpu() -> Result<Adapter, String> {
    Err(Error::NoGpuSupport.to_string())
}

/// Why there is no adapter at all.
pub(crate) fn best(_wanted: Option<&str>) -> Result<Adapter, Error> {
    Err(Error::NoGpuSupport)
}

impl Session {
    /// Cannot be called, since there is no adapter.
    pub(crate) fn open(
        adapter: &Adapter,
        _artifact: Arc<Artifact>,
        _tuning: Tuning,
        _cache: Option<&Path>,
        _launch: &Launch,
    ) -> Result<Session, Error> {
        match *adapter {}
    }

    /// Cannot be called, since there is no session.
    pub(crate) fn adapter(&self) -> &AdapterSummary {
        match *self {}
    }

    /// Cannot be called, since there is no session.
    pub(crate) fn add_need(&self, _launch: &Launch, _keep: Keep, _held: usize, _need: &mut Need) {
        match *self {}
    }

    /// Cannot be called, since there is no session.
    pub(crate) fn run_batch(
        &mut self,
        _batch: &Batch<'_>,
        _deliver: Deliver<'_>,
    ) -> Result<(), Error> {
        match *self {}
    }
}
