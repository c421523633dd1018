//! A kernel that a session keeps for the launches that need its schedule.

use super::{adapter, cache::Cache, device::OpenDevice, kernel::Kernel, pace::Pace};
use crate::error::Error;
use sim_compiler::{
    kernel::schedule::{self, Decision, Schedule, Tuning},
    manifest::Manifest,
};
use std::path::Path;

/// A kernel for one schedule.
pub(crate) struct CachedKernel {
    pub(crate) schedule: Schedule,
    pub(crate) decisions: Vec<Decision>,
    /// Agents of a workgroup.
    pub(crate) workgroup_agents: u32,
    pub(crate) kernel: Kernel,
    /// The pipeline cache that is to be written after the first run, so that the run does not wait for it.
    pub(crate) unsaved: Option<Cache>,
    pub(crate) pace: Pace,
}

/// Where pipelines are kept between processes.
pub(crate) struct CacheLocation<'a> {
    pub(crate) directory: &'a Path,
    /// Names the adapter.
    pub(crate) key: &'a str,
}

impl CachedKernel {
    /// Compiles the text of a kernel.
    pub(crate) fn build(
        open: &OpenDevice,
        manifest: &Manifest,
        schedule: Schedule,
        text: schedule::Kernel,
        tuning: &Tuning,
        location: Option<CacheLocation<'_>>,
    ) -> Result<CachedKernel, Error> {
        let checks = tuning.checks == Some(true);
        let cache =
            location.and_then(|it| Cache::open(open, it.directory, it.key, &text.wgsl, checks));
        let handle = cache.as_ref().map(Cache::handle);
        let kernel = Kernel::build(open, manifest, &text, checks, handle)?;
        Ok(CachedKernel {
            schedule,
            decisions: text.decisions,
            workgroup_agents: text.workgroup_size / text.lanes,
            kernel,
            unsaved: cache,
            pace: Pace::new(
                adapter::cuts_long_loops(open.adapter.kind),
                manifest.inner_rounds,
                tuning.steps_per_dispatch,
            ),
        })
    }
}
