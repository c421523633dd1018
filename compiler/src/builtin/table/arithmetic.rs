//! Arithmetic of numbers, component by component.

use super::{BLANK, FLOAT_1, FLOAT_2, FLOAT_3, zip3};
use crate::builtin::{
    Bounds, Builtin, Class, Cost, Double, Meaning, Precise, Pure, Slot, Tolerance, Wgsl,
    eval::{self, float_of, ill_typed, map, zip},
    math::{arithmetic as scalar, double},
    real::Real,
};
use crate::value::Value;

ids! {
    ABS, CEIL, CLAMP, FLOOR, FMA, FRACT, LDEXP, MAX, MIN, MIX, ROUND, SATURATE, SELECT, SIGN,
    SMOOTHSTEP, STEP, TRUNC,
}

/// The rows, by name.
pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        name: "abs",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            class: Class::Numeric,
            eval: abs,
            double: Double::Of(abs),
            wgsl: Wgsl::Native("abs"),
            precise: Precise::Same,
            cost: Cost::of(1).integer(1).free_of_floats(),
            bounds: Bounds::Magnitude,
            derivative: &["sign(x)"],
            ..BLANK
        }),
        doc: "The value without its sign; `abs` of the smallest `i32` is itself.",
        example: "abs(-2.5) == 2.5",
    },
    Builtin {
        name: "ceil",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], scalar::ceil),
            double: Double::Of(|a| map(a[0], f64::ceil)),
            wgsl: Wgsl::Native("ceil"),
            precise: Precise::Same,
            cost: Cost::of(1).integer(1),
            derivative: &["0.0"],
            ..FLOAT_1
        }),
        doc: "The next whole number up.",
        example: "ceil(1.2) == 2.0",
    },
    Builtin {
        name: "clamp",
        params: &["x", "low", "high"],
        meaning: Meaning::Pure(Pure {
            class: Class::Numeric,
            eval: clamp,
            double: Double::Of(clamp),
            wgsl: Wgsl::Expression("min(max({0}, {1}), {2})"),
            precise: Precise::Same,
            cost: Cost::of(6).integer(2),
            bounds: Bounds::Clamped,
            derivative: &[
                "select(0.0, 1.0, x > low && x < high)",
                "select(0.0, 1.0, x <= low && low < high)",
                "select(0.0, 1.0, max(x, low) >= high)",
            ],
            ..FLOAT_3
        }),
        doc: "`x` kept between `low` and `high`: `min(max(x, low), high)`.",
        example: "clamp(7.0, 0.0, 5.0) == 5.0",
    },
    Builtin {
        name: "floor",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], scalar::floor),
            double: Double::Of(|a| map(a[0], f64::floor)),
            wgsl: Wgsl::Native("floor"),
            precise: Precise::Same,
            cost: Cost::of(1).integer(1),
            derivative: &["0.0"],
            ..FLOAT_1
        }),
        doc: "The next whole number down.",
        example: "floor(-1.2) == -2.0",
    },
    Builtin {
        name: "fma",
        params: &["a", "b", "c"],
        meaning: Meaning::Pure(Pure {
            eval: |a| zip3(a[0], a[1], a[2], scalar::fma),
            double: Double::Of(|a| zip3(a[0], a[1], a[2], double::fma)),
            wgsl: Wgsl::Native("fma"),
            precise: Precise::Same,
            cost: Cost::of(1).float(1),
            derivative: &["b", "a", "1.0"],
            tolerance: Tolerance::within(1e-6, 1e-6).up_to(2.0),
            ..FLOAT_3
        }),
        doc: "`a * b + c`, rounded once on the CPU; a GPU may round twice.",
        example: "fma(2.0, 3.0, 4.0) == 10.0",
    },
    Builtin {
        name: "fract",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], scalar::fract),
            double: Double::Of(|a| map(a[0], double::fract)),
            wgsl: Wgsl::Native("fract"),
            precise: Precise::Same,
            cost: Cost::of(1).float(1),
            derivative: &["1.0"],
            ..FLOAT_1
        }),
        doc: "What `floor` takes away: `x - floor(x)`.",
        example: "fract(-1.25) == 0.75",
    },
    Builtin {
        name: "ldexp",
        params: &["x", "exponent"],
        meaning: Meaning::Pure(Pure {
            params: &[Slot::F32, Slot::I32],
            result: Slot::F32,
            eval: ldexp,
            double: Double::Of(ldexp_double),
            wgsl: Wgsl::helper("scale_by_power", SCALE_BY_POWER, &[]),
            precise: Precise::Same,
            cost: Cost::of(28).float(1),
            derivative: &["ldexp(1.0, exponent)", "0.0"],
            ..BLANK
        }),
        doc: "`x` times 2 to the power `exponent`.",
        example: "ldexp(3.0, 4) == 48.0",
    },
    Builtin {
        name: "max",
        params: &["a", "b"],
        meaning: Meaning::Pure(Pure {
            class: Class::Numeric,
            eval: max,
            double: Double::Of(max),
            wgsl: Wgsl::Native("max"),
            precise: Precise::Same,
            cost: Cost::of(1).integer(1),
            bounds: Bounds::Most,
            derivative: &["select(0.0, 1.0, a >= b)", "select(0.0, 1.0, b > a)"],
            ..FLOAT_2
        }),
        doc: "The larger of two; the other one if one is NaN. Of one array or comprehension, its largest \
            number.",
        example: "max(2.0, 3.0) == 3.0",
    },
    Builtin {
        name: "min",
        params: &["a", "b"],
        meaning: Meaning::Pure(Pure {
            class: Class::Numeric,
            eval: min,
            double: Double::Of(min),
            wgsl: Wgsl::Native("min"),
            precise: Precise::Same,
            cost: Cost::of(1).integer(1),
            bounds: Bounds::Least,
            derivative: &["select(0.0, 1.0, a <= b)", "select(0.0, 1.0, b < a)"],
            ..FLOAT_2
        }),
        doc: "The smaller of two; the other one if one is NaN. Of one array or comprehension, its smallest \
            number.",
        example: "min(2.0, 3.0) == 2.0",
    },
    Builtin {
        name: "mix",
        params: &["a", "b", "t"],
        meaning: Meaning::Pure(Pure {
            params: &[Slot::T, Slot::T, Slot::Component],
            eval: |a| {
                let t = float_of(a[2]);
                zip(a[0], a[1], |a, b| scalar::mix(a, b, t))
            },
            double: Double::Of(|a| {
                let t = float_of(a[2]);
                zip(a[0], a[1], |a, b| double::mix(a, b, t))
            }),
            wgsl: Wgsl::helper("linear_mix", LINEAR_MIX, &[]),
            precise: Precise::Same,
            cost: Cost::of(7).float(2),
            derivative: &["1.0 - t", "t", "b - a"],
            tolerance: Tolerance::within(1e-6, 1e-6).up_to(2.0),
            ..BLANK
        }),
        doc: "From `a` at `t = 0` to `b` at `t = 1` in a straight line.",
        example: "mix(10.0, 20.0, 0.25) == 12.5",
    },
    Builtin {
        name: "round",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], scalar::round),
            double: Double::Of(|a| map(a[0], double::round)),
            wgsl: Wgsl::Native("round"),
            precise: Precise::Same,
            cost: Cost::of(1).integer(1),
            derivative: &["0.0"],
            ..FLOAT_1
        }),
        doc: "The nearest whole number; of two, the even one.",
        example: "round(2.5) == 2.0",
    },
    Builtin {
        name: "saturate",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], scalar::saturate),
            double: Double::Of(|a| map(a[0], double::saturate)),
            wgsl: Wgsl::Native("saturate"),
            precise: Precise::Same,
            cost: Cost::of(1).integer(2),
            derivative: &["select(0.0, 1.0, x > 0.0 && x < 1.0)"],
            ..FLOAT_1
        }),
        doc: "`x` kept between 0 and 1.",
        example: "saturate(1.5) == 1.0",
    },
    Builtin {
        name: "select",
        params: &["reject", "accept", "condition"],
        meaning: Meaning::Pure(Pure {
            class: Class::Any,
            params: &[Slot::T, Slot::T, Slot::Bool],
            eval: |a| eval::select(a[2], a[1], a[0]),
            double: Double::Of(|a| eval::select(a[2], a[1], a[0])),
            wgsl: Wgsl::Native("select"),
            precise: Precise::Same,
            cost: Cost::of(1).integer(1),
            derivative: &[
                "select(1.0, 0.0, condition)",
                "select(0.0, 1.0, condition)",
                "0.0",
            ],
            ..BLANK
        }),
        doc: "The second argument if the condition is true, else the first.",
        example: "select(1.0, 2.0, true) == 2.0",
    },
    Builtin {
        name: "sign",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            class: Class::Signed,
            eval: sign,
            double: Double::Of(sign),
            wgsl: Wgsl::Native("sign"),
            precise: Precise::Same,
            cost: Cost::of(1).integer(2),
            derivative: &["0.0"],
            ..BLANK
        }),
        doc: "-1, 0 or 1 as `x` is negative, zero or positive.",
        example: "sign(-3) == -1",
    },
    Builtin {
        name: "smoothstep",
        params: &["low", "high", "x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| zip3(a[0], a[1], a[2], scalar::smoothstep),
            double: Double::Of(|a| zip3(a[0], a[1], a[2], double::smoothstep)),
            wgsl: Wgsl::helper("smooth_step", SMOOTH_STEP, &[]),
            precise: Precise::Same,
            cost: Cost::of(20).special(1).float(5),
            derivative: &[
                "-6.0 * saturate((x - low) / (high - low)) * (1.0 - saturate((x - low) / (high - low))) * \
                (1.0 - saturate((x - low) / (high - low))) / (high - low)",
                "-6.0 * saturate((x - low) / (high - low)) * (1.0 - saturate((x - low) / (high - low))) * \
                saturate((x - low) / (high - low)) / (high - low)",
                "6.0 * saturate((x - low) / (high - low)) * (1.0 - saturate((x - low) / (high - low))) / \
                (high - low)",
            ],
            tolerance: Tolerance::within(1e-6, 1e-6).up_to(2.0),
            ..FLOAT_3
        }),
        doc: "0 below `low`, 1 above `high`, and between them the smooth cubic.",
        example: "smoothstep(0.0, 2.0, 1.0) == 0.5",
    },
    Builtin {
        name: "step",
        params: &["edge", "x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| zip(a[0], a[1], scalar::step),
            double: Double::Of(|a| zip(a[0], a[1], double::step)),
            wgsl: Wgsl::helper("unit_step", UNIT_STEP, &[]),
            precise: Precise::Same,
            cost: Cost::of(7).integer(1),
            derivative: &["0.0", "0.0"],
            ..FLOAT_2
        }),
        doc: "0 if `x` is below `edge`, else 1.",
        example: "step(2.0, 3.0) == 1.0",
    },
    Builtin {
        name: "trunc",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], scalar::trunc),
            double: Double::Of(|a| map(a[0], f64::trunc)),
            wgsl: Wgsl::Native("trunc"),
            precise: Precise::Same,
            cost: Cost::of(1).integer(1),
            derivative: &["0.0"],
            ..FLOAT_1
        }),
        doc: "The whole number next to `x` toward zero.",
        example: "trunc(-1.8) == -1.0",
    },
];

/// Drivers write WGSL's `mix` in other forms, which lose `b` where `a` is large.
const LINEAR_MIX: &str = "\
fn linear_mix(a: f32, b: f32, t: f32) -> f32 {
    return a * (1.0 - t) + b * t;
}";

/// Three factors, because one power of two alone leaves the exponent's range where the result does not.
/// Drivers multiply them first all the same: infinity times their product may be NaN.
const SCALE_BY_POWER: &str = "\
fn scale_by_power(x: f32, exponent: i32) -> f32 {
    let e = clamp(exponent, -300, 300);
    let third = e / 3;
    let factor = bitcast<f32>((third + 127) << 23u);
    let last = bitcast<f32>((e - 2 * third + 127) << 23u);
    return select(x * factor * factor * last, x, (bitcast<u32>(x) & 0x7f800000u) == 0x7f800000u);
}";

const SMOOTH_STEP: &str = "\
fn smooth_step(low: f32, high: f32, x: f32) -> f32 {
    let t = clamp((x - low) / (high - low), 0.0, 1.0);
    return t * t * (3.0 - 2.0 * t);
}";

const UNIT_STEP: &str = "\
fn unit_step(edge: f32, x: f32) -> f32 {
    return select(1.0, 0.0, x < edge);
}";

fn abs<R: Real>(a: &[Value<R>]) -> Value<R> {
    match a[0] {
        Value::I32(x) => Value::I32(scalar::abs_i32(x)),
        Value::U32(_) => a[0],
        Value::F32(_) | Value::Vec2(_) | Value::Vec3(_) | Value::Vec4(_) => map(a[0], R::abs),
        Value::Bool(_) => ill_typed("number"),
    }
}

fn clamp<R: Real>(a: &[Value<R>]) -> Value<R> {
    match (a[0], a[1], a[2]) {
        (Value::I32(x), Value::I32(low), Value::I32(high)) => {
            Value::I32(scalar::clamp_i32(x, low, high))
        }
        (Value::U32(x), Value::U32(low), Value::U32(high)) => {
            Value::U32(scalar::clamp_u32(x, low, high))
        }
        (x, low, high) => zip3(x, low, high, |x, low, high| x.max(low).min(high)),
    }
}

fn max<R: Real>(a: &[Value<R>]) -> Value<R> {
    match (a[0], a[1]) {
        (Value::I32(a), Value::I32(b)) => Value::I32(scalar::max_i32(a, b)),
        (Value::U32(a), Value::U32(b)) => Value::U32(scalar::max_u32(a, b)),
        (a, b) => zip(a, b, R::max),
    }
}

fn min<R: Real>(a: &[Value<R>]) -> Value<R> {
    match (a[0], a[1]) {
        (Value::I32(a), Value::I32(b)) => Value::I32(scalar::min_i32(a, b)),
        (Value::U32(a), Value::U32(b)) => Value::U32(scalar::min_u32(a, b)),
        (a, b) => zip(a, b, R::min),
    }
}

fn sign<R: Real>(a: &[Value<R>]) -> Value<R> {
    match a[0] {
        Value::I32(x) => Value::I32(scalar::sign_i32(x)),
        Value::F32(_) | Value::Vec2(_) | Value::Vec3(_) | Value::Vec4(_) => map(a[0], R::sign),
        Value::U32(_) | Value::Bool(_) => ill_typed("number"),
    }
}

fn ldexp(a: &[Value]) -> Value {
    match (a[0], a[1]) {
        (Value::F32(x), Value::I32(exponent)) => Value::F32(scalar::ldexp(x, exponent)),
        _ => ill_typed("argument of `ldexp`"),
    }
}

fn ldexp_double(a: &[Value<f64>]) -> Value<f64> {
    match (a[0], a[1]) {
        (Value::F32(x), Value::I32(exponent)) => Value::F32(double::ldexp(x, exponent)),
        _ => ill_typed("argument of `ldexp`"),
    }
}
