//! Activation functions and their kin, component by component.

use super::FLOAT_1;
use crate::builtin::{Builtin, Cost, Meaning, Precise, Pure, Tolerance, Wgsl, eval::map, math};

ids! {
    ERF, RELU, SIGMOID, SOFTPLUS,
}

/// The rows, by name.
pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        name: "erf",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], math::erf),
            wgsl: Wgsl::helper("error_function", ERROR_FUNCTION, &[]),
            precise: Precise::Form("precise_erf"),
            cost: Cost::of(58).special(1).float(8),
            derivative: &["1.1283791670955126 * exp(-x * x)"],
            tolerance: Tolerance::within(1e-6, 2e-6),
            ..FLOAT_1
        }),
        doc: "The error function: twice the chance of a normal number of variance 1/2 between 0 and `x`.",
        example: "abs(erf(0.5) - 0.5204999) < 1e-6",
    },
    Builtin {
        name: "relu",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], math::arithmetic::relu),
            wgsl: Wgsl::helper("rectify", RECTIFY, &[]),
            precise: Precise::Same,
            cost: Cost::of(6).float(1),
            derivative: &["select(0.0, 1.0, x > 0.0)"],
            ..FLOAT_1
        }),
        doc: "`x`, or 0 where it is negative.",
        example: "relu(-2.0) == 0.0",
    },
    Builtin {
        name: "sigmoid",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], math::sigmoid),
            wgsl: Wgsl::helper("logistic", LOGISTIC, &[]),
            precise: Precise::Form("precise_sigmoid"),
            cost: Cost::of(22).special(2).float(2),
            derivative: &["sigmoid(x) * (1.0 - sigmoid(x))"],
            tolerance: Tolerance::within(1e-6, 2e-5),
            ..FLOAT_1
        }),
        doc: "The logistic function `1 / (1 + exp(-x))`.",
        example: "sigmoid(0.0) == 0.5",
    },
    Builtin {
        name: "softplus",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], math::softplus),
            wgsl: Wgsl::helper("soft_plus", SOFT_PLUS, &[]),
            precise: Precise::Form("precise_softplus"),
            cost: Cost::of(17).special(2).float(3),
            derivative: &["sigmoid(x)"],
            tolerance: Tolerance::within(1e-6, 1e-5),
            ..FLOAT_1
        }),
        doc: "`log(1 + exp(x))`, a smooth `relu`.",
        example: "abs(softplus(0.0) - 0.6931472) < 1e-6",
    },
];

/// Two fits by polynomials, good to 5e-8: of erf x / x in x² below 1, of e^(x²) (1 - erf x) in 1/(x + 2)
/// above.
const ERROR_FUNCTION: &str = "\
fn error_function(x: f32) -> f32 {
    let size = min(abs(x), 4.0);
    let x2 = size * size;
    let near = size * (1.12837913 + x2 * (-0.376123438 + x2 * (0.112803167
        + x2 * (-0.0267150542 + x2 * (0.00492176203 + x2 * -0.000564805987)))));
    let t = 1.0 / (size + 2.0);
    let far = 1.0 - exp(-x2) * (0.0013318623 + t * (0.528864713 + t * (1.51484576
        + t * (-0.241433497 + t * (9.67155319 + t * -7.00146359)))));
    let value = select(far, near, size < 1.0);
    // Drivers make a minimum that loses a NaN of any comparison of floats, but not of one of their bits.
    return select(select(value, -value, x < 0.0), x, (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u);
}";

const RECTIFY: &str = "\
fn rectify(x: f32) -> f32 {
    return max(x, 0.0);
}";

/// Of the magnitude `exp` cannot overflow, which WGSL leaves undefined, and a NaN stays one, which a bound
/// would lose.
const LOGISTIC: &str = "\
fn logistic(x: f32) -> f32 {
    let e = exp(-abs(x));
    return select(1.0, e, x < 0.0) / (1.0 + e);
}";

const SOFT_PLUS: &str = "\
fn soft_plus(x: f32) -> f32 {
    return max(x, 0.0) + log(1.0 + exp(-abs(x)));
}";
