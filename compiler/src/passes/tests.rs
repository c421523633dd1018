//! Every pass keeps every result to the bit, and does what its head says.

pub(crate) mod build;
mod identities;
pub(crate) mod outcome;
pub(crate) mod random;
mod shapes;

use super::{PIPELINE, optimise};
use crate::ir::{Program, print::print, verify::verify};
use std::ops::Range;

pub(crate) fn check(program: &Program) {
    if let Err(broken) = verify(program) {
        panic!("{broken}\n{}", print(program));
    }
}

/// The seeds of random programs: `PASSES_PROGRAMS` says how many (default 300), `PASSES_FIRST` the first one,
/// if `which` is `PASSES`.
pub(crate) fn seeds(which: &str) -> Range<u64> {
    let number = |what: &str, default: u64| {
        std::env::var(format!("{which}_{what}")).map_or(default, |n| n.parse().expect("a number"))
    };
    let first = number("FIRST", 0);
    first..first + number("PROGRAMS", 300)
}

/// Random programs, compared with themselves after every pass.
#[test]
fn passes_keep_results() {
    for seed in seeds("PASSES") {
        let mut program = random::program(seed);
        check(&program);
        let seeds = [(0, 1), (1, 2), (5, 3)];
        let expected = seeds.map(|(steps, seed)| outcome::run(&program, steps, seed));
        for (number, pass) in PIPELINE.iter().enumerate() {
            let place = format!("program {seed} after pass {number}, {}", pass.name);
            let before = program.clone();
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                (pass.run)(&mut program);
                check(&program);
                seeds.map(|(steps, seed)| outcome::run(&program, steps, seed))
            }));
            match result {
                Ok(got) if got == expected => {}
                Ok(got) => panic!(
                    "{place}: {got:?} is not {expected:?}\nbefore:\n{}\nafter:\n{}",
                    print(&before),
                    print(&program)
                ),
                Err(_) => panic!("{place} panicked"),
            }
        }
    }
}

/// Nor does optimising twice change a result.
#[test]
fn optimising_again_keeps_results() {
    for seed in 10_000..10_100 {
        let mut program = random::program(seed);
        let expected = outcome::run(&program, 3, 1);
        optimise(&mut program);
        optimise(&mut program);
        check(&program);
        assert_eq!(outcome::run(&program, 3, 1), expected, "program {seed}");
    }
}
