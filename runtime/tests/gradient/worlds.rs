//! Reverse mode of models whose agents depend on one another: against forward mode, differences and formulas.
//!
//! Backwards an agent has what it adds to the derivative of the sum over its world. So sums over worlds are
//! compared.

use super::{compare, compiled, floats, singles};
use sim_compiler::{artifact::Artifact, gradient, manifest::Scalar};
use sim_runtime::{Backend, Control, GradientMode, Simulation};
use sim_tests::launch::has_gpu;

/// What is said of it, and the model, whose outputs are floats that depend on all of its params.
type Model = (&'static str, &'static str);

const MODELS: &[Model] = &[
    (
        "a fold with a filter, its own state and a param in it",
        "agents 10 world 5 steps 6 param a = 0.3 input start: f32 = 0.2 * f32(member) state x = start + a
         step {
             let f = sum(for o in world if o.member != member: a * (o.x - x) * (o.x - x))
             x = 0.8 * x + 0.1 * f / (1.0 + f * f)
         }
         output x",
    ),
    (
        "sums over the world in two phases, means of means, and a state of the world",
        "agents 10 world 5 steps 5 param a = 0.4 param b = 0.1 input start: f32 = 0.3 * f32(member) - 0.4
         world state level = b
         state x = start state slope = 0.0
         step {
             let c = mean(for o in world: cos(o.x)) let s = mean(for o in world: sin(o.x * a))
             slope = a * (s * cos(x) - c * sin(x)) + b * level
             x += 0.5 * slope
         }
         world step t {
             level = 0.8 * level + mean(for o in world: o.x * o.slope)
             if t > 1 { level += 0.1 * sum(for o in world: o.x) * level }
         }
         step { x += 0.2 * level * slope * mean(for o in world: o.x - level) }
         output y = x * level
         output share = x / (3.0 + sum(for o in world: o.x * o.x))",
    ),
    (
        "reads of single agents, some in loops and under conditions",
        "agents 10 world 5 steps 4 param a = 0.2 param w = [0.5, -0.3, 0.1]
         input start: f32 = 0.3 * f32(member) input mass: f32 = 1.0 + f32(member)
         state x = start state q = [a, start, 1.0]
         step t {
             var s = a * world[(member + 1) % 5].x * x
             for n in 0..3 {
                 if n != 1 || t > 1 { s += w[n] * sin(world[(member * n + t) % 5].x * x) }
                 s += 0.1 * world[(member + n) % 5].q[(n + t) % 3] * q[n]
             }
             if x > 0.2 { s -= 0.1 * world[4 - member].mass * x }
             x = 0.5 * x + 0.3 * s
             q[t % 3] = x * q[(t + 1) % 3]
         }
         output x output far = world[(member + 2) % 5].x * x",
    ),
    (
        "vectors, several sums in one loop, branches, functions, and what the loop captures",
        "agents 10 world 5 steps 5 param reach = 0.8 param pull = vec2(0.2, 0.3)
         input place: vec2 = vec2(0.3 * f32(member), 0.1 * f32(member * member))
         state p = place state v = vec2(0.1, 0.0)
         fn force(d: vec2, r: f32) -> vec2 {
             let q = dot(d, d)
             if q > 4.0 { return vec2(0.0, 0.0) }
             return d * exp(-q / (r * r))
         }
         step {
             p += 0.1 * v
             let here = p
             let scale = 1.0 + 0.1 * dot(v, v)
             var near_sum = vec2(0.0, 0.0)
             var count = 0.0
             for o in world {
                 let f = force(o.p - here, reach) * scale
                 if o.member != member { near_sum += f * o.v.x + pull * f count += exp(-dot(f, f)) }
             }
             v = 0.9 * v + near_sum / (1.0 + count)
         }
         output p output speed = length(v)",
    ),
    (
        "arrays of agents that a loop reads of both, and draws of agents and of worlds",
        "agents 10 world 5 steps 4 param a = 0.6
         input first: [f32; 3] = [for k in 0..3: 0.1 * f32(k + member)]
         state w = first state x = a
         world state noise = 0.0
         world step { noise = 0.1 * normal() * a }
         step {
             let z = normal(0.0, a)
             let s = sum(for o in world: sum(for k in 0..3: o.w[k] * w[2 - k]) * o.first[1] * z)
             x += 0.1 * s + noise * x
         }
         step { for k in 0..3 { w[k] = 0.7 * w[k] + 0.05 * x * w[(k + 1) % 3] } }
         output x output w",
    ),
    (
        "energies of pairs, taken over the world in the end",
        "agents 10 world 5 steps 3 param a = 0.5 input start: vec3 = vec3(f32(member), 0.3, 0.1 * f32(member))
         state p = start state e = 0.0
         world state whole = 0.0
         step { p += 0.1 * a * sum(for o in world: (o.p - p) / (1.0 + dot(o.p - p, o.p - p))) }
         world step t {
             if t == 2 {
                 whole = mean(for i in world: 0.5 * sum(for o in world if o.member != i.member:
                     a * inverseSqrt(dot(o.p - i.p, o.p - i.p) + a)))
             }
         }
         output energy = whole * p.x",
    ),
    (
        "no coupling, but several phases",
        "agents 6 steps 7 param a = 0.3 state x = a state y = 1.0
         step { x = x * y + a * normal() } step { y = 0.5 * y * x + a } output x output y",
    ),
];

/// Sums over worlds.
pub(super) fn by_world(values: &[Vec<f32>], members: u32) -> Vec<Vec<f32>> {
    let sums = |values: &Vec<f32>| {
        let worlds = values.chunks(members as usize);
        worlds
            .map(|world| world.iter().map(|x| f64::from(*x)).sum::<f64>() as f32)
            .collect()
    };
    values.iter().map(sums).collect()
}

/// What each agent adds to the derivatives of the sum of a value, by all floats of some params and inputs.
pub(super) fn parts(
    artifact: &Artifact,
    (of, place): (&str, usize),
    wrt: &[&str],
    (steps, set): (Option<u32>, impl Fn(Simulation) -> Simulation),
) -> Vec<Vec<f32>> {
    let steps = steps
        .or(artifact.manifest.steps)
        .expect("a number of steps");
    let found = gradient::reverse(artifact, of, place, wrt, steps);
    let found = found.unwrap_or_else(|why| panic!("{of}: {why}"));
    let simulation = set(Simulation::from_artifact(found.artifact)).steps(found.steps);
    let run = simulation.run().expect("a run");
    let column = |by: &gradient::By| {
        let (values, width) = (
            run.output::<f32>(&by.output).expect("floats"),
            by.field.values(),
        );
        let each = 0..width as usize;
        each.map(|k| {
            values
                .iter()
                .skip(k)
                .step_by(width as usize)
                .copied()
                .collect()
        })
        .collect::<Vec<Vec<f32>>>()
    };
    found.by.iter().flat_map(column).collect()
}

/// The number and the options of a launch.
fn on(backend: Backend) -> (Option<u32>, impl Fn(Simulation) -> Simulation) {
    (None, move |simulation: Simulation| {
        simulation.seed(5).backend(backend)
    })
}

fn params(artifact: &Artifact) -> Vec<String> {
    let params = artifact.manifest.params.iter();
    let floats = params.filter(|param| param.field.scalar == Scalar::F32);
    floats.map(|param| param.field.name.clone()).collect()
}

/// The values of all outputs, by name.
fn values(artifact: &Artifact) -> Vec<(String, String, usize)> {
    let fields = artifact.manifest.outputs.iter();
    let each = |field: &sim_compiler::manifest::Field| {
        let spellings = field.spellings().into_iter().enumerate();
        let name = field.name.clone();
        spellings
            .map(|(place, value)| (name.clone(), value, place))
            .collect::<Vec<_>>()
    };
    fields.flat_map(each).collect()
}

/// Compares derivatives by params with those by forward mode.
fn compare_params(what: &str, artifact: &Artifact, steps: Option<u32>) {
    let set = |simulation: Simulation| {
        let simulation = simulation.seed(5).backend(Backend::Cpu);
        match steps {
            Some(steps) => simulation.steps(steps),
            None => simulation,
        }
    };
    let wrt = params(artifact);
    let wrt: Vec<&str> = wrt.iter().map(String::as_str).collect();
    for (output, value, place) in values(artifact) {
        let tangents = gradient::forward(artifact, &[&output], &wrt);
        let tangents = tangents.unwrap_or_else(|why| panic!("{what}: {why}"));
        let run = set(Simulation::from_artifact(tangents.artifact))
            .run()
            .expect("a run");
        let agents = artifact.manifest.agents.expect("agents") as usize;
        let width = run.output::<f32>(&output).expect("floats").len() / agents;
        let expected: Vec<Vec<f32>> = (tangents.derivatives.iter())
            .map(|derivative| {
                let rows = run.output::<f32>(&derivative.output).expect("floats");
                rows.iter().skip(place).step_by(width).copied().collect()
            })
            .collect();
        let members = run.report().agents / run.report().worlds;
        let found = parts(artifact, (&output, place), &wrt, (steps, set));
        compare(
            &format!("{what}: {value}"),
            &by_world(&found, members),
            &by_world(&expected, members),
        );
    }
}

#[test]
fn worlds_backwards_are_worlds_forwards() {
    for (what, source) in MODELS {
        for optimise in [true, false] {
            let artifact = compiled(source, optimise);
            compare_params(what, &artifact, None);
        }
    }
}

/// Runs of no steps, of one segment, of several, and with a shorter last one.
#[test]
fn worlds_are_swept_in_segments() {
    for (what, source) in MODELS {
        let artifact = compiled(source, true);
        for steps in [0, 1, 16, 17, 36, 61] {
            // Without a step some outputs depend on no param, and forward mode has zeros then.
            let what = format!("{what}, {steps} steps");
            compare_params(&what, &artifact, Some(steps));
        }
    }
}

#[test]
fn worlds_agree_on_all_backends() {
    for (what, source) in MODELS {
        let artifact = compiled(source, true);
        let wrt = floats(&artifact);
        let wrt: Vec<&str> = wrt.iter().map(String::as_str).collect();
        let (output, _, place) = &values(&artifact)[0];
        let of = (output.as_str(), *place);
        let cpu = parts(&artifact, of, &wrt, on(Backend::Cpu));
        let reference = parts(&artifact, of, &wrt, on(Backend::Reference));
        assert_eq!(cpu, reference, "{what}: the interpreter");
        let plain = parts(&compiled(source, false), of, &wrt, on(Backend::Cpu));
        assert_eq!(cpu, plain, "{what}: not optimised");
        if has_gpu() {
            let gpu = parts(&artifact, of, &wrt, on(Backend::Gpu));
            compare(&format!("{what}, on a GPU"), &gpu, &cpu);
        }
    }
}

/// The sum of a value over all agents in `f64`, where one float of an input of an agent is another.
fn doubled(artifact: &Artifact, of: (&str, usize), input: &str, values: &[f32]) -> f64 {
    let simulation = Simulation::from_artifact(artifact.clone()).seed(5);
    let simulation = simulation.input(input, values.to_vec()).expect("floats");
    let agents: Vec<u32> = (0..artifact.manifest.agents.expect("agents")).collect();
    let run = simulation
        .run_double(&agents, &Control::default())
        .expect("a run");
    let field = artifact
        .manifest
        .outputs
        .iter()
        .position(|field| field.name == of.0);
    let column = &run.outputs[field.expect("an output")];
    let width = column.values.len() / agents.len();
    column.values.iter().skip(of.1).step_by(width).sum()
}

/// The derivative by each agent's input is that of the sum over its world.
#[test]
fn what_others_make_of_an_input_counts() {
    let mut compared = 0;
    for (what, source) in MODELS {
        let artifact = compiled(source, true);
        for input in &artifact.manifest.inputs {
            let name = &input.field.name;
            let width = input.field.values() as usize;
            let agents = artifact.manifest.agents.expect("agents") as usize;
            let floats: Vec<f32> = (0..agents * width).map(|k| 0.3 + 0.11 * k as f32).collect();
            let run = Simulation::from_artifact(artifact.clone()).seed(5);
            let run = run
                .input(name, floats.clone())
                .expect("floats")
                .backend(Backend::Cpu);
            for (output, value, place) in values(&artifact) {
                let found = run.derivatives(&value, &[name]).expect("a run");
                let found = singles(found);
                for at in (0..floats.len()).step_by(3) {
                    let step = 2.0_f32.powi(-10);
                    let moved = |by: f32| {
                        let mut values = floats.clone();
                        values[at] += by;
                        (
                            doubled(&artifact, (&output, place), name, &values),
                            f64::from(values[at]),
                        )
                    };
                    let ((high, above), (low, below)) = (moved(step), moved(-step));
                    let expected = (high - low) / (above - below);
                    let found = f64::from(found[at % width][at / width]);
                    assert!(
                        (found - expected).abs() <= 2e-4 * expected.abs().max(1.0),
                        "{what}: {value} by {name} {at} is {found}, not {expected}"
                    );
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 50, "{compared}");
}

/// What reverse mode does not pass through is said, at its place.
#[test]
fn what_has_forward_mode_only_is_refused() {
    for (step, words) in [
        (
            "step { x += p if x > 2.0 { stop } x += world[0].x }",
            "agents that stop",
        ),
        (
            "step { var m = 0.0 for o in world { m = max(m, o.x) } x = m }",
            "folds over the world that sum up",
        ),
        (
            "step { var m = 0.0 for o in world { if m < 3.0 { m += o.x } } x = m }",
            "folds over the world that sum up",
        ),
        (
            "step { var s = 0.0 for o in world { s += o.x * uniform(0.0, 1.0) } x = s }",
            "a draw within a fold",
        ),
        (
            "step { for k in 0..3 { x += sum(for o in world: o.x * x) } }",
            "a fold over the world within a loop",
        ),
        (
            "world step { for k in 0..3 { w += w * sum(for o in world: o.x) } } step { x += w }",
            "a fold over the world within a loop",
        ),
        (
            "step { for k in 0..n { x += world[k % 2].x * p } }",
            "in a long loop",
        ),
        (
            "step { for k in 0..2000 { x += world[k % 2].x * p } }",
            "in a long loop",
        ),
        (
            "world step { w = max(for o in world: o.x) } step { x += w }",
            "`max` over a world",
        ),
    ] {
        let source = format!(
            "world 2 agents 4 steps 3 param p = 0.5 param n = 3 world state w = 1.0
             state x = p {step} output x"
        );
        let found = gradient::reverse(&compiled(&source, true), "x", 0, &["p"], 3);
        let refused = found.expect_err("no derivative");
        assert!(
            refused.message.contains(words),
            "{step}: {}",
            refused.message
        );
        let is_stop = words == "agents that stop";
        let place = refused
            .span
            .map(|span| &source[span.start as usize..span.end as usize]);
        assert!(
            is_stop || place.is_some_and(|place| !place.is_empty()),
            "{step}: {place:?}"
        );
    }
}

/// A mode that has no derivatives advises the other one only if that has them.
#[test]
fn the_other_mode_is_advised_where_it_has_derivatives() {
    let source = |step: &str| {
        format!(
            "world 2 agents 4 steps 3 param p = 0.5 input start = 1.0 state x = start {step} output x"
        )
    };
    let stops = source("step { x += p if x > 2.0 { stop } x += world[0].x }");
    let passes = source("step { x += p * world[0].x }");
    let refused = |source: &str, name: &str, mode: GradientMode| {
        let simulation = Simulation::compile(source).expect("a model");
        let found = simulation.differentiate("x", &[name], mode);
        found.map(|_| ()).expect_err("no derivative").to_string()
    };
    let forward = "forward mode does not take the derivative by an input from agent to agent";
    let reverse = "reverse mode is not there for agents that stop";
    let found = refused(&stops, "p", GradientMode::Reverse);
    assert!(
        found.contains(reverse) && found.contains(": use forward mode"),
        "{found}"
    );
    let found = refused(&passes, "start", GradientMode::Forward);
    assert!(
        found.contains(&format!("{forward}: use reverse mode")),
        "{found}"
    );
    for mode in [
        GradientMode::Forward,
        GradientMode::Reverse,
        GradientMode::Auto,
    ] {
        let found = refused(&stops, "start", mode);
        assert!(
            found.contains(forward) && found.contains(reverse),
            "{found}"
        );
        assert!(!found.contains(": use"), "{found}");
    }
}

/// States are kept for two roots of the steps, and many steps have the derivative of a formula.
#[test]
fn many_steps_take_two_roots_of_states() {
    const STEPS: u32 = 20_000;
    // The mean stays, and each agent tends to it.
    let source = "agents 4 world 2 param a = 0.001 input start = 1.0 + f32(agent) state x = start
        step { x += a * (mean(for o in world: o.x) - x) } output y = x * x";
    let artifact = compiled(source, true);
    let found = gradient::reverse(&artifact, "y", 0, &["start"], STEPS).expect("a program");
    let words = found.artifact.manifest.state_words;
    assert!((280..310).contains(&words), "{words}");
    let simulation = Simulation::from_artifact(artifact)
        .steps(STEPS)
        .backend(Backend::Cpu);
    let found = singles(simulation.derivatives("y", &["start"]).expect("a run"));
    // y = 2 m², dy/dm = 4 m, dm/dx = 1/2 in the limit.
    for (found, mean) in found[0].iter().zip([1.5, 1.5, 3.5, 3.5]) {
        assert!((found - 2.0 * mean).abs() < 1e-3, "{found} {mean}");
    }
}
