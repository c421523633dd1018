//! Derivatives by reverse mode: against forward mode, formulas and differences, and on all backends.
//!
//! Without an adapter the GPU's part is skipped with a message; with `SIM_REQUIRE_GPU=1` it fails.

use sim_compiler::manifest::{Scalar, Source};
use sim_compiler::{Options, artifact::Artifact, compile_with, gradient};
use sim_runtime::{Backend, Control, Seed, Simulation};

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

/// The derivatives of outputs by each float: per output and float, of each agent.
fn backwards(artifact: &Artifact, of: &[&str], wrt: &[&str], backend: Backend) -> Vec<Vec<f32>> {
    let programs = gradient::reverse(artifact, of, wrt).unwrap_or_else(|why| panic!("{why}"));
    let simulation = Simulation::from_artifact(artifact.clone());
    let simulation = simulation.seed(5).backend(backend);
    let seeds = (0..of.len()).map(|output| Seed { output, place: 0 });
    let seeds: Vec<Seed> = seeds.collect();
    let found = simulation
        .reverse(&programs, &seeds, &Control::default())
        .expect("a run");
    found.derivatives.concat()
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

/// What derivatives go wrong in; all outputs are floats, and depend on all params and inputs.
const MODELS: &[(&str, &str, &[&str])] = &[
    (
        "a value that is read twice, and overwritten",
        "agents 3 steps 5 param a = 0.7 state x = a
         step { x = x * x + a * x let y = x x = y - a * y * x } output x",
        &["a"],
    ),
    (
        "elements at computed places, swizzles and vectors",
        "agents 7 steps 4 param a = 0.3 param v = vec3(0.5, -0.2, 0.9)
         state w = [a, a * a, 1.0, 2.0 + a] state q = v
         step t {
             w[(agent + t) % 4] = w[(agent + 2 * t + 1) % 4] * a + q.y
             q.zx = q.xy * w[t % 4] + vec2(a, 1.0)
             q = q / (2.0 + dot(q, q)) + normalize(q) * 0.1 + cross(q, v) * a
         }
         output x = w[agent % 4] + length(q) + distance(q, v)",
        &["a", "v"],
    ),
    (
        "a function with branches, early returns and params",
        "agents 9 steps 3 param a = 0.4 param b = 1.3
         fn inner(x: f32) -> f32 { return b * sin(x) + x }
         fn bent(x: f32, n: i32) -> f32 {
             if n > 4 { return a * x * x }
             var s = x
             for k in 0..n { if k == 3 { break } s = s * 0.9 + inner(s) * a }
             return s
         }
         state x = 0.1
         step { x += 0.2 * bent(x + b, agent) } output x",
        &["a", "b"],
    ),
    (
        "a stop, a while and states that only one branch assigns",
        "agents 6 steps 8 param a = 0.9 state x = 1.0 + 0.1 * f32(agent) state y = 0.0
         step t {
             if t == agent { stop }
             if agent % 2 == 0 { x = x * a } else { y = y + a * x }
             while x < 0.8 limit 5 { x += 0.25 * a }
         } output z = x + y * y",
        &["a"],
    ),
    (
        "a stop within a loop, behind assignments",
        "agents 6 steps 8 param a = 0.9 state x = 1.0 + 0.1 * f32(agent)
         step t {
             x = x * a
             for k in 0..4 { x = x * x + 0.1 * a if t + k == agent { stop } x = sin(x) }
             x = x + a * a
         } output x",
        &["a"],
    ),
    (
        "the equations of Lotka and Volterra",
        "agents 1 steps 200 param alpha = 1.5 param beta = 1.0 param prey0 = 1.2
         state prey = prey0 state hunter = 0.8
         step { integrate rk4(0.02) {
             prey' = alpha * prey - beta * prey * hunter
             hunter' = -3.0 * hunter + prey * hunter
         } } output x = prey output y = hunter",
        &["alpha", "beta", "prey0"],
    ),
    (
        "draws",
        "agents 50 steps 3 param a = 0.4 param b = 1.7 state x = a
         step { x += a * normal(b, a) + uniform(a, b) + exponential(b) + lognormal(a, 0.3) + laplace(a, b) }
         output x",
        &["a", "b"],
    ),
    (
        "functions of one argument",
        "agents 1 steps 1 param a = 0.37 state x = 0.0
         step {
             x = sin(a) + cos(a) * tan(a) + asin(a) * acos(a) + atan(a) + sinh(a) * cosh(a) + tanh(a)
             x += asinh(a) + acosh(1.0 + a) * atanh(a) + exp(a) * exp2(a) + log(a) + log2(a) * sqrt(a)
             x += inverseSqrt(a) + erf(a) * erfc(a) + sigmoid(a) * softplus(a) + relu(a) + fract(a)
             x += normal_cdf(a) + normal_quantile(a) + gamma(a) * lgamma(a) + abs(-a) + radians(degrees(a))
         } output x",
        &["a"],
    ),
    (
        "functions of several arguments, and vectors component by component",
        "agents 1 steps 1 param a = 0.37 param b = 1.4 state x = 0.0
         step {
             x = atan2(a, b) + pow(b, a) + a ** 3 + max(a, b) * min(a, b) + mix(a, b, a) + fma(a, b, a)
             x += clamp(a * b, 0.0, 2.0) + smoothstep(0.0, b, a) + select(a, b, a < b) + (b % a)
             let v = sin(vec3(a, b, a * b)) * exp(vec3(b)) + max(vec3(a), vec3(b, 0.1, 0.2))
             x += v.x * v.y + v.z
         } output x",
        &["a", "b"],
    ),
    (
        "loops in loops, whose values go from iteration to iteration",
        "agents 4 steps 3 param a = 0.6 param w = [0.3, -0.2, 0.5, 0.1, 0.7, -0.4] state x = 0.4 + 0.1 * f32(agent)
         step {
             var h = [0.0, 0.0, 0.0]
             for i in 0..3 {
                 var s = a
                 for j in 0..2 { s = s * 0.5 + w[i * 2 + j] * x }
                 h[i] = tanh(s)
             }
             for i in 0..3 { x = x * a + h[i] * h[(i + 1) % 3] }
             for i in 0..3 { h[i] = h[i] * h[(i + 1) % 3] x += sin(h[i]) }
         } output x",
        &["a", "w"],
    ),
    (
        "loops whose number of iterations depends on states",
        "agents 8 steps 4 param a = 0.8 state x = 0.3 + 0.2 * f32(agent) state n = agent
         step {
             for k in 0..n { x = x * a + sin(x) * 0.3 for m in k..n { x = x * 0.9 + 0.1 * sin(x * x) } }
             var y = x
             while y > 0.2 limit 3000 { y = y * 0.5 + 0.01 * a * y * y x += y * y }
             n = (n * 3 + 1) % 7
         } output x",
        &["a"],
    ),
    (
        "arrays that loops change, and conditions within them",
        "agents 5 steps 3 param a = 0.9 state u = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
         step t {
             for i in 1..7 { u[i] = u[i] + 0.1 * a * (u[i - 1] * u[i + 1] - 2.0 * u[i] * u[i]) }
             if agent % 2 == 0 {
                 for i in 0..8 { if i == 5 { continue } u[(i + t) % 8] = 0.5 * sin(u[i]) * u[(i + 3) % 8] + 0.1 * a if u[i] > 0.5 { break } }
             }
             for i in 0..4 { for j in 0..2 { u[i + j] = sin(u[i]) * u[i + 1 + j] + 0.1 } }
         } output x = u[0] + u[1] * u[2] + u[3] + u[5] * u[7]",
        &["a"],
    ),
    (
        "inputs and elements",
        "agents 3 steps 2 param w = [2.0, 3.0] input x0 = 1.5 + f32(agent) input v = vec2(0.5, f32(agent))
         state x = x0 step t { x = x * w[t] + dot(v, v) * x0 } output x output y = x * x + v.y",
        &["x0", "w", "v"],
    ),
    (
        "no step, and outputs of params alone",
        "agents 3 param a = 0.5 input b = 1.0 state x = a * a * b output x output y = a * x * b",
        &["a", "b"],
    ),
    (
        "structs, and lets within conditions",
        "agents 5 steps 3 struct P { at: vec2, mass: f32 } param p = P(vec2(0.3, 0.4), 2.0)
         state q = p
         step { if agent > 2 { let d = q.at * p.mass let e = d.x * d.y q.at = d * 0.1 + e q.mass = q.mass * e }
             else { let d = q.mass * q.mass q.at.y = d + q.at.x * q.at.y } }
         output x = q.at.x * q.at.y + q.mass + p.at.x",
        &["p"],
    ),
];

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
    for (what, source, wrt) in MODELS {
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
            let programs = gradient::reverse(artifact, &of, &[&wrt]);
            let tangents = gradient::forward(artifact, &of, &[&wrt]);
            let (programs, tangents) = match (programs, tangents) {
                (Ok(programs), Ok(tangents)) => (programs, tangents),
                (Err(_), Err(_)) => {
                    tally.refused += 1;
                    continue;
                }
                (Err(why), Ok(_)) if why.message.contains("worlds") => {
                    tally.refused += 1;
                    continue;
                }
                (Ok(_), Err(why)) if why.message.contains("are too many") => continue,
                (programs, tangents) => panic!(
                    "{what}: {} by {wrt}: {:?} backwards, {:?} forwards",
                    output.name,
                    programs.err(),
                    tangents.err()
                ),
            };
            let simulation = set(Simulation::from_artifact(tangents.artifact.clone()));
            let run = simulation.run().expect("a run");
            let values = output.values() as usize;
            let place = values / 2;
            let expected: Vec<Vec<f32>> = (tangents.derivatives.iter())
                .map(|derivative| {
                    let rows = run.output::<f32>(&derivative.output).expect("floats");
                    rows.iter().skip(place).step_by(values).copied().collect()
                })
                .collect();
            let simulation = set(Simulation::from_artifact(artifact.clone()));
            let seeds = [Seed { output: 0, place }];
            let found = simulation.reverse(&programs, &seeds, &Control::default());
            let found = found
                .unwrap_or_else(|why| panic!("{what}: {why}"))
                .derivatives;
            if !expected.iter().flatten().all(|value| value.is_finite()) {
                tally.not_finite += 1;
                continue;
            }
            let question = format!("{what}: {} by {wrt}", output.name);
            compare(&question, &found[0], &expected);
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

/// All derivatives of random models; `SIM_GRADIENTS` says of how many.
#[test]
fn backwards_is_forwards_in_random_models() {
    let count = std::env::var("SIM_GRADIENTS").ok();
    let count: u64 = count.map_or(300, |count| count.parse().expect("a number"));
    let mut tally = Tally::default();
    for seed in 0..count {
        let source = sim_tests::generate::model(seed);
        let artifact = compiled(&source, seed % 4 != 0);
        tally += compare_all(&format!("model {seed}"), &artifact, |simulation| {
            simulation.seed(seed).backend(Backend::Cpu)
        });
    }
    println!("{count} models: {tally:?}");
    assert!(u64::from(tally.compared) > count / 4, "{tally:?}");
}

/// All derivatives of the examples that need no data.
#[test]
fn backwards_is_forwards_in_the_examples() {
    let mut tally = Tally::default();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../lang-examples");
    for entry in std::fs::read_dir(folder).expect("the examples") {
        let path = entry.expect("a file").path();
        let needs_data = |artifact: &Artifact| {
            let manifest = &artifact.manifest;
            let params = manifest.params.iter().any(|param| param.default.is_none());
            let inputs = manifest.inputs.iter();
            let inputs = inputs
                .filter(|input| input.source == Source::Required)
                .count();
            params || inputs > 0 || !manifest.data.is_empty()
        };
        if path.extension().is_none_or(|ending| ending != "sim") {
            continue;
        }
        let artifact = compiled(&std::fs::read_to_string(&path).expect("a text"), true);
        if needs_data(&artifact) {
            println!("{}: needs data", path.display());
            continue;
        }
        let name = path
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let found = compare_all(&name, &artifact, |simulation| {
            simulation.seed(1).agents(8).steps(23).backend(Backend::Cpu)
        });
        println!("{name}: {found:?}");
        tally += found;
    }
    assert!(tally.compared > 20, "{tally:?}");
}
