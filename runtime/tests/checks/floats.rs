//! Floats that become NaN or infinite, and those that are meant to be.

use super::{FLOAT, is_fine, model, stands_at};
use sim_compiler::{
    ir::checks::Moment,
    value::Value::{self, F32},
};

const INF: Value = F32(f32::INFINITY);
const NAN: Value = F32(f32::NAN);

/// Code, the text at fault, when it is, and the values.
const FAULTS: [(&str, &str, Moment, &[Value]); 10] = [
    (
        "step t { x = 1.0 / (x - 1.0) }",
        "1.0 / (x - 1.0)",
        Moment::Step(0),
        &[INF, F32(0.0)],
    ),
    (
        "step t { let y = 1.0 / f32(t - 2) x = min(y, 5.0) }",
        "1.0 / f32(t - 2)",
        Moment::Step(2),
        &[INF, F32(0.0)],
    ),
    (
        "step t { x *= 1e20 }",
        "x *= 1e20",
        Moment::Step(1),
        &[INF, F32(1e20)],
    ),
    (
        "step t { x = log(x - 1.0) }",
        "log(x - 1.0)",
        Moment::Step(0),
        &[F32(f32::NEG_INFINITY), F32(0.0)],
    ),
    (
        "finish { let a = INFINITY x = a - x - a }",
        "a - x - a",
        Moment::End,
        &[NAN, INF, INF],
    ),
    (
        "fn half(a: f32) -> f32 { let b = a / 2.0 return 1.0 / b } finish { x = half(f32(n)) }",
        "1.0 / b",
        Moment::End,
        &[INF, F32(0.0)],
    ),
    (
        "step t { x = (x + f32(t)) ** 64 }",
        "(x + f32(t)) ** 64",
        Moment::Step(2),
        &[INF, F32(18_446_744_073_709_551_616.0)],
    ),
    (
        "step t { x = sum(for k in 0..4: 1e38) }",
        "sum(for k in 0..4: 1e38)",
        Moment::Step(0),
        &[INF, F32(3e38), F32(1e38)],
    ),
    (
        "step t { x = mean(for k in 0..t: 1.0) }",
        "mean(for k in 0..t: 1.0)",
        Moment::Step(0),
        &[NAN, F32(0.0), F32(0.0)],
    ),
    (
        "step t { integrate euler(1.0) { x' = 3e38 } }",
        "x' = 3e38",
        Moment::Step(1),
        &[INF, F32(3e38), F32(1.0), F32(3e38)],
    ),
];

#[test]
fn floats_are_found_where_they_leave_the_numbers() {
    for (code, text, moment, values) in FAULTS {
        stands_at(&model(code), text, FLOAT, moment, values);
    }
}

#[test]
fn infinities_that_are_meant_are_no_faults() {
    for code in [
        "step t { var best = INFINITY for i in 0..3 { best = min(best, f32(i) + x) } x = best }",
        "step t { x = min(for i in 0..0: 1.0) }",
        "step t { let far = INFINITY x = 1.0 / (far + x) }",
        "step t { x = if t == 2 { 0.0 } else { 1.0 / f32(t - 2) } }",
        "step t { if t != 2 { x = 1.0 / f32(t - 2) } }",
        "step t { let none = NAN x = if x > none { none + x } else { x } }",
    ] {
        is_fine(&model(code));
    }
}
