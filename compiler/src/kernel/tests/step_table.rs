//! The part of a step that fills the step table: what belongs to it, what does not, and that nothing changes.

use crate::{
    Options, compile_with,
    ir::{Expr, Launch, Program, Stmt, VarKind, print::print},
    kernel::step_table::{Split, split},
    passes::{
        optimise,
        tests::{check, outcome, random},
    },
};
use std::collections::HashSet;

/// Does the part read only uniform values?
fn check_shared(split: &Split) {
    let program = &split.program;
    check(program);
    let mut known = HashSet::new();
    for stmt in &program.phases[0][..split.shared] {
        let Stmt::Let { var, .. } = stmt else {
            panic!("{stmt:?} is no let\n{}", print(program));
        };
        for id in program.nodes_of(stmt) {
            match &program[id] {
                Expr::Launch(Launch::Agent) | Expr::RandomWord { .. } => {
                    panic!("the shared part is an agent's own\n{}", print(program));
                }
                Expr::Read(read) | Expr::Element { array: read, .. } => {
                    let shared = match program[*read].kind {
                        VarKind::Let => known.contains(read),
                        kind => matches!(kind, VarKind::Param | VarKind::Data | VarKind::Constant),
                    };
                    assert!(shared, "{}\n{}", program[*read].name, print(program));
                }
                _ => {}
            }
        }
        known.insert(*var);
    }
    assert!(split.stored.iter().all(|var| known.contains(var)));
}

fn program(step: &str, optimise: bool) -> Program {
    let source = format!(
        "param p = 0.5
        const TABLE = [3.0, 1.0, 2.0]
        data rows: [[f32; 4]]
        data days: [i32]
        input w = 1.0
        state x = 0.0
        state n = 0
        fn own(a: f32) -> f32 {{ return sin(a) + f32(agent) }}
        fn shared(a: f32) -> f32 {{ return sin(a) * p }}
        step t {{ {step} }}
        output x
        output n"
    );
    let options = Options {
        optimise,
        ..Options::default()
    };
    compile_with(&source, options)
        .expect("a legal model")
        .program
}

/// The names that agents read from the table of an optimised step.
fn stored(step: &str) -> Vec<String> {
    if let Some(raw) = split(&program(step, false)) {
        check_shared(&raw);
    }
    let Some(split) = split(&program(step, true)) else {
        return Vec::new();
    };
    check_shared(&split);
    let names = split.stored.iter();
    names.map(|&var| split.program[var].name.clone()).collect()
}

#[test]
fn random_programs_keep_their_results() {
    let mut splits = 0;
    for seed in 0..600 {
        let mut program = random::program(seed);
        for _ in 0..2 {
            if let Some(split) = split(&program) {
                splits += 1;
                check_shared(&split);
                for (steps, seed) in [(0, 1), (1, 2), (5, 3)] {
                    assert_eq!(
                        outcome::run(&split.program, steps, seed),
                        outcome::run(&program, steps, seed),
                        "{}\nbecame\n{}",
                        print(&program),
                        print(&split.program)
                    );
                }
            }
            optimise(&mut program);
        }
    }
    assert!(splits > 100, "only {splits} programs had anything to split");
}

#[test]
fn rows_and_their_arithmetic_are_stored_and_what_they_are_made_of_is_not() {
    let names = stored("let a = rows[t][0] + rows[t][1] let b = a / rows[t][2] x += w * b");
    assert_eq!(names, ["b"]);
    let names = stored("x += w * rows[t][0] - x * rows[t][1] + rows[t][2] / (x + 1.0)");
    assert_eq!(names.len(), 3, "{names:?}");
}

#[test]
fn branches_and_loops_give_what_their_agents_share() {
    let names = stored("if x > 1.0 { let a = sin(f32(t)) x -= a } else { x += cos(f32(t)) * w }");
    assert_eq!(names, ["a", "cos_value"]);
    let names = stored(
        "for k in 0..n { let scale = exp(0.1 * f32(t)) x += w * scale + rows[t][k] + f32(k) / 3.0 }",
    );
    assert_eq!(names, ["scale"]);
}

#[test]
fn what_is_cheap_or_an_agents_own_stays() {
    for step in [
        "x += w * p + f32(t)",
        "x += own(f32(t)) * w",
        "x = sin(x + f32(t)) + TABLE[1]",
        "x += normal() * p",
        "n += days[t]",
        "let v = t + 1 n += v * n",
        "x += TABLE[agent % 3] / (w + 1.0)",
    ] {
        assert_eq!(stored(step), Vec::<String>::new(), "{step}");
    }
    assert_eq!(stored("x += shared(f32(t)) * w"), ["shared_value"]);
    assert_eq!(stored("x += TABLE[t % 3] * w"), ["table_value"]);
}

#[test]
fn one_word_serves_all_that_is_cheap_to_make_of_it() {
    let names = stored(
        "let day = days[t]
        let factor = exp(f32(t) * 0.01)
        n += select(0, 1, day == n) + select(0, 2, day == 2 * n) + select(0, 4, day == n + 3)
        x += w * factor + x * (factor + 1.0)",
    );
    assert_eq!(names, ["day", "factor"]);
}

#[test]
fn alike_trees_without_names_are_stored_once() {
    let names = stored("if x > 1.0 { x -= w * sin(f32(t)) } else { x += w * sin(f32(t)) }");
    assert_eq!(names.len(), 1, "{names:?}");
}

#[test]
fn a_row_has_its_bound() {
    let terms: Vec<_> = (1..300)
        .map(|k| format!("x = x * sin(f32(t) * {k}.5)"))
        .collect();
    let split = split(&program(&terms.join("\n"), true)).expect("much is shared");
    check_shared(&split);
    assert_eq!(split.stored.len(), 128);
}
