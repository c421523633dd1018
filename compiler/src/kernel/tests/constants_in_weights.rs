//! Constants in weights: which go there, which do not, and by how much results change.

use crate::kernel::lane_layout::LaneLayout;
use crate::kernel::tests::relax::schedule;
use crate::{
    compile,
    ir::print::print,
    kernel::{
        rewrites::{self, Bound},
        tests::relax::{assert_near, dice, relaxed},
    },
    passes::tests::check,
};

fn weights(bound: Bound, body: &str) -> (String, u32) {
    let (text, changes) = relaxed(bound, "", body);
    (text, changes.of("constants_in_weights"))
}

#[test]
fn factors_go_into_weights() {
    for (body, expected) in [
        (
            "a = sin(3.0 * (w[0] + (b * w[1] + c * w[2])))",
            "a = sin(w_0_scaled + b * w_1_scaled + c * w_2_scaled)",
        ),
        (
            "a = exp(w[0] - b * w[1])",
            "a = exp2(w_0_scaled - b * w_1_scaled)",
        ),
        (
            "a = exp(min(w[0] + b * w[1], 4.0))",
            "a = exp2(min(w_0_scaled + b * w_1_scaled, 5.77078))",
        ),
        (
            "a = sin(3.0 * min(w[0] + b * w[1], 4.0))",
            "a = sin(min(w_0_scaled + b * w_1_scaled, 12.0))",
        ),
        (
            "a = exp(3.0 * (w[0] + b * w[1]))",
            "a = exp2(w_0_scaled + b * w_1_scaled)",
        ),
    ] {
        for bound in [Bound::Special, Bound::Issue, Bound::Latency] {
            let (text, changed) = weights(bound, body);
            assert!(text.contains(expected), "{body}: {text}");
            assert!(text.contains("let w_1_scaled: f32 = "), "{body}: {text}");
            assert_eq!(changed, 1, "{body}");
        }
    }
}

/// A weight that takes two factors is multiplied by their product.
#[test]
fn factors_of_a_weight_are_multiplied() {
    let (text, _) = weights(Bound::Special, "a = exp(3.0 * (w[0] + b * w[1]))");
    assert!(
        text.contains("let w_1_scaled: f32 = keep (4.328085 * w_1)"),
        "{text}"
    );
    // -2, which `tanh` loses, and 3.
    let body = "let h = tanh(b) a = sin(3.0 * (w[0] + h * w[1]))";
    let (text, _) = weights(Bound::Latency, body);
    assert!(
        text.contains("let w_1_scaled: f32 = keep (-6.0 * w_1)"),
        "{text}"
    );
}

#[test]
fn factors_of_functions_go_into_weights() {
    let items = "fn squash(x: f32) -> f32 { return 0.5 * tanh(2.0 * x) }";
    let body = "a = squash(w[0] + b * w[1])";
    for bound in [Bound::Issue, Bound::Latency] {
        let (text, changes) = relaxed(bound, items, body);
        for expected in [
            "let w_1_scaled: f32 = keep (2.0 * w_1)",
            "w_0_scaled + b * w_1_scaled",
        ] {
            assert!(text.contains(expected), "no {expected} in {text}");
        }
        assert_eq!(changes.of("constants_in_weights"), 1, "{text}");
    }
    // Nothing goes into weights: the function stays as it is.
    let (text, changes) = relaxed(Bound::Issue, items, "a = squash(b * c)");
    assert!(text.contains("squash#0(b * c)"), "{text}");
    assert_eq!(changes.of("constants_in_weights"), 0, "{text}");
    // Nor where other sums change, or the step has blocks of its own.
    let body = "for i in 0..n { d = sin(d) } a = d + (a * b + b * c) c = squash(c)";
    let (text, changes) = relaxed(Bound::Issue, items, body);
    assert!(text.contains("squash#0(c)"), "{text}");
    assert_eq!(
        (changes.of("constants_in_weights"), changes.of("fma_chains")),
        (0, 1),
        "{text}"
    );
}

#[test]
fn what_is_observed_is_not_scaled() {
    let body = "let v = 20.0 * b a = sin(w[0] + (v * w[1] + c * w[2])) d = cos(w[3] * v - w[4])";
    let (text, changed) = weights(Bound::Latency, body);
    for expected in [
        "let w_1_scaled: f32 = keep (20.0 * w_1)",
        "let w_3_scaled: f32 = keep (20.0 * w_3)",
        "let v: f32 = b",
    ] {
        assert!(text.contains(expected), "no {expected} in {text}");
    }
    assert_eq!(changed, 1, "{text}");
    assert_eq!(weights(Bound::Issue, body).1, 0);
    // Another reader; a product without a constant.
    for body in [
        "let v = 20.0 * b a = sin(w[0] + v * w[1]) d = v",
        "let v = c * b a = sin(w[0] + v * w[1])",
    ] {
        let (text, changed) = weights(Bound::Latency, body);
        assert_eq!(changed, 0, "{body}: {text}");
    }
}

#[test]
fn what_others_read_or_changes_stays() {
    for body in [
        // A sum absorbs the factor.
        "a = b + 3.0 * (w[0] + b * w[1])",
        // Another reader.
        "a = sin(3.0 * (w[0] + b * w[1])) c = w[1]",
        "let s = w[0] + b * w[1] a = sin(3.0 * s) c = s",
        // No weight.
        "a = sin(3.0 * (w[0] + b * c))",
        // Too large.
        "a = sin(5000.0 * (w[0] + b * w[1]))",
    ] {
        let (text, changed) = weights(Bound::Special, body);
        assert_eq!(changed, 0, "{body}: {text}");
        assert!(!text.contains("_scaled"), "{body}: {text}");
    }
}

#[test]
fn affine_functions_go_into_weights_where_few_agents_run() {
    let body = "let h = tanh(b) let g = 1.0 - 3.0 * c a = sin(w[0] + (h * w[1] + g * w[2])) d = cos(w[3] * \
        g + w[4] * h)";
    let (text, changed) = weights(Bound::Latency, body);
    for expected in [
        "let h: f32 = 1.0 / (exp2(-bits_f32(min(bits_u32(-2.88539 * b), 3261517005u))) + 1.0)",
        "let w_1_scaled: f32 = keep (-2.0 * w_1)",
        "let w_2_scaled: f32 = keep (-3.0 * w_2)",
        "let w_0_shifted: f32 = keep (w_0 + (-0.5 * w_1_scaled + -0.33333334 * w_2_scaled))",
        "sin(w_0_shifted + g * w_2_scaled + h * w_1_scaled)",
    ] {
        assert!(text.contains(expected), "no {expected} in {text}");
    }
    assert_eq!(changed, 2, "{text}");
    assert_eq!(weights(Bound::Special, body).1, 0);
    for body in [
        // Read by itself, too.
        "let h = tanh(b) a = sin(w[0] + (h * w[1] + c * w[2])) d = h",
        // Roundings of the magnitude of what steps accumulate would add up.
        "let h = tanh(b) a = a + h * w[1]",
    ] {
        let (text, changed) = weights(Bound::Latency, body);
        assert_eq!(changed, 0, "{body}: {text}");
    }
}

/// Small networks whose layers have weights that constants may go into.
#[test]
fn networks_move_by_roundings() {
    let mut below = dice(3);
    let mut changed = 0;
    for _ in 0..200 {
        let mut weight = 0;
        let mut body = String::new();
        let mut names = vec!["a".to_owned(), "b".to_owned(), "c".to_owned()];
        for layer in 0..2 {
            let mut next = Vec::new();
            for unit in 0..2 + below(2) {
                let mut sum = format!("w[{weight}]");
                weight += 1;
                for name in &names {
                    let sign = ["+", "-"][below(2) as usize];
                    sum += &format!(" {sign} {name} * w[{weight}]");
                    weight += 1;
                }
                let value = match below(6) {
                    0 => format!("tanh({sum})"),
                    1 => format!("1.0 / (1.0 + exp(clamp(-({sum}), -20.0, 20.0)))"),
                    2 => format!("squash({sum})"),
                    3 => format!("0.5 - 0.25 * cos({sum})"),
                    4 => format!("2.0 + 0.5 * sin(0.3 * ({sum}))"),
                    _ => format!("sigmoid({sum})"),
                };
                let name = format!("h{layer}{unit}");
                body += &format!("let {name} = {value}\n");
                next.push(name);
            }
            for name in &next {
                if below(4) == 0 {
                    body += &format!("let scaled_{name} = 3.0 * {name}\n");
                }
            }
            let scaled = |name: String| match body.contains(&format!("scaled_{name} ")) {
                true => format!("scaled_{name}"),
                false => name,
            };
            names = next.into_iter().map(scaled).collect();
        }
        let total = names.join(" + ");
        let source = format!(
            "input w: [f32; 40]
            fn squash(x: f32) -> f32 {{ let e = exp(clamp(2.0 * x, -20.0, 20.0)) return (e - 1.0) / (e + \
            1.0) }}
            state a = 0.3 state b = 0.5 state c = 0.2
            step {{ {body} a = 0.2 * ({total}) b = 0.9 * b c = 0.1 + 0.1 * c }}
            output a"
        );
        let program = compile(&source).expect("a legal model").program;
        for bound in [Bound::Special, Bound::Issue, Bound::Latency] {
            let Some((moved, changes)) =
                rewrites::apply(&program, &LaneLayout::default(), bound, &schedule(true))
            else {
                continue;
            };
            changed += u32::from(changes.of("constants_in_weights") > 0);
            check(&moved);
            let again = rewrites::apply(&program, &LaneLayout::default(), bound, &schedule(true))
                .map(|(again, _)| print(&again));
            assert_eq!(again, Some(print(&moved)), "it differs from time to time");
            // Sums of some terms of size 2 that may cancel.
            assert_near(&program, &moved, 2, 1e-5);
        }
    }
    assert!(changed > 450, "only {changed} of 600 have changed");
}
