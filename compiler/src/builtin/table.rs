//! The rows, by area.

mod activation;
mod arithmetic;
mod bits;
mod exponential;
mod fold;
mod random;
mod trigonometry;
mod trigonometry_text;
mod vector;

use super::eval::ill_typed;
use super::{Builtin, Class, Pure, Slot, Tolerance, Wgsl};
use crate::ir::Value;

const AREAS: [&[Builtin]; 8] = [
    arithmetic::ROWS,
    exponential::ROWS,
    trigonometry::ROWS,
    activation::ROWS,
    vector::ROWS,
    bits::ROWS,
    fold::ROWS,
    random::ROWS,
];

const COUNT: usize = {
    let (mut count, mut area) = (0, 0);
    while area < AREAS.len() {
        count += AREAS[area].len();
        area += 1;
    }
    count
};

static ROWS: [Builtin; COUNT] = {
    let mut rows = [AREAS[0][0]; COUNT];
    let (mut next, mut area) = (0, 0);
    while area < AREAS.len() {
        let mut k = 0;
        while k < AREAS[area].len() {
            rows[next] = AREAS[area][k];
            next += 1;
            k += 1;
        }
        area += 1;
    }
    rows
};

/// All builtins, by area.
pub fn rows() -> &'static [Builtin] {
    &ROWS
}

/// What rows of one shape share; each says its own meaning over it.
const BLANK: Pure = Pure {
    class: Class::Float,
    params: &[Slot::T],
    result: Slot::T,
    eval: |args| args[0],
    wgsl: Wgsl::Native(""),
    derivative: &[],
    tolerance: Tolerance::Exact,
};

/// Of one float or vector.
const FLOAT_1: Pure = BLANK;

/// Of two floats or vectors.
const FLOAT_2: Pure = Pure {
    params: &[Slot::T, Slot::T],
    ..BLANK
};

/// Of three floats or vectors.
const FLOAT_3: Pure = Pure {
    params: &[Slot::T, Slot::T, Slot::T],
    ..BLANK
};

/// Of one integer.
const INTEGER_1: Pure = Pure {
    class: Class::Integer,
    ..BLANK
};

/// A function of three floats, component by component.
fn zip3(a: Value, b: Value, c: Value, f: impl Fn(f32, f32, f32) -> f32) -> Value {
    match (a, b, c) {
        (Value::F32(a), Value::F32(b), Value::F32(c)) => Value::F32(f(a, b, c)),
        (Value::Vec2(a), Value::Vec2(b), Value::Vec2(c)) => Value::Vec2(triples(a, b, c, f)),
        (Value::Vec3(a), Value::Vec3(b), Value::Vec3(c)) => Value::Vec3(triples(a, b, c, f)),
        (Value::Vec4(a), Value::Vec4(b), Value::Vec4(c)) => Value::Vec4(triples(a, b, c, f)),
        _ => ill_typed("triple of floats"),
    }
}

fn triples<const N: usize>(
    a: [f32; N],
    b: [f32; N],
    c: [f32; N],
    f: impl Fn(f32, f32, f32) -> f32,
) -> [f32; N] {
    std::array::from_fn(|k| f(a[k], b[k], c[k]))
}
