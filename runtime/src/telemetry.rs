//! The costs of a run, counted and timed where they occur.

/// Counts and times of one run. The costs of opening a device are 0 in every run after the first.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Telemetry {
    /// Submissions to the device.
    pub submissions: u64,
    /// Dispatches of the model's kernel. One that several runs share is counted once.
    pub dispatches: u64,
    /// Bytes written to the device: tables, inputs and params that were not there yet.
    pub bytes_up: u64,
    /// Bytes read from the device: step counts, outputs, kept states and timestamps.
    pub bytes_down: u64,
    /// Whether the pipeline came from the cache on disk; `None` if no pipeline was built or no cache is used.
    pub pipeline_cache: Option<CacheUse>,
    /// Seconds for loading the graphics drivers; once per process.
    pub instance_seconds: f64,
    /// Seconds for listing the adapters; once per process.
    pub adapter_seconds: f64,
    /// Seconds for opening the device.
    pub device_seconds: f64,
    /// Seconds for choosing the kernel's schedule and generating its text.
    pub kernel_seconds: f64,
    /// Seconds for parsing and validating the kernel.
    pub module_seconds: f64,
    /// Seconds for compiling the kernel in the driver.
    pub pipeline_seconds: f64,
    /// Seconds for reading and writing the cache on disk.
    pub cache_seconds: f64,
    /// Seconds for recording the submitted commands.
    pub record_seconds: f64,
    /// Seconds of the dispatches by the device's timestamps; `None` without timestamps or
    /// [`Control::timing`](crate::Control::timing). If the run was repeated, the seconds of one repetition.
    pub gpu_seconds: Option<f64>,
    /// Seconds that the host waited for the device.
    pub wait_seconds: f64,
    /// Seconds from the call to the results.
    pub total_seconds: f64,
}

impl Telemetry {
    /// Adds the costs of the next run.
    pub(crate) fn add(&mut self, next: &Telemetry) {
        let Telemetry {
            submissions,
            dispatches,
            bytes_up,
            bytes_down,
            pipeline_cache,
            instance_seconds,
            adapter_seconds,
            device_seconds,
            kernel_seconds,
            module_seconds,
            pipeline_seconds,
            cache_seconds,
            record_seconds,
            gpu_seconds,
            wait_seconds,
            total_seconds,
        } = next;
        self.submissions += submissions;
        self.dispatches += dispatches;
        self.bytes_up += bytes_up;
        self.bytes_down += bytes_down;
        self.pipeline_cache = self.pipeline_cache.or(*pipeline_cache);
        self.instance_seconds += instance_seconds;
        self.adapter_seconds += adapter_seconds;
        self.device_seconds += device_seconds;
        self.kernel_seconds += kernel_seconds;
        self.module_seconds += module_seconds;
        self.pipeline_seconds += pipeline_seconds;
        self.cache_seconds += cache_seconds;
        self.record_seconds += record_seconds;
        self.gpu_seconds = match (self.gpu_seconds, gpu_seconds) {
            (Some(before), Some(seconds)) => Some(before + seconds),
            (before, seconds) => before.or(*seconds),
        };
        self.wait_seconds += wait_seconds;
        self.total_seconds += total_seconds;
    }
}

/// The result of looking up a pipeline in the cache on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheUse {
    /// The cache had the kernel.
    Hit,
    /// The cache did not have the kernel, which is now added.
    Miss,
}
