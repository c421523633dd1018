//! Random models whose arrays are read at other indices than their loops' own end with the same states and
//! outputs over several lanes as over one, to the bit: all that they add up are integers.
//!
//! `SHUFFLES_PROGRAMS` says how many (default 300), `SHUFFLES_FIRST` the first seed.

// The tests of backends include that file, too.
mod model;

use super::split::{gathered, whole};
use crate::{
    compile,
    ir::{Expr, Program, print::print},
    kernel::lanes::split,
    passes::{
        optimise,
        tests::{check, outcome::rows, seeds},
    },
};
use model::model;

/// Does a lane read what another one has?
fn shuffles(program: &Program) -> bool {
    let is_shuffle = |expr: &Expr| matches!(expr, Expr::Shuffle { .. });
    program.exprs.iter().any(is_shuffle)
}

#[test]
fn arrays_that_are_read_across_lanes_keep_their_elements() {
    let (mut split_over, mut shuffled, mut overlapped) = ([0; 6], 0, 0);
    for seed in seeds("SHUFFLES") {
        let (source, most) = model(seed);
        let artifact = compile(&source).unwrap_or_else(|errors| panic!("{source}: {errors:?}"));
        let expected = whole(&artifact.lowered, 4, 1);
        for lanes in [2, 4, 8, 16, 32]
            .into_iter()
            .filter(|lanes| *lanes <= most as u32)
        {
            let mut program = artifact.lowered.clone();
            let Some(layout) = split(&mut program, lanes, 32) else {
                continue;
            };
            split_over[lanes.ilog2() as usize] += 1;
            shuffled += u32::from(shuffles(&program));
            overlapped += u32::from(print(&program).contains("in 0..fours"));
            let mut optimised = program.clone();
            optimise(&mut optimised);
            check(&optimised);
            for program in [program, optimised] {
                let what = || format!("{seed} over {lanes} lanes:\n{source}\n{}", print(&program));
                let rows = rows(&program, lanes, 4, 1);
                let rows = rows.unwrap_or_else(|fault| panic!("{fault:?} in model {}", what()));
                let got = std::panic::catch_unwind(|| gathered(&program, &layout, &rows));
                let got = got.unwrap_or_else(|_| panic!("lanes differ in model {}", what()));
                assert!(got == expected, "model {}\n{got:?}\n{expected:?}", what());
            }
        }
    }
    if seeds("SHUFFLES") == (0..300) {
        assert!(
            split_over[1..].iter().all(|count| *count >= 40),
            "{split_over:?}"
        );
        let counts = [shuffled, overlapped];
        assert!(counts.iter().all(|count| *count >= 50), "{counts:?}");
    }
}
