//! Arithmetic of numbers, component by component.

use super::{FLOAT_1, FLOAT_2, FLOAT_3, add, f, greatest, larger, least, mul, smaller, zip3};
use crate::builtin::{
    Area, Builtin, Class, Meaning, Pure, Slot, Tolerance, Wgsl,
    eval::{self, float_of, ill_typed, map, zip},
};
use crate::ir::Value;

/// The rows, by name.
pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        name: "abs",
        area: Area::Arithmetic,
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            class: Class::Numeric,
            params: &[Slot::T],
            result: Slot::T,
            eval: abs,
            wgsl: Wgsl::Native("abs"),
            derivative: &["sign(x)"],
            tolerance: Tolerance::Exact,
        }),
        doc: "The value without its sign; `abs` of the smallest `i32` is itself.",
        example: "abs(-2.5) == 2.5",
    },
    Builtin {
        name: "ceil",
        area: Area::Arithmetic,
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], f32::ceil),
            wgsl: Wgsl::Native("ceil"),
            derivative: &["0.0"],
            tolerance: Tolerance::Exact,
            ..FLOAT_1
        }),
        doc: "The next whole number up.",
        example: "ceil(1.2) == 2.0",
    },
    Builtin {
        name: "clamp",
        area: Area::Arithmetic,
        params: &["x", "low", "high"],
        meaning: Meaning::Pure(Pure {
            class: Class::Numeric,
            params: &[Slot::T, Slot::T, Slot::T],
            result: Slot::T,
            eval: |a| least(greatest(a[0], a[1]), a[2]),
            wgsl: Wgsl::Expression("min(max({0}, {1}), {2})"),
            derivative: &[
                "select(0.0, 1.0, x > low && x < high)",
                "select(0.0, 1.0, x <= low && low < high)",
                "select(0.0, 1.0, max(x, low) >= high)",
            ],
            tolerance: Tolerance::Exact,
        }),
        doc: "`x` kept between `low` and `high`: `min(max(x, low), high)`.",
        example: "clamp(7.0, 0.0, 5.0) == 5.0",
    },
    Builtin {
        name: "floor",
        area: Area::Arithmetic,
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], f32::floor),
            wgsl: Wgsl::Native("floor"),
            derivative: &["0.0"],
            tolerance: Tolerance::Exact,
            ..FLOAT_1
        }),
        doc: "The next whole number down.",
        example: "floor(-1.2) == -2.0",
    },
    Builtin {
        name: "fma",
        area: Area::Arithmetic,
        params: &["a", "b", "c"],
        meaning: Meaning::Pure(Pure {
            eval: |a| zip3(a[0], a[1], a[2], f32::mul_add),
            wgsl: Wgsl::Native("fma"),
            derivative: &["b", "a", "1.0"],
            tolerance: Tolerance::Mixed {
                absolute: 1e-6,
                relative: 1e-6,
            },
            ..FLOAT_3
        }),
        doc: "`a * b + c`, rounded once on the CPU; a GPU may round twice.",
        example: "fma(2.0, 3.0, 4.0) == 10.0",
    },
    Builtin {
        name: "fract",
        area: Area::Arithmetic,
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], |x| x - x.floor()),
            wgsl: Wgsl::Native("fract"),
            derivative: &["1.0"],
            tolerance: Tolerance::Exact,
            ..FLOAT_1
        }),
        doc: "What `floor` takes away: `x - floor(x)`.",
        example: "fract(-1.25) == 0.75",
    },
    Builtin {
        name: "ldexp",
        area: Area::Arithmetic,
        params: &["x", "exponent"],
        meaning: Meaning::Pure(Pure {
            class: Class::Float,
            params: &[Slot::F32, Slot::I32],
            result: Slot::F32,
            eval: ldexp,
            wgsl: Wgsl::Helper {
                name: "scale_by_power",
                text: SCALE_BY_POWER,
                needs: &[],
            },
            derivative: &["ldexp(1.0, exponent)", "0.0"],
            tolerance: Tolerance::Exact,
        }),
        doc: "`x` times 2 to the power `exponent`.",
        example: "ldexp(3.0, 4) == 48.0",
    },
    Builtin {
        name: "max",
        area: Area::Arithmetic,
        params: &["a", "b"],
        meaning: Meaning::Pure(Pure {
            class: Class::Numeric,
            params: &[Slot::T, Slot::T],
            result: Slot::T,
            eval: |a| greatest(a[0], a[1]),
            wgsl: Wgsl::Native("max"),
            derivative: &["select(0.0, 1.0, a >= b)", "select(0.0, 1.0, b > a)"],
            tolerance: Tolerance::Exact,
        }),
        doc: "The larger of two; the other one if one is NaN. Of one array or comprehension, its largest element.",
        example: "max(2.0, 3.0) == 3.0",
    },
    Builtin {
        name: "min",
        area: Area::Arithmetic,
        params: &["a", "b"],
        meaning: Meaning::Pure(Pure {
            class: Class::Numeric,
            params: &[Slot::T, Slot::T],
            result: Slot::T,
            eval: |a| least(a[0], a[1]),
            wgsl: Wgsl::Native("min"),
            derivative: &["select(0.0, 1.0, a <= b)", "select(0.0, 1.0, b < a)"],
            tolerance: Tolerance::Exact,
        }),
        doc: "The smaller of two; the other one if one is NaN. Of one array or comprehension, its smallest element.",
        example: "min(2.0, 3.0) == 2.0",
    },
    Builtin {
        name: "mix",
        area: Area::Arithmetic,
        params: &["a", "b", "t"],
        meaning: Meaning::Pure(Pure {
            class: Class::Float,
            params: &[Slot::T, Slot::T, Slot::Component],
            result: Slot::T,
            eval: |a| {
                zip(
                    zip(a[0], f(1.0 - float_of(a[2])), mul),
                    zip(a[1], a[2], mul),
                    add,
                )
            },
            wgsl: Wgsl::Native("mix"),
            derivative: &["1.0 - t", "t", "b - a"],
            tolerance: Tolerance::Mixed {
                absolute: 1e-6,
                relative: 1e-6,
            },
        }),
        doc: "From `a` at `t = 0` to `b` at `t = 1` in a straight line.",
        example: "mix(10.0, 20.0, 0.25) == 12.5",
    },
    Builtin {
        name: "round",
        area: Area::Arithmetic,
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], f32::round_ties_even),
            wgsl: Wgsl::Native("round"),
            derivative: &["0.0"],
            tolerance: Tolerance::Exact,
            ..FLOAT_1
        }),
        doc: "The nearest whole number; of two, the even one.",
        example: "round(2.5) == 2.0",
    },
    Builtin {
        name: "saturate",
        area: Area::Arithmetic,
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| least(greatest(a[0], f(0.0)), f(1.0)),
            wgsl: Wgsl::Native("saturate"),
            derivative: &["select(0.0, 1.0, x > 0.0 && x < 1.0)"],
            tolerance: Tolerance::Exact,
            ..FLOAT_1
        }),
        doc: "`x` kept between 0 and 1.",
        example: "saturate(1.5) == 1.0",
    },
    Builtin {
        name: "select",
        area: Area::Arithmetic,
        params: &["reject", "accept", "condition"],
        meaning: Meaning::Pure(Pure {
            class: Class::Any,
            params: &[Slot::T, Slot::T, Slot::Bool],
            result: Slot::T,
            eval: |a| eval::select(a[2], a[1], a[0]),
            wgsl: Wgsl::Native("select"),
            derivative: &[
                "select(1.0, 0.0, condition)",
                "select(0.0, 1.0, condition)",
                "0.0",
            ],
            tolerance: Tolerance::Exact,
        }),
        doc: "The second argument if the condition is true, else the first.",
        example: "select(1.0, 2.0, true) == 2.0",
    },
    Builtin {
        name: "sign",
        area: Area::Arithmetic,
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            class: Class::Signed,
            params: &[Slot::T],
            result: Slot::T,
            eval: sign,
            wgsl: Wgsl::Native("sign"),
            derivative: &["0.0"],
            tolerance: Tolerance::Exact,
        }),
        doc: "-1, 0 or 1 as `x` is negative, zero or positive.",
        example: "sign(-3) == -1",
    },
    Builtin {
        name: "smoothstep",
        area: Area::Arithmetic,
        params: &["low", "high", "x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| zip3(a[0], a[1], a[2], smoothstep),
            wgsl: Wgsl::Helper {
                name: "smooth_step",
                text: SMOOTH_STEP,
                needs: &[],
            },
            derivative: &[
                "-6.0 * saturate((x - low) / (high - low)) * (1.0 - saturate((x - low) / (high - low))) * (1.0 - saturate((x - low) / (high - low))) / (high - low)",
                "-6.0 * saturate((x - low) / (high - low)) * (1.0 - saturate((x - low) / (high - low))) * saturate((x - low) / (high - low)) / (high - low)",
                "6.0 * saturate((x - low) / (high - low)) * (1.0 - saturate((x - low) / (high - low))) / (high - low)",
            ],
            tolerance: Tolerance::Mixed {
                absolute: 1e-6,
                relative: 1e-6,
            },
            ..FLOAT_3
        }),
        doc: "0 below `low`, 1 above `high`, and between them the smooth cubic.",
        example: "smoothstep(0.0, 2.0, 1.0) == 0.5",
    },
    Builtin {
        name: "step",
        area: Area::Arithmetic,
        params: &["edge", "x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| zip(a[0], a[1], |edge, x| if x < edge { 0.0 } else { 1.0 }),
            wgsl: Wgsl::Helper {
                name: "unit_step",
                text: UNIT_STEP,
                needs: &[],
            },
            derivative: &["0.0", "0.0"],
            tolerance: Tolerance::Exact,
            ..FLOAT_2
        }),
        doc: "0 if `x` is below `edge`, else 1.",
        example: "step(2.0, 3.0) == 1.0",
    },
    Builtin {
        name: "trunc",
        area: Area::Arithmetic,
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], f32::trunc),
            wgsl: Wgsl::Native("trunc"),
            derivative: &["0.0"],
            tolerance: Tolerance::Exact,
            ..FLOAT_1
        }),
        doc: "The whole number next to `x` toward zero.",
        example: "trunc(-1.8) == -1.0",
    },
];

/// Three factors, because one power of two alone leaves the exponent's range where the result does not.
const SCALE_BY_POWER: &str = "\
fn scale_by_power(x: f32, exponent: i32) -> f32 {
    let e = clamp(exponent, -300, 300);
    let third = e / 3;
    let factor = bitcast<f32>((third + 127) << 23u);
    let last = bitcast<f32>((e - 2 * third + 127) << 23u);
    return x * factor * factor * last;
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

fn abs(a: &[Value]) -> Value {
    match a[0] {
        Value::I32(x) => Value::I32(x.wrapping_abs()),
        Value::U32(_) => a[0],
        Value::F32(_) | Value::Vec2(_) | Value::Vec3(_) | Value::Vec4(_) => map(a[0], f32::abs),
        Value::Bool(_) => ill_typed("number"),
    }
}

fn sign(a: &[Value]) -> Value {
    match a[0] {
        Value::I32(x) => Value::I32(x.signum()),
        Value::F32(_) | Value::Vec2(_) | Value::Vec3(_) | Value::Vec4(_) => {
            map(a[0], |x| f32::from(x > 0.0) - f32::from(x < 0.0))
        }
        Value::U32(_) | Value::Bool(_) => ill_typed("number"),
    }
}

/// `x` times a power of two, rounded once: the product is exact in `f64`.
fn ldexp(a: &[Value]) -> Value {
    match (a[0], a[1]) {
        (Value::F32(x), Value::I32(exponent)) => {
            let exponent = exponent.clamp(-300, 300);
            let power = f64::from_bits(((exponent + 1023) as u64) << 52);
            f((f64::from(x) * power) as f32)
        }
        _ => ill_typed("argument of `ldexp`"),
    }
}

fn smoothstep(low: f32, high: f32, x: f32) -> f32 {
    let t = smaller(larger((x - low) / (high - low), 0.0), 1.0);
    t * t * (3.0 - 2.0 * t)
}
