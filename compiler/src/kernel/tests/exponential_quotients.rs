//! Quotients of exponentials and their bounds: what changes, what stays, and by how much results do.

use crate::kernel::{
    rewrites::Bound,
    tests::relax::{reassociated, results, step},
};

fn exponentials(body: &str) -> (Vec<String>, u32) {
    let (lines, changes) = step("", body);
    (lines, changes.of("exponential_quotients"))
}

#[test]
fn quotients_of_exponentials_take_the_form_of_tanh() {
    for (body, expected) in [
        (
            "let e = exp(clamp(2.0 * b, -20.0, 20.0)) a = (e - 1.0) / (e + 1.0)",
            "let e: f32 = exp2(min(2.88539 * b, 28.8539))",
        ),
        (
            "let e = exp(clamp(2.0 * b, -20.0, 20.0)) a = (e - 1.0) / (e + 1.0)",
            "a = 1.0 - 2.0 / (e + 1.0)",
        ),
        (
            "let e = exp2(min(max(b, -30.0), 40.0)) a = (e - 3.0) / (3.0 + e)",
            "a = 1.0 - 6.0 / (3.0 + e)",
        ),
        (
            "a = 1.0 / (1.0 + exp(clamp(-b, -20.0, 20.0)))",
            "a = 1.0 / (1.0 + exp2(min(-1.442695 * b, 28.8539)))",
        ),
        (
            "a = exp(min(b, 10.0))",
            "a = exp2(min(1.442695 * b, 14.42695))",
        ),
    ] {
        let (lines, changed) = exponentials(body);
        assert!(
            lines.iter().any(|line| line == expected),
            "{body}: {lines:#?}"
        );
        assert!(changed > 0, "{body}");
    }
}

#[test]
fn what_counts_or_may_be_infinite_stays() {
    for (body, expected) in [
        // What the bound leaves is not lost beside the literal.
        (
            "a = 1.0 + exp2(clamp(b, -20.0, 20.0))",
            "a = 1.0 + exp2(clamp(b, -20.0, 20.0))",
        ),
        (
            "a = 0.000001 + exp2(clamp(b, -40.0, 20.0))",
            "a = 1e-6 + exp2(clamp(b, -40.0, 20.0))",
        ),
        (
            "a = exp2(clamp(b, -40.0, 20.0)) - 1.0",
            "a = exp2(clamp(b, -40.0, 20.0)) - 1.0",
        ),
        // Infinity over infinity.
        (
            "let e = exp2(b) a = (e - 1.0) / (e + 1.0)",
            "a = (e - 1.0) / (e + 1.0)",
        ),
        (
            "let e = exp2(min(b, 9.0)) a = (e - 1.0) / (e + 2.0)",
            "a = (e - 1.0) / (e + 2.0)",
        ),
    ] {
        let (lines, _) = exponentials(body);
        assert!(
            lines.iter().any(|line| line == expected),
            "{body}: {lines:#?}"
        );
    }
    // Another reader sees what the bound leaves.
    let (lines, _) = exponentials("let e = exp2(clamp(b, -40.0, 20.0)) a = 1.0 + e c = e");
    let bounded = lines
        .iter()
        .any(|line| line.contains("clamp(b, -40.0, 20.0)"));
    assert!(bounded, "{lines:#?}");
}

#[test]
fn functions_change_too() {
    let items = "fn squash(x: f32) -> f32 { let e = exp(clamp(2.0 * x, -20.0, 20.0)) return (e - 1.0) / (e + 1.0) }";
    let (text, changes) = reassociated(Bound::Issue, items, "a = squash(b) * squash(c)");
    assert!(text.contains("return 1.0 - 2.0 / (e + 1.0)"), "{text}");
    assert_eq!(changes.of("exponential_quotients"), 3, "{text}");
}

#[test]
fn lost_bounds_change_no_bit() {
    for factor in ["0.7", "-3.0", "-900.0", "900.0"] {
        let body = format!("let e = exp2(clamp({factor} * b, -30.0, 30.0)) a = 3.0 / (e + 1.0)");
        let [plain, changed] = results(&body, Bound::Issue);
        assert_eq!(plain.to_bits(), changed.to_bits(), "{body}");
    }
}
