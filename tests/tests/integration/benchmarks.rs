//! The models of `benchmarks/` against the mean scores that their heads give, or, for those with draws,
//! against the same draws in double precision and closed forms. The published means come from other systems.

use super::files;
use sim_runtime::{Backend, Simulation, Tuning};
use sim_tests::{
    compare::{Tolerance, compare},
    launch::{self, backends},
};
use std::error::Error;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

fn root(path: &str) -> std::path::PathBuf {
    files::root().join(path)
}

/// The four-byte values of an NPY file.
fn table<T>(path: &str, value: impl Fn([u8; 4]) -> T) -> Outcome<Vec<T>> {
    let bytes = std::fs::read(root(path)).map_err(|error| format!("{path}: {error}"))?;
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let (words, rest) = bytes[start..].as_chunks::<4>();
    assert!(rest.is_empty() && !words.is_empty(), "{path} is no table");
    Ok(words.iter().map(|word| value(*word)).collect())
}

fn simulation(model: &str, backend: Backend, agents: u32, steps: u32) -> Outcome<Simulation> {
    let source = std::fs::read_to_string(root(&format!("benchmarks/{model}.sim")))?;
    let sim = Simulation::compile(&source)?;
    let sim = sim.backend(backend).agents(agents).steps(steps).seed(7);
    if model != "portfolio" {
        return Ok(sim);
    }
    let signals = "lang-examples/data/portfolio_signals.npy";
    let apex = "lang-examples/data/portfolio_apex.npy";
    let sim = sim.data("signals", table(signals, f32::from_le_bytes)?)?;
    Ok(sim.data("apex", table(apex, i32::from_le_bytes)?)?)
}

/// Mean and variance of an output.
fn moments(values: &[f32]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().map(|&x| f64::from(x)).sum::<f64>() / n;
    let squares: f64 = values.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum();
    (mean, squares / (n - 1.0))
}

/// Runs a model on all backends and compares the mean score.
fn hold(model: &str, agents: u32, steps: u32, exact: f64, tolerance: f64) {
    for backend in backends() {
        let attempt = || -> Outcome<f64> {
            let run = simulation(model, backend, agents, steps)?.run()?;
            Ok(moments(run.output("score")?).0)
        };
        let got = attempt().unwrap_or_else(|error| panic!("{model}, {backend:?}: {error}"));
        let apart = (got - exact).abs();
        assert!(
            apart <= tolerance,
            "{model}, {backend:?}: the mean score is {got}, not {exact} within {tolerance:e}"
        );
    }
}

/// Runs a model on all backends and compares the mean of an output, in standard errors.
fn hold_draws(model: &str, agents: u32, steps: u32, output: &str, exact: f64) {
    for backend in backends() {
        let attempt = || -> Outcome<f64> {
            let run = simulation(model, backend, agents, steps)?.run()?;
            let (mean, variance) = moments(run.output(output)?);
            Ok((mean - exact) / (variance / f64::from(agents)).sqrt())
        };
        let apart = attempt().unwrap_or_else(|error| panic!("{model}, {backend:?}: {error}"));
        assert!(
            apart.abs() <= 4.0,
            "{model}, {backend:?}: {output} is {apart} standard errors away from {exact}"
        );
    }
}

#[test]
fn portfolio() {
    // Up to a trade within rounding of the dead band.
    hold("portfolio", 256, 50, 1.017_849_8, 1e-5);
}

#[test]
fn acrobot() {
    // Rounding has not yet grown into other trajectories after 50 steps.
    hold("acrobot", 256, 50, -51.845_133, 1e-4);
}

#[test]
fn mountain_car() {
    // Two agents may reach the flag a step earlier or later.
    hold("mountain_car", 256, 200, -198.928_3, 8e-3);
}

#[test]
fn lorenz() {
    hold("lorenz", 256, 1_000, 8.686_383_1, 5e-5);
}

#[test]
fn rastrigin() {
    // 2,000 terms, each rounded at about 25 and summed to about 37,000.
    hold("rastrigin", 4_096, 0, -37_054.69, 0.2);
}

/// The generator of the models `pi` and `gbm`, as numbers in [0, 1).
fn draws(agent: u32) -> impl FnMut() -> f64 {
    let mut s = agent.wrapping_add(0x7777_0000);
    s = (s ^ (s >> 16)).wrapping_mul(0x7feb_352d);
    s = (s ^ (s >> 15)).wrapping_mul(0x846c_a68b);
    s ^= s >> 16;
    move || {
        s = s.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        let word = ((s >> ((s >> 28) + 4)) ^ s).wrapping_mul(277_803_737);
        f64::from(((word >> 22) ^ word) >> 8) / 16_777_216.0
    }
}

const AGENTS: u32 = 256;

fn mean_of_agents(score: impl Fn(u32) -> f64) -> f64 {
    (0..AGENTS).map(score).sum::<f64>() / f64::from(AGENTS)
}

#[test]
fn pi() {
    const STEPS: u32 = 1_000;
    let exact = mean_of_agents(|agent| {
        let mut draw = draws(agent);
        let mut throw = || draw().powi(2) + draw().powi(2) <= 1.0;
        4.0 * (0..STEPS).filter(|_| throw()).count() as f64 / f64::from(STEPS)
    });
    // Rounding may move two darts across the circle.
    let dart = 4.0 / f64::from(AGENTS * STEPS);
    hold("pi", AGENTS, STEPS, exact, 2.5 * dart);
}

#[test]
fn gbm() {
    let exact = mean_of_agents(|agent| {
        let (mut draw, mut price, mut total) = (draws(agent), 100.0_f64, 0.0);
        for _ in 0..252 {
            let radius = (-2.0 * (draw() + 1.0 / 16_777_216.0).ln()).sqrt();
            let normal = radius * (std::f64::consts::TAU * draw()).cos();
            price *= (0.000_079_365_08 + 0.012_598_816 * normal).exp();
            total += price;
        }
        (total / 252.0 - 100.0).max(0.0)
    });
    // 252 factors, each rounded by up to some 1e-7 of a price of about 100.
    hold("gbm", AGENTS, 252, exact, 2e-3);
}

#[test]
fn pi_random() {
    hold_draws("pi_random", 4_096, 1_000, "score", std::f64::consts::PI);
}

#[test]
fn gbm_random() {
    let growth = |day: i32| (0.04 * f64::from(day) / 252.0).exp();
    let average = 100.0 / 252.0 * (1..=252).map(growth).sum::<f64>();
    hold_draws("gbm_random", 65_536, 252, "average", average);
    // The mean of 1,048,576 paths with the other generator; its error is a quarter of that of these.
    hold_draws("gbm_random", 65_536, 252, "score", 5.7728);
}

/// Means of the kernels in `peers/gpu/cuda`, compiled for the host. A GPU's own mathematics moves scores of
/// size 1 by some 1e-7.
#[test]
fn agents_larger_than_registers() {
    hold("large/attention", 64, 48, 0.289_396_737, 1e-6);
    // Steps are counted, and near the edge a pole may be counted once more or less.
    hold("large/policy", 256, 200, 27.734_375, 0.01);
    hold("large/lstm", 64, 200, -0.112_289_091, 1e-6);
    hold("large/shared", 256, 100, -0.368_390_627, 2e-6);
    hold("large/rod", 256, 500, 11.476_104_8, 1e-5);
}

/// Lanes have parts of all arrays, also of those with rows, and give outputs and states in their places, also
/// where a dispatch goes on with what the one before it stored.
#[test]
fn large_agents_are_split_over_lanes() {
    if !launch::has_gpu() {
        return;
    }
    for (model, agents, steps) in [
        ("large/attention", 20, 11),
        ("large/policy", 20, 20),
        ("large/lstm", 20, 20),
        ("large/rod", 20, 40),
    ] {
        let run = |backend, tuning: Option<Tuning>| -> Outcome<_> {
            let sim = simulation(model, backend, agents, steps)?;
            let sim = match tuning {
                Some(tuning) => sim.tuning(launch::forced(tuning)),
                None => sim,
            };
            Ok(sim.run()?)
        };
        let attempt = || -> Outcome {
            let expected = run(Backend::Cpu, None)?;
            for (lanes, steps_per_dispatch) in [(4, None), (4, Some(7)), (8, None), (8, Some(3))] {
                let tuning = Tuning {
                    lanes: Some(lanes),
                    steps_per_dispatch,
                    ..Tuning::default()
                };
                let got = run(Backend::Gpu, Some(tuning))?;
                let said = &got.report().decisions[0].what;
                if !said.contains("read elements of one another") {
                    return Err(format!("{lanes} lanes: {said}").into());
                }
                compare(&got, &expected, Tolerance::OfLargest(2e-5))
                    .map_err(|difference| format!("{lanes} lanes: {difference}"))?;
            }
            Ok(())
        };
        attempt().unwrap_or_else(|error| panic!("{model}: {error}"));
    }
}
