//! Measures how long the results of a run take to reach the host, beside the time of its dispatches.
//!
//! `results_cost MODEL AGENTS [RUNS]`: medians in microseconds of warm runs on a GPU, which keep outputs, but
//! no states. The device's clock is read in every other run only, since reading it takes time itself.

use sim_runtime::{Backend, Control, Error, Simulation, Timing};
use std::{process::ExitCode, time::Instant};

/// Runs before the first that is counted.
const WARM: usize = 6;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let runs = args.get(2).map_or(Some(50), |text| text.parse().ok());
    let agents = args.get(1).and_then(|text| text.parse().ok());
    let (Some(model), Some(agents), Some(runs)) = (args.first(), agents, runs) else {
        eprintln!("results_cost MODEL AGENTS [RUNS]");
        return ExitCode::FAILURE;
    };
    let measured = std::fs::read_to_string(model)
        .map_err(|error| error.to_string())
        .and_then(|source| measure(&source, agents, runs).map_err(|error| error.to_string()));
    match measured {
        Ok(line) => println!("{model} {agents}: {line}"),
        Err(error) => {
            eprintln!("{model}: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// The times, in words.
fn measure(source: &str, agents: u32, runs: usize) -> Result<String, Error> {
    let simulation = Simulation::compile(source)?
        .backend(Backend::Gpu)
        .agents(agents)
        .keep_states(false);
    let timed = Control {
        timing: Some(Timing { repeats: 1 }),
        ..Control::default()
    };
    let [mut calls, mut kernels, mut records, mut waits] = [const { Vec::new() }; 4];
    let mut bytes = 0;
    for number in 0..WARM + 2 * runs {
        let is_timed = number % 2 == 0;
        let control = if is_timed {
            &timed
        } else {
            &Control::default()
        };
        let started = Instant::now();
        let run = simulation.run_with(control)?;
        let seconds = started.elapsed().as_secs_f64();
        let telemetry = &run.report().telemetry;
        if number < WARM {
            continue;
        }
        if is_timed {
            kernels.extend(telemetry.gpu_seconds);
        } else {
            calls.push(seconds);
            records.push(telemetry.record_seconds);
            waits.push(telemetry.wait_seconds);
            bytes = telemetry.bytes_down;
        }
    }
    let [call, kernel, record, wait] = [calls, kernels, records, waits].map(median);
    Ok(format!(
        "call {call:.0}, kernel {kernel:.0}, the difference {:.0} for {bytes} bytes; recording {record:.0}, \
         waiting {wait:.0}",
        call - kernel
    ))
}

/// The median, in microseconds; NaN of none.
fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds
        .get(seconds.len() / 2)
        .map_or(f64::NAN, |it| it * 1e6)
}
