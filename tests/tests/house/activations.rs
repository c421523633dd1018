//! Activations of networks end where they should on the GPU, though a kernel may leave out what bounds their
//! exponentials where a device knows infinities.

use sim_runtime::{Backend, Simulation, Tuning};
use sim_tests::launch;

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

fn outputs(backend: Backend, steps: u32) -> Vec<f32> {
    let tuning = Tuning {
        reassociate: Some(true),
        ..Tuning::default()
    };
    let simulation = Simulation::compile(MODEL).expect("a legal model");
    let simulation = simulation.agents(8).steps(steps).backend(backend);
    let run = simulation.tuning(tuning).run().expect("the model runs");
    let words = run.outputs().iter().flat_map(|it| it.values.words());
    words.map(f32::from_bits).collect()
}

#[test]
fn activations_end_where_they_should() {
    if !launch::has_gpu() {
        return;
    }
    for steps in 1..=16 {
        let [got, expected] = [Backend::Gpu, Backend::Cpu].map(|it| outputs(it, steps));
        for (got, expected) in got.iter().zip(&expected) {
            assert!(
                (got - expected).abs() < 1e-6,
                "{got}, not {expected}, after {steps} steps"
            );
        }
    }
}
