//! Replaces `gpu` in builds without the feature `gpu`: there are no adapters, so no session can be created.

use crate::{
    adapter::{AdapterDetails, AdapterSummary},
    batch::Executor,
    bind::Launch,
    error::Error,
};
use sim_compiler::{artifact::Artifact, kernel::schedule::Tuning};
use std::{path::Path, sync::Arc};

/// An adapter; uninhabited.
pub(crate) enum Adapter {}

/// Lists the adapters of this machine: none in this build, which has no GPU support.
pub fn adapters() -> Vec<AdapterSummary> {
    Vec::new()
}

/// Lists the adapters with what they can do: none in this build.
pub fn adapter_details() -> Vec<AdapterDetails> {
    Vec::new()
}

/// Why there is no adapter for [`Backend::Auto`](crate::Backend::Auto).
///
/// # Errors
/// Always.
pub fn auto_adapter() -> Result<AdapterSummary, String> {
    Err(Error::NoGpuSupport.to_string())
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
pub(crate) async fn best_gpu() -> Result<Adapter, String> {
    Err(Error::NoGpuSupport.to_string())
}

/// The error for an adapter that was asked for.
pub(crate) async fn best(_wanted: Option<&str>) -> Result<Adapter, Error> {
    Err(Error::NoGpuSupport)
}

/// The error for adapters that were asked for.
pub(crate) async fn alike(_count: Option<usize>) -> Result<Vec<Adapter>, Error> {
    Err(Error::NoGpuSupport)
}

/// The error for an adapter that was asked for.
pub(crate) async fn numbered(_number: usize) -> Result<Adapter, Error> {
    Err(Error::NoGpuSupport)
}

/// Cannot be opened.
pub(crate) enum Session {}

impl Session {
    /// Cannot be called: there are no adapters.
    pub(crate) async fn open(
        adapter: &Adapter,
        _artifact: Arc<Artifact>,
        _tuning: Tuning,
        _cache: Option<&Path>,
        _launch: &Launch,
        _several: bool,
    ) -> Result<Box<dyn Executor>, Error> {
        match *adapter {}
    }
}
