//! A kernel's schedule changes no bit, with two exceptions: lanes change the order of sums, and `relax`
//! changes roundings. Every specimen and every example gives on the GPU what its plain kernel gives, however
//! many copies of the step an iteration has, with and without a step table, in one dispatch and in many.
//! Drivers of real GPUs contract `a * b + c` in one kernel and not in another, and `relax` is on there:
//! floats may differ by roundings, and nothing else may.

use super::{
    examples::{self, Outcome},
    files,
};
use serde_json::Value;
use sim_compiler::kernel::schedule::Schedule;
use sim_runtime::{Backend, Column, Device, Occupancy, Simulation, Tuning};
use sim_tests::{
    compare::{Tolerance, compare, outputs},
    expectation::Head,
    launch::{self, ELABORATE, PLAIN},
};

/// The schedules under which specimens also run, beside their expected numbers, and all for examples.
const OTHERS: [Tuning; 2] = [
    Tuning {
        steps_per_dispatch: Some(13),
        step_table: Some(true),
        unroll_steps: Some(8),
        ..PLAIN
    },
    ELABORATE,
];

/// Most steps of an example here.
const STEPS: u64 = 40;
/// The same where a driver rounds as it likes: a pole is pushed left or right, and soon the other way.
const STEPS_ROUNDED: u64 = 10;

/// The steps of an example on the adapter that is here.
fn most_steps() -> u64 {
    match sim_runtime::adapters().first() {
        Some(adapter) if adapter.kind.is_gpu() => STEPS_ROUNDED,
        Some(_) | None => STEPS,
    }
}

/// What differs between a model's plain kernel and others, if anything. Also: has any of them a step table?
fn difference(
    others: &[Tuning],
    make: impl Fn() -> Outcome<Simulation>,
) -> Outcome<(Option<String>, bool)> {
    let expected = make()?.tuning(launch::forced(PLAIN)).run()?;
    let mut has_table = false;
    for tuning in others {
        let run = make()?.tuning(launch::forced(*tuning)).run()?;
        let says_so = |decision: &sim_compiler::kernel::schedule::Decision| {
            decision.what.starts_with("a step table")
        };
        has_table |= run.report().decisions.iter().any(says_so);
        let tolerance = match &run.report().backend {
            Device::Gpu(adapter) if adapter.kind.is_gpu() => ROUNDED,
            Device::Gpu(_) | Device::Cpu(_) | Device::Reference => Tolerance::Bits,
        };
        if let Err(difference) = compare(&run, &expected, tolerance) {
            return Ok((Some(format!("{tuning:?}: {difference}")), has_table));
        }
    }
    Ok((None, has_table))
}

#[test]
fn specimens_do_not_depend_on_the_schedule() {
    if !launch::has_gpu() {
        return;
    }
    let (mut complaints, mut tables) = (Vec::new(), 0);
    for (name, source) in files::models_without_worlds("tests/run") {
        let make = || -> Outcome<Simulation> {
            Ok(Head::read(&source)?.launch(launch::simulation(&source, Backend::Gpu, true)?)?)
        };
        match difference(&OTHERS[..1], make) {
            Ok((complaint, has_table)) => {
                tables += usize::from(has_table);
                complaints.extend(complaint.map(|it| format!("{name}: {it}")));
            }
            Err(error) => complaints.push(format!("{name}: {error}")),
        }
    }
    println!("{tables} specimens have step tables");
    assert!(tables > 0);
    files::report("specimens depend on the schedule", complaints);
}

#[test]
fn examples_do_not_depend_on_the_schedule() {
    if !launch::has_gpu() {
        return;
    }
    let mut complaints = Vec::new();
    for (name, source) in files::models_without_worlds("lang-examples") {
        let attempt = || -> Outcome<(Option<String>, bool)> {
            let text = examples::read(&format!("fixtures/{name}.json"))?;
            let fixture: Value = serde_json::from_str(&text)?;
            let mut case = fixture["cases"][0].clone();
            let most = most_steps();
            let last = case["last_step"].as_u64();
            if (case["steps"].as_u64().or(last)).is_some_and(|steps| steps > most) {
                case["steps"] = most.into();
            }
            difference(&OTHERS, || match name.as_str() {
                "portfolio" => examples::portfolio_simulation(&case, Backend::Gpu),
                _ => examples::simulation(&source, &case, Backend::Gpu),
            })
        };
        match attempt() {
            Ok((complaint, has_table)) => {
                complaints.extend(complaint.map(|it| format!("{name}: {it}")));
                if name == "portfolio" && !has_table {
                    complaints.push("portfolio: it has no step table".to_owned());
                }
            }
            Err(error) => complaints.push(format!("{name}: {error}")),
        }
    }
    files::report("examples depend on the schedule", complaints);
}

/// What the order of a sum explains, after a few steps.
const ROUNDED: Tolerance = Tolerance::OfLargest(1e-4);

/// An output's values as numbers.
fn numbers(column: &Column) -> Vec<f64> {
    let values = &column.values;
    (0..values.len()).map(|at| values.number(at)).collect()
}

/// The models whose agents lanes can share; all others run as they are.
const SHARED: [&str; 10] = [
    "acrobot",
    "cartpole",
    "gbm",
    "griewank",
    "mountain_car",
    "pi",
    "portfolio",
    "rastrigin",
    "schwefel",
    "sphere",
];

/// An example's outputs under `tuning` that are not near those of its plain kernel; the first of them.
fn far_off(name: &str, source: &str, tuning: Tuning) -> Outcome<Option<String>> {
    let text = examples::read(&format!("fixtures/{name}.json"))?;
    let fixture: Value = serde_json::from_str(&text)?;
    let mut case = fixture["cases"][0].clone();
    if case["steps"].as_u64().is_some_and(|steps| steps > STEPS) {
        case["steps"] = STEPS.into();
    } else if case["steps"].is_null() && case["last_step"].is_u64() {
        // Later steps have no answer in single precision: a rounding there is another trajectory.
        case["steps"] = case["last_step"].clone();
    }
    let make = || match name {
        "portfolio" => examples::portfolio_simulation(&case, Backend::Gpu),
        _ => examples::simulation(source, &case, Backend::Gpu),
    };
    let expected = make()?.tuning(launch::forced(PLAIN)).run()?;
    let run = make()?.tuning(launch::forced(tuning)).run()?;
    let held = outputs(&run, &expected, ROUNDED);
    Ok(held
        .err()
        .map(|difference| format!("{name}, {tuning:?}: {difference}")))
}

/// What all examples are far off in.
fn all_far_off(tunings: &[Tuning]) -> Vec<String> {
    let mut complaints = Vec::new();
    for (name, source) in files::models_without_worlds("lang-examples") {
        for tuning in tunings {
            match far_off(&name, &source, *tuning) {
                Ok(complaint) => complaints.extend(complaint),
                Err(error) => complaints.push(format!("{name}: {error}")),
            }
        }
    }
    complaints
}

/// Lanes of an agent and whether they exchange by shuffles: those of a subgroup may, all can through
/// workgroup memory, and more than a subgroup has do both.
const EXCHANGES: [(u32, Option<bool>); 7] = [
    (2, None),
    (4, None),
    (8, None),
    (2, Some(false)),
    (4, Some(false)),
    (64, None),
    (128, Some(false)),
];

#[test]
fn lanes_change_no_more_than_the_order_of_sums() {
    if !launch::has_gpu() {
        return;
    }
    let tunings = EXCHANGES.map(|(lanes, shuffles)| Tuning {
        lanes: Some(lanes),
        shuffles,
        steps_per_dispatch: Some(7),
        ..Tuning::default()
    });
    files::report("examples depend on the lanes", all_far_off(&tunings));
}

#[test]
fn relaxing_changes_no_more_than_roundings() {
    if !launch::has_gpu() {
        return;
    }
    let tunings = [
        (1, false, Occupancy::Full),
        (1, true, Occupancy::Low),
        (2, false, Occupancy::Low),
        (4, true, Occupancy::Low),
    ]
    .map(|(lanes, step_table, occupancy)| Tuning {
        lanes: Some(lanes),
        step_table: Some(step_table),
        relax: Some(true),
        occupancy: Some(occupancy),
        ..Tuning::default()
    });
    files::report(
        "examples depend on relaxed roundings",
        all_far_off(&tunings),
    );
}

/// The same for the benchmarks.
const SHARED_BENCHMARKS: [&str; 6] = [
    "acrobot",
    "mountain_car",
    "pi",
    "pi_random",
    "portfolio",
    "rastrigin",
];

#[test]
fn lanes_share_what_they_can() {
    let schedule = Schedule {
        lanes: 2,
        ..Schedule::default()
    };
    for (folder, expected) in [
        ("lang-examples", SHARED.as_slice()),
        ("benchmarks", &SHARED_BENCHMARKS),
    ] {
        let shared: Vec<String> = (files::models_without_worlds(folder).into_iter())
            .filter(|(_, source)| {
                let artifact = sim_compiler::compile(source).expect("a legal model");
                artifact.kernel(&schedule).lanes == 2
            })
            .map(|(name, _)| name)
            .collect();
        assert_eq!(shared, expected, "{folder}");
    }
}

/// Sums of every shape feed a chaotic map, so that lanes which ever hold different bits of `x` soon hold
/// different numbers; `spread` compares what the lanes have.
const AGREEMENT: &str = "
agents 40
steps  200
const N = 32
const FEW = 8

input w: [f32; N]     = [for i in 0..N: 0.5 + fract(0.137 * f32(i + i32(agent)))]
input few: [f32; FEW] = [for i in 0..FEW: 0.5 + fract(0.411 * f32(i + i32(agent)))]
input one: [f32; N]   = [for i in 0..N: 1.0]
input all: f32        = 1.0

state x      = 0.1 + 0.8 * random()
state spread = 0.0

step {
    let products  = sum(for i in 0..N: w[i] * x)
    let single    = sum(for i in 0..FEW: few[i] * x)
    let shifted   = sum(for i in 0..FEW: few[i] * x + 0.3)
    let squares   = sum(for i in 0..FEW: x * x)
    let grown     = product(for i in 0..FEW: 0.7 + 0.3 * few[i] * x)
    let scaled    = product(for i in 0..FEW: 20.0 * (x * few[i]))
    let feed      = 0.3 + products + 1.7 * single + all * shifted - squares * x + grown + scaled
    let y         = fract(3.0 * feed)
    x = clamp(3.99 * y * (1.0 - y), 0.1, 0.9)

    let least = min(for i in 0..N: x * one[i])
    let most  = max(for i in 0..N: x * one[i])
    spread = max(spread, most - least)
}

output x
output spread
";

#[test]
fn lanes_of_an_agent_agree_to_the_bit() {
    if !launch::has_gpu() {
        return;
    }
    let more = [(16, None), (32, None), (32, Some(false)), (128, None)];
    for (lanes, shuffles) in EXCHANGES.into_iter().chain(more) {
        let tuning = Tuning {
            lanes: Some(lanes),
            shuffles,
            ..Tuning::default()
        };
        let source = match lanes {
            16.. => &AGREEMENT.replace("const N = 32", "const N = 256"),
            _ => AGREEMENT,
        };
        let run = || {
            launch::simulation(source, Backend::Gpu, true)
                .expect("a legal model")
                .tuning(launch::forced(tuning))
                .run()
        };
        let run = run().expect("a run");
        let decisions = &run.report().decisions;
        println!("{lanes} lanes asked for: {}", decisions[0].what);
        let said = format!("{lanes} lanes per agent");
        assert!(decisions[0].what.starts_with(&said), "{:?}", decisions[0]);
        let [x, spread] = run.outputs() else {
            panic!("two outputs")
        };
        let values = numbers(x);
        assert!(values.iter().any(|&value| value != values[0]), "{values:?}");
        let apart = numbers(spread)
            .iter()
            .filter(|&&spread| spread != 0.0)
            .count();
        assert_eq!(
            apart, 0,
            "lanes of {apart} agents disagree, with {lanes} lanes each"
        );
    }
}

/// A congruential generator in an `i32`, whose steps go the way of the draw.
const SIGNED: &str = "
agents 5
state seed    = 12345 - 777 * agent
state hits    = 0
state largest = -2147483647

step t {
    seed = seed * -1103515245 + 12345
    if (seed >> 16) % 7 < 3 {
        hits += t
    }
    largest = max(largest, seed)
}

output hits
output most = largest
output last = seed
";

/// Two states that are skipped ahead, one in two assignments, one read before it changes; and a float sum.
const TWO: &str = "
agents 7
state a     = u32(agent) * 2654435761u + 1u
state b     = 17u
state count = 0u
state total = 0.0

step {
    let before = unit(b)
    a = a * 1664525u + 1013904223u
    b += 2654435769u
    let word = a ^ (b >> 7)
    a = a * 5u
    count += word & 1u
    total += before * unit(word)
}

output n = count
output score = total
output last = a + b
";

/// What differs from the plain kernel if lanes take the steps of a model in turns.
fn difference_in_turns(source: &str, steps: u32) -> Outcome<Vec<String>> {
    let run = |tuning: Tuning| {
        let simulation = Simulation::compile(source)?;
        let simulation = simulation.backend(Backend::Gpu).steps(steps).agents(13);
        simulation.tuning(launch::forced(tuning)).run()
    };
    let expected = run(PLAIN)?;
    let mut complaints = Vec::new();
    for (lanes, shuffles) in [(1, None)].into_iter().chain(EXCHANGES) {
        for (unroll_steps, steps_per_dispatch) in [(None, None), (Some(3), Some(29))] {
            let got = run(Tuning {
                lanes: Some(lanes),
                shuffles,
                unroll_steps,
                steps_per_dispatch,
                ..Tuning::default()
            })?;
            let decisions = &got.report().decisions;
            let said = match lanes {
                1 => "one lane per agent".to_owned(),
                _ => format!("{lanes} lanes per agent"),
            };
            if !decisions
                .iter()
                .any(|decision| decision.what.starts_with(&said))
            {
                complaints.push(format!("not {said}: {decisions:?}"));
            }
            // Floats within the order of sums.
            if let Err(difference) = compare(&got, &expected, Tolerance::OfEach(1e-5)) {
                complaints.push(format!("{lanes} lanes, {steps} steps: {difference}"));
            }
            if got.steps().expect("all is kept").any(|ran| ran != steps) {
                complaints.push(format!("{lanes} lanes do not run {steps} steps"));
            }
        }
    }
    Ok(complaints)
}

#[test]
fn lanes_skip_generators_ahead() {
    if !launch::has_gpu() {
        return;
    }
    let pi = std::fs::read_to_string(files::root().join("benchmarks/pi.sim"));
    let pi = pi.expect("the benchmark is there");
    let mut complaints = Vec::new();
    for (name, source) in [("pi", pi.as_str()), ("SIGNED", SIGNED), ("TWO", TWO)] {
        for lanes in [2, 4, 8] {
            let artifact = sim_compiler::compile(source).expect("a legal model");
            let schedule = Schedule {
                lanes,
                ..Schedule::default()
            };
            assert_eq!(artifact.kernel(&schedule).lanes, lanes, "{name}");
        }
        for steps in [1, 2, 7, 100, 1001] {
            match difference_in_turns(source, steps) {
                Ok(more) => complaints.extend(more.iter().map(|it| format!("{name}: {it}"))),
                Err(error) => complaints.push(format!("{name}: {error}")),
            }
        }
    }
    files::report("generators depend on the lanes", complaints);
}

/// Agents stop at steps of their own, in the middle of a step; all numbers are small integers, so that sums
/// have the same bits in any order. `score` needs what is equal in all lanes in each of them.
const STOPPING: &str = "
agents 100
steps  40
const N = 16

input w: [f32; N] = [for i in 0..N: f32((i * 7 + i32(agent)) % 5)]

state held     = [0.0; N]
state level    = 1.0
state late     = 0.0
state pair     = vec2(0.0, 1.0)
state odd      = false
state n        = 0

step t {
    let seen = [for i in 0..N: w[i] * level]
    let all  = sum(for i in 0..N: seen[i])
    held = [for i in 0..N: held[i] + seen[i]]
    level = if all % 3.0 == 1.0 { 2.0 } else { 1.0 }
    pair += vec2(1.0, level)
    odd = !odd
    n += 1
    if t % 37 == i32(agent) % 37 {
        level = 3.0
        stop
    }
    late += 1.0
}

output score = sum(for i in 0..N: held[i] * level) + late
output second = pair.x + pair.y
";

#[test]
fn agents_that_share_lanes_stop_each_for_itself() {
    if !launch::has_gpu() {
        return;
    }
    let artifact = sim_compiler::compile(STOPPING).expect("a legal model");
    let shared = Schedule {
        lanes: 4,
        ..Schedule::default()
    };
    assert!(
        artifact
            .kernel(&shared)
            .wgsl
            .contains("subgroupAny(!stopped)")
    );
    stops_alike(STOPPING, &EXCHANGES[..5]);
    stops_alike(&STOPPING.replace("N = 16", "N = 128"), &EXCHANGES[5..]);
    // Arrays that are equal in all lanes, which shuffles cannot exchange.
    let arrays = "state tally = [0; 3] state seen_by = [false; 3] step t {
        tally[t % 3] += 1
        seen_by[(t + i32(agent)) % 3] = true";
    stops_alike(&STOPPING.replace("step t {", arrays), &EXCHANGES[..3]);
}

/// Holds a model whose agents share lanes against one lane each.
fn stops_alike(source: &str, talking: &[(u32, Option<bool>)]) {
    let run = |lanes: u32, shuffles: Option<bool>, steps_per_dispatch: Option<u32>| {
        let tuning = Tuning {
            lanes: Some(lanes),
            shuffles,
            steps_per_dispatch,
            ..PLAIN
        };
        let simulation = launch::simulation(source, Backend::Gpu, true).expect("a legal model");
        simulation
            .tuning(launch::forced(tuning))
            .run()
            .expect("a run")
    };
    let expected = run(1, None, None);
    let ran: Vec<u32> = expected.steps().expect("all is kept").collect();
    assert!(ran.contains(&1) && ran.contains(&37), "{ran:?}");
    for &(lanes, shuffles) in talking {
        for steps in [None, Some(1), Some(7)] {
            let got = run(lanes, shuffles, steps);
            assert!(
                got.report().decisions[0]
                    .what
                    .starts_with(&format!("{lanes} lanes"))
            );
            if let Err(difference) = compare(&got, &expected, Tolerance::Bits) {
                panic!("{lanes} lanes, {steps:?} steps a dispatch: {difference}");
            }
        }
    }
}
