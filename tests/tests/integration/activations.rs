//! Activations of networks saturate as they should on the GPU, though a kernel may omit the bounds of their
//! exponentials where a device respects infinities.

use sim_runtime::{Backend, Run, Simulation, Tuning};
use sim_tests::{
    compare::{self, Tolerance},
    launch,
};

/// The largest argument of its activations is infinite after 13 steps.
const MODEL: &str = "
input w: [f32; 2] = [for k in 0..2: if agent % 2 == 0 { 1.0 } else { -1.0 }]
state x = 1.0
state y = 0.0
state z = 0.0
step {
    x = 1000.0 * x
    y = tanh(0.5 * w[0] + x * w[1])
    z = sigmoid(0.5 * w[0] + x * w[1])
}
output y
output z";

fn run(backend: Backend, steps: u32) -> Run {
    let tuning = Tuning {
        relax: Some(true),
        ..Tuning::default()
    };
    let simulation = Simulation::compile(MODEL).expect("a legal model");
    let simulation = simulation.agents(8).steps(steps).backend(backend);
    simulation.tuning(tuning).run().expect("the model runs")
}

#[test]
fn activations_end_where_they_should() {
    if !launch::has_gpu() {
        return;
    }
    for steps in 1..=16 {
        let [got, expected] = [Backend::Gpu, Backend::Cpu].map(|it| run(it, steps));
        let held = compare::outputs(&got, &expected, Tolerance::OfLargest(1e-6));
        assert_eq!(held, Ok(()), "after {steps} steps");
    }
}
