//! What passes make of small programs, as text.

use super::{build::Builder, check};
use crate::{
    ir::{
        BinaryOp, Block, Expr, ExprId, Len, Owner, Phase, Program, Stmt, Type, VarId, VarKind,
        print::print,
    },
    passes::{PIPELINE, optimise},
    span::Span,
};

/// Runs the passes of these names.
fn run(program: &mut Program, names: &[&str]) {
    for name in names {
        let pass = PIPELINE.iter().find(|pass| pass.name == *name);
        (pass.expect("the pipeline has that pass").run)(program);
        check(program);
    }
}

/// The lines of a section, without indentation of the section itself.
fn section(program: &Program, name: &str) -> Vec<String> {
    let text = print(program);
    let lines = text.lines().skip_while(|line| !line.starts_with(name));
    lines
        .skip(1)
        .take_while(|line| line.starts_with("    "))
        .map(|line| line[4..].to_owned())
        .collect()
}

/// A program with a state `x`, 1 at first, and a param `p`.
fn model() -> (Builder, VarId, VarId) {
    let mut build = Builder::default();
    let p = build.one("p", Type::F32, VarKind::Param);
    let x = build.one("x", Type::F32, VarKind::State);
    let value = build.f(1.0);
    build.program.init = vec![Stmt::Assign { var: x, value }];
    (build, x, p)
}

fn assign(var: VarId, value: ExprId) -> Stmt {
    Stmt::Assign { var, value }
}

fn generated(build: &mut Builder, name: &str, ty: Type, value: ExprId) -> (VarId, Stmt) {
    let var = build.one(name, ty, VarKind::Let);
    build.program[var].span = Span::default();
    (var, Stmt::Let { var, value })
}

#[test]
fn a_small_net_becomes_scalars() {
    let (mut build, x, _) = model();
    let weights = build.var("w", Type::F32, Len::Fixed(6), VarKind::Input);
    let hidden = build.var("hidden", Type::F32, Len::Fixed(3), VarKind::Local);
    let (i, j) = (
        build.one("i", Type::I32, VarKind::Index),
        build.one("j", Type::I32, VarKind::Index),
    );
    let sum = build.one("sum", Type::F32, VarKind::Local);
    let (two, at_i, at_j) = (build.i(2), build.read(i), build.read(j));
    let row = build.op(BinaryOp::Multiply, at_i, two);
    let at = build.op(BinaryOp::Add, row, at_j);
    let weight = build.at(weights, at);
    let seen = build.read(x);
    let product = build.op(BinaryOp::Multiply, weight, seen);
    let before = build.read(sum);
    let after = build.op(BinaryOp::Add, before, product);
    let inner = build.repeat(j, 2, vec![assign(sum, after)]);
    let zero = build.f(-0.0);
    let (index, value) = (build.read(i), build.read(sum));
    let body = vec![
        Stmt::Var {
            var: sum,
            value: Some(zero),
        },
        inner,
        Stmt::AssignElement {
            var: hidden,
            index,
            value,
        },
    ];
    let outer = build.repeat(i, 3, body);
    let mut total = build.f(-0.0);
    for k in 0..3 {
        let k = build.i(k);
        let part = build.at(hidden, k);
        total = build.op(BinaryOp::Add, total, part);
    }
    build.program.phases = vec![Phase::from(vec![
        Stmt::Var {
            var: hidden,
            value: None,
        },
        outer,
        assign(x, total),
    ])];
    let mut program = build.program;
    optimise(&mut program);
    check(&program);
    let prologue = section(&program, "prologue");
    let loads = (0..6).map(|k| format!("let w_{k}: f32 = w[{k}]"));
    assert_eq!(prologue, loads.collect::<Vec<_>>());
    let step = section(&program, "step").join("\n");
    assert!(!step.contains("for") && !step.contains('['), "{step}");
    assert!(step.contains("w_4 * x + w_5 * x"), "{step}");
}

#[test]
fn draws_have_literal_numbers() {
    let (mut build, x, _) = model();
    let draws = build.one("draws", Type::U32, VarKind::Local);
    let k = build.one("k", Type::I32, VarKind::Index);
    let first = build.u(0);
    let draw = |build: &mut Builder| -> Block {
        let number = build.read(draws);
        let word = build.add(Expr::RandomWord {
            owner: Owner::Agent,
            number,
            step: None,
        });
        let word = build.add(Expr::Convert {
            to: Type::F32,
            value: word,
        });
        let (seen, one, count) = (build.read(x), build.u(1), build.read(draws));
        let sum = build.op(BinaryOp::Add, seen, word);
        let next = build.op(BinaryOp::Add, count, one);
        vec![assign(x, sum), assign(draws, next)]
    };
    let body = draw(&mut build);
    let iterations = build.repeat(k, 2, body);
    let mut step = vec![
        Stmt::Var {
            var: draws,
            value: Some(first),
        },
        iterations,
    ];
    step.extend(draw(&mut build));
    build.program.phases = vec![Phase::from(step)];
    let mut program = build.program;
    optimise(&mut program);
    check(&program);
    let expected: Vec<String> = (0..3)
        .map(|k| format!("x = x + f32(random_word({k}u))"))
        .collect();
    assert_eq!(section(&program, "step"), expected);
}

#[test]
fn a_name_does_not_melt_past_an_assignment() {
    let (mut build, x, _) = model();
    let y = build.one("y", Type::F32, VarKind::State);
    let one = build.f(1.0);
    build.program.init.push(assign(y, one));
    let (seen, two) = (build.read(x), build.f(2.0));
    let value = build.op(BinaryOp::Multiply, seen, two);
    let (late, late_let) = generated(&mut build, "late", Type::F32, value);
    let (seen, two) = (build.read(x), build.f(3.0));
    let value = build.op(BinaryOp::Multiply, seen, two);
    let (soon, soon_let) = generated(&mut build, "soon", Type::F32, value);
    let (new_x, new_y) = (build.read(soon), build.read(late));
    build.program.phases = vec![Phase::from(vec![
        late_let,
        soon_let,
        assign(x, new_x),
        assign(y, new_y),
    ])];
    let mut program = build.program;
    run(&mut program, &["inline_lets"]);
    let expected = ["let late: f32 = x * 2.0", "x = x * 3.0", "y = late"];
    assert_eq!(section(&program, "step"), expected);
}

#[test]
fn what_only_counts_itself_dies() {
    let (mut build, x, p) = model();
    let (count, k) = (
        build.one("count", Type::I32, VarKind::Local),
        build.one("k", Type::I32, VarKind::Index),
    );
    let (seen, one) = (build.read(count), build.i(1));
    let next = build.op(BinaryOp::Add, seen, one);
    let iterations = build.repeat(k, 1_000_000, vec![assign(count, next)]);
    let value = build.read(p);
    build.program.phases = vec![Phase::from(vec![
        Stmt::Var {
            var: count,
            value: None,
        },
        iterations,
        assign(x, value),
    ])];
    let mut program = build.program;
    run(&mut program, &["dce"]);
    assert_eq!(section(&program, "step"), ["x = p"]);
}

#[test]
fn invariants_leave_the_time_loop_once() {
    let (mut build, x, p) = model();
    let root = |build: &mut Builder| {
        let value = build.read(p);
        build.call("sqrt", vec![value])
    };
    let (a, b) = (root(&mut build), root(&mut build));
    let seen = build.read(x);
    let sum = build.op(BinaryOp::Add, seen, a);
    let product = build.op(BinaryOp::Multiply, sum, b);
    build.program.phases = vec![Phase::from(vec![assign(x, product)])];
    let mut program = build.program;
    optimise(&mut program);
    check(&program);
    assert_eq!(section(&program, "prologue"), ["let sqrt_p: f32 = sqrt(p)"]);
    assert_eq!(section(&program, "step"), ["x = (x + sqrt_p) * sqrt_p"]);
}

#[test]
fn a_choice_of_values_has_no_branch() {
    let (mut build, x, p) = model();
    let (seen, limit) = (build.read(x), build.read(p));
    let condition = build.op(BinaryOp::Greater, seen, limit);
    let value = build.read(p);
    build.program.phases = vec![Phase::from(vec![Stmt::If {
        condition,
        accept: vec![assign(x, value)],
        reject: Vec::new(),
    }])];
    let mut program = build.program;
    optimise(&mut program);
    check(&program);
    assert_eq!(section(&program, "step"), ["x = if x > p then p else x"]);
}

#[test]
fn an_index_in_range_needs_no_clamp() {
    let (mut build, x, _) = model();
    let table = build.var("table", Type::F32, Len::Fixed(1_000), VarKind::Input);
    let k = build.one("k", Type::I32, VarKind::Index);
    let (index, low, high) = (build.read(k), build.i(0), build.i(999));
    let index = build.call("clamp", vec![index, low, high]);
    let value = build.at(table, index);
    let iterations = build.repeat(k, 1_000, vec![assign(x, value)]);
    let (agent, low, high) = (
        build.add(Expr::Launch(crate::ir::Launch::Agent)),
        build.i(0),
        build.i(999),
    );
    let index = build.call("clamp", vec![agent, low, high]);
    let value = build.at(table, index);
    build.program.phases = vec![Phase::from(vec![iterations, assign(x, value)])];
    let mut program = build.program;
    run(&mut program, &["range"]);
    let step = section(&program, "step").join("\n");
    assert!(step.contains("x = table[k]"), "{step}");
    assert!(step.contains("x = table[min(agent, 999)]"), "{step}");
}

#[test]
fn loops_beyond_the_budget_stay() {
    let (mut build, x, p) = model();
    let k = build.one("k", Type::I32, VarKind::Index);
    let (seen, more) = (build.read(x), build.read(p));
    let sum = build.op(BinaryOp::Add, seen, more);
    let iterations = build.repeat(k, 100_000, vec![assign(x, sum)]);
    build.program.phases = vec![Phase::from(vec![iterations])];
    let mut program = build.program;
    optimise(&mut program);
    check(&program);
    assert_eq!(
        section(&program, "step"),
        ["for k in 0..100000 {", "    x = x + p", "}"]
    );
}

/// The statements of a step after unrolling: `x = x + p + …`, with this many operations, in nested loops of
/// this many iterations.
fn unrolled(operations: usize, iterations: &[i32]) -> usize {
    let (mut build, x, p) = model();
    let mut sum = build.read(x);
    for _ in 0..operations {
        let more = build.read(p);
        sum = build.op(BinaryOp::Add, sum, more);
    }
    let mut body = vec![assign(x, sum)];
    for &count in iterations.iter().rev() {
        let k = build.one("k", Type::I32, VarKind::Index);
        body = vec![build.repeat(k, count, body)];
    }
    build.program.phases = vec![Phase::from(body)];
    let mut program = build.program;
    run(&mut program, &["unroll"]);
    check(&program);
    section(&program, "step").len()
}

/// An iteration counts its statements and operations, and a loop what its inner loops were unrolled to.
#[test]
fn the_budget_of_unrolling_is_kept() {
    // 30 iterations of 16 nodes fit into 512, of 18 they do not.
    assert_eq!(unrolled(7, &[30]), 30);
    assert_eq!(unrolled(8, &[30]), 3);
    assert_eq!(unrolled(1, &[32]), 32);
    assert_eq!(unrolled(1, &[33]), 3);
    // The inner loop fits, all of its copies do not.
    assert_eq!(unrolled(1, &[16, 16]), 16 + 2);
    assert_eq!(unrolled(1, &[8, 8]), 64);
    assert_eq!(unrolled(1, &[5, 5, 5]), 125);
    assert_eq!(unrolled(1, &[6, 6, 6]), 36 + 2);
}

/// All loops together may add this much to a program, and later ones stay.
#[test]
fn loops_share_the_budget_of_the_program() {
    let (mut build, x, p) = model();
    // 32 iterations of 14 nodes each.
    build.program.phases = vec![Phase::from(
        (0..150)
            .map(|_| {
                let mut sum = build.read(x);
                for _ in 0..6 {
                    let more = build.read(p);
                    sum = build.op(BinaryOp::Add, sum, more);
                }
                let k = build.one("k", Type::I32, VarKind::Index);
                build.repeat(k, 32, vec![assign(x, sum)])
            })
            .collect::<Vec<_>>(),
    )];
    let mut program = build.program;
    run(&mut program, &["unroll"]);
    check(&program);
    let step = section(&program, "step");
    let left = step.iter().filter(|line| line.starts_with("for"));
    // 35 loops fit into the budget of each of three runs.
    assert_eq!(left.count(), 150 - 3 * 35);
}

#[test]
fn chains_of_any_length_are_cut() {
    let (mut build, x, p) = model();
    let mut sum = build.read(x);
    for _ in 0..20_000 {
        let more = build.read(p);
        sum = build.op(BinaryOp::Add, sum, more);
    }
    build.program.phases = vec![Phase::from(vec![assign(x, sum)])];
    let mut program = build.program;
    run(&mut program, &["split_deep"]);
    optimise(&mut program);
    check(&program);
    let longest = print(&program).lines().map(str::len).max();
    assert!(longest < Some(400), "{longest:?}");
}
