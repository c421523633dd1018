//! Points: runs of a batch that share dispatches, with the bits that each has alone.

use crate::walk::same;
use sim_runtime::{Array, Backend, Control, Run, Simulation, Variation};
use sim_tests::launch::has_gpu;

/// Draws, params of every form, a table, a function of a param, and an input.
const PLAIN: &str = "
agents 70
steps 9
param drift = 0.5
param weights: [f32; 5] = [0.1, 0.2, 0.3, 0.4, 0.5]
param on = true
param push: vec2 = vec2(0.0, 1.0)
data tide: [f32; 9]
input scale = 1.0
state x = 0.0
state hits = 0
fn pull(k: i32) -> f32 { return weights[k % 5] * drift }
step t {
    x += scale * pull(agent + t) * tide[t] + normal() + push.y
    if on && bernoulli(drift) { hits += 1 }
    if x > 30.0 { stop }
}
output end = x
output count = hits
";

/// Worlds, each with an input, a state and draws of its own.
const WORLDS: &str = "
agents 60
steps 7
world 12
param pull = 0.1
world input base = 1.0
input mass = 1.0
state x = f32(member) * mass
world state heat = base
world step { heat += uniform(0.0, pull) }
step {
    let all = mean(for other in world: other.x * other.mass)
    x += pull * (all - x) + heat * normal()
}
output x
world output heat
";

/// What is observed and recorded, in units of agents of which the last is not whole.
const SERIES: &str = "
agents 300
steps 8
param sigma = 0.3
state x = 0.0
step { x += sigma * normal() }
observe middle = mean(x) every 2
observe most = max(x)
record x every 4
output x
";

fn simulations() -> Vec<(&'static str, Simulation)> {
    let compiled = |source| Simulation::compile(source).expect("it compiles");
    let tide: Vec<f32> = (0..9).map(|t| (t as f32 * 0.3).sin()).collect();
    let plain = compiled(PLAIN).data("tide", tide).expect("the table fits");
    vec![
        ("drift", plain),
        ("pull", compiled(WORLDS)),
        ("sigma", compiled(SERIES)),
    ]
}

/// Points of two params, of seeds, and of neither.
fn points(param: &str, input: Option<(&str, usize)>) -> Vec<Variation> {
    let point = |k: u32| {
        let variation = Variation::new().param(param, 0.05 * k as f32);
        let variation = match k % 3 {
            0 => variation,
            _ => variation.seed(u64::from(k / 2)),
        };
        match input {
            Some((name, rows)) => {
                let rows: Vec<f32> = (0..rows).map(|i| (i as u32 % (k + 2)) as f32).collect();
                variation.input(name, Array::from(rows))
            }
            None => variation,
        }
    };
    (0..20).map(point).collect()
}

/// The runs of a batch, and the dispatches that they took together.
fn batch(simulation: &Simulation, points: &[Variation]) -> (Vec<Run>, u64) {
    let runs = simulation.run_batch(points).expect("it runs");
    let dispatches = runs.iter().map(|run| run.report().telemetry.dispatches);
    let dispatches = dispatches.sum();
    (runs, dispatches)
}

#[test]
fn points_share_a_dispatch_and_have_the_bits_of_separate_runs() {
    if !has_gpu() {
        return;
    }
    for (param, simulation) in simulations() {
        let simulation = simulation.backend(Backend::Gpu);
        let given: &[Option<(&str, usize)>] = match param {
            "drift" => &[None, Some(("scale", 70))],
            "pull" => &[None, Some(("mass", 60)), Some(("base", 5))],
            _ => &[None],
        };
        for &input in given {
            let points = points(param, input);
            let (runs, dispatches) = batch(&simulation, &points);
            assert_eq!(dispatches, 1, "{param} {input:?}");
            for (point, run) in points.iter().zip(&runs) {
                let alone = batch(&simulation, std::slice::from_ref(point)).0.remove(0);
                same(run, &alone);
            }
        }
    }
}

#[test]
fn points_of_many_steps_travel_through_dispatches_together() {
    if !has_gpu() {
        return;
    }
    for (param, simulation) in simulations() {
        let alone = simulation.backend(Backend::Gpu);
        let points = points(param, None);
        let (expected, _) = batch(&alone, &points);
        let tuning = sim_runtime::Tuning {
            steps_per_dispatch: Some(3),
            ..Default::default()
        };
        let (runs, dispatches) = batch(&alone.tuning(tuning), &points);
        assert_eq!(dispatches, 3, "{param}");
        runs.iter().zip(&expected).for_each(|(a, b)| same(a, b));
    }
}

#[test]
fn batches_of_another_number_of_points_reuse_buffers() {
    if !has_gpu() {
        return;
    }
    let (param, simulation) = simulations().remove(1);
    let simulation = simulation.backend(Backend::Gpu);
    let points = points(param, None);
    let (expected, _) = batch(&simulation, &points);
    for count in [7, 20, 2, 13] {
        let (runs, _) = batch(&simulation, &points[..count]);
        runs.iter().zip(&expected).for_each(|(a, b)| same(a, b));
    }
}

#[test]
fn points_before_a_wrong_value_are_delivered() {
    for backend in [Backend::Cpu, Backend::Gpu] {
        if backend == Backend::Gpu && !has_gpu() {
            continue;
        }
        let mut points = points("drift", None);
        points[11] = Variation::new().param("missing", 1.0_f32);
        let mut delivered = 0;
        let simulation = simulations().remove(0).1.backend(backend);
        let result = simulation.run_each(&points, &Control::default(), |number, _| {
            assert_eq!(number, delivered);
            delivered += 1;
        });
        assert!(result.is_err());
        assert_eq!(delivered, 11, "{backend:?}");
    }
}
