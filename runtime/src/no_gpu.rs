//! Replaces `gpu` in builds without the feature `gpu`: there are no adapters, so no session can be created.

use crate::{
    adapter::AdapterSummary,
    batch::{Batch, Deliver},
    bind::Launch,
    control::Keep,
    error::Error,
    memory::Need,
};
use sim_compiler::{artifact::Artifact, kernel::schedule::Tuning};
use std::{path::Path, sync::Arc};

/// An adapter; uninhabited.
pub(crate) enum Adapter {}

/// A session; uninhabited.
pub(crate) enum Session {}

/// Lists the adapters of this machine: none in this build, which has no GPU support.
pub fn adapters() -> Vec<AdapterSummary> {
    Vec::new()
}

/// Does nothing: this build has no drivers to load.
#[must_use]
pub fn preload() -> Preload {
    Preload
}

/// The guard of [`preload`].
#[derive(Debug)]
pub struct Preload;

/// Why there is no adapter for [`Backend::Auto`](crate::Backend::Auto).
pub(crate) fn best_gpu() -> Result<Adapter, String> {
    Err(Error::NoGpuSupport.to_string())
}

/// The error for an adapter that was asked for.
pub(crate) fn best(_wanted: Option<&str>) -> Result<Adapter, Error> {
    Err(Error::NoGpuSupport)
}

impl Session {
    /// Cannot be called: there are no adapters.
    pub(crate) fn open(
        adapter: &Adapter,
        _artifact: Arc<Artifact>,
        _tuning: Tuning,
        _cache: Option<&Path>,
        _launch: &Launch,
    ) -> Result<Session, Error> {
        match *adapter {}
    }

    /// Cannot be called: there are no sessions.
    pub(crate) fn adapter(&self) -> &AdapterSummary {
        match *self {}
    }

    /// Cannot be called: there are no sessions.
    pub(crate) fn add_need(&self, _launch: &Launch, _keep: Keep, _held: usize, _need: &mut Need) {
        match *self {}
    }

    /// Cannot be called: there are no sessions.
    pub(crate) fn run_batch(
        &mut self,
        _batch: &Batch<'_>,
        _deliver: Deliver<'_>,
    ) -> Result<(), Error> {
        match *self {}
    }
}
