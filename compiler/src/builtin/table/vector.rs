//! Functions of vectors as a whole. Sums run from the first component to the last.

use super::{BLANK, FLOAT_1, FLOAT_2, FLOAT_3};
use crate::builtin::{
    Builtin, Class, Cost, Double, Meaning, Precise, Pure, Slot, Tolerance, Wgsl,
    eval::{self, float_of, ill_typed, map, zip},
    real::Real,
};
use crate::value::Value;

ids! {
    CROSS, DISTANCE, DOT, FACE_FORWARD, LENGTH, NORMALIZE, REFLECT, REFRACT,
}

/// The rows, by name.
pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        name: "cross",
        params: &["a", "b"],
        meaning: Meaning::Pure(Pure {
            class: Class::Vector,
            params: &[Slot::Vec3, Slot::Vec3],
            result: Slot::Vec3,
            eval: cross,
            double: Double::Of(cross),
            wgsl: Wgsl::Native("cross"),
            precise: Precise::Same,
            cost: Cost::of(2).float(2),
            tolerance: Tolerance::within(1e-6, 1e-6).up_to(2.0),
            ..BLANK
        }),
        doc: "The vector at right angles to two, as long as their parallelogram is large.",
        example: "cross(vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0)).z == 1.0",
    },
    Builtin {
        name: "distance",
        params: &["a", "b"],
        meaning: Meaning::Pure(Pure {
            result: Slot::Component,
            eval: |a| Value::F32(length(zip(a[0], a[1], |x, y| x - y))),
            double: Double::Of(|a| Value::F32(length(zip(a[0], a[1], |x, y| x - y)))),
            wgsl: Wgsl::Native("distance"),
            precise: Precise::Same,
            cost: Cost::of(2).float(2).special_once(1),
            derivative: &["(a - b) / distance(a, b)", "(b - a) / distance(a, b)"],
            tolerance: Tolerance::within(1e-6, 2e-6).up_to(1e15),
            ..FLOAT_2
        }),
        doc: "The length of `a - b`; infinite where the square of that is, from 1.8e19 on.",
        example: "distance(vec2(1.0, 1.0), vec2(4.0, 5.0)) == 5.0",
    },
    Builtin {
        name: "dot",
        params: &["a", "b"],
        meaning: Meaning::Pure(Pure {
            class: Class::Vector,
            result: Slot::Component,
            eval: |a| Value::F32(dot(a[0], a[1])),
            double: Double::Of(|a| Value::F32(dot(a[0], a[1]))),
            wgsl: Wgsl::Native("dot"),
            precise: Precise::Same,
            cost: Cost::of(2).float(1),
            derivative: &["b", "a"],
            tolerance: Tolerance::within(1e-6, 1e-6).up_to(2.0),
            ..FLOAT_2
        }),
        doc: "The sum of the products of the components.",
        example: "dot(vec2(1.0, 2.0), vec2(3.0, 4.0)) == 11.0",
    },
    Builtin {
        name: "faceForward",
        params: &["v", "incident", "reference"],
        meaning: Meaning::Pure(Pure {
            class: Class::Vector,
            eval: face_forward,
            double: Double::Of(face_forward),
            wgsl: Wgsl::Native("faceForward"),
            precise: Precise::Same,
            cost: Cost::of(2).float(2),
            tolerance: Tolerance::ulp(1.0).up_to(2.0),
            ..FLOAT_3
        }),
        doc: "`v` if `incident` and `reference` point apart, else `-v`; which it is where they are at right \
            angles is a matter of rounding.",
        example: "faceForward(vec2(1.0, 2.0), vec2(0.0, 1.0), vec2(0.0, 1.0)).y == -2.0",
    },
    Builtin {
        name: "length",
        params: &["v"],
        meaning: Meaning::Pure(Pure {
            result: Slot::Component,
            eval: |a| Value::F32(length(a[0])),
            double: Double::Of(|a| Value::F32(length(a[0]))),
            wgsl: Wgsl::Native("length"),
            precise: Precise::Same,
            cost: Cost::of(2).float(1).special_once(1),
            derivative: &["v / length(v)"],
            tolerance: Tolerance::within(1e-6, 2e-6).up_to(1e15),
            ..FLOAT_1
        }),
        doc: "The length of a vector: the root of the sum of its squares, infinite where that is, from \
            1.8e19 on; of a number, its magnitude.",
        example: "length(vec2(3.0, 4.0)) == 5.0",
    },
    Builtin {
        name: "normalize",
        params: &["v"],
        meaning: Meaning::Pure(Pure {
            class: Class::Vector,
            eval: |a| zip(a[0], Value::F32(length(a[0])), |x, length| x / length),
            double: Double::Of(|a| zip(a[0], Value::F32(length(a[0])), |x, length| x / length)),
            wgsl: Wgsl::Native("normalize"),
            precise: Precise::Same,
            cost: Cost::of(2).float(2).special_once(1),
            tolerance: Tolerance::within(1e-6, 2e-6).up_to(1e15),
            ..BLANK
        }),
        doc: "The vector of length 1 in the same direction; NaN for the zero vector, and where the square \
            of the length is infinite or 0.",
        example: "abs(normalize(vec2(3.0, 4.0)).x - 0.6) < 1e-6",
    },
    Builtin {
        name: "reflect",
        params: &["v", "normal"],
        meaning: Meaning::Pure(Pure {
            class: Class::Vector,
            eval: reflect,
            double: Double::Of(reflect),
            wgsl: Wgsl::Native("reflect"),
            precise: Precise::Same,
            cost: Cost::of(2).float(2),
            tolerance: Tolerance::within(2e-6, 2e-6).up_to(2.0),
            ..FLOAT_2
        }),
        doc: "`v` after a reflection by a mirror with that unit normal.",
        example: "reflect(vec2(1.0, -1.0), vec2(0.0, 1.0)).y == 1.0",
    },
    Builtin {
        name: "refract",
        params: &["v", "normal", "ratio"],
        meaning: Meaning::Pure(Pure {
            class: Class::Vector,
            params: &[Slot::T, Slot::T, Slot::F32],
            eval: refract,
            double: Double::Of(refract),
            wgsl: Wgsl::Native("refract"),
            precise: Precise::Same,
            cost: Cost::of(2).float(2),
            tolerance: Tolerance::within(1e-3, 1e-3).up_to(2.0),
            ..BLANK
        }),
        doc: "`v` after refraction with that ratio of indices; zero where all is reflected.",
        example: "refract(vec2(0.0, -1.0), vec2(0.0, 1.0), 0.5).y == -1.0",
    },
];

fn dot<R: Real>(a: Value<R>, b: Value<R>) -> R {
    let products = zip(a, b, |x, y| x * y);
    let (first, rest) = products.floats().split_first().expect("a vector");
    rest.iter().fold(*first, |sum, x| sum + *x)
}

fn length<R: Real>(v: Value<R>) -> R {
    match v {
        Value::F32(x) => x.abs(),
        Value::Vec2(_) | Value::Vec3(_) | Value::Vec4(_) => dot(v, v).sqrt(),
        Value::I32(_) | Value::U32(_) | Value::Bool(_) => ill_typed("vector"),
    }
}

fn cross<R: Real>(a: &[Value<R>]) -> Value<R> {
    match (a[0], a[1]) {
        (Value::Vec3([ax, ay, az]), Value::Vec3([bx, by, bz])) => {
            Value::Vec3([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])
        }
        _ => ill_typed("argument of `cross`"),
    }
}

fn face_forward<R: Real>(a: &[Value<R>]) -> Value<R> {
    if dot(a[1], a[2]) < R::ZERO {
        a[0]
    } else {
        map(a[0], |x| -x)
    }
}

fn reflect<R: Real>(a: &[Value<R>]) -> Value<R> {
    let twice = R::from_f32(2.0) * dot(a[1], a[0]);
    zip(a[0], a[1], |v, n| v - twice * n)
}

fn refract<R: Real>(a: &[Value<R>]) -> Value<R> {
    let (cosine, ratio) = (dot(a[1], a[0]), float_of(a[2]));
    let one = R::from_f32(1.0);
    let k = one - ratio * ratio * (one - cosine * cosine);
    if k < R::ZERO {
        return eval::zero(a[0].ty());
    }
    let along = ratio * cosine + k.sqrt();
    zip(a[0], a[1], |v, n| ratio * v - along * n)
}
