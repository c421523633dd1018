//! Every pass keeps every result to the bit, and does what its head says.

pub(crate) mod build;
pub(crate) mod evaluate;
mod laws;
pub(crate) mod random;
mod shapes;

use super::{PIPELINE, optimise};
use crate::ir::{Program, print::print, verify::verify};

pub(crate) fn check(program: &Program) {
    if let Err(broken) = verify(program) {
        panic!("{broken}\n{}", print(program));
    }
}

/// Random programs, held against themselves after every pass.
#[test]
fn passes_keep_results() {
    let count = std::env::var("PASSES_PROGRAMS").map_or(300, |n| n.parse().expect("a number"));
    let first = std::env::var("PASSES_FIRST").map_or(0, |n| n.parse().expect("a number"));
    for seed in first..first + count {
        let mut program = random::program(seed);
        check(&program);
        let seeds = [(0, 1), (1, 2), (5, 3)];
        let expected = seeds.map(|(steps, seed)| evaluate::run(&program, steps, seed));
        for (number, pass) in PIPELINE.iter().enumerate() {
            let place = format!("program {seed} after pass {number}, {}", pass.name);
            let before = program.clone();
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                (pass.run)(&mut program);
                check(&program);
                seeds.map(|(steps, seed)| evaluate::run(&program, steps, seed))
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

/// Optimising twice changes no result either.
#[test]
fn optimising_again_keeps_results() {
    for seed in 10_000..10_100 {
        let mut program = random::program(seed);
        let expected = evaluate::run(&program, 3, 1);
        optimise(&mut program);
        optimise(&mut program);
        check(&program);
        assert_eq!(evaluate::run(&program, 3, 1), expected, "program {seed}");
    }
}
