//! Lanes in lock-step. The tests of passes and of the runtime cover single lanes.

use super::*;
use crate::{
    ir::{BinaryOp, Block, Expr, ExprId, LaneOp, Launch, Len, Phase, Stmt, Type, VarId, VarKind},
    passes::tests::build::Builder,
};

/// A program with a state `x`, a local `k`, and what `step` makes of them.
fn model(step: impl FnOnce(&mut Builder, VarId, VarId) -> Block) -> Program {
    let mut build = Builder::default();
    let x = build.one("x", Type::F32, VarKind::State);
    let k = build.one("k", Type::I32, VarKind::Index);
    build.program.phases = vec![Phase::from(step(&mut build, x, k))];
    build.program
}

fn lane(build: &mut Builder) -> ExprId {
    build.add(Expr::Launch(Launch::Lane { lanes: 2 }))
}

fn across(build: &mut Builder, op: LaneOp, value: ExprId) -> ExprId {
    build.add(Expr::AcrossLanes {
        op,
        lanes: 2,
        value,
    })
}

/// `x` of each lane after one step.
fn run(program: &Program, lanes: u32) -> Result<Vec<f32>, Fault> {
    let values = LaunchValues {
        generator: Generator::default(),
        seed: 1,
        population: 1,
        steps: 1,
        members: 1,
        uniform: &[],
        data: &[],
    };
    let mut states = vec![0; lanes as usize];
    Interpreter::new(program, values)
        .machine(lanes, || false)
        .run(0, 0..1, Progress::default(), &[], &mut states, &mut [])?;
    Ok(states.into_iter().map(f32::from_bits).collect())
}

/// The lane's number as a float, and one that makes sums round.
fn term(build: &mut Builder) -> ExprId {
    let value = lane(build);
    let to = Type::F32;
    let number = build.add(Expr::Convert { to, value });
    let third = build.f(1.0 / 3.0);
    let sum = build.op(BinaryOp::Add, number, third);
    build.call("exp", vec![sum])
}

/// A butterfly as kernels have it: neighbours first.
fn butterfly(lanes: usize, values: &[f32]) -> f32 {
    let mut all = values.to_vec();
    let mut distance = 1;
    while distance < lanes {
        all = (0..lanes)
            .map(|lane| all[lane] + all[lane ^ distance])
            .collect();
        distance *= 2;
    }
    all[0]
}

#[test]
fn lanes_are_combined_in_the_order_of_a_butterfly() {
    let program = model(|build, x, _| {
        let part = term(build);
        let value = across(build, LaneOp::Sum, part);
        vec![Stmt::Assign { var: x, value }]
    });
    let own = model(|build, x, _| {
        let value = term(build);
        vec![Stmt::Assign { var: x, value }]
    });
    let mut differ = 0;
    for lanes in [2, 4, 8, 16, 32, 64, 128] {
        let parts = run(&own, lanes).expect("no fault");
        let all = run(&program, lanes).expect("no fault");
        let expected = butterfly(lanes as usize, &parts);
        assert_eq!(all, vec![expected; lanes as usize], "{lanes} lanes");
        differ += u32::from(parts.iter().sum::<f32>() != expected);
    }
    assert!(differ > 0, "any order gives the same");
}

/// All lanes have their part before any lane's variable changes: `x = lane; x = sum(x)`.
#[test]
fn lanes_change_their_variables_together() {
    let program = model(|build, x, _| {
        let value = lane(build);
        let to = Type::F32;
        let value = build.add(Expr::Convert { to, value });
        let first = Stmt::Assign { var: x, value };
        let read = build.read(x);
        let value = across(build, LaneOp::Sum, read);
        vec![first, Stmt::Assign { var: x, value }]
    });
    assert_eq!(run(&program, 4), Ok(vec![6.0; 4]));
}

/// `for k in 0..4 { if k == lane { break } x = x + 1.0 }`, and then a combination of the lanes.
fn part_and_meet(build: &mut Builder, x: VarId, k: VarId) -> Block {
    let (at, own) = (build.read(k), lane(build));
    let leave = Stmt::If {
        condition: build.op(BinaryOp::Equal, at, own),
        accept: vec![Stmt::Break],
        reject: Block::new(),
    };
    let (before, one) = (build.read(x), build.f(1.0));
    let value = build.op(BinaryOp::Add, before, one);
    let rounds = build.repeat(k, 4, vec![leave, Stmt::Assign { var: x, value }]);
    let read = build.read(x);
    let value = across(build, LaneOp::Sum, read);
    vec![rounds, Stmt::Assign { var: x, value }]
}

#[test]
fn lanes_may_part_where_they_are_not_combined() {
    let program = model(part_and_meet);
    assert_eq!(run(&program, 4), Ok(vec![6.0; 4]));
}

/// The statement that combines lanes, where each goes its own way: in a branch, in a loop with bounds of its
/// own, in one that some leave earlier, and behind a stop.
#[test]
fn lanes_that_part_around_an_exchange_are_a_fault() {
    let sum = |build: &mut Builder, x: VarId| {
        let read = build.read(x);
        let value = across(build, LaneOp::Sum, read);
        Stmt::Assign { var: x, value }
    };
    let is_first = |build: &mut Builder| {
        let (own, zero) = (lane(build), build.i(0));
        build.op(BinaryOp::Equal, own, zero)
    };
    let branch = |build: &mut Builder, accept: Block| Stmt::If {
        condition: is_first(build),
        accept,
        reject: Block::new(),
    };
    let in_branch = model(|build, x, _| {
        let sum = sum(build, x);
        vec![branch(build, vec![sum])]
    });
    let in_loop = model(|build, x, index| {
        let (start, end) = (build.i(0), lane(build));
        let body = vec![sum(build, x)];
        vec![Stmt::For {
            index,
            start,
            end,
            body,
        }]
    });
    let in_early_end = model(|build, x, k| {
        let body = vec![branch(build, vec![Stmt::Continue]), sum(build, x)];
        vec![build.repeat(k, 2, body)]
    });
    let behind_stop = model(|build, x, _| vec![branch(build, vec![Stmt::Stop]), sum(build, x)]);
    for program in [in_branch, in_loop, in_early_end, behind_stop] {
        assert_eq!(run(&program, 2), Err(Fault::Diverged));
    }
}

/// Elements of an array of each lane's own, written at a place that follows from what all have.
#[test]
fn places_may_follow_from_what_all_lanes_have() {
    let program = model(|build, x, _| {
        let list = build.var("list", Type::F32, Len::Fixed(8), VarKind::Local);
        let own = lane(build);
        let index = across(build, LaneOp::Most, own);
        let value = term(build);
        let three = build.i(3);
        let again = build.at(list, three);
        vec![
            Stmt::Var {
                var: list,
                value: None,
            },
            Stmt::AssignElement {
                var: list,
                index,
                value,
            },
            Stmt::Assign {
                var: x,
                value: again,
            },
        ]
    });
    let got = run(&program, 4).expect("no fault");
    assert!(got.iter().all(|x| *x > 1.0) && got[0] < got[3], "{got:?}");
}
