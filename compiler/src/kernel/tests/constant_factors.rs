//! Constant factors: which move, which stay, and by how much results do.

use crate::kernel::lane_layout::LaneLayout;
use crate::kernel::tests::relax::schedule;
use crate::{
    compile,
    ir::print::print,
    kernel::{
        rewrites::{self, Bound},
        tests::relax::{dice, results, step},
    },
    passes::tests::{check, outcome},
};

/// The lines of the step, and in how many places factors have moved.
fn factors(body: &str) -> (Vec<String>, u32) {
    let (lines, changes) = step("", body);
    (lines, changes.of("constant_factors"))
}

#[test]
fn factors_meet_factors() {
    for (body, expected) in [
        ("a = 2.0 * (3.0 * (b + c))", "a = 6.0 * (b + c)"),
        ("a = (b + c) * 3.0 * -0.5", "a = -1.5 * (b + c)"),
        ("a = 0.25 * (4.0 * (b + c))", "a = b + c"),
        ("a = 0.5 * (b * c / 3.0)", "a = 0.16666667 * (b * c)"),
        ("a = 0.5 * (2.0 * b - 6.0 * c)", "a = b - 3.0 * c"),
        ("a = 0.5 * (5.0 * b * c)", "a = 2.5 * b * c"),
        (
            "a = 3.0 * (b * c) + 3.0 * (c * d)",
            "a = 3.0 * (b * c + c * d)",
        ),
        ("a = exp(0.5 * b)", "a = exp2(0.7213475 * b)"),
        (
            "a = exp(1.0 - 0.5 * b)",
            "a = exp2(1.442695 - 0.7213475 * b)",
        ),
    ] {
        let (lines, changed) = factors(body);
        assert!(
            lines.iter().any(|line| line == expected),
            "{body}: {lines:#?}"
        );
        assert_eq!(changed, 1, "{body}");
    }
}

#[test]
fn names_lose_factors_that_readers_have_place_for() {
    let (lines, changed) =
        factors("let v = 10.0 * (b - c) a = b + 0.5 * v c = c + 0.25 * v d = exp(v)");
    assert_eq!(changed, 1);
    assert_eq!(
        lines[..4],
        [
            "let v_unscaled: f32 = b - c",
            "a = b + 5.0 * v_unscaled",
            "c = c + 2.5 * v_unscaled",
            "d = exp2(14.42695 * v_unscaled)",
        ]
    );
}

/// As in the method of Runge and Kutta: the sum of such names has their factor, and passes it on to its own.
#[test]
fn names_lose_factors_to_a_common_one() {
    let (lines, changed) = factors(
        "let v = 10.0 * (b - c) let b_2 = b + 0.5 * v
        let w = 10.0 * (b_2 - c) let c_2 = c + 0.5 * w
        a = a + 0.25 * (v + 2.0 * w + 10.0 * (b_2 - c_2)) d = b_2 * c_2",
    );
    assert_eq!(changed, 2);
    let found = lines
        .iter()
        .any(|line| line.ends_with("2.5 * (v_unscaled + 2.0 * w_unscaled + (b_2 - c_2))"));
    assert!(found, "{lines:#?}");
}

#[test]
fn factors_that_cost_no_less_elsewhere_stay() {
    for body in [
        "a = 2.0 * b + 3.0 * c",
        "a += 2.0 * b + 3.0 * c",
        "a = b + 3.0 * (b + c)",
        "a = 3.0 * sqrt(2.0 * b)",
        "a = exp(b)",
        "a = exp(-b)",
        "a = exp(b + c)",
        "a = exp(1.0 + b)",
        // A device fuses the product into both additions.
        "let v = 10.0 * (b - c) a = b + v d = c + v",
        // Somebody needs the name's own value, or reads it elsewhere.
        "let v = 10.0 * (b - c) a = b + 0.5 * v d = d * v",
        "let v = 10.0 * (b - c) a = b + 0.5 * v d = max(d, v)",
        "let v = 10.0 * (b - c) a = b if a > 1.0 { a = b + 0.5 * v stop }",
        "n = 3 * (5 * n)",
    ] {
        let (lines, changed) = factors(body);
        assert_eq!(changed, 0, "{body}: {lines:#?}");
    }
}

#[test]
fn factors_that_may_not_move_stay() {
    for body in [
        // Factors that are not normal numbers.
        "a = 1e-30 * (1e-20 * b)",
        "a = 1e30 * (1e20 * b)",
        "a = 1e-20 * (1e-18 * b)",
        "a = 0.0 * (3.0 * b)",
        // Factors of no moderate size.
        "a = 2.0 * (1e-30 * (b + c) + 1e5 * (c + d))",
        "a = 1e25 * ((2e10 * b + 1e10) / (c * 1e30 + d))",
        // `b * c` might overflow.
        "a = (1e-20 * b) * (2.0 * c)",
        // Roundings that are intended.
        "a = 0.5 * ((3.0 * b + 12582912.0) - 12582912.0)",
        "let v = 3.0 * b a = 0.5 * v d = (v + 12582912.0) - 12582912.0",
        "let v = 3.0 * b a = 0.5 * v d = (v + c) - v",
    ] {
        let (lines, changed) = factors(body);
        assert_eq!(changed, 0, "{body}: {lines:#?}");
    }
}

#[test]
fn results_move_by_roundings() {
    for body in [
        "let v = 10.0 * (b - c) a = 0.01 * a + 0.5 * v b = b + 0.001 * v",
        "a = exp(0.1 + 0.3 * sqrt(2.0 * b) * b / 7.0)",
    ] {
        let [plain, changed] = results(body, Bound::Special);
        assert!(plain.is_finite() && plain != 0.0, "{body}: {plain}");
        assert!(
            (plain - changed).abs() <= 1e-6 * plain.abs(),
            "{body}: {changed}, not {plain}"
        );
    }
}

/// Sums of positive terms have no digits to lose.
#[test]
fn random_models_agree() {
    let mut dice = dice(1);
    let mut below = |n: usize| dice(n as u64) as usize;
    let mut changed = 0;
    for _ in 0..200 {
        let mut names = vec!["a", "b", "c"];
        let mut body = String::new();
        for name in ["p", "q", "r", "s", "u"] {
            let mut term = || {
                let factor = ["0.1", "3.0", "0.7", "0.25"][below(4)];
                let (x, y) = (names[below(names.len())], names[below(names.len())]);
                match below(7) {
                    0 => x.to_owned(),
                    1 => format!("{factor} * ({x} + {y})"),
                    2 => format!("{factor} * (0.3 * {x} + 0.2 * {y})"),
                    3 => format!("{factor} * sqrt(0.6 * {x})"),
                    4 => format!("exp(-0.2 * {x})"),
                    5 => format!("{x} / 3.0"),
                    _ => format!("{factor} * {x}"),
                }
            };
            let value = match [term(), term(), term()] {
                [x, y, _] if x.len() % 2 == 0 => format!("0.3 * ({x} + {y})"),
                [x, y, z] => format!("{x} + ({y} + {z})"),
            };
            body += &format!("let {name} = {value}\n");
            names.push(name);
        }
        let source = format!(
            "state a = 0.3 state b = 0.5 state c = 0.2
            step {{ {body} a = min(s, 9.0) b = min(u, 9.0) c = 0.1 + 0.1 * c }}
            output a"
        );
        let program = compile(&source).expect("a legal model").program;
        let Some((moved, changes)) = rewrites::apply(
            &program,
            &LaneLayout::default(),
            Bound::Special,
            &schedule(false),
        ) else {
            continue;
        };
        changed += u32::from(changes.of("constant_factors") > 0);
        check(&moved);
        let again = rewrites::apply(
            &program,
            &LaneLayout::default(),
            Bound::Special,
            &schedule(false),
        )
        .map(|(again, _)| print(&again));
        assert_eq!(again, Some(print(&moved)), "it differs from time to time");
        let [plain, moved] = [&program, &moved].map(|program| outcome::run(program, 3, 1));
        for ((word, plain), (_, moved)) in plain.into_iter().zip(moved) {
            let (plain, moved) = (f32::from_bits(plain), f32::from_bits(moved));
            assert!(
                (plain - moved).abs() <= 3e-6 * plain.abs(),
                "{source}: {word} is {moved}, not {plain}"
            );
        }
    }
    assert!(changed > 150, "only {changed} of 200 have changed");
}
