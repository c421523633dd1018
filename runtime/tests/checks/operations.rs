//! Indices, divisions of integers and limits of `while`, and which fault is the first.

use super::{DIVISION, INDEX, LIMIT, fault, is_fine, model, stands_at};
use sim_compiler::{
    ir::checks::Moment,
    value::Value::{self, I32},
};

const ENDS: [Value; 2] = [I32(3), I32(3)];

/// Code with a table of 3 elements, the index at fault, when it is, and index and length.
const INDICES: [(&str, &str, Moment, &[Value]); 10] = [
    ("step t { x = TABLE[t] }", "t", Moment::Step(3), &ENDS),
    (
        "step t { x = TABLE[t - 1] }",
        "t - 1",
        Moment::Step(0),
        &[I32(-1), I32(3)],
    ),
    (
        "step t { for i in 0..2 { for j in 0..2 { x += TABLE[i + j + t] } } }",
        "i + j + t",
        Moment::Step(1),
        &ENDS,
    ),
    (
        "fn at(i: i32) -> f32 { return TABLE[i] } step t { x = at(t) }",
        "i",
        Moment::Step(3),
        &ENDS,
    ),
    (
        "init { x = TABLE[n + 3] }",
        "n + 3",
        Moment::Beginning,
        &ENDS,
    ),
    ("finish { x = TABLE[n + 3] }", "n + 3", Moment::End, &ENDS),
    (
        "step t { var a = [1.0, 2.0] a[t] = 3.0 x = a[0] }",
        "t",
        Moment::Step(2),
        &[I32(2), I32(2)],
    ),
    (
        "step t { integrate rk4(0.1) { x' = TABLE[t] } }",
        "t",
        Moment::Step(3),
        &ENDS,
    ),
    (
        "step t { x = sum(for k in 0..3: TABLE[k + t]) }",
        "k + t",
        Moment::Step(1),
        &ENDS,
    ),
    (
        "step t { x = TABLE[if t < 2 { 0 } else { 3 }] }",
        "if t < 2 { 0 } else { 3 }",
        Moment::Step(2),
        &ENDS,
    ),
];

#[test]
fn indices_are_found() {
    let table = "const TABLE = [1.0, 2.0, 3.0]\n";
    for (code, text, moment, values) in INDICES {
        stands_at(
            &model(&format!("{table}{code}")),
            text,
            INDEX,
            moment,
            values,
        );
    }
    let unsigned = "step t { x = TABLE[u32(t) - 1] }";
    let values = [Value::U32(u32::MAX), I32(3)];
    stands_at(
        &model(&format!("{table}{unsigned}")),
        "u32(t) - 1",
        INDEX,
        Moment::Step(0),
        &values,
    );
    for code in [
        "step t { if t < 3 { x = TABLE[t] } }",
        "step t { x = if t < 3 { TABLE[t] } else { 0.0 } }",
        "step t { if t < 3 && TABLE[t] > 0.0 { x = 2.0 } }",
        "step t { x = sum(for k in 0..9 if k < 3: TABLE[k]) }",
    ] {
        is_fine(&model(&format!("{table}{code}")));
    }
}

#[test]
fn divisions_of_integers_are_found() {
    let (i32, step) = (Value::I32, Moment::Step);
    let by_zero = [i32(7), i32(0)];
    for (code, text, moment, values) in [
        (
            "step t { n = 7 / (t - 2) }",
            "7 / (t - 2)",
            step(2),
            by_zero,
        ),
        (
            "step t { n = 7 n %= t - 2 }",
            "n %= t - 2",
            step(2),
            by_zero,
        ),
        (
            "fn f(a: i32, b: i32) -> i32 { if b < 0 { return 0 } return a / b } step t { n = f(7, t - 2) }",
            "a / b",
            step(2),
            by_zero,
        ),
        (
            "step t { if t == 1 { n = (-2_147_483_647 - t) / (n - t) } }",
            "(-2_147_483_647 - t) / (n - t)",
            step(1),
            [i32(i32::MIN), i32(-1)],
        ),
        (
            "finish { n = steps / n }",
            "steps / n",
            Moment::End,
            [i32(4), i32(0)],
        ),
    ] {
        stands_at(&model(code), text, DIVISION, moment, &values);
    }
    let unsigned = "step t { n = i32(u32(t) / (u32(t) & 2)) }";
    let values = [Value::U32(0), Value::U32(0)];
    stands_at(
        &model(unsigned),
        "u32(t) / (u32(t) & 2)",
        DIVISION,
        step(0),
        &values,
    );
    is_fine(&model(
        "step t { n = if t == 2 { 0 } else { 7 / (t - 2) } }",
    ));
    is_fine(&model("step t { n = 7 / max(t, 1) }"));
}

#[test]
fn limits_are_found() {
    let step = Moment::Step;
    for (code, text, moment, limit) in [
        (
            "step t { n = 0 while n < t limit 2 { n += 1 } }",
            "while n < t limit 2 { n += 1 }",
            step(3),
            2,
        ),
        (
            "step t { n = 0 while n < 3 limit t { n += 1 } }",
            "while n < 3 limit t { n += 1 }",
            step(0),
            0,
        ),
        (
            "step { for i in 0..3 { n = 0 while n < i limit 1 { n += 1 } } }",
            "while n < i limit 1 { n += 1 }",
            step(0),
            1,
        ),
        (
            "step { while random() >= 0.0 limit 3 { n += 1 } }",
            "while random() >= 0.0 limit 3 { n += 1 }",
            step(0),
            3,
        ),
    ] {
        stands_at(&model(code), text, LIMIT, moment, &[Value::I32(limit)]);
    }
    for code in [
        "step t { n = 0 while n < t limit 3 { n += 1 } }",
        "step t { n = 0 while true limit 3 { n += 1 if n == 3 { break } } }",
        "step t { var a = [1, 1, 0] n = 0 while a[n] > 0 limit 2 { n += 1 } }",
        "step t { var a = [1, 1] n = 0 while n < 2 && a[n] > 0 limit 2 { n += 1 } }",
        "fn f(k: i32) -> i32 { var i = 0 while true limit 3 { i += 1 if i > k { return i } } return 0 }\n\
         step { n = f(2) }",
    ] {
        is_fine(&model(code));
    }
}

#[test]
fn the_earliest_fault_is_the_first_whatever_the_agent() {
    let source =
        model("step t { if t == 3 - agent { x = TABLE[t + 3] } }\nconst TABLE = [1.0, 2.0, 3.0]");
    let found = fault(&source);
    assert_eq!((found.agent, found.moment), (Some(3), Moment::Step(0)));
    let source = model("step { x = log(-x) n = 1 / n }");
    let found = fault(&source);
    assert_eq!(
        (found.agent, &source[found.span.range()]),
        (Some(0), "log(-x)")
    );
}
