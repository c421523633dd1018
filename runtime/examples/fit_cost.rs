//! Measures what an evaluation of a fit costs: a loss and its gradient at a new point, from the params to the
//! numbers on the host, as the wall clock sees it.
//!
//! `fit_cost MODEL OUTPUT PARAMS [AGENTS …]`: `PARAMS` are names with commas between them. For each number of
//! agents it prints the least and the median of 20 evaluations on the CPU, on the GPU if there is one, and
//! with `auto`, and which of both `auto` takes.

use sim_runtime::{Backend, Control, Device, Error, Fold, GradientMode, Simulation};
use std::{process::ExitCode, time::Instant};

/// Evaluations, after one that compiles and loads.
const TIMES: usize = 20;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [model, output, params, agents @ ..] = args.as_slice() else {
        eprintln!("fit_cost MODEL OUTPUT PARAMS [AGENTS …]");
        return ExitCode::FAILURE;
    };
    let sizes: Result<Vec<u32>, _> = agents.iter().map(|text| text.parse()).collect();
    let (Ok(source), Ok(sizes)) = (std::fs::read_to_string(model), sizes) else {
        eprintln!("{model} cannot be read, or a number of agents is none");
        return ExitCode::FAILURE;
    };
    let params: Vec<&str> = params.split(',').collect();
    for agents in sizes {
        match measure(&source, output, &params, agents) {
            Ok(lines) => println!("{model}, {agents} agents:\n{lines}"),
            Err(error) => {
                eprintln!("{model}: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

/// The times on each backend, a line each.
fn measure(source: &str, output: &str, params: &[&str], agents: u32) -> Result<String, Error> {
    let mut backends = vec![("cpu", Backend::Cpu), ("auto", Backend::Auto)];
    if !sim_runtime::adapters().is_empty() {
        backends.insert(1, ("gpu", Backend::Gpu));
    }
    let mut lines = Vec::new();
    for (name, backend) in backends {
        let simulation = Simulation::compile(source)?.backend(backend).agents(agents);
        let mut programs = simulation.differentiate(output, params, GradientMode::Auto)?;
        let floats = simulation.floats(&[params[0]])?;
        let mut seconds = Vec::new();
        let mut device = String::new();
        for time in 0..=TIMES {
            // A fit is at another point each time.
            let moved: Vec<f32> = (floats.iter())
                .map(|float| float.value as f32 + 1e-3 * time as f32)
                .collect();
            let started = Instant::now();
            programs.set_param(params[0], moved)?;
            let gradient = programs.gradient(Fold::Mean, &Control::default())?;
            seconds.push(started.elapsed().as_secs_f64());
            device = named(&gradient.device);
        }
        seconds.remove(0);
        seconds.sort_by(f64::total_cmp);
        let [least, median] = [seconds[0], seconds[TIMES / 2]].map(|seconds| seconds * 1e3);
        let count = programs.wrt().len();
        lines.push(format!(
            "  {name:<5} {least:8.3} ms at least, {median:8.3} ms in the middle, {count} derivatives, \
             on {device}"
        ));
    }
    Ok(lines.join("\n"))
}

fn named(device: &Device) -> String {
    match device {
        Device::Cpu(isa) => format!("the CPU ({isa})"),
        Device::Reference => "the interpreter".to_owned(),
        Device::Gpu(adapter) => adapter.name.clone(),
    }
}
