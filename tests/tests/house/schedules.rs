//! A kernel's schedule changes no bit, but lanes the order of sums and reassociation roundings: every specimen and every example gives on the GPU what its plain kernel
//! gives, however many steps a round takes, with and without `prepare`, in one dispatch and in many.

use super::{
    examples::{self, Outcome},
    files,
};
use serde_json::Value;
use sim_compiler::schedule::Schedule;
use sim_runtime::{Backend, Column, Run, Simulation, Tuning, Values};
use sim_tests::{
    expectation::Head,
    launch::{self, ELABORATE},
};

/// Each step as the model says it, in every round, by every agent.
const PLAIN: Tuning = Tuning {
    max_agents_per_chunk: None,
    steps_per_dispatch: None,
    lanes: Some(1),
    prepare: Some(false),
    reassociate: Some(false),
    unroll_steps: Some(1),
};

/// What specimens are also held against, beside their numbers, and all that examples are.
const OTHERS: [Tuning; 2] = [
    Tuning {
        steps_per_dispatch: Some(13),
        prepare: Some(true),
        unroll_steps: Some(8),
        ..PLAIN
    },
    ELABORATE,
];

/// Most steps of an example here.
const STEPS: u64 = 40;

fn words(run: &Run) -> Vec<(String, Vec<u32>)> {
    let columns = run.outputs().iter().chain(run.states());
    let steps = ("the number of steps".to_owned(), run.steps().collect());
    columns
        .map(|column| (column.field.name.clone(), column.values.words()))
        .chain([steps])
        .collect()
}

/// What differs between a model's plain kernel and others, if anything. Also: does any of them prepare?
fn difference(
    others: &[Tuning],
    make: impl Fn() -> Outcome<Simulation>,
) -> Outcome<(Option<String>, bool)> {
    let expected = words(&make()?.tuning(PLAIN).run()?);
    let mut prepares = false;
    for tuning in others {
        let run = make()?.tuning(*tuning).run()?;
        let prepared =
            |choice: &sim_compiler::schedule::Choice| choice.what.contains("`prepare` computes");
        prepares |= run.report().choices.iter().any(prepared);
        for ((name, expected), (_, got)) in expected.iter().zip(words(&run)) {
            if let Some(at) = (0..got.len()).find(|&at| got[at] != expected[at]) {
                let (got, expected) = (got[at], expected[at]);
                let text = format!("{tuning:?}: `{name}` [{at}] is {got:x}, plainly {expected:x}");
                return Ok((Some(text), prepares));
            }
        }
    }
    Ok((None, prepares))
}

#[test]
fn specimens_give_the_same_bits_under_every_schedule() {
    if !launch::has_gpu() {
        return;
    }
    let (mut complaints, mut prepared) = (Vec::new(), 0);
    for (name, source) in files::models("tests/run") {
        let make = || -> Outcome<Simulation> {
            Ok(Head::read(&source)?.launch(launch::simulation(&source, Backend::Gpu, true)?)?)
        };
        match difference(&OTHERS[..1], make) {
            Ok((complaint, prepares)) => {
                prepared += usize::from(prepares);
                complaints.extend(complaint.map(|it| format!("{name}: {it}")));
            }
            Err(error) => complaints.push(format!("{name}: {error}")),
        }
    }
    println!("{prepared} specimens prepare");
    assert!(prepared > 0);
    files::report("specimens depend on the schedule", complaints);
}

#[test]
fn examples_give_the_same_bits_under_every_schedule() {
    if !launch::has_gpu() {
        return;
    }
    let mut complaints = Vec::new();
    for (name, source) in files::models("lang-examples") {
        let attempt = || -> Outcome<(Option<String>, bool)> {
            let text = examples::read(&format!("fixtures/{name}.json"))?;
            let fixture: Value = serde_json::from_str(&text)?;
            let mut case = fixture["cases"][0].clone();
            if case["steps"].as_u64().is_some_and(|steps| steps > STEPS) {
                case["steps"] = STEPS.into();
            }
            difference(&OTHERS, || match name.as_str() {
                "portfolio" => examples::portfolio_simulation(&case, Backend::Gpu),
                _ => examples::simulation(&source, &case, Backend::Gpu),
            })
        };
        match attempt() {
            Ok((complaint, prepares)) => {
                complaints.extend(complaint.map(|it| format!("{name}: {it}")));
                if name == "portfolio" && !prepares {
                    complaints.push("portfolio: nothing is prepared".to_owned());
                }
            }
            Err(error) => complaints.push(format!("{name}: {error}")),
        }
    }
    files::report("examples depend on the schedule", complaints);
}

/// Two numbers that differ by no more than the order of a sum explains, after a few steps.
fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-4 * a.abs().max(b.abs()).max(1.0) || (a.is_nan() && b.is_nan())
}

/// An output's values as numbers.
fn numbers(column: &Column) -> Vec<f64> {
    match &column.values {
        Values::F32(values) => values.iter().map(|&value| value.into()).collect(),
        Values::I32(values) => values.iter().map(|&value| value.into()).collect(),
        Values::U32(values) => values.iter().map(|&value| value.into()).collect(),
        Values::Bool(values) => values.iter().map(|&value| f64::from(value)).collect(),
    }
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
    }
    let make = || match name {
        "portfolio" => examples::portfolio_simulation(&case, Backend::Gpu),
        _ => examples::simulation(source, &case, Backend::Gpu),
    };
    let expected = make()?.tuning(PLAIN).run()?;
    let run = make()?.tuning(tuning).run()?;
    for (a, b) in run.outputs().iter().zip(expected.outputs()) {
        let mut pairs = numbers(a).into_iter().zip(numbers(b)).enumerate();
        if let Some((at, (a_value, b_value))) = pairs.find(|(_, (a, b))| !near(*a, *b)) {
            let output = &a.field.name;
            let text = format!("{name}, {tuning:?}: {output} [{at}] is {a_value}, not {b_value}");
            return Ok(Some(text));
        }
    }
    Ok(None)
}

/// What all examples are far off in.
fn all_far_off(tunings: &[Tuning]) -> Vec<String> {
    let mut complaints = Vec::new();
    for (name, source) in files::models("lang-examples") {
        for tuning in tunings {
            match far_off(&name, &source, *tuning) {
                Ok(complaint) => complaints.extend(complaint),
                Err(error) => complaints.push(format!("{name}: {error}")),
            }
        }
    }
    complaints
}

#[test]
fn lanes_change_no_more_than_the_order_of_sums() {
    if !launch::has_gpu() {
        return;
    }
    let tunings = [2, 4, 8].map(|lanes| Tuning {
        lanes: Some(lanes),
        steps_per_dispatch: Some(7),
        ..Tuning::default()
    });
    files::report("examples depend on the lanes", all_far_off(&tunings));
}

#[test]
fn reassociation_changes_no_more_than_roundings() {
    if !launch::has_gpu() {
        return;
    }
    let tunings = [(1, false), (1, true), (4, true)].map(|(lanes, prepare)| Tuning {
        lanes: Some(lanes),
        prepare: Some(prepare),
        reassociate: Some(true),
        ..Tuning::default()
    });
    files::report("examples depend on reassociation", all_far_off(&tunings));
}

#[test]
fn lanes_share_what_they_can() {
    let schedule = Schedule {
        lanes: 2,
        ..Schedule::default()
    };
    let shared: Vec<String> = (files::models("lang-examples").into_iter())
        .filter(|(_, source)| {
            let artifact = sim_compiler::compile(source).expect("an example");
            artifact.kernel(&schedule).lanes == 2
        })
        .map(|(name, _)| name)
        .collect();
    for name in SHARED {
        assert!(
            shared.iter().any(|it| it == name),
            "{name} is not in {shared:?}"
        );
    }
}
