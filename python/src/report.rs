//! How a run was done, as a dictionary for Python.

use pyo3::{prelude::*, types::PyDict};
use sim_runtime::{CacheUse, Device, Report, Telemetry};

/// The report of a run; `simc.Report` has its types.
pub(crate) fn dictionary<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let of = PyDict::new(py);
    let (backend, instructions, adapter) = match &report.backend {
        Device::Cpu(isa) => ("cpu", Some(isa.to_string()), None),
        Device::Reference => ("reference", None, None),
        Device::Gpu(adapter) => ("gpu", None, Some(adapter)),
    };
    of.set_item("backend", backend)?;
    of.set_item("instruction_set", instructions)?;
    of.set_item("adapter", adapter.map(|adapter| adapter.name.clone()))?;
    of.set_item(
        "adapter_kind",
        adapter.map(|adapter| adapter.kind.to_string()),
    )?;
    of.set_item("driver", adapter.map(|adapter| adapter.driver.clone()))?;
    of.set_item("reason", &report.reason)?;
    of.set_item("agents", report.agents)?;
    of.set_item("first_agent", report.first_agent)?;
    of.set_item("population", report.population)?;
    of.set_item("steps", report.steps)?;
    of.set_item("worlds", report.worlds)?;
    of.set_item("seed", report.seed)?;
    of.set_item("compile_seconds", report.compile_seconds)?;
    of.set_item("setup_seconds", report.setup_seconds)?;
    of.set_item("run_seconds", report.run_seconds)?;
    of.set_item("statistics_seconds", report.statistics_seconds)?;
    of.set_item("dispatches", report.dispatches)?;
    of.set_item("chunks", report.chunks)?;
    of.set_item("reduced", report.reduced)?;
    of.set_item("passes", report.passes)?;
    let explain = report.decisions.iter();
    let explain = explain.map(|decision| format!("{}: {}", decision.what, decision.why));
    of.set_item("explain", explain.collect::<Vec<_>>())?;
    let devices = report.devices.iter().map(|share| {
        let name = match &share.device {
            Device::Cpu(_) => "cpu",
            Device::Reference => "reference",
            Device::Gpu(adapter) => adapter.name.as_str(),
        };
        let why = share.failure.as_deref();
        (share.name.as_str(), name, share.agents, share.seconds, why)
    });
    of.set_item("devices", devices.collect::<Vec<_>>())?;
    of.set_item("telemetry", telemetry(py, &report.telemetry)?)?;
    Ok(of)
}

fn telemetry<'py>(py: Python<'py>, telemetry: &Telemetry) -> PyResult<Bound<'py, PyDict>> {
    let of = PyDict::new(py);
    let cache = telemetry.pipeline_cache.map(|cache| match cache {
        CacheUse::Hit => "hit",
        CacheUse::Miss => "miss",
    });
    of.set_item("submissions", telemetry.submissions)?;
    of.set_item("dispatches", telemetry.dispatches)?;
    of.set_item("bytes_up", telemetry.bytes_up)?;
    of.set_item("bytes_down", telemetry.bytes_down)?;
    of.set_item("pipeline_cache", cache)?;
    of.set_item("instance_seconds", telemetry.instance_seconds)?;
    of.set_item("adapter_seconds", telemetry.adapter_seconds)?;
    of.set_item("device_seconds", telemetry.device_seconds)?;
    of.set_item("kernel_seconds", telemetry.kernel_seconds)?;
    of.set_item("module_seconds", telemetry.module_seconds)?;
    of.set_item("pipeline_seconds", telemetry.pipeline_seconds)?;
    of.set_item("cache_seconds", telemetry.cache_seconds)?;
    of.set_item("record_seconds", telemetry.record_seconds)?;
    of.set_item("gpu_seconds", telemetry.gpu_seconds)?;
    of.set_item("wait_seconds", telemetry.wait_seconds)?;
    of.set_item("total_seconds", telemetry.total_seconds)?;
    Ok(of)
}
