//! Programs as deep, long and large as the language lets through.

use crate::{
    build::Builder,
    kernel,
    validate::{naga, tint},
};
use sim_compiler::{
    ir::{BinaryOp, Expr, ExprId, Len, Phase, Stmt, Type, UnaryOp, Value, VarId, VarKind},
    kernel::limits,
    random::Generator,
};

/// A program with a state `x`, and one of arrays.
fn start() -> (Builder, VarId) {
    let mut b = Builder::default();
    let x = b.one("x", Type::F32, VarKind::State);
    let value = b.f(1.0);
    b.program.init.push(Stmt::Assign { var: x, value });
    (b, x)
}

fn valid(b: Builder) -> String {
    let text = kernel(b.program, Generator::default());
    naga(&text);
    tint(&text);
    text
}

#[test]
fn expressions_may_be_as_deep_as_they_like() {
    type Grow = fn(&mut Builder, VarId, ExprId) -> ExprId;
    let shapes: [Grow; 6] = [
        |b, x, inner| {
            let left = b.read(x);
            b.op(BinaryOp::Add, left, inner)
        },
        |b, x, inner| {
            let right = b.read(x);
            b.op(BinaryOp::Subtract, inner, right)
        },
        |b, _, inner| b.unary(UnaryOp::Negate, inner),
        |b, _, inner| b.call("sin", vec![inner]),
        |b, x, inner| {
            let (p, q) = (b.read(x), b.read(x));
            let condition = b.op(BinaryOp::Less, p, q);
            let accept = b.read(x);
            b.add(Expr::Select {
                condition,
                accept,
                reject: inner,
            })
        },
        |b, x, inner| {
            let other = b.read(x);
            let product = b.op(BinaryOp::Multiply, inner, other);
            b.call("tanh", vec![product])
        },
    ];
    for (depth, grow) in shapes
        .into_iter()
        .flat_map(|grow| [(30, grow), (3_000, grow)])
    {
        let (mut b, x) = start();
        let mut value = b.read(x);
        for _ in 0..depth {
            value = grow(&mut b, x, value);
        }
        b.step().push(Stmt::Assign { var: x, value });
        let mut condition = b.read(x);
        for _ in 0..depth {
            condition = grow(&mut b, x, condition);
        }
        let zero = b.f(0.0);
        let condition = b.op(BinaryOp::Greater, condition, zero);
        let (first, one, two) = (b.add(Expr::Literal(Value::Bool(false))), b.f(1.0), b.f(2.0));
        b.step().push(Stmt::If {
            condition: first,
            accept: vec![Stmt::Assign { var: x, value: one }],
            reject: vec![Stmt::If {
                condition,
                accept: vec![Stmt::Assign { var: x, value: two }],
                reject: Vec::new(),
            }],
        });
        valid(b);
    }
}

#[test]
fn chains_of_else_if_may_be_as_long_as_they_like() {
    for links in [30, 31, 100, 700] {
        let (mut b, x) = start();
        let mut reject = vec![Stmt::Stop];
        for k in 0..links {
            let (now, bound, value) = (b.read(x), b.f(k as f32), b.f(-(k as f32)));
            let condition = b.op(BinaryOp::Equal, now, bound);
            reject = vec![Stmt::If {
                condition,
                accept: vec![Stmt::Assign { var: x, value }],
                reject,
            }];
        }
        b.program.phases = vec![Phase::from(reject)];
        valid(b);
    }
}

#[test]
fn chains_may_have_deep_conditions_and_empty_arms() {
    let (mut b, x) = start();
    let mut reject = Vec::new();
    for k in 0..60 {
        let mut now = b.read(x);
        for _ in 0..(k % 3) * 20 {
            now = b.call("sin", vec![now]);
        }
        let (bound, value) = (b.f(k as f32), b.f(1.0));
        let condition = b.op(BinaryOp::Less, now, bound);
        let mut accept = vec![Stmt::Assign { var: x, value }];
        accept.truncate(k % 2);
        reject = vec![Stmt::If {
            condition,
            accept,
            reject,
        }];
    }
    b.program.phases = vec![Phase::from(reject)];
    valid(b);
}

#[test]
fn blocks_nest_as_deep_as_promised() {
    for looped in [false, true] {
        let (mut b, x) = start();
        let mut value = b.read(x);
        for _ in 0..60 {
            let one = b.f(1.5);
            value = b.op(BinaryOp::Subtract, one, value);
            value = b.unary(UnaryOp::Negate, value);
        }
        let mut block = vec![Stmt::Assign { var: x, value }];
        // The innermost block is a chain of the full length.
        for k in 0..29 {
            let (now, bound) = (b.read(x), b.f(k as f32));
            let condition = b.op(BinaryOp::Equal, now, bound);
            block = vec![Stmt::If {
                condition,
                accept: vec![Stmt::Stop],
                reject: block,
            }];
        }
        for _ in 1..limits::NESTING_MAX {
            if looped {
                let i = b.one("i", Type::I32, VarKind::Index);
                block = vec![b.repeat(i, 2, block)];
            } else {
                let (now, bound) = (b.read(x), b.f(0.0));
                let condition = b.op(BinaryOp::Greater, now, bound);
                block = vec![Stmt::If {
                    condition,
                    accept: block,
                    reject: Vec::new(),
                }];
            }
        }
        b.program.phases = vec![Phase::from(block)];
        let (levels, _) = limits::demand(&b.program).deepest.expect("it has blocks");
        assert_eq!(levels, limits::NESTING_MAX);
        valid(b);
    }
}

#[test]
fn arrays_beyond_the_functions_memory_are_private_and_beyond_that_in_storage() {
    let arrays = |lens: &[u32]| {
        let (mut b, x) = start();
        for (k, &len) in lens.iter().enumerate() {
            let i = b.one("i", Type::I32, VarKind::Index);
            let name = format!("array{k}");
            let array = b.var(&name, Type::F32, Len::Fixed(len), VarKind::Local);
            let (index, value) = (b.read(i), b.f(1.0));
            let element = Stmt::AssignElement {
                var: array,
                index,
                value,
            };
            let fill = b.repeat(i, len as i32, vec![element]);
            let last = b.i(len as i32 - 1);
            let value = b.at(array, last);
            let declare = Stmt::Var {
                var: array,
                value: None,
            };
            let read = Stmt::Assign { var: x, value };
            b.step().extend([declare, fill, read]);
        }
        b
    };
    let placed = |b: &Builder| limits::demand(&b.program).variables;
    let one = placed(&arrays(&[1_900]));
    assert_eq!(one.bytes, 7_604);
    assert!(one.private.is_empty());
    let three = arrays(&[1_000, 1_500, 500]);
    assert_eq!(placed(&three).private.len(), 1);
    assert!(placed(&three).spilled.is_empty());
    let text = valid(three);
    assert!(
        text.contains("var<private> array1: array<f32, 1500>;"),
        "{text}"
    );
    assert!(text.contains("array1 = array<f32, 1500>();"), "{text}");
    let much = arrays(&[1_900, 2_000, 1_900]);
    assert_eq!(placed(&much).spilled.len(), 1);
    assert!(placed(&much).unplaced.is_empty());
    let text = valid(much);
    assert!(
        text.contains("var<storage, read_write> spill: array<f32>;"),
        "{text}"
    );
    assert!(
        text.contains("fn set_array2(k: i32, value: f32) {"),
        "{text}"
    );
}

/// Branches beyond what the compiler can walk through are refused before it does.
#[test]
fn chains_of_branches_end() {
    let chain = |count: usize, body: fn(usize) -> String| -> String {
        (0..count)
            .map(|k| format!(" else if b > {k}.0 {{ {} }}", body(k)))
            .collect()
    };
    let value = |k| format!("{k}.5");
    let statement = |k| format!("a = {k}.5");
    for (count, accepted) in [(40, true), (3_000, false), (100_000, false)] {
        let values = format!(
            "a = if b > 0.0 {{ 0.5 }}{} else {{ 1.0 }}",
            chain(count, value)
        );
        let statements = format!("if b > 0.0 {{ a = 0.5 }}{}", chain(count, statement));
        for body in [values, statements] {
            let source = format!("state a = 0.0 step {{ let b = sin(a) {body} }} output a");
            let complaints = sim_compiler::check(&source);
            let slugs: Vec<_> = complaints.iter().map(|it| it.slug).collect();
            match accepted {
                true => assert_eq!(slugs, [""; 0], "{count}"),
                false => assert_eq!(slugs, ["blocks_too_deep"], "{count}"),
            }
        }
    }
}
