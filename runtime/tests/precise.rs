//! `--math precise`: every precise form on the adapter is within a few units in the last place of the CPU's
//! function, over all binades, at corner cases and around multiples of π/2.
#![cfg(feature = "gpu")]

#[path = "../examples/math_cost/samples.rs"]
mod samples;

use samples::cases;
use sim_compiler::Math;
use sim_runtime::{Backend, adapters};
use sim_tests::{
    compare::{Tolerance, outputs},
    launch::has_gpu,
};

#[test]
fn precise_forms_are_near_those_of_the_cpu() {
    if !has_gpu() {
        return;
    }
    let arguments = samples::arguments();
    let mut broken = Vec::new();
    for case in cases() {
        let found = samples::compare(&case, Math::Precise, &arguments).expect("it runs");
        let [x, y] = found.at.map(f32::from_bits);
        let line = format!(
            "{}: {:.0} ulp at {x:e}, {y:e} ({:08x?}); {} infinities or NaN lost of {}",
            case.call,
            found.worst.max(found.usual),
            found.at,
            found.lost,
            found.count
        );
        println!("{line}");
        // WGSL lets drivers of GPUs assume that there is no NaN: one of the arguments is.
        let lost = u64::from(adapters()[0].kind.is_gpu());
        if found.worst > case.bound || found.lost as u64 > lost {
            broken.push(line);
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Divisions of vectors by numbers and the other way round, and functions of vectors, component by component.
#[test]
fn vectors_are_divided_and_mapped_component_by_component() {
    if !has_gpu() {
        return;
    }
    let source = "\
agents 64
input x: f32 ~ uniform(0.5, 3.0)
output a = vec3(x, 2.0 * x, 3.0 * x) / x
output b = x / vec2(x, 3.0)
output c = vec4(x, 1.0, 2.0, 3.0) / vec4(3.0, x, 7.0, x)
output d = sin(vec3(x, 2.0 * x, 3.0 * x)) / 3.0
output e = pow(vec2(x, 3.0), vec2(2.5, x))
";
    let run = |backend| {
        let simulation = samples::simulation(source, Math::Precise).backend(backend);
        simulation.run().expect("it runs")
    };
    let (cpu, gpu) = (run(Backend::Cpu), run(Backend::Gpu));
    assert_eq!(outputs(&gpu, &cpu, Tolerance::OfEach(6e-7)), Ok(()));
}

/// The fast sine may be off by 5e-7 at any angle, which a pendulum with an amplitude of a millionth shows.
#[test]
fn a_pendulum_at_tiny_angles_keeps_its_digits() {
    if !has_gpu() {
        return;
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../lang-examples/pendulum.sim");
    let source = std::fs::read_to_string(path).expect("the example");
    const RELEASE: [f32; 4] = [1e-3, 1e-6, -1e-9, 1e-20];
    let mut simulation = samples::simulation(&source, Math::Precise)
        .backend(Backend::Gpu)
        .agents(4);
    simulation
        .set_input("release", RELEASE.to_vec())
        .expect("an input");
    let run = simulation.run().expect("it runs");
    // The exact solution of the linear equation, see the example's head.
    let (g, damping, time) = (9.81_f64, 0.3_f64, 10.0_f64);
    let w = (g - damping * damping / 4.0).sqrt();
    let angle = (w * time).cos() + damping / (2.0 * w) * (w * time).sin();
    let decay = (-damping * time / 2.0).exp();
    for (release, theta) in RELEASE
        .iter()
        .zip(run.output::<f32>("theta").expect("floats"))
    {
        let exact = f64::from(*release) * decay * angle;
        let error = (f64::from(*theta) - exact).abs() / f64::from(release.abs());
        println!("released at {release:e}: {theta:e}, exactly {exact:e}");
        assert!(
            error < 5e-6,
            "released at {release:e}: {theta:e}, not {exact:e}"
        );
    }
}
