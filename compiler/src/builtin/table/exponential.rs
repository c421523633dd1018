//! Powers and logarithms, component by component.

use super::{FLOAT_1, FLOAT_2};
use crate::builtin::{
    Bounds, Builtin, Cost, Double, Meaning, Precise, Pure, Tolerance, Wgsl,
    eval::{map, zip},
    math::{self, double},
};

ids! {
    EXP, EXP2, INVERSE_SQRT, LOG, LOG2, POW, SQRT,
}

/// The rows, by name.
pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        name: "exp",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], math::exp),
            double: Double::Of(|a| map(a[0], double::exp)),
            wgsl: Wgsl::Native("exp"),
            precise: Precise::Form("precise_exp"),
            cost: Cost::of(8).special(1).float(1),
            bounds: Bounds::Growing(f64::exp),
            derivative: &["exp(x)"],
            tolerance: Tolerance::ulp(180.0),
            ..FLOAT_1
        }),
        doc: "e to the power `x`.",
        example: "abs(exp(1.0) - 2.7182818) < 1e-6",
    },
    Builtin {
        name: "exp2",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], math::exp2),
            double: Double::Of(|a| map(a[0], double::exp2)),
            wgsl: Wgsl::Native("exp2"),
            precise: Precise::Form("precise_exp2"),
            cost: Cost::of(8).special(1).float(1),
            bounds: Bounds::Growing(f64::exp2),
            derivative: &["exp2(x) * 0.6931471805599453"],
            tolerance: Tolerance::ulp(180.0),
            ..FLOAT_1
        }),
        doc: "2 to the power `x`.",
        example: "exp2(5.0) == 32.0",
    },
    Builtin {
        name: "inverseSqrt",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], math::arithmetic::inverse_sqrt),
            double: Double::Of(|a| map(a[0], double::inverse_sqrt)),
            wgsl: Wgsl::Native("inverseSqrt"),
            precise: Precise::Form("precise_inverse_sqrt"),
            cost: Cost::of(8).special(1),
            derivative: &["-0.5 * inverseSqrt(x) / x"],
            tolerance: Tolerance::ulp(4.0),
            ..FLOAT_1
        }),
        doc: "One over the square root.",
        example: "abs(inverseSqrt(4.0) - 0.5) < 1e-6",
    },
    Builtin {
        name: "log",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], math::log),
            double: Double::Of(|a| map(a[0], double::log)),
            wgsl: Wgsl::Native("log"),
            precise: Precise::Form("precise_log"),
            cost: Cost::of(8).special(1).float(1),
            derivative: &["1.0 / x"],
            tolerance: Tolerance::within(5e-7, 1e-6),
            ..FLOAT_1
        }),
        doc: "The natural logarithm; NaN below zero, minus infinity at zero.",
        example: "abs(log(10.0) - 2.3025851) < 1e-6",
    },
    Builtin {
        name: "log2",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], math::log2),
            double: Double::Of(|a| map(a[0], double::log2)),
            wgsl: Wgsl::Native("log2"),
            precise: Precise::Form("precise_log2"),
            cost: Cost::of(8).special(1).float(1),
            derivative: &["1.4426950408889634 / x"],
            tolerance: Tolerance::within(5e-7, 1e-6),
            ..FLOAT_1
        }),
        doc: "The binary logarithm.",
        example: "log2(8.0) == 3.0",
    },
    Builtin {
        name: "pow",
        params: &["x", "y"],
        meaning: Meaning::Pure(Pure {
            eval: |a| zip(a[0], a[1], math::pow),
            double: Double::Of(|a| zip(a[0], a[1], double::pow)),
            wgsl: Wgsl::helper("power", POWER, &[]),
            precise: Precise::Form("precise_pow"),
            cost: Cost::of(49).special(2).float(1),
            derivative: &[
                "y * pow(x, y - 1.0)",
                "select(0.0, pow(x, y) * log(x), x > 0.0)",
            ],
            tolerance: Tolerance::ulp(8192.0).up_to(1000.0),
            ..FLOAT_2
        }),
        doc: "`x` to the power `y`, also `x ** y`; a negative `x` has powers for whole `y`, for others NaN.",
        example: "pow(-2.0, 3.0) == -8.0",
    },
    Builtin {
        name: "sqrt",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], math::arithmetic::sqrt),
            double: Double::Of(|a| map(a[0], f64::sqrt)),
            wgsl: Wgsl::Native("sqrt"),
            precise: Precise::Form("precise_sqrt"),
            cost: Cost::of(8).special(1),
            derivative: &["0.5 / sqrt(x)"],
            tolerance: Tolerance::ulp(3.0),
            ..FLOAT_1
        }),
        doc: "The square root; NaN below zero.",
        example: "sqrt(9.0) == 3.0",
    },
];

/// WGSL leaves `pow` of negative numbers undefined; here a whole exponent takes the power of the magnitude
/// and gives it its sign. Any other exponent leaves it to `pow`, whose logarithm is NaN.
const POWER: &str = "\
fn power(x: f32, y: f32) -> f32 {
    let whole = trunc(y) == y;
    let odd = abs(y - 2.0 * trunc(0.5 * y)) == 1.0;
    let size = pow(select(x, abs(x), whole), y);
    let value = select(size, -size, odd && x < 0.0);
    let known = max(bitcast<u32>(abs(x)), bitcast<u32>(abs(y))) <= 0x7f800000u;
    return select(select(x + y, value, known), 1.0, y == 0.0 || x == 1.0);
}";
