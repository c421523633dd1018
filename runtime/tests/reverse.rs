//! Derivatives by reverse mode: against forward mode, formulas and differences, and on all backends.
//!
//! Without an adapter the GPU's part is skipped with a message; with `SIM_REQUIRE_GPU=1` it fails.

#[path = "gradient/models.rs"]
mod models;
#[path = "gradient/worlds.rs"]
mod worlds;

use models::{Model, NESTED, SMOOTH};
use sim_compiler::{
    Options,
    artifact::Artifact,
    compile_with, gradient,
    ir::Len,
    manifest::{Scalar, Source},
};
use sim_runtime::{
    AgentDerivatives, Backend, Control, Differentiated, Element, Error, Fold, GradientMode,
    Simulation,
};
use sim_tests::launch::has_gpu;

/// All models in which derivatives go wrong.
fn models() -> impl Iterator<Item = Model> {
    SMOOTH.iter().chain(NESTED).copied()
}

fn compiled(source: &str, optimise: bool) -> Artifact {
    let options = Options {
        optimise,
        ..Options::default()
    };
    compile_with(source, options).unwrap_or_else(|found| panic!("{found:#?}"))
}

/// The names of the float outputs of a model that hold one value.
fn outputs(artifact: &Artifact) -> Vec<String> {
    let fields = artifact.manifest.outputs.iter();
    fields.map(|field| field.name.clone()).collect()
}

/// What computes the derivatives of a value of an output backwards.
fn reversed(simulation: &Simulation, output: &str, wrt: &[&str]) -> Result<Differentiated, Error> {
    simulation.differentiate(output, wrt, GradientMode::Reverse)
}

/// The derivatives of a model in `f32`.
fn singles(found: AgentDerivatives) -> Vec<Vec<f32>> {
    let all = found.derivatives.into_iter();
    all.map(|values| f32::vec(values).expect("floats"))
        .collect()
}

/// The derivatives of outputs by each float: per output and float, of each agent.
fn backwards(artifact: &Artifact, of: &[&str], wrt: &[&str], backend: Backend) -> Vec<Vec<f32>> {
    let simulation = Simulation::from_artifact(artifact.clone());
    let simulation = simulation.seed(5).backend(backend);
    let of_output = |output: &&str| {
        let found = reversed(&simulation, output, wrt).unwrap_or_else(|why| panic!("{why}"));
        let found = found.derivatives(&Control::default());
        singles(found.expect("a run"))
    };
    of.iter().flat_map(of_output).collect()
}

/// The same by forward mode.
fn forwards(artifact: &Artifact, of: &[&str], wrt: &[&str], backend: Backend) -> Vec<Vec<f32>> {
    let gradient = gradient::forward(artifact, of, wrt).unwrap_or_else(|why| panic!("{why}"));
    let simulation = Simulation::from_artifact(gradient.artifact);
    let run = simulation.seed(5).backend(backend).run().expect("a run");
    let derived = gradient.derivatives.iter().map(|one| one.output.as_str());
    derived
        .map(|name| run.output::<f32>(name).expect("floats").to_vec())
        .collect()
}

/// Is the difference small for numbers of this size?
fn near(found: f32, expected: f32, scale: f32) -> bool {
    found == expected
        || (found - expected).abs() <= 2e-4 * scale
        || (found.is_nan() && expected.is_nan())
}

fn compare(what: &str, found: &[Vec<f32>], expected: &[Vec<f32>]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (k, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert_eq!(found.len(), expected.len(), "{what}");
        let scale = expected
            .iter()
            .fold(1.0, |scale: f32, value| scale.max(value.abs()));
        for (agent, (a, b)) in found.iter().zip(expected).enumerate() {
            assert!(
                near(*a, *b, scale),
                "{what}: derivative {k} of agent {agent} is {a}, not {b}"
            );
        }
    }
}

#[test]
fn backwards_is_forwards() {
    for (what, source, wrt) in models() {
        for optimise in [true, false] {
            let artifact = compiled(source, optimise);
            let outputs = outputs(&artifact);
            let of: Vec<&str> = outputs.iter().map(String::as_str).collect();
            let expected = forwards(&artifact, &of, wrt, Backend::Cpu);
            let found = backwards(&artifact, &of, wrt, Backend::Cpu);
            compare(what, &found, &expected);
        }
    }
}

/// The floats of params, and of inputs that are not computed before the run, by name.
fn floats(artifact: &Artifact) -> Vec<String> {
    let manifest = &artifact.manifest;
    let params = manifest.params.iter().map(|param| &param.field);
    let fields = params.chain(manifest.inputs.iter().map(|input| &input.field));
    fields
        .filter(|field| field.scalar == Scalar::F32)
        .map(|field| field.name.clone())
        .collect()
}

/// What became of a model's questions.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    compared: u32,
    refused: u32,
    not_finite: u32,
}

/// Compares all derivatives of a model; the launch is that of `set`.
fn compare_all(what: &str, artifact: &Artifact, set: impl Fn(Simulation) -> Simulation) -> Tally {
    let mut tally = Tally::default();
    let outputs = artifact.manifest.outputs.iter();
    for output in outputs.filter(|field| field.scalar == Scalar::F32) {
        let of = [output.name.as_str()];
        for wrt in floats(artifact) {
            let values = output.values() as usize;
            let place = values / 2;
            let simulation = set(Simulation::from_artifact(artifact.clone()));
            let value = &output.spellings()[place];
            let programs = reversed(&simulation, value, &[&wrt]);
            let tangents = gradient::forward(artifact, &of, &[&wrt]);
            let (programs, tangents) = match (programs, tangents) {
                (Ok(programs), Ok(tangents)) => (programs, tangents),
                (Err(_), Err(_)) => {
                    tally.refused += 1;
                    continue;
                }
                (Err(why), Ok(_)) if why.to_string().contains("use forward mode") => {
                    tally.refused += 1;
                    continue;
                }
                (Ok(_), Err(why)) if why.message.contains("are too many") => continue,
                // Forward mode does not take inputs through worlds, nor folds that an output does not need.
                (Ok(_), Err(why)) if why.message.contains("from agent to agent") => {
                    continue;
                }
                (Ok(_), Err(why)) if why.message.contains("over a world is not supported") => {
                    continue;
                }
                (programs, tangents) => panic!(
                    "{what}: {} by {wrt}: {:?} backwards, {:?} forwards",
                    output.name,
                    programs.err(),
                    tangents.err()
                ),
            };
            let simulation = set(Simulation::from_artifact(tangents.artifact.clone()));
            let run = simulation.run().expect("a run");
            let expected: Vec<Vec<f32>> = (tangents.derivatives.iter())
                .map(|derivative| {
                    let rows = run.output::<f32>(&derivative.output).expect("floats");
                    rows.iter().skip(place).step_by(values).copied().collect()
                })
                .collect();
            let found = if gradient::agents_depend(artifact) {
                let steps = run.report().steps;
                worlds::parts(artifact, (of[0], place), &[&wrt], (Some(steps), &set))
            } else {
                let found = programs.derivatives(&Control::default());
                singles(found.unwrap_or_else(|why| panic!("{what}: {why}")))
            };
            if !expected.iter().flatten().all(|value| value.is_finite()) {
                tally.not_finite += 1;
                continue;
            }
            // Backwards an agent has what it adds to the sum over its world.
            let members = run.report().agents / run.report().worlds;
            let [found, expected] =
                [found, expected].map(|values| worlds::by_world(&values, members));
            let question = format!("{what}: {} by {wrt}", output.name);
            compare(&question, &found, &expected);
            tally.compared += 1;
        }
    }
    tally
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.compared += other.compared;
        self.refused += other.refused;
        self.not_finite += other.not_finite;
    }
}

/// All derivatives of random models: of so many from a number on, by `SIM_GRADIENTS` and `SIM_FIRST_MODEL`.
fn backwards_is_forwards_in(what: &str, count: u64, model: fn(u64) -> String) {
    let number = |name: &str, other| {
        let text = std::env::var(name).ok();
        text.map_or(other, |text| text.parse().expect("a number"))
    };
    let (count, first) = (number("SIM_GRADIENTS", count), number("SIM_FIRST_MODEL", 0));
    let mut tally = Tally::default();
    for seed in first..first + count {
        let artifact = compiled(&model(seed), seed % 4 != 0);
        tally += compare_all(&format!("{what} {seed}"), &artifact, |simulation| {
            simulation.seed(seed).backend(Backend::Cpu)
        });
    }
    println!("{count} of {what}: {tally:?}");
    assert!(
        u64::from(tally.compared) > count / 4 || count < 10,
        "{tally:?}"
    );
}

#[test]
fn backwards_is_forwards_in_random_models() {
    backwards_is_forwards_in("model", 300, sim_tests::generate::model);
}

/// The same of models with worlds.
#[test]
fn backwards_is_forwards_in_random_worlds() {
    backwards_is_forwards_in("world", 60, sim_tests::generate::world_model);
}

/// All derivatives of the examples, with other data than theirs.
#[test]
fn backwards_is_forwards_in_the_examples() {
    let mut tally = Tally::default();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../lang-examples");
    for entry in std::fs::read_dir(folder).expect("the examples") {
        let path = entry.expect("a file").path();
        if path.extension().is_none_or(|ending| ending != "sim") {
            continue;
        }
        let artifact = compiled(&std::fs::read_to_string(&path).expect("a text"), true);
        let inputs = &artifact.manifest.inputs;
        assert!(inputs.iter().all(|input| input.source != Source::Required));
        let name = path
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let found = compare_all(&name, &artifact, |simulation| {
            let mut simulation = simulation.seed(1).agents(8).steps(23).backend(Backend::Cpu);
            if artifact.manifest.world.is_some() {
                simulation = simulation.world(4);
            }
            for table in &artifact.manifest.data {
                let field = &table.field;
                let rows: u32 = if field.shape.first() == Some(&0) {
                    64
                } else {
                    1
                };
                let values =
                    (0..rows * field.values()).map(|k| ((k * 37) % 101) as f32 / 101.0 - 0.5);
                let set = match field.scalar {
                    Scalar::F32 => simulation.set_data(&field.name, values.collect::<Vec<f32>>()),
                    Scalar::F64 | Scalar::I32 | Scalar::U32 | Scalar::Bool => {
                        let values: Vec<u32> = values.map(|_| 0).collect();
                        simulation.set_data(&field.name, values)
                    }
                };
                set.expect("values of the table");
            }
            simulation
        });
        println!("{name}: {found:?}");
        tally += found;
    }
    assert!(tally.compared > 20, "{tally:?}");
}

/// Optimised and not, on the interpreter, the vector machine and a GPU.
#[test]
fn backwards_agrees_on_all_backends() {
    for (what, source, wrt) in models() {
        let artifact = compiled(source, true);
        let outputs = outputs(&artifact);
        let of: Vec<&str> = outputs.iter().map(String::as_str).collect();
        let cpu = backwards(&artifact, &of, wrt, Backend::Cpu);
        let reference = backwards(&artifact, &of, wrt, Backend::Reference);
        let plain = backwards(&compiled(source, false), &of, wrt, Backend::Cpu);
        assert_eq!(cpu, reference, "{what}: the interpreter");
        assert_eq!(cpu, plain, "{what}: not optimised");
        if has_gpu() {
            let gpu = backwards(&artifact, &of, wrt, Backend::Gpu);
            compare(&format!("{what}, on a GPU"), &gpu, &cpu);
        }
    }
}

/// The outputs of all agents in `f64`, where a value of a param is moved by `by`; and its value then.
fn doubled(artifact: &Artifact, name: &str, place: usize, by: f32) -> (Vec<Vec<f64>>, f64) {
    let simulation = Simulation::from_artifact(artifact.clone());
    let words = simulation.param_words(name).expect("a param");
    let mut values: Vec<f32> = words.into_iter().map(f32::from_bits).collect();
    values[place] += by;
    let moved = f64::from(values[place]);
    let simulation = simulation.param(name, values).expect("floats").seed(5);
    let agents = artifact.manifest.agents.expect("a number of agents");
    let agents: Vec<u32> = (0..agents).collect();
    let run = simulation
        .run_double(&agents, &Control::default())
        .expect("a run");
    (
        run.outputs
            .into_iter()
            .map(|column| column.values)
            .collect(),
        moved,
    )
}

/// Every derivative by a param is near the central difference of two runs in `f64` with the same draws.
#[test]
fn backwards_is_near_differences_in_double_precision() {
    for (what, source, _) in models() {
        let artifact = compiled(source, true);
        let outputs = outputs(&artifact);
        let of: Vec<&str> = outputs.iter().map(String::as_str).collect();
        for param in &artifact.manifest.params {
            let name = param.field.name.as_str();
            let found = backwards(&artifact, &of, &[name], Backend::Cpu);
            let width = param.field.values() as usize;
            for place in 0..width {
                let (above, right) = doubled(&artifact, name, place, 1.0 / 2048.0);
                let (below, left) = doubled(&artifact, name, place, -1.0 / 2048.0);
                for (output, (above, below)) in above.iter().zip(&below).enumerate() {
                    for (agent, found) in found[output * width + place].iter().enumerate() {
                        let difference = (above[agent] - below[agent]) / (right - left);
                        let scale = 1.0 + difference.abs();
                        let error = (f64::from(*found) - difference).abs();
                        assert!(
                            error < 1e-3 * scale,
                            "{what}: {} by {name}[{place}] of agent {agent} is {found}, not {difference}",
                            of[output]
                        );
                    }
                }
            }
        }
    }
}

/// The derivatives of output `x` by each float of `a`, of the first agent.
fn slopes(source: &str) -> Vec<f32> {
    let found = backwards(&compiled(source, true), &["x"], &["a"], Backend::Cpu);
    found.iter().map(|agents| agents[0]).collect()
}

/// A model of one step with the param `a`.
fn one_step(a: &str, step: &str) -> String {
    format!("agents 1 steps 1 param a = {a} state x = 0.0 step {{ {step} }} output x")
}

/// At a kink the side counts that the value took; a slope that is infinite is.
#[test]
fn kinks_take_the_side_of_the_value() {
    let pair = "[0.5, 0.5]";
    assert_eq!(slopes(&one_step(pair, "x = max(a[0], a[1])")), [1.0, 0.0]);
    assert_eq!(slopes(&one_step(pair, "x = min(a[0], a[1])")), [1.0, 0.0]);
    assert_eq!(slopes(&one_step("0.0", "x = abs(a)")), [0.0]);
    assert_eq!(slopes(&one_step("0.0", "x = relu(a) + 3.0 * a")), [3.0]);
    assert_eq!(slopes(&one_step("0.0", "x = sqrt(a)")), [f32::INFINITY]);
    let powers = one_step("[-2.0, 3.0]", "x = pow(a[0], a[1])");
    assert_eq!(slopes(&powers), [12.0, 0.0]);
    assert_eq!(slopes(&one_step("-2.0", "x = a ** 3")), [12.0]);
    assert!(slopes(&one_step("[0.0, 0.0]", "x = atan2(a[0], a[1])"))[0].is_nan());
}

/// An integer has no derivative, also where it becomes a float again.
#[test]
fn integers_pass_no_derivative_on() {
    for (value, slope) in [
        ("f32(i32(3.0 * a)) * a", 4.0),
        ("f32(u32(a) % 64u) - a", -1.0),
        ("f32(max(i32(a), 0)) + 2.0 * a", 2.0),
        (
            "f32(select(1, i32(a), a > 1.0)) + f32(a > 1.0) + 3.0 * a",
            3.0,
        ),
    ] {
        assert_eq!(
            slopes(&one_step("1.5", &format!("x = {value}"))),
            [slope],
            "{value}"
        );
    }
}

/// What was computed and not used does not make NaN of a derivative, wherever it was computed.
#[test]
fn what_is_not_used_leaves_no_nan() {
    for step in [
        "x = 2.0 * a + if a > 0.0 { log(a) } else { a }",
        "x = select(2.0 * a, sqrt(a), a > 0.0) + a",
        "let s = sqrt(a) x = 3.0 * a if a > 0.0 { x = s }",
        "let s = sqrt(a) * a x = 3.0 * a if a > 0.0 { x = s * s }",
        "x = sqrt(a) x = 3.0 * a",
        "x = 3.0 * a for k in 0..3 { let s = sqrt(a) / a if a > 0.0 { x += s } }",
        "let v = sqrt(vec2(a, 2.0)) let w = select(vec2(2.0, 1.0) * a, v, vec2(a, a).x > 0.0) x = w.x + w.y",
        "var v = sqrt(vec2(a, 2.0)) v.x = 3.0 * a x = v.x + v.y",
        "var u = [log(a), 1.0] u[0] = 3.0 * a x = u[0] + u[1]",
        "let n = normalize(vec2(sqrt(a), 1.0)) x = 3.0 * a if a > 0.0 { x = n.x }",
        "x = max(1.0, sqrt(a)) + 3.0 * a",
        "let s = pow(a, 0.5) x = 3.0 * a if s > 0.0 { x = s }",
    ] {
        assert_eq!(slopes(&one_step("-0.5", step)), [3.0], "{step}");
    }
}

/// So many steps that their states are kept in segments; the derivative by a formula.
#[test]
fn long_runs_are_swept_in_segments() {
    for steps in [1, 2, 3, 4, 5, 9, 10, 15, 16, 17, 20_000] {
        let source = format!(
            "agents 2 steps {steps} param a = 2.0 param b = 0.5 state x = b
             step {{ x += 0.0001 * (a - x) * f32(1 + agent) }} output x"
        );
        let found = backwards(&compiled(&source, true), &["x"], &["a", "b"], Backend::Cpu);
        for agent in 0..2 {
            let left = (1.0 - 0.0001 * f64::from(1 + agent)).powi(steps);
            for (found, exact) in [
                (found[0][agent as usize], 1.0 - left),
                (found[1][agent as usize], left),
            ] {
                let error = (f64::from(found) - exact).abs();
                assert!(error < 2e-4 * exact, "{steps} steps: {found} for {exact}");
            }
        }
    }
}

/// In memory are at most twice as many states as the root of the number of steps.
#[test]
fn states_are_kept_for_two_roots_of_the_steps() {
    let source = "agents 2 param a = 2.0 state x = 0.5 step { x = sin(a * x) } output x";
    let artifact = compiled(source, true);
    for steps in [1, 10, 100, 252, 1000, 100_000] {
        let found = gradient::reverse(&artifact, "x", 0, &["a"], steps).expect("a gradient");
        let vars = found.artifact.program.vars.iter();
        let elements = vars.filter_map(|var| match var.len {
            Len::Fixed(count) => Some(count),
            Len::One | Len::Open { .. } => None,
        });
        let kept: u32 = elements.sum();
        assert!(
            f64::from(kept) <= (2.0 * f64::from(steps).sqrt()).max(2.0),
            "{steps} steps: {kept}"
        );
    }
}

/// Where these do not fit an agent's memory, segments are cut again.
#[test]
fn segments_are_cut_until_they_fit() {
    for (words, steps) in [(24, 2_000), (60, 1_000), (120, 300)] {
        let source = format!(
            "agents 3 steps {steps} param a = 0.7 param b = 0.5
             state v: [f32; {words}] = [for k in 0..{words}: b + 0.01 * f32(k + agent)]
             step {{
                 let mean = sum(v) / {words}.0
                 for k in 0..{words} {{ v[k] += 0.01 * sin(a * v[k] + mean) }}
             }}
             output x = v[3] * v[5]"
        );
        let artifact = compiled(&source, true);
        let expected = forwards(&artifact, &["x"], &["a", "b"], Backend::Cpu);
        let found = backwards(&artifact, &["x"], &["a", "b"], Backend::Cpu);
        compare(&format!("{words} words, {steps} steps"), &found, &expected);
    }
}

/// Steps without a loop or a state have derivatives, too, and so have runs of no steps.
#[test]
fn runs_of_no_steps_have_derivatives() {
    let source = "agents 2 steps 0 param a = 2.0 state x = a * a step { x *= a } output x = x * a";
    assert_eq!(slopes(source), [12.0]);
}

/// Mean derivatives of output `loss`, with some params set.
fn means(source: &str, wrt: &[&str], params: &[(&str, &[f32])]) -> Vec<f64> {
    let artifact = compiled(source, true);
    let mut simulation = Simulation::from_artifact(artifact).steps(1);
    simulation.set_backend(Backend::Cpu);
    for (name, values) in params {
        simulation.set_param(name, *values).expect("floats");
    }
    let programs = reversed(&simulation, "loss", wrt).expect("a gradient");
    let found = programs.gradient(Fold::Mean, &Control::default());
    let found = found.expect("a run");
    found.slopes.iter().map(|slope| slope.value).collect()
}

fn expect(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        let error = (found - expected).abs();
        assert!(
            error < 1e-5 * expected.abs().max(1e-2),
            "{found} for {expected}"
        );
    }
}

/// What the script `scripts/fixtures/backwards.py` computes in double precision.
#[test]
fn a_logistic_regression_has_the_gradient_of_a_script() {
    let model = "agents 64 param w = [0.5, -0.25, 0.75] param b = 0.125
        fn feature(k: i32) -> f32 { return sin(0.1 * f32((agent + 1) * (k + 1))) }
        state z = b
        step { for k in 0..3 { z += w[k] * feature(k) } }
        output loss = if agent % 2 == 1 { softplus(-z) } else { softplus(z) }";
    let expected = [
        5.669_520_824e-2,
        -2.707_865_014e-2,
        8.493_434_394e-2,
        2.940_049_320e-2,
    ];
    expect(&means(model, &["w", "b"], &[]), &expected);
}

/// The same for a network.
#[test]
fn a_network_has_the_gradient_of_a_script() {
    let model = "agents 64
        param w1: [[f32; 3]; 5] param b1: [f32; 5] param w2: [f32; 5] param b2 = 0.0625
        state y = 0.0
        step {
            let x = [for k in 0..3: sin(0.1 * f32((agent + 1) * (k + 1)))]
            let h = [for j in 0..5: tanh(b1[j] + sum(for k in 0..3: w1[j][k] * x[k]))]
            y = b2 + sum(for j in 0..5: w2[j] * h[j])
        }
        output loss = (y - f32(agent % 2)) ** 2";
    let weight = |k: i32| (0.25 * (1.7 * f64::from(k)).sin()) as f32;
    let weights: Vec<f32> = (1..=20).map(weight).collect();
    let params = [
        ("w1", &weights[..15]),
        ("b1", &weights[15..]),
        ("w2", &weights[5..10]),
    ];
    #[rustfmt::skip]
    let expected = [
        8.148_301_454e-3, -9.226_041_006e-3, -3.889_016_322e-3, 1.738_348_481e-2, -6.626_907_398e-3,
        -1.428_133_301e-2, -1.535_993_804e-2, 6.267_307_190e-3, 1.144_358_800e-2, -1.220_440_467e-2,
        6.030_172_948e-3, 9.977_837_479e-3, 2.505_604_371e-2, -9.207_346_864e-3, -2.022_456_858e-2,
        1.565_503_776e-1, 1.463_633_050e-1, -1.985_780_833e-1, -9.234_758_241e-2, 2.290_751_084e-1,
        -2.496_713_443e-1, 1.285_773_490e-1, 2.107_714_862e-1, -1.433_960_598e-1, -1.349_028_077e-1,
        -1.002_348_891,
    ];
    expect(&means(model, &["w1", "b1", "w2", "b2"], &params), &expected);
}

/// What has no derivative is said, and what is not there yet.
#[test]
fn questions_without_an_answer_are_refused() {
    let refusal = |source: &str, of: &str, wrt: &str| {
        let found = gradient::reverse(&compiled(source, true), of, 0, &[wrt], 2);
        found.expect_err("no derivative").message
    };
    let says = |message: String, words: &str| assert!(message.contains(words), "{message}");
    let model = "agents 2 steps 2 param a = 0.5 param n = 3 state x = a state y = 0.0
        step { x += a * y y += f32(poisson(1.0)) } output x output y";
    says(refusal(model, "z", "a"), "there is no output `z`");
    says(refusal(model, "x", "n"), "`n` is not a float");
    says(refusal(model, "y", "a"), "output `y` cannot depend on `a`");
    let draws = "agents 2 steps 2 param a = 0.5 state x = a step { x += f32(poisson(a)) } output x";
    says(
        refusal(draws, "x", "a"),
        "`poisson` is drawn with an argument that depends",
    );
}
