//! What a run cost, counted and timed where it happens.

/// Counts and times of one run. What belongs to opening a device is 0 in every run after the first.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Telemetry {
    /// Batches of commands that were handed to the device.
    pub submissions: u64,
    /// Bytes written to the device: tables, inputs and params, as far as they were not there.
    pub bytes_up: u64,
    /// Bytes read from the device: step counts, outputs, states that are kept, and timestamps.
    pub bytes_down: u64,
    /// Whether the pipeline came from the cache on disk; none where no pipeline was built, or no cache is
    /// used.
    pub pipeline_cache: Option<CacheUse>,
    /// Seconds for loading the graphics drivers; once a process.
    pub instance_seconds: f64,
    /// Seconds for listing the adapters; once a process.
    pub adapter_seconds: f64,
    /// Seconds for opening the device.
    pub device_seconds: f64,
    /// Seconds for choosing the kernel's schedule and writing its text.
    pub kernel_seconds: f64,
    /// Seconds for parsing and validating the kernel.
    pub module_seconds: f64,
    /// Seconds that the driver took to compile the kernel.
    pub pipeline_seconds: f64,
    /// Seconds for reading and writing the cache on disk.
    pub cache_seconds: f64,
    /// Seconds for recording the commands that were submitted; 0 where that was done during an earlier run, while the
    /// device computed.
    pub record_seconds: f64,
    /// Seconds that the device's own clock counted for the model's dispatches; none where it has no clock, or was not
    /// asked for with [`Control::clock`](crate::Control::clock). Those of one, where the run was repeated.
    pub gpu_seconds: Option<f64>,
    /// Seconds that the host waited for the device.
    pub wait_seconds: f64,
    /// Seconds from the call of `run` to its results.
    pub total_seconds: f64,
}

/// What the cache of pipelines on disk gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheUse {
    /// It held this kernel.
    Hit,
    /// It did not; from now on it does, if it can be written.
    Miss,
}
