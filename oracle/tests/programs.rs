//! Random programs give on every backend what the evaluator gives.
//!
//! `SIM_PROGRAMS` says how many (default 500), `SIM_FIRST_PROGRAM` the first seed. With
//! `SIM_PROGRAMS_GPU=1` those of integers run on the GPU, too.

use sim_oracle::compare::{Outcome, compare, ways};
use sim_oracle::programs::{Profile, program};
use sim_oracle::{campaign, language::Model};

fn number(variable: &str, default: u64) -> u64 {
    let set = std::env::var(variable).ok();
    set.and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn random_programs_agree_with_the_evaluator() {
    let first = number("SIM_FIRST_PROGRAM", 0);
    let count = number("SIM_PROGRAMS", 500);
    let gpu = number("SIM_PROGRAMS_GPU", 0) > 0;
    let (whole, integers) = (count - count / 5, count / 5);
    let say = |line: &str| eprintln!("{line}");
    let found = [
        campaign::programs(first..first + whole, Profile::Whole, &ways(false), say),
        campaign::programs(first..first + integers, Profile::Integers, &ways(gpu), say),
    ];
    let mut faults = Vec::new();
    for found in found {
        println!("{}", found.summary());
        let agree = found.ends.get("Agrees").copied().unwrap_or(0);
        let all: u64 = found.ends.values().sum();
        assert!(
            agree * 10 >= all * 9,
            "the pages leave too much open: {}",
            found.summary()
        );
        faults.extend(found.faults);
    }
    let texts: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert!(
        texts.is_empty(),
        "{} faults:\n{}",
        texts.len(),
        texts.join("\n")
    );
}

/// Would a difference be noticed? Programs whose evaluator is told another literal than the compiler
/// differ.
#[test]
fn a_difference_is_noticed() {
    let ways = ways(false);
    let (mut changed, mut noticed) = (0, 0);
    for seed in 0..60 {
        let program = program(seed, Profile::Whole);
        let mut other = program.clone();
        other.launch.seed ^= 1;
        let results = |program: &sim_oracle::programs::Program| {
            let model = Model::read(&program.text).expect("a program");
            model
                .run(&program.launch)
                .map(|results| (results.outputs, results.states))
                .ok()
        };
        if compare(&program, &ways) == Ok(Outcome::Agrees) && results(&program) != results(&other) {
            changed += 1;
            // The compiler runs the one seed, the evaluator the other.
            let mixed = sim_oracle::compare::compare_with(&program, &other.launch, &ways);
            noticed += u32::from(mixed.is_err());
        }
    }
    assert!(changed > 10, "{changed} programs draw");
    assert_eq!(changed, noticed);
}
