//! Activation functions and their kin, component by component.

use super::FLOAT_1;
use crate::builtin::{
    Builtin, Cost, Double, Meaning, Precise, Pure, Tolerance, Wgsl,
    eval::map,
    math::{self, double},
};

ids! {
    ERF, ERFC, GAMMA, LGAMMA, NORMAL_CDF, NORMAL_QUANTILE, RELU, SIGMOID, SOFTPLUS,
}

/// The derivative of `lgamma`, with y for the larger of x and 1 - x: the asymptotic series at y + 8, less the
/// eight terms from y to there; left of ½, where y is 1 - x, by reflection.
macro_rules! digamma {
    () => {
        "(log(abs(x - 0.5) + 8.5) - 0.5 / (abs(x - 0.5) + 8.5) \
        - 0.083333333 / pow(abs(x - 0.5) + 8.5, 2.0) + 0.0083333333 / pow(abs(x - 0.5) + 8.5, 4.0) \
        - 1.0 / (abs(x - 0.5) + 0.5) - 1.0 / (abs(x - 0.5) + 1.5) - 1.0 / (abs(x - 0.5) + 2.5) \
        - 1.0 / (abs(x - 0.5) + 3.5) - 1.0 / (abs(x - 0.5) + 4.5) - 1.0 / (abs(x - 0.5) + 5.5) \
        - 1.0 / (abs(x - 0.5) + 6.5) - 1.0 / (abs(x - 0.5) + 7.5) \
        - select(0.0, 3.1415927 / tan(3.1415927 * fract(x)), x < 0.5))"
    };
}

/// The rows, by name.
pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        name: "erf",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], math::erf),
            double: Double::Of(|a| map(a[0], double::erf)),
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
        name: "erfc",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], math::erfc),
            double: Double::Of(|a| map(a[0], double::erfc)),
            wgsl: Wgsl::helper("error_complement", ERROR_COMPLEMENT, &[]),
            precise: Precise::Form("precise_erfc"),
            cost: Cost::of(70).special(2).float(24),
            derivative: &["-1.1283791670955126 * exp(-x * x)"],
            tolerance: Tolerance::within(1e-37, 6e-5),
            ..FLOAT_1
        }),
        doc: "One less the error function, `1 - erf(x)`, with all digits where that is small.",
        example: "abs(erfc(4.0) / 1.541726e-8 - 1.0) < 1e-5",
    },
    Builtin {
        name: "gamma",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], math::gamma),
            double: Double::Of(|a| map(a[0], double::gamma)),
            wgsl: Wgsl::helper("gamma_function", GAMMA_FUNCTION, &[]),
            precise: Precise::Same,
            cost: Cost::of(300).special(1).float(100),
            derivative: &[concat!("gamma(x) * ", digamma!())],
            tolerance: Tolerance::within(1e-37, 2e-5),
            ..FLOAT_1
        }),
        doc: "The gamma function: `(x - 1)!` of whole numbers; NaN at those below 0. With two arguments \
            `gamma` is a draw.",
        example: "gamma(5.0) == 24.0",
    },
    Builtin {
        name: "lgamma",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], math::lgamma),
            double: Double::Of(|a| map(a[0], double::lgamma)),
            wgsl: Wgsl::helper("log_gamma", LOG_GAMMA, &["gamma"]),
            precise: Precise::Same,
            cost: Cost::of(250).special(6).float(80),
            derivative: &[digamma!()],
            tolerance: Tolerance::within(1e-5, 1e-5),
            ..FLOAT_1
        }),
        doc: "The natural logarithm of the size of the gamma function.",
        example: "abs(lgamma(101.0) - 363.73938) < 1e-3",
    },
    Builtin {
        name: "normal_cdf",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], math::normal_cdf),
            double: Double::Of(|a| map(a[0], double::normal_cdf)),
            wgsl: Wgsl::helper("normal_chance", NORMAL_CHANCE, &[]),
            precise: Precise::Form("precise_normal_cdf"),
            cost: Cost::of(70).special(2).float(24),
            derivative: &["0.3989422804014327 * exp(-0.5 * x * x)"],
            tolerance: Tolerance::within(1e-37, 6e-5),
            ..FLOAT_1
        }),
        doc: "The chance that a standard normal number is at most `x`, to all digits where that is small.",
        example: "abs(normal_cdf(-5.0) / 2.8665157e-7 - 1.0) < 1e-5",
    },
    Builtin {
        name: "normal_quantile",
        params: &["p"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], math::normal_quantile),
            double: Double::Of(|a| map(a[0], double::normal_quantile)),
            wgsl: Wgsl::helper("normal_of_chance", NORMAL_OF_CHANCE, &[]),
            precise: Precise::Form("precise_normal_quantile"),
            cost: Cost::of(90).special(3).float(36),
            derivative: &[
                "2.5066282746310002 * exp(0.5 * normal_quantile(p) * normal_quantile(p))",
            ],
            tolerance: Tolerance::within(1e-37, 1e-5),
            ..FLOAT_1
        }),
        doc: "What a standard normal number is at most with chance `p`: the inverse of `normal_cdf`; \
            infinite for 0 and 1, NaN outside.",
        example: "abs(normal_quantile(0.975) - 1.959964) < 1e-5",
    },
    Builtin {
        name: "relu",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| map(a[0], math::arithmetic::relu),
            double: Double::Of(|a| map(a[0], double::relu)),
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
            double: Double::Of(|a| map(a[0], double::sigmoid)),
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
            double: Double::Of(|a| map(a[0], double::softplus)),
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

/// As [`ERROR_FUNCTION`], with a fit above 1/2 that is relative to what it fits. NaN is seen by its bits.
const ERROR_COMPLEMENT: &str = "\
fn error_complement(x: f32) -> f32 {
    let size = min(abs(x), 10.2);
    let x2 = size * size;
    let near = size * (1.12837913 + x2 * (-0.376123438 + x2 * (0.112803167
        + x2 * (-0.0267150542 + x2 * (0.00492176203 + x2 * -0.000564805987)))));
    let t = 1.0 / (size + 2.0);
    let far = exp(-x2) * (4.594251e-8 + t * (0.56418972 + t * (1.128256 + t * (1.9794236 + t *
        (2.7293027 + t * (3.76605 + t * (-8.802783 + t * (37.963948 + t * (-173.6558 + t * (349.747 + t
        * (-333.64078 + t * (127.30769))))))))))));
    let value = select(far, 1.0 - near, size < 0.5);
    return select(select(value, 2.0 - value, x < 0.0), x, (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u);
}";

/// Half of [`ERROR_COMPLEMENT`] of `-x` over the root of 2.
const NORMAL_CHANCE: &str = "\
fn normal_chance(x: f32) -> f32 {
    let size = min(abs(x), 14.4);
    let x2 = 0.5 * size * size;
    let near = size * (0.398942294 + x2 * (-0.132979716 + x2 * (0.0398819421
        + x2 * (-0.00944519806 + x2 * (0.0017401056 + x2 * -0.000199689073)))));
    let t = 1.0 / (size * 0.70710678 + 2.0);
    let far = 0.5 * exp(-x2) * (4.594251e-8 + t * (0.56418972 + t * (1.128256 + t * (1.9794236 + t *
        (2.7293027 + t * (3.76605 + t * (-8.802783 + t * (37.963948 + t * (-173.6558 + t * (349.747 + t
        * (-333.64078 + t * (127.30769))))))))))));
    let value = select(far, 0.5 - near, x2 < 0.25);
    return select(select(value, 1.0 - value, x > 0.0), x, (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u);
}";

/// Near 1/2 by a fit in the square of the distance from it; else by one in the root of the logarithm of the
/// smaller chance. 0 and 1 are seen by their bits, and make what is infinite of them.
const NORMAL_OF_CHANCE: &str = "\
fn normal_of_chance(p: f32) -> f32 {
    let q = p - 0.5;
    let q2 = q * q;
    let near = q * (2.5066283 + q2 * (2.6249351 + q2 * (5.7725042 + q2 * (15.671645 + q2 * (46.755801 +
        q2 * (160.91025 + q2 * (233.2025 + q2 * (5444.55686 + q2 * (-24647.363 + q2 *
        (138646.44))))))))));
    let rest = select(abs(p), 1.0 - p, q > 0.0);
    let s = sqrt(-2.0 * log(rest));
    let a = 1.0 / s - 0.37;
    let b = 1.0 / s - 0.13;
    let tail = 0.75843176 + a * (1.190495 + a * (-0.9973838 + a * (1.14779002 + a * (-1.6144273 +
        a * (2.640799 + a * (-4.831739 + a * (9.3501835 + a * (-17.337889 + a * (39.453205 + a *
        (-138.78186 + a * (269.5494)))))))))));
    let far_tail = 0.390151336 + b * (2.0528088 + b * (-3.4346036 + b * (9.816691 + b * (-38.395675 +
        b * (176.50984 + b * (-864.8001 + b * (5203.273 + b * (-41283.463 + b * (190703.49)))))))));
    let size = s - select(tail, far_tail, b < 0.07);
    let bits = bitcast<u32>(rest);
    let bounded = select(size, bitcast<f32>(0x7f800000u | bits), (bits << 1u) == 0u);
    let value = select(select(bounded, -bounded, q < 0.0), near, abs(q) <= 0.3);
    let inside = bitcast<u32>(p) <= 0x3f800000u || bitcast<u32>(p) == 0x80000000u;
    return select(bitcast<f32>(bitcast<u32>(p) | 0x7fc00000u), value, inside);
}";

/// By factors from a fit between 1 and 2 (`fit.py gamma:11`). Infinities and NaN are seen and made by their
/// bits.
const GAMMA_FUNCTION: &str = "\
fn gamma_function(x: f32) -> f32 {
    let inside = clamp(x, -44.0, 36.0);
    let whole = floor(inside);
    let t = inside - whole;
    let near = 1.0 + t * (-0.577214641 + t * (0.989002994 + t * (-0.906517502 + t * (0.972938519 +
        t * (-0.934604631 + t * (0.828421827 + t * (-0.603921931 + t * (0.324537182 + t *
        (-0.1098595 + t * 0.0172176925)))))))));
    var above = near;
    var below = select(1.0, inside, whole <= 0.0);
    for (var k = 1.0; k < whole; k += 1.0) {
        above *= inside - k;
    }
    for (var k = 1.0; k <= -whole; k += 1.0) {
        below *= inside + k;
    }
    let bits = bitcast<u32>(x);
    let is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
    let is_pole = x < 0.0 && floor(x) == x;
    let value = select(above / below, bitcast<f32>(0x7f800000u | bits), (bits << 1u) == 0u);
    let bounded = select(value, bitcast<f32>(0x7f800000u | (bits & 0u)), x > 35.04011);
    let low = select(bounded, 0.0, x < -43.0);
    return select(low, bitcast<f32>(bits | 0x7fc00000u), is_nan || is_pole);
}";

/// Near 0 by [`GAMMA_FUNCTION`], far from it by Stirling's series, and on the left through the sine.
const LOG_GAMMA: &str = "\
fn log_gamma(x: f32) -> f32 {
    let size = clamp(abs(x), 12.0, 1e37);
    let u = 1.0 / size;
    let far = (size - 0.5) * log(size) - size + (0.91893853 + u * (0.083333333 - u * u * 0.0027777778));
    let part = abs(x - round(x));
    let left = log(3.14159265 * u) - log(sin(3.14159265 * max(part, 1e-7))) - far;
    let near = log(abs(gamma_function(clamp(x, -12.0, 13.0))));
    let value = select(select(near, far, x > 13.0), left, x < -12.0);
    let bits = bitcast<u32>(x);
    let is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
    let is_pole = x <= 0.0 && part == 0.0;
    let is_large = abs(x) > 4.085e36;
    let bounded = select(value, bitcast<f32>(0x7f800000u | (bits & 0u)), is_pole || is_large);
    return select(bounded, x, is_nan);
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
