//! What a run cost, for `--json`: counts, bytes, and milliseconds by phase.

use serde::Serialize;
use sim_runtime::{CacheUse, Telemetry};

/// The object `telemetry`.
#[derive(Debug, Serialize)]
pub(crate) struct Costs {
    submissions: u64,
    bytes_up: u64,
    bytes_down: u64,
    pipeline_cache: Option<&'static str>,
    compile_ms: f64,
    load_ms: f64,
    instance_ms: f64,
    adapter_ms: f64,
    device_ms: f64,
    kernel_ms: f64,
    module_ms: f64,
    pipeline_ms: f64,
    cache_ms: f64,
    record_ms: f64,
    gpu_ms: Option<f64>,
    wait_ms: f64,
    run_ms: f64,
    total_ms: f64,
}

/// What the command itself timed, in seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Own {
    /// Source to artifact.
    pub(crate) compile: f64,
    /// Reading params, tables and inputs.
    pub(crate) load: f64,
    /// From the command's start to the results.
    pub(crate) total: f64,
}

impl Costs {
    /// Of a run.
    pub(crate) fn of(telemetry: &Telemetry, own: Own) -> Costs {
        Costs {
            submissions: telemetry.submissions,
            bytes_up: telemetry.bytes_up,
            bytes_down: telemetry.bytes_down,
            pipeline_cache: telemetry.pipeline_cache.map(|found| match found {
                CacheUse::Hit => "hit",
                CacheUse::Miss => "miss",
            }),
            compile_ms: ms(own.compile),
            load_ms: ms(own.load),
            instance_ms: ms(telemetry.instance_seconds),
            adapter_ms: ms(telemetry.adapter_seconds),
            device_ms: ms(telemetry.device_seconds),
            kernel_ms: ms(telemetry.kernel_seconds),
            module_ms: ms(telemetry.module_seconds),
            pipeline_ms: ms(telemetry.pipeline_seconds),
            cache_ms: ms(telemetry.cache_seconds),
            record_ms: ms(telemetry.record_seconds),
            gpu_ms: telemetry.gpu_seconds.map(ms),
            wait_ms: ms(telemetry.wait_seconds),
            run_ms: ms(telemetry.total_seconds),
            total_ms: ms(own.total),
        }
    }
}

impl Costs {
    /// The run, from its call to its results.
    pub(crate) fn run_ms(&self) -> f64 {
        self.run_ms
    }

    /// What is done once: drivers, device, kernel and pipeline.
    pub(crate) fn cold_ms(&self) -> f64 {
        self.instance_ms + self.adapter_ms + self.device_ms + self.module_ms + self.pipeline_ms
    }
}

/// To the nanosecond, which is finer than any clock here.
pub(crate) fn ms(seconds: f64) -> f64 {
    (seconds * 1e9).round() / 1e6
}
