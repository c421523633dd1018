//! The GPU as a backend: a session is opened while another thread computes the inputs of the first run.

use crate::{
    batch::Executor,
    bind::Launch,
    error::Error,
    gpu::{self, Adapter},
};
use sim_compiler::{artifact::Artifact, kernel::schedule::Tuning};
use std::{path::Path, sync::Arc, thread};

/// How a session is opened, beside the adapter.
pub(crate) struct SessionOptions<'a> {
    pub(crate) artifact: &'a Arc<Artifact>,
    pub(crate) tuning: Tuning,
    /// The directory of the pipeline cache.
    pub(crate) pipeline_cache: Option<&'a Path>,
}

impl SessionOptions<'_> {
    /// Opens the adapter and builds the kernel for a launch. Meanwhile another thread calls `inputs`, which
    /// computes the absent inputs of the launch, if there can be one.
    ///
    /// # Errors
    /// Those of `inputs` and of the device.
    pub(crate) fn open(
        &self,
        adapter: &Adapter,
        launch: &Launch,
        inputs: Option<impl FnOnce() -> Result<Launch, Error> + Send>,
    ) -> Result<(Box<dyn Executor>, Option<Launch>), Error> {
        let open = || {
            let artifact = Arc::clone(self.artifact);
            gpu::open(adapter, artifact, self.tuning, self.pipeline_cache, launch)
        };
        // A thread of rayon's pool must not wait for one that asks rayon for work: the session computes the
        // inputs later in that case, on this thread.
        let in_pool = rayon::current_thread_index().is_some();
        let Some(inputs) = inputs.filter(|_| !in_pool && !cfg!(target_family = "wasm")) else {
            return Ok((open()?, None));
        };
        let (session, inputs) = thread::scope(|scope| {
            let inputs = scope.spawn(inputs);
            (open(), inputs.join())
        });
        match inputs {
            Ok(launch) => Ok((session?, Some(launch?))),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}
