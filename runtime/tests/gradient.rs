//! Derivatives by forward mode: against formulas, against central differences of runs, and on all backends.
//!
//! Without an adapter the GPU's part is skipped with a message; with `SIM_REQUIRE_GPU=1` it fails.

#[path = "gradient/models.rs"]
mod models;

use models::{Model, SMOOTH};
use sim_compiler::{Options, artifact::Artifact, compile_with, gradient};
use sim_runtime::{Backend, Control, Fold, GradientMode, Simulation};
use sim_tests::launch::has_gpu;

fn compiled(source: &str, optimise: bool) -> Artifact {
    let options = Options {
        optimise,
        ..Options::default()
    };
    compile_with(source, options).unwrap_or_else(|found| panic!("{found:#?}"))
}

/// The outputs `of` and their derivatives by `wrt`: a column each, values first.
fn derivatives(source: &str, of: &[&str], wrt: &[&str], backend: Backend) -> Vec<Vec<f32>> {
    let artifact = compiled(source, backend != Backend::Reference);
    let gradient = gradient::forward(&artifact, of, wrt).unwrap_or_else(|why| panic!("{why}"));
    let simulation = Simulation::from_artifact(gradient.artifact);
    let run = simulation.seed(5).backend(backend).run().expect("a run");
    let derived = gradient.derivatives.iter().map(|one| one.output.as_str());
    (of.iter().copied().chain(derived))
        .map(|name| run.output::<f32>(name).expect("floats").to_vec())
        .collect()
}

/// `mean(payoff)` and the price path by path give delta, vega and rho by a script's formulas.
#[test]
fn greeks_are_those_of_the_paths_and_of_black_and_scholes() {
    const MODEL: &str = "
        agents 100_000
        steps  50
        const DT = 1.0 / 50.0
        param rate   = 0.05
        param sigma  = 0.2
        param strike = 105.0
        param spot   = 100.0
        state price = spot
        step { price *= exp((rate - 0.5 * sigma * sigma) * DT + sigma * sqrt(DT) * normal()) }
        output payoff = exp(-rate) * max(price - strike, 0.0)
        output price
    ";
    let wrt = ["spot", "sigma", "rate"];
    let columns = derivatives(MODEL, &["payoff", "price"], &wrt, Backend::Cpu);
    let (rate, sigma, strike, spot) = (0.05_f64, 0.2_f64, 105.0_f64, 100.0_f64);
    let [payoff, price, delta, vega, rho, ..] = columns.as_slice() else {
        panic!("{} columns", columns.len())
    };
    let mut means = [0.0; 3];
    let mut squares = [0.0; 3];
    for agent in 0..price.len() {
        let end = f64::from(price[agent]);
        let money = if end > strike { (-rate).exp() } else { 0.0 };
        // The sum of the normals follows from the end of the path.
        let sum = ((end / spot).ln() - (rate - 0.5 * sigma * sigma)) / sigma;
        let exact = [
            money * end / spot,
            money * end * (sum - sigma),
            money * end - f64::from(payoff[agent]),
        ];
        for (k, column) in [delta, vega, rho].into_iter().enumerate() {
            let found = f64::from(column[agent]);
            let scale = exact[k].abs() + money * end * [0.01, 1.0, 1.0][k];
            assert!(
                (found - exact[k]).abs() <= 1e-5 * scale,
                "{} of agent {agent}: {found} for {}",
                wrt[k],
                exact[k]
            );
            means[k] += found;
            squares[k] += found * found;
        }
    }
    let count = price.len() as f64;
    // Black and Scholes, by SciPy 1.17: delta, vega and rho of the call.
    let known = [0.542_228_333_6, 39.670_523_808, 46.201_481_123];
    for k in 0..3 {
        let mean = means[k] / count;
        let error = ((squares[k] / count - mean * mean) / count).sqrt();
        assert!(
            (mean - known[k]).abs() < 4.0 * error,
            "{}: {mean} ± {error}",
            wrt[k]
        );
    }
}

/// Agents that read one another.
const WORLDS: Model = (
    "agents that read one another",
    "world 5 agents 10 steps 6 param a = 0.3 state x = 0.1 * f32(member + 1)
     world state m = 0.0
     step { x += 0.1 * (sum(for other in world: a * sin(other.x - x)) + world[(member + 1) % 5].x * m) }
     world step { m = m * 0.5 + a * mean(for other in world: other.x * other.x) }
     output x",
    &["a"],
);

/// All models whose derivatives are compared.
fn models() -> impl Iterator<Item = Model> {
    SMOOTH.iter().copied().chain([WORLDS])
}

/// Every derivative is near the central difference of two runs with the same draws.
#[test]
fn derivatives_are_near_differences() {
    for (what, source, wrt) in models() {
        let artifact = compiled(source, true);
        let outputs: Vec<String> = (artifact.manifest.outputs.iter())
            .map(|field| field.name.clone())
            .collect();
        let of: Vec<&str> = outputs.iter().map(String::as_str).collect();
        let columns = derivatives(source, &of, wrt, Backend::Cpu);
        let gradient = gradient::forward(&artifact, &of, wrt).expect("a gradient");
        for (derivative, column) in gradient.derivatives.iter().zip(&columns[of.len()..]) {
            let at = |h: f32| {
                let field = (artifact.manifest.params.iter())
                    .find(|param| derivative.wrt.starts_with(&param.field.name))
                    .expect("a param");
                let words = field.default.as_ref().expect("a default");
                let mut value: Vec<f32> = words.iter().map(|word| f32::from_bits(*word)).collect();
                let component = match derivative.wrt.split_once('.') {
                    Some((_, part)) => "xyzw".find(part).expect("a component"),
                    None => 0,
                };
                value[component] += h;
                let simulation = Simulation::from_artifact(artifact.clone());
                let simulation = simulation.param(&field.field.name, value).expect("floats");
                let run = simulation
                    .seed(5)
                    .backend(Backend::Cpu)
                    .run()
                    .expect("a run");
                run.output::<f32>(&derivative.of).expect("floats").to_vec()
            };
            let h = 4e-3;
            let (above, below) = (at(h), at(-h));
            for (agent, found) in column.iter().enumerate() {
                let difference = (above[agent] - below[agent]) / (2.0 * h);
                let scale = 1.0 + difference.abs() + above[agent].abs();
                assert!(
                    (found - difference).abs() < 2e-3 * scale,
                    "{what}: {} of agent {agent} is {found}, not {difference}",
                    derivative.output
                );
            }
        }
    }
}

/// Optimised and not, on the interpreter, the vector machine and a GPU.
#[test]
fn derivatives_agree_on_all_backends() {
    for (what, source, wrt) in models() {
        let artifact = compiled(source, true);
        let outputs: Vec<String> = (artifact.manifest.outputs.iter())
            .map(|field| field.name.clone())
            .collect();
        let of: Vec<&str> = outputs.iter().map(String::as_str).collect();
        let cpu = derivatives(source, &of, wrt, Backend::Cpu);
        let reference = derivatives(source, &of, wrt, Backend::Reference);
        assert_eq!(cpu, reference, "{what}");
        if has_gpu() {
            let gpu = derivatives(source, &of, wrt, Backend::Gpu);
            for (a, b) in cpu.iter().flatten().zip(gpu.iter().flatten()) {
                assert!(
                    (a - b).abs() <= 2e-4 * (1.0 + a.abs()),
                    "{what}: {a} and {b}"
                );
            }
        }
    }
}

/// A branch that is not taken does not make NaN of a derivative.
#[test]
fn a_branch_that_is_not_taken_leaves_no_nan() {
    let source = "agents 1 steps 1 param a = -0.5 state x = 0.0
        step { x = select(a * 2.0, sqrt(a), a > 0.0) + if a > 0.0 { log(a) } else { a } } output x";
    let columns = derivatives(source, &["x"], &["a"], Backend::Cpu);
    assert_eq!(columns[1], [3.0]);
}

/// The derivative by an agent's own input, and by each element of an array.
#[test]
fn inputs_and_elements_are_directions() {
    let source = "agents 3 steps 2 param w = [2.0, 3.0] input x0 = 1.5 + f32(agent) state x = x0
        step t { x = x * w[t] } output x";
    let columns = derivatives(source, &["x"], &["x0", "w"], Backend::Cpu);
    assert_eq!(columns[1], [6.0, 6.0, 6.0]);
    assert_eq!(columns[2], [4.5, 7.5, 10.5]);
    assert_eq!(columns[3], [3.0, 5.0, 7.0]);
}

/// What has no derivative is said.
#[test]
fn questions_without_an_answer_are_refused() {
    let refusal = |source: &str, of: &str, wrt: &str| {
        let found = gradient::forward(&compiled(source, true), &[of], &[wrt]);
        found.expect_err("no derivative").message
    };
    let says = |message: String, words: &str| assert!(message.contains(words), "{message}");
    let model = "agents 2 steps 2 param a = 0.5 param n = 3 input i = a * 2.0 state x = a
        state k = 0 state y = 0.0
        step { x += i k += poisson(y) y += 1.0 } output x output k output y";
    says(
        refusal(model, "z", "a"),
        "there is no output `z`; the outputs are x, k, y",
    );
    says(refusal(model, "x", "b"), "there is no param or input `b`");
    says(refusal(model, "x", "n"), "`n` is not a float");
    says(refusal(model, "k", "a"), "output `k` is not a float");
    says(
        refusal(model, "x", "a"),
        "input `i` is computed from `a` before the run",
    );
    says(refusal(model, "y", "i"), "output `y` cannot depend on `i`");
    for draw in [
        "f32(poisson(a))",
        "gamma(a, 1.0)",
        "f32(categorical([a, 0.5]))",
        "student_t(a)",
    ] {
        let model =
            format!("agents 2 steps 2 param a = 0.5 state x = a step {{ x += {draw} }} output x");
        let name = draw
            .trim_start_matches("f32(")
            .split('(')
            .next()
            .expect("a name");
        says(
            refusal(&model, "x", "a"),
            &format!("`{name}` is drawn with an argument that depends"),
        );
    }
    // A draw that the output does not depend on is none of its business, unless it decides what runs.
    let beside = "agents 2 steps 2 param a = 0.5 state x = 0.0 state k = 0
        step { x += a k += poisson(a) } output x output k";
    let found = gradient::forward(&compiled(beside, true), &["x"], &["a"]);
    assert!(found.is_ok(), "{found:?}");
    for decides in [
        "if k > 1 { x += a }",
        "if k > 1 { stop }",
        "for i in 0..k { if i > 2 { break } x += a }",
    ] {
        let source = beside.replace("} output x", &format!("{decides} }} output x"));
        says(
            refusal(&source, "x", "a"),
            "`poisson` is drawn with an argument that depends",
        );
    }
    let coupled = "world 2 agents 2 steps 2 input i = 0.5 state x = i
        step { x += sum(for other in world: other.x) } output x";
    says(
        refusal(coupled, "x", "i"),
        "does not take the derivative by an input from agent to agent",
    );
}

/// What an evaluation leaves for the next one has nothing of its values.
#[test]
fn a_second_evaluation_has_the_bits_of_a_first_one() {
    const MODEL: &str = "
        agents 700
        steps 10
        param rate = 0.5
        input start ~ uniform(0.5, 1.5)
        state x = start
        step { x = x * (1.0 + 0.1 * rate * uniform(0.0, 1.0)) + 0.01 * sin(start) }
        output x
    ";
    let gradient = |mode, seed: u64, rate: f32, backend| {
        let simulation = Simulation::compile(MODEL).expect("a model");
        let simulation = simulation.seed(seed).backend(backend).param("rate", rate);
        let found = simulation.expect("a param");
        let found = found.differentiate("x", &["rate", "start"], mode);
        let found = found
            .expect("derivatives")
            .gradient(Fold::Mean, &Control::default());
        found.expect("a gradient")
    };
    for mode in [GradientMode::Forward, GradientMode::Reverse] {
        let simulation = Simulation::compile(MODEL).expect("a model").seed(1);
        let simulation = simulation.backend(Backend::Cpu);
        let kept = simulation.differentiate("x", &["rate", "start"], mode);
        let mut kept = kept.expect("derivatives");
        for (seed, rate, backend) in [
            (1, 0.5, Backend::Cpu),
            (1, 0.75, Backend::Cpu),
            (2, 0.75, Backend::Cpu),
            (2, 0.25, Backend::Reference),
        ] {
            kept.set_seed(seed);
            kept.set_param("rate", rate).expect("a param");
            if backend == Backend::Reference {
                kept.set_backend(backend);
            }
            let found = kept
                .gradient(Fold::Mean, &Control::default())
                .expect("a gradient");
            let fresh = gradient(mode, seed, rate, backend);
            assert_eq!(found.device, fresh.device);
            assert_eq!(found.value.to_bits(), fresh.value.to_bits());
            assert_eq!(found.slopes.len(), 2);
            for (slope, other) in found.slopes.iter().zip(&fresh.slopes) {
                assert_eq!(
                    slope.value.to_bits(),
                    other.value.to_bits(),
                    "{mode:?} {seed} {rate}"
                );
                assert!(slope.value.is_finite() && slope.value > 0.0);
            }
        }
    }
}
