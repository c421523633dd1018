//! Checked runs: the first fault is found at its place, by every backend alike; and the numbers are those of
//! a run without checks.

mod assertions;
mod floats;
mod operations;
mod worlds;

use sim_compiler::{
    Options, compile_with,
    ir::checks::{CheckKind, Moment},
    value::Value,
};
use sim_runtime::{Backend, Error, Fault, Run, Simulation};
use sim_tests::launch::backends;

fn simulation(source: &str, checks: bool) -> Simulation {
    let options = Options {
        checks,
        ..Options::default()
    };
    let artifact = compile_with(source, options)
        .unwrap_or_else(|diagnostics| panic!("{diagnostics:?}\n{source}"));
    Simulation::from_artifact(artifact)
}

/// What a checked run says on each backend.
fn checked(source: &str) -> Vec<Result<Run, Error>> {
    let mut all = backends();
    all.push(Backend::Reference);
    let run = |backend| simulation(source, true).backend(backend).run();
    all.into_iter().map(run).collect()
}

/// The fault that every backend finds, the same one.
fn fault(source: &str) -> Fault {
    let mut faults = checked(source).into_iter().map(|run| match run {
        Err(error) => match error.fault() {
            Some(fault) => fault.clone(),
            None => panic!("{error}\n{source}"),
        },
        Ok(run) => panic!("no fault on {:?}\n{source}", run.report().backend),
    });
    let first = faults.next().expect("there is a backend");
    for other in faults {
        assert_eq!(
            (
                &other.kind,
                other.span,
                other.agent,
                other.world,
                other.moment
            ),
            (
                &first.kind,
                first.span,
                first.agent,
                first.world,
                first.moment
            ),
            "{source}"
        );
        let values = |fault: &Fault| format!("{:?}", fault.values);
        assert_eq!(values(&other), values(&first), "{source}");
    }
    first
}

/// No backend finds a fault.
fn is_fine(source: &str) {
    for run in checked(source) {
        if let Err(error) = run {
            panic!("{error}\n{source}");
        }
    }
}

/// The fault of a model stands at this text, and has this kind and these values.
fn stands_at(source: &str, text: &str, kind: CheckKind, moment: Moment, values: &[Value]) {
    let found = fault(source);
    assert_eq!(
        (&source[found.span.range()], &found.kind, found.moment),
        (text, &kind, moment),
        "{source}"
    );
    let seen: Vec<Value> = found.values.iter().map(|value| value.value).collect();
    assert_eq!(format!("{seen:?}"), format!("{values:?}"), "{source}");
}

const INDEX: CheckKind = CheckKind::Index;
const DIVISION: CheckKind = CheckKind::Division;
const FLOAT: CheckKind = CheckKind::NotFinite;
const LIMIT: CheckKind = CheckKind::Limit;

/// A model with a block of code.
fn model(rest: &str) -> String {
    format!("agents 5\nsteps 4\nstate x = 1.0\nstate n = 0\n{rest}\noutput x\n")
}
