//! Results and values as arrays of the crate ndarray.

use ndarray::{Array1, Array2, array};
use sim_runtime::{Backend, Error, Simulation};

const MODEL: &str = "
agents 3
steps 2
param weights = [[1.0, 2.0], [3.0, 4.0]]
input place: vec2 = vec2(0.0, 0.0)
state x = 0.0
step { x += 1.0 }
record x every 1
output moved = place + vec2(x, 0.0)
output sum = weights[0][1] + weights[1][0]
output number = agent
";

fn model() -> Simulation {
    let simulation = Simulation::compile(MODEL).unwrap_or_else(|error| panic!("{error}"));
    simulation.backend(Backend::Cpu)
}

#[test]
fn results_are_arrays_of_their_shapes() -> Result<(), Error> {
    // Transposed: logical order counts, not that in memory.
    let places = array![[1.0_f32, 2.0, 3.0], [10.0, 20.0, 30.0]];
    let weights: Array2<f64> = array![[0.0, 0.5], [0.25, 0.0]];
    let run = (model().input("place", places.t())?)
        .param("weights", &weights)?
        .run()?;
    let moved = run.column("moved")?.array::<f32>()?;
    assert_eq!(
        moved,
        array![[3.0, 10.0], [4.0, 20.0], [5.0, 30.0]].into_dyn()
    );
    assert_eq!(run.column("sum")?.array::<f32>()?.sum(), 2.25);
    let series = run.record("x")?.array::<f32>()?;
    assert_eq!(series.shape(), [3, 3]);
    assert_eq!(series.index_axis(ndarray::Axis(0), 2).sum(), 6.0);
    let wrong = run.column("number")?.array::<f32>();
    assert!(matches!(wrong, Err(Error::WrongType { .. })), "{wrong:?}");
    let mut outputs = run.into_outputs().into_iter();
    let moved = outputs
        .next()
        .expect("there are three")
        .into_array::<f32>()?;
    assert_eq!(moved.shape(), [3, 2]);
    Ok(())
}

#[test]
fn an_array_of_another_shape_is_refused() {
    let three: Array1<f32> = array![1.0, 2.0, 3.0];
    let wrong = model().param("weights", three);
    let text = wrong
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default();
    assert!(text.contains("[2, 2] of f32"), "{text}");
}
