//! Trigonometric and hyperbolic functions, component by component.

use super::{FLOAT_1, FLOAT_2, trigonometry_text::*};
use crate::builtin::{
    Bounds, Builtin, Cost, Double, Meaning, Precise, Pure, Tolerance, Wgsl,
    eval::{map, zip},
    math::{self, double},
};

ids! {
    ACOS, ACOSH, ASIN, ASINH, ATAN, ATAN2, ATANH, COS, COSH, DEGREES, RADIANS, SIN, SINH, TAN, TANH,
}

/// The rows, by name.
pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        name: "acos",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], math::acos),
            double: Double::Of(|a| map(a[0], double::acos)),
            wgsl: Wgsl::helper("arc_cosine", ARC_COSINE, &["atan2"]),
            precise: Precise::Form("precise_acos"),
            cost: Cost::of(12).special(1).float(8),
            derivative: &["-1.0 / sqrt(1.0 - x * x)"],
            tolerance: Tolerance::within(1e-6, 1e-6),
            ..FLOAT_1
        }),
        doc: "Arc cosine in radians, 0 to π; NaN outside [-1, 1].",
        example: "abs(acos(0.5) - 1.0471976) < 1e-6",
    },
    Builtin {
        name: "acosh",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], math::acosh),
            double: Double::Of(|a| map(a[0], double::acosh)),
            wgsl: Wgsl::helper("area_cosine", AREA_COSINE, &[]),
            precise: Precise::Form("precise_acosh"),
            cost: Cost::of(33).special(2).float(4),
            derivative: &["1.0 / sqrt(x * x - 1.0)"],
            tolerance: Tolerance::within(1e-6, 2e-6),
            ..FLOAT_1
        }),
        doc: "Inverse hyperbolic cosine; NaN below 1.",
        example: "abs(acosh(2.0) - 1.3169579) < 1e-6",
    },
    Builtin {
        name: "asin",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], math::asin),
            double: Double::Of(|a| map(a[0], double::asin)),
            wgsl: Wgsl::helper("arc_sine", ARC_SINE, &["atan2"]),
            precise: Precise::Form("precise_asin"),
            cost: Cost::of(12).special(1).float(8),
            derivative: &["1.0 / sqrt(1.0 - x * x)"],
            tolerance: Tolerance::within(1e-6, 1e-6),
            ..FLOAT_1
        }),
        doc: "Arc sine in radians, -π/2 to π/2; NaN outside [-1, 1].",
        example: "abs(asin(0.5) - 0.5235988) < 1e-6",
    },
    Builtin {
        name: "asinh",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], math::asinh),
            double: Double::Of(|a| map(a[0], double::asinh)),
            wgsl: Wgsl::helper("area_sine", AREA_SINE, &[]),
            precise: Precise::Form("precise_asinh"),
            cost: Cost::of(47).special(2).float(4),
            derivative: &["1.0 / sqrt(x * x + 1.0)"],
            tolerance: Tolerance::within(1e-6, 2e-6),
            ..FLOAT_1
        }),
        doc: "Inverse hyperbolic sine.",
        example: "abs(asinh(1.0) - 0.8813736) < 1e-6",
    },
    Builtin {
        name: "atan",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], math::atan),
            double: Double::Of(|a| map(a[0], double::atan)),
            wgsl: Wgsl::helper("arc_tangent", ARC_TANGENT, &["atan2"]),
            precise: Precise::Form("precise_atan"),
            cost: Cost::of(6).special(1).float(10),
            derivative: &["1.0 / (1.0 + x * x)"],
            tolerance: Tolerance::within(1e-6, 1e-6),
            ..FLOAT_1
        }),
        doc: "Arc tangent in radians, -π/2 to π/2.",
        example: "abs(atan(1.0) - 0.7853982) < 1e-6",
    },
    Builtin {
        name: "atan2",
        params: &["y", "x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| zip(a[0], a[1], math::atan2),
            double: Double::Of(|a| zip(a[0], a[1], double::atan2)),
            wgsl: Wgsl::helper("angle_of", ANGLE_OF, &[]),
            precise: Precise::Form("precise_atan2"),
            cost: Cost::of(65).special(1).float(10),
            derivative: &["x / (x * x + y * y)", "-y / (x * x + y * y)"],
            tolerance: Tolerance::within(1e-6, 1e-6),
            ..FLOAT_2
        }),
        doc: "The angle of the point (`x`, `y`) in radians, -π to π; mind the order of the arguments.",
        example: "abs(atan2(1.0, -1.0) - 2.3561945) < 1e-6",
    },
    Builtin {
        name: "atanh",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], math::atanh),
            double: Double::Of(|a| map(a[0], double::atanh)),
            wgsl: Wgsl::helper("area_tangent", AREA_TANGENT, &[]),
            precise: Precise::Form("precise_atanh"),
            cost: Cost::of(50).special(2).float(4),
            derivative: &["1.0 / (1.0 - x * x)"],
            tolerance: Tolerance::within(1e-6, 2e-6),
            ..FLOAT_1
        }),
        doc: "Inverse hyperbolic tangent; NaN outside [-1, 1].",
        example: "abs(atanh(0.5) - 0.5493061) < 1e-6",
    },
    Builtin {
        name: "cos",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], math::cos),
            double: Double::Of(|a| map(a[0], double::cos)),
            wgsl: Wgsl::Native("cos"),
            precise: Precise::Form("precise_cos"),
            cost: Cost::of(8).special(1).float(1),
            bounds: Bounds::Unit,
            derivative: &["-sin(x)"],
            tolerance: Tolerance::within(3e-5, 1e-6).up_to(100.0),
            ..FLOAT_1
        }),
        doc: "Cosine of an angle in radians. A GPU's own loses a digit for each power of 10 beyond its \
            range, and has none left from some 1e7 on: there `--math precise` is the right one.",
        example: "abs(cos(1.0) - 0.5403023) < 1e-6",
    },
    Builtin {
        name: "cosh",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], math::cosh),
            double: Double::Of(|a| map(a[0], double::cosh)),
            wgsl: Wgsl::helper("hyperbolic_cosine", HYPERBOLIC_COSINE, &[]),
            precise: Precise::Form("precise_cosh"),
            cost: Cost::of(33).special(2).float(3),
            derivative: &["sinh(x)"],
            tolerance: Tolerance::ulp(250.0).up_to(88.0),
            ..FLOAT_1
        }),
        doc: "Hyperbolic cosine.",
        example: "abs(cosh(1.0) - 1.5430806) < 1e-6",
    },
    Builtin {
        name: "degrees",
        params: &["angle"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], math::arithmetic::degrees),
            double: Double::Of(|a| map(a[0], double::degrees)),
            wgsl: Wgsl::Native("degrees"),
            precise: Precise::Same,
            cost: Cost::of(8).float(1),
            derivative: &["57.29577951308232"],
            tolerance: Tolerance::ulp(3.0),
            ..FLOAT_1
        }),
        doc: "Radians as degrees.",
        example: "abs(degrees(1.0) - 57.29578) < 1e-4",
    },
    Builtin {
        name: "radians",
        params: &["angle"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], math::arithmetic::radians),
            double: Double::Of(|a| map(a[0], double::radians)),
            wgsl: Wgsl::Native("radians"),
            precise: Precise::Same,
            cost: Cost::of(8).float(1),
            derivative: &["0.017453292519943295"],
            tolerance: Tolerance::ulp(3.0),
            ..FLOAT_1
        }),
        doc: "Degrees as radians.",
        example: "abs(radians(180.0) - 3.1415927) < 1e-6",
    },
    Builtin {
        name: "sin",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], math::sin),
            double: Double::Of(|a| map(a[0], double::sin)),
            wgsl: Wgsl::Native("sin"),
            precise: Precise::Form("precise_sin"),
            cost: Cost::of(8).special(1).float(1),
            bounds: Bounds::Unit,
            derivative: &["cos(x)"],
            tolerance: Tolerance::within(3e-5, 1e-6).up_to(100.0),
            ..FLOAT_1
        }),
        doc: "Sine of an angle in radians. A GPU's own loses a digit for each power of 10 beyond its range, \
            and has none left from some 1e7 on: there `--math precise` is the right one.",
        example: "abs(sin(1.0) - 0.841471) < 1e-6",
    },
    Builtin {
        name: "sinh",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], math::sinh),
            double: Double::Of(|a| map(a[0], double::sinh)),
            wgsl: Wgsl::helper("hyperbolic_sine", HYPERBOLIC_SINE, &[]),
            precise: Precise::Form("precise_sinh"),
            cost: Cost::of(52).special(2).float(3),
            derivative: &["cosh(x)"],
            tolerance: Tolerance::within(1e-6, 2e-5).up_to(88.0),
            ..FLOAT_1
        }),
        doc: "Hyperbolic sine.",
        example: "abs(sinh(1.0) - 1.1752012) < 1e-6",
    },
    Builtin {
        name: "tan",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], math::tan),
            double: Double::Of(|a| map(a[0], double::tan)),
            wgsl: Wgsl::Native("tan"),
            precise: Precise::Form("precise_tan"),
            cost: Cost::of(8).special(3).float(2),
            derivative: &["1.0 + tan(x) * tan(x)"],
            tolerance: Tolerance::within(1e-4, 1e-4).up_to(1.5),
            ..FLOAT_1
        }),
        doc: "Tangent of an angle in radians. A GPU's own loses a digit for each power of 10 beyond its \
            range, and has none left from some 1e7 on: there `--math precise` is the right one.",
        example: "abs(tan(1.0) - 1.5574077) < 1e-5",
    },
    Builtin {
        name: "tanh",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], math::tanh),
            double: Double::Of(|a| map(a[0], double::tanh)),
            wgsl: Wgsl::helper("hyperbolic_tangent", HYPERBOLIC_TANGENT, &[]),
            precise: Precise::Form("precise_tanh"),
            cost: Cost::of(22).special(2).float(3),
            bounds: Bounds::Unit,
            derivative: &["1.0 - tanh(x) * tanh(x)"],
            tolerance: Tolerance::within(5e-7, 1e-6),
            ..FLOAT_1
        }),
        doc: "Hyperbolic tangent.",
        example: "abs(tanh(0.5) - 0.4621172) < 1e-6",
    },
];
