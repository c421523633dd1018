//! What is recorded and observed on a GPU: the same bits as on the CPU where the values are exact, however a
//! run is laid out or split.

use sim_runtime::{Backend, Control, Run, Series, Simulation, Tuning, Variation};
use sim_tests::launch::has_gpu;

/// Integers, truth values and floats without roundings.
const ALONE: &str = "
agents 700
steps 23
param rate = 3
input start: i32 = 5
state x = start + agent % 7
state on = true
state path: [i32; 5] = [0, 0, 0, 0, 0]
step t {
    x = (x * rate + randint(0, 9)) % 101
    on = x % 3 != 0
    path[x % 5] += 1
    if t > 9 && x == 50 { stop }
}
record x
record seen = path every 4
record pair = vec2(f32(x), if on { 0.5 } else { 0.25 }) every 5
record on every 23
observe total = sum(x)
observe share = mean(on) every 3
observe halves = sum(vec2(0.5 * f32(x), 1.0)) every 2
observe low = min(x) every 7
observe high = max(0.5 * f32(x))
observe number = count(on)
observe some = any(x > 99)
observe every_one = all(x < 101)
observe spread = var(x) every 6
observe mid = quantiles(x, 0.1, 0.5) every 6
observe bins = histogram(x, 0.0, 100.0, 10) every 6
output x
output path
";

/// Few values, whose samples are kept before they are combined.
const FEW: &str = "
agents 700
steps 90
state x = agent % 7
state y = 0.5
step t {
    x = (x * 3 + randint(0, 9) + t) % 101
    y = 0.25 * f32(x % 8)
    // stops
}
observe total = sum(x)
observe low = min(y) every 3
observe many = count(x > 50) every 40
record x every 5
output x
";

/// The same in worlds, which have series of their own.
const WORLDS: &str = "
steps 19
world input pull: i32 = 3
world state price = 100
state x = member + 3 * world.number
step {
    x = (x + world[member + 1].x + randint(0, 9) + price) % 211
}
world step {
    price += sum(for other in world: other.x) % 7 + pull - 4
}
record x every 2
observe total = sum(x)
observe prices = mean(f32(price)) every 3
world observe price
world observe least = min(x) every 4
world observe middle = quantiles(x, 0.5) every 5
world observe first = world[0].x + max(for other in world: other.x) every 3
world output price
output x
";

fn assert_same(got: &[Series], expected: &[Series], what: &str) {
    assert_eq!(got.len(), expected.len());
    for (got, expected) in got.iter().zip(expected) {
        let name = expected.name();
        assert_eq!(got.steps, expected.steps, "{what}: {name}");
        assert_eq!(got.column.shape, expected.column.shape, "{what}: {name}");
        // A variance of one value is NaN.
        let words = |series: &Series| series.column.values.words();
        assert_eq!(words(got), words(expected), "{what}: {name}");
    }
}

fn tunings() -> Vec<(String, Tuning)> {
    let mut all = Vec::new();
    for chunk in [None, Some(300)] {
        for steps in [None, Some(1), Some(5)] {
            let tuning = Tuning {
                max_agents_per_chunk: chunk,
                steps_per_dispatch: steps,
                ..Tuning::AUTO
            };
            all.push((format!("chunk {chunk:?}, steps {steps:?}"), tuning));
        }
    }
    all
}

fn check(source: &str, agents: u32, members: Option<u32>) {
    let simulation = |backend| -> Simulation {
        let simulation = Simulation::compile(source).unwrap_or_else(|error| panic!("{error}"));
        let simulation = simulation.agents(agents).seed(7).backend(backend);
        match members {
            Some(members) => simulation.world(members),
            None => simulation,
        }
    };
    let expected: Run = simulation(Backend::Reference).run().expect("runs");
    let vector = simulation(Backend::Cpu).run().expect("runs");
    assert_same(vector.series(), expected.series(), "vectors");
    if !has_gpu() {
        return;
    }
    for (name, tuning) in tunings() {
        let run = simulation(Backend::Gpu).tuning(tuning).run();
        let run = run.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_same(run.series(), expected.series(), &name);
        assert_eq!(run.outputs()[0].values, expected.outputs()[0].values);
    }
    let reduced = simulation(Backend::Gpu).keep_outputs(false);
    let tuning = Tuning {
        reduce: Some(true),
        ..Tuning::AUTO
    };
    let reduced = reduced.tuning(tuning).run().expect("runs");
    assert_same(reduced.series(), expected.series(), "without outputs");
    let seeds: Vec<Variation> = (0..5).map(|seed| Variation::new().seed(seed)).collect();
    let all = |backend| -> Vec<Run> {
        let mut runs = Vec::new();
        let each = |_, run| runs.push(run);
        let done = simulation(backend).run_each(&seeds, &Control::default(), each);
        done.expect("runs");
        runs
    };
    for (k, (run, expected)) in all(Backend::Gpu).iter().zip(all(Backend::Cpu)).enumerate() {
        assert_same(run.series(), expected.series(), &format!("run {k}"));
    }
}

#[test]
fn agents_alone_are_sampled() {
    for agents in [1, 127, 128, 129, 700] {
        check(ALONE, agents, None);
    }
}

#[test]
fn few_values_are_kept_before_they_are_combined() {
    for agents in [1, 127, 129, 700] {
        check(FEW, agents, None);
    }
    check(
        &FEW.replace("// stops", "if x == 77 && t > 50 { stop }"),
        300,
        None,
    );
}

#[test]
fn worlds_are_sampled() {
    for (agents, members) in [(6, 1), (35, 7), (640, 32), (99, 33), (900, 300)] {
        check(WORLDS, agents, Some(members));
    }
}

#[test]
fn only_what_is_observed_is_read_back() {
    if !has_gpu() {
        return;
    }
    let source =
        "agents 5_000\nsteps 40\nstate x = 0\nstep { x += randint(0, 3) }\nobserve m = sum(x)\n";
    let run = |backend| {
        let simulation = Simulation::compile(source).expect("compiles");
        simulation.backend(backend).run().expect("runs")
    };
    let (gpu, cpu) = (run(Backend::Gpu), run(Backend::Cpu));
    assert_same(gpu.series(), cpu.series(), "observed");
    assert_eq!(
        gpu.observed("m")
            .expect("observed")
            .values::<i32>()
            .expect("ints")
            .len(),
        41
    );
}
