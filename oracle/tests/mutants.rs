//! Mutated sources: each ends in a message or a result, in time, without a panic.
//!
//! `SIM_MUTANTS` says how many (default 1,500), `SIM_FIRST_MUTANT` the first seed; `SIM_MUTANTS_FOLDER`
//! is where the small texts of faults are written.

use sim_oracle::campaign;
use sim_oracle::mutants::Corpus;

fn number(variable: &str, default: u64) -> u64 {
    let set = std::env::var(variable).ok();
    set.and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn mutants_end_in_a_message_or_a_result() {
    let first = number("SIM_FIRST_MUTANT", 0);
    let count = number("SIM_MUTANTS", 1_500);
    let corpus = Corpus::read(&sim_oracle::repository()).expect("the corpus");
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_sim-oracle"));
    let say = |line: &str| eprintln!("{line}");
    let found = campaign::mutants(&corpus, program, first..first + count, say).expect("workers");
    println!("{}", found.summary());
    if let Some(folder) = std::env::var_os("SIM_MUTANTS_FOLDER") {
        for fault in &found.faults {
            fault.write(folder.as_ref()).expect("a folder for faults");
        }
    }
    let faults: Vec<String> = found.faults.iter().map(ToString::to_string).collect();
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
    let ran = found.ends.get("run to the end").copied().unwrap_or(0);
    assert!(
        ran * 10 > count,
        "{ran} of {count} mutants run: the rest tests the front end only"
    );
}

#[test]
fn a_seed_is_a_mutant() {
    let corpus = Corpus::read(&sim_oracle::repository()).expect("the corpus");
    for seed in 0..50 {
        assert_eq!(corpus.mutant(seed).text, corpus.mutant(seed).text);
    }
}
