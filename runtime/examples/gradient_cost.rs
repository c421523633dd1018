//! Measures what the derivatives of a model cost: a run, and its gradient by reverse and by forward mode, in
//! turns.
//!
//! `gradient_cost BACKEND MODEL OUTPUT NAMES [AGENTS]`: `BACKEND` is `cpu` or `gpu`, `NAMES` are params and
//! inputs with commas between them. Times are the least of 5: on a GPU those of its dispatches by the
//! device's clock, on a CPU those of the runs. `SIM_GRADIENT_MODES=reverse` leaves forward mode out.

use sim_runtime::{Backend, Control, Error, Fold, GradientMode, Simulation, Timing};
use std::process::ExitCode;

/// Times of each.
const TIMES: usize = 5;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let agents = args.get(4).map(|text| text.parse().ok());
    let ([backend, model, output, names, ..], false) = (args.as_slice(), agents == Some(None))
    else {
        eprintln!("gradient_cost BACKEND MODEL OUTPUT NAMES [AGENTS]");
        return ExitCode::FAILURE;
    };
    let source = match std::fs::read_to_string(model) {
        Ok(source) => source,
        Err(error) => {
            eprintln!("{model}: {error}");
            return ExitCode::FAILURE;
        }
    };
    let of = [output.as_str(), names.as_str()];
    match measure(backend == "gpu", &source, of, agents.flatten()) {
        Ok(line) => println!("{model}: {line}"),
        Err(error) => {
            eprintln!("{model}: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// The times, in words.
fn measure(
    on_gpu: bool,
    source: &str,
    [output, names]: [&str; 2],
    agents: Option<u32>,
) -> Result<String, Error> {
    let backend = match on_gpu {
        true => Backend::Gpu,
        false => Backend::Cpu,
    };
    let mut simulation = Simulation::compile(source)?.backend(backend).seed(1);
    if let Some(agents) = agents {
        simulation = simulation.agents(agents);
    }
    let names: Vec<&str> = names.split(',').collect();
    let modes = match std::env::var("SIM_GRADIENT_MODES").as_deref() {
        Ok("reverse") => &[GradientMode::Reverse][..],
        Ok(_) | Err(_) => &[GradientMode::Reverse, GradientMode::Forward],
    };
    let control = Control {
        timing: on_gpu.then_some(Timing { repeats: 10 }),
        ..Control::default()
    };
    let programs: Vec<_> = (modes.iter())
        .map(|mode| simulation.differentiate(output, &names, *mode))
        .collect::<Result<_, _>>()?;
    let mut best = vec![f64::INFINITY; 1 + programs.len()];
    let mut found = Vec::new();
    for _ in 0..TIMES {
        let run = simulation.run_with(&control)?;
        let report = run.report();
        let seconds = report.telemetry.gpu_seconds.unwrap_or(report.run_seconds);
        best[0] = best[0].min(seconds);
        found.clear();
        for (best, programs) in best[1..].iter_mut().zip(&programs) {
            let gradient = programs.gradient(Fold::Mean, &control)?;
            *best = best.min(gradient.gpu_seconds.unwrap_or(gradient.run_seconds));
            found.push((gradient.slopes[0].value, gradient.steps));
        }
    }
    let mut line = format!(
        "{} derivatives of {} steps; run {:.3} ms",
        programs[0].wrt().len(),
        found[0].1,
        best[0] * 1e3
    );
    for ((mode, seconds), (slope, _)) in modes.iter().zip(&best[1..]).zip(&found) {
        let (milliseconds, ratio) = (seconds * 1e3, seconds / best[0]);
        line +=
            &format!("; {mode:?} {milliseconds:.3} ms, {ratio:.2} runs (the first is {slope:.6})");
    }
    Ok(line)
}
