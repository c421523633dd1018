//! The results of a run as JavaScript gets them: typed arrays, each copied once out of the module's memory.

use js_sys::{
    Array, Float32Array, Float64Array, Int32Array, Object, Reflect, Uint8Array, Uint32Array,
};
use sim_runtime::{Column, Device, Report, Run, Series, SeriesOf, Statistics, Values};
use wasm_bindgen::JsValue;

/// Sets a property of an object that was just made.
#[cfg_attr(sim_web, optimize(size))]
pub(crate) fn set(object: &Object, name: &str, value: impl Into<JsValue>) {
    let done = Reflect::set(object, &name.into(), &value.into());
    debug_assert!(done.is_ok(), "a plain object takes any property");
}

/// A run. `statistics` asks for those of all outputs.
#[cfg_attr(sim_web, optimize(size))]
pub(crate) fn object(run: &Run, statistics: bool) -> Object {
    let object = Object::new();
    let columns = |columns: &[Column]| {
        let all = Object::new();
        for column in columns {
            set(&all, &column.field.name, values(&column.values));
        }
        all
    };
    let (outputs, states) = (columns(run.outputs()), columns(run.states()));
    set(&object, "outputs", outputs);
    set(&object, "states", states);
    set(&object, "worldOutputs", columns(run.world_outputs()));
    set(&object, "worldStates", columns(run.world_states()));
    let shapes = Object::new();
    let all = [
        run.outputs(),
        run.states(),
        run.world_outputs(),
        run.world_states(),
    ];
    for column in all.into_iter().flatten() {
        set(&shapes, &column.field.name, shape(&column.shape));
    }
    set(&object, "shapes", shapes);
    let (records, observed) = (Object::new(), Object::new());
    for series in run.series() {
        let of = match series.of {
            SeriesOf::Agents => &records,
            SeriesOf::Worlds | SeriesOf::Population => &observed,
        };
        set(of, series.name(), self::series(series));
    }
    set(&object, "records", records);
    set(&object, "observed", observed);
    if statistics {
        set(&object, "statistics", summary(run));
    }
    set(&object, "report", report(run));
    object
}

#[cfg_attr(sim_web, optimize(size))]
fn values(values: &Values) -> JsValue {
    match values {
        Values::F32(values) => Float32Array::from(&values[..]).into(),
        Values::F64(values) => Float64Array::from(&values[..]).into(),
        Values::I32(values) => Int32Array::from(&values[..]).into(),
        Values::U32(values) => Uint32Array::from(&values[..]).into(),
        Values::Bool(values) => {
            let bytes: Vec<u8> = values.iter().map(|&it| it.into()).collect();
            Uint8Array::from(&bytes[..]).into()
        }
    }
}

#[cfg_attr(sim_web, optimize(size))]
fn shape(lengths: &[usize]) -> Array {
    lengths.iter().map(|&it| JsValue::from(it as f64)).collect()
}

#[cfg_attr(sim_web, optimize(size))]
fn series(series: &Series) -> Object {
    let object = Object::new();
    let of = match series.of {
        SeriesOf::Agents => "agents",
        SeriesOf::Worlds => "worlds",
        SeriesOf::Population => "population",
    };
    set(&object, "of", of);
    set(&object, "steps", Uint32Array::from(&series.steps[..]));
    set(&object, "values", values(&series.column.values));
    set(&object, "shape", shape(&series.column.shape));
    object
}

/// The statistics of each output: a list with an entry for each of its values.
#[cfg_attr(sim_web, optimize(size))]
fn summary(run: &Run) -> Object {
    let all = Object::new();
    let names = run.output_names();
    for name in names {
        let of_output = run.statistics(name).unwrap_or_default();
        let list: Array = of_output.iter().map(one_summary).collect();
        set(&all, name, list);
    }
    all
}

#[cfg_attr(sim_web, optimize(size))]
fn one_summary(of: &Statistics) -> JsValue {
    let object = Object::new();
    set(&object, "count", of.count as f64);
    set(&object, "nan", of.nan as f64);
    set(&object, "mean", of.mean);
    set(&object, "deviation", of.deviation);
    let error = of.deviation.map(|it| it / (of.count as f64).sqrt());
    set(&object, "standardError", error);
    let names = ["min", "q1", "median", "q3", "max"];
    for (at, name) in names.into_iter().enumerate() {
        set(&object, name, of.five.map(|five| five[at]));
    }
    object.into()
}

#[cfg_attr(sim_web, optimize(size))]
fn report(run: &Run) -> Object {
    let object = Object::new();
    let report: &Report = run.report();
    let (backend, device) = match &report.backend {
        Device::Cpu(_) => ("cpu", "WebAssembly".to_owned()),
        Device::Reference => ("reference", "WebAssembly".to_owned()),
        Device::Gpu(adapter) => ("gpu", adapter.name.clone()),
    };
    set(&object, "backend", backend);
    set(&object, "device", device);
    set(&object, "reason", report.reason.clone());
    set(&object, "agents", report.agents);
    set(&object, "firstAgent", report.first_agent);
    set(&object, "population", report.population);
    set(&object, "steps", report.steps);
    set(&object, "worlds", report.worlds);
    set(&object, "seed", report.seed);
    set(&object, "agentSteps", run.agent_steps() as f64);
    set(&object, "stoppedAgents", run.stopped_agents() as f64);
    set(&object, "setupSeconds", report.setup_seconds);
    set(&object, "runSeconds", report.run_seconds);
    set(&object, "dispatches", report.dispatches as f64);
    object
}
