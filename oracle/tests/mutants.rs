//! Mutated sources: each ends in a message or a result, in time, without a panic.
//!
//! `SIM_MUTANTS` says how many (default 1,500), `SIM_FIRST_MUTANT` the first seed; `SIM_MUTANTS_FOLDER`
//! is where the small texts of faults are written.

use sim_oracle::campaign::{self, Fault};
use sim_oracle::mutants::Corpus;

/// Faults that are known and not mended yet, by their signature; remove an entry with its fault.
const KNOWN: [(&str, &str); 4] = [
    (
        "Formatting argument out of range",
        "texts above 65,535 bytes with `poisson`, and names as long",
    ),
    (
        "compile: out of memory",
        "constants that are copied every round of a comprehension",
    ),
    ("compile: ", "thousands of unknown names: quadratic"),
    ("survey: ", "thousands of unknown names: quadratic"),
];

fn is_known(fault: &Fault) -> bool {
    let slow = fault.signature.ends_with("slow") || fault.signature.contains("no end");
    let fits = |known: &str| match known.ends_with(": ") {
        true => slow && fault.signature.starts_with(known) && fault.text.len() > 20_000,
        false => fault.signature.contains(known),
    };
    KNOWN.iter().any(|(known, _)| fits(known))
}

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
    let new: Vec<String> = found
        .faults
        .iter()
        .filter(|fault| !is_known(fault))
        .map(ToString::to_string)
        .collect();
    assert!(new.is_empty(), "{} faults:\n{}", new.len(), new.join("\n"));
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
