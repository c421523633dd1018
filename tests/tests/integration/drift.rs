//! Slow drift: an increment so small beside its variable that a rounding which has the same sign in every
//! step would be as large as the increment. The models of `tests/drift/` give on a GPU what they give on the
//! CPU, up to random roundings: no bias in the mean over the agents.

use super::files;
use sim_runtime::{Backend, Occupancy, Run, Simulation, Tuning};
use sim_tests::{compare, launch::has_gpu};

/// Kernels that take sums in other orders, if any does, beside the one that the adapter is given.
const KERNELS: [Tuning; 4] = [
    forced(None, None),
    forced(Some(true), Some(Occupancy::Low)),
    forced(Some(true), Some(Occupancy::Full)),
    forced(Some(false), Some(Occupancy::Full)),
];

/// How many standard errors a mean may be from 0, given that some hundred are looked at.
const STANDARD_ERRORS: f64 = 5.0;
/// And in units in the last place by what a device's own functions round to one side: on an H200 a normal
/// number is off by some 4e-8 in the mean. (The drift that this is about was one of thousands.)
const FUNCTIONS: f64 = 20.0;

const fn forced(relax: Option<bool>, occupancy: Option<Occupancy>) -> Tuning {
    Tuning {
        relax,
        occupancy,
        ..Tuning::AUTO
    }
}

/// How results differ: the mean difference, its standard error, and the standard deviation, in units in the
/// last place of the largest value.
struct Bias {
    mean: f64,
    error: f64,
    deviation: f64,
}

fn bias(expected: &[f32], got: &[f32]) -> Bias {
    let largest = expected.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
    let unit = f64::from(largest.next_up() - largest);
    let apart: Vec<f64> = (expected.iter().zip(got))
        .map(|(a, b)| (f64::from(*b) - f64::from(*a)) / unit)
        .collect();
    let count = apart.len() as f64;
    let mean = apart.iter().sum::<f64>() / count;
    let squares: f64 = apart.iter().map(|x| (x - mean).powi(2)).sum();
    let deviation = (squares / (count - 1.0)).sqrt();
    Bias {
        mean,
        error: deviation / count.sqrt(),
        deviation,
    }
}

/// What is wrong with a run, beside that of the CPU.
fn complaints(name: &str, kernel: &str, cpu: &Run, gpu: &Run) -> Vec<String> {
    if let Err(difference) = compare::layouts(gpu, cpu) {
        return vec![format!("{name}, {kernel}: {difference}")];
    }
    let steps = f64::from(cpu.report().steps);
    let columns = cpu.outputs().iter().zip(gpu.outputs());
    let found = columns.filter_map(|(expected, got)| {
        let [expected, got] = [expected, got].map(|column| {
            let words = column.values.words().into_iter();
            words.map(f32::from_bits).collect::<Vec<f32>>()
        });
        let found = bias(&expected, &got);
        let line = format!(
            "{name}, {kernel}: mean {:.3} +- {:.3}, deviation {:.2} ulp",
            found.mean, found.error, found.deviation
        );
        println!("{line}");
        // Random roundings: of a unit in the last place two backends round a step by up to half of it
        // otherwise.
        let random = (steps / 6.0).sqrt();
        let error = found
            .error
            .max(random / (cpu.report().agents as f64).sqrt());
        let biased = found.mean.abs() > STANDARD_ERRORS * error + FUNCTIONS;
        (biased || found.deviation > 3.0 * random).then_some(line)
    });
    found.collect()
}

#[test]
fn slow_drift_is_the_same_on_every_backend() {
    if !has_gpu() {
        return;
    }
    let mut wrong = Vec::new();
    let mut models = 0;
    for (name, source) in files::models("tests/drift") {
        let run = |backend, tuning| {
            let simulation = Simulation::compile(&source).expect("a legal model");
            let simulation = simulation.backend(backend).seed(11).tuning(tuning);
            simulation.run().expect("it runs")
        };
        let cpu = run(Backend::Cpu, KERNELS[0]);
        for tuning in KERNELS {
            let gpu = run(Backend::Gpu, tuning);
            let kernel = tuning.to_string();
            wrong.extend(complaints(&name, &kernel, &cpu, &gpu));
        }
        models += 1;
    }
    assert!(models >= 12, "{models} models");
    files::report("drift", wrong);
}
