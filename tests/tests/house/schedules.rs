//! A kernel's schedule changes no bit: every specimen and every example gives on the GPU what its plain kernel
//! gives, however many steps a round takes, with and without `prepare`, in one dispatch and in many.

use super::{
    examples::{self, Outcome},
    files,
};
use serde_json::Value;
use sim_runtime::{Backend, Run, Simulation, Tuning};
use sim_tests::{
    expectation::Head,
    launch::{self, ELABORATE},
};

/// Each step as the model says it, in every round, by every agent.
const PLAIN: Tuning = Tuning {
    max_agents_per_chunk: None,
    steps_per_dispatch: None,
    prepare: Some(false),
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
            |choice: &sim_compiler::schedule::Choice| choice.what.contains("is prepared");
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
