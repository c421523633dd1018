//! Where latency counts, terms that are known last come last.

use crate::kernel::lane_layout::LaneLayout;
use crate::kernel::lanes::Laid;
use crate::kernel::tests::relax::schedule;
use crate::{
    compile,
    ir::print::print,
    kernel::{
        rewrites::{self, Bound, Changes},
        tests::relax::{assert_near, relaxed, results},
    },
    passes::tests::check,
};

fn waiting(body: &str) -> (String, Changes) {
    relaxed(Bound::Latency, "", body)
}

#[test]
fn what_is_known_last_is_added_last() {
    for (body, expected) in [
        (
            "let s = sin(b) a = cos(s * w[0] + d * w[1] + (w[2] + c * w[3]))",
            "cos(w_2 + d * w_1 + c * w_3 + s * w_0)",
        ),
        // The step before knew `d` last, and the rows are known early.
        (
            "let r = rows[t] a = cos(w[0] + (d * w[1] + r[0] * w[2] + b * w[3])) d = sin(a / c)",
            "cos(w_0 + rows[step * 4] * w_2 + b * w_3 + d * w_1)",
        ),
    ] {
        let (text, changes) = waiting(body);
        assert!(text.contains(expected), "{body}: {text}");
        assert_eq!(changes.of("late_terms_last"), 1, "{body}: {text}");
    }
    // Literals are added up first, which leaves nothing to order.
    let (text, changes) = waiting("let s = sin(b) a = cos(1.0 + s * w[0] - 0.25)");
    assert!(text.contains("cos(0.75 + s * w_0)"), "{text}");
    assert_eq!(changes.of("fma_chains"), 1, "{text}");
    for body in [
        "a = a + (sin(b) * w[0] + c * w[1])",
        "let s = sin(b) a = cos(s + (c - s) + d)",
        "let s = sin(b) a = cos((s + 12582912.0) - 12582912.0 + d)",
    ] {
        let (text, changes) = waiting(body);
        assert_eq!(changes.of("late_terms_last"), 0, "{body}: {text}");
    }
}

#[test]
fn results_move_by_roundings() {
    let body = "let s = sin(b) a = cos(s * c + b * 0.7 + (0.3 + c * a))";
    let [plain, changed] = results(body, Bound::Latency);
    assert!(plain.is_finite() && plain != 0.0, "{body}: {plain}");
    assert!(
        (plain - changed).abs() <= 2e-6 * plain.abs(),
        "{body}: {changed}, not {plain}"
    );
}

/// Lanes exchange one sum, not two.
#[test]
fn sums_over_lanes_are_joined() {
    let source = "input w: [f32; 64] input v: [f32; 64]
        state a = 0.3 state b = 0.5
        step {
            let gain = sum(for i in 0..64: sin(a + w[i]))
            let cost = sum(for i in 0..64: cos(a + v[i]))
            let factor = 1.0 + b * b
            a = sin(1.0 + gain * factor - 0.5 * b - cost * factor)
            b = 0.9 * b
        }
        output a";
    let artifact = compile(source).expect("a legal model");
    let Laid { program, layout } = Laid::new(&artifact, 4, 32);
    let count = |text: &str| text.matches("lanes_sum(").count();
    let (changed, changes) = rewrites::apply(&program, &layout, Bound::Latency, &schedule(false))
        .expect("something to change");
    check(&changed);
    let (plain, text) = (print(&program), print(&changed));
    assert!(count(&plain) > count(&text), "{plain}\n{text}");
    assert!(changes.of("late_terms_last") > 0);
    let (full, _) = rewrites::apply(&program, &layout, Bound::Special, &schedule(false))
        .unwrap_or((program.into_owned(), changes));
    assert_eq!(count(&print(&full)), count(&plain));
}

/// Joined sums are among those that are ordered, also where no other is.
#[test]
fn joined_sums_are_counted() {
    let source = "input w: [f32; 8] input v: [f32; 8]
        state a = 0.3 state b = 0.5
        step {
            let gain = sum(for i in 0..8: sin(sin(a + w[i])))
            let cost = sum(for i in 0..8: cos(cos(a + v[i])))
            a = sin(gain * b - cost * b)
            b = 0.9 * b
        }
        output a";
    let artifact = compile(source).expect("a legal model");
    let Laid { program, layout } = Laid::new(&artifact, 4, 32);
    let (changed, changes) = rewrites::apply(&program, &layout, Bound::Latency, &schedule(false))
        .expect("something to change");
    let text = print(&changed);
    assert_eq!(text.matches("lanes_sum(").count(), 1, "{text}");
    assert_eq!(changes.of("late_terms_last"), 1, "{text}");
}

/// A step that computes nothing takes no time, so nothing can be ordered by it.
#[test]
fn steps_that_only_hand_on_stay() {
    let source = "state a = 1.0 state b = 2.0 step { a = b } output a";
    let program = compile(source).expect("a legal model").program;
    for bound in [Bound::Latency, Bound::Special, Bound::Issue] {
        assert!(
            rewrites::apply(&program, &LaneLayout::default(), bound, &schedule(false)).is_none(),
            "{bound:?}"
        );
    }
}

/// Models that once went wrong: each agent's states and outputs stay what they were, but for roundings.
#[test]
fn models_that_found_mistakes_keep_their_results() {
    for source in [
        // The state changes within the statement that divides by it.
        "param n = 3 input a = 1.5 state x = 2.0 state y = 0.0
        step { y += 1.0 / x for i in 0..n + 2 { x = x * 1.1 y += a / x } x = x * 0.9 + 0.1 y += 3.0 / x }
        output y",
        // The last change divides by what those before it made.
        "param n = 3 input a = 1.5 state x = 2.0 state y = 0.0
        step { y += 1.0 / x for i in 0..n + 2 { x = x * 1.1 } x = x * 0.5 + a / x y += 3.0 / x }
        output y",
        "state p = vec2(1.0, 2.0) state x = 1.0 state y = 0.3
        step {
            p = p / x y += 1.0 / x + p.x
            if y > 1.0 { for k in 0..3 { x = x + sin(y) y = y + 2.0 / x } }
            x = x * 0.5 + 1.0 y -= y / x
        }
        output y",
        // An affine function of another, and a sum absorbs its offset.
        "input w: [f32; 4] input v: [f32; 4] input b: [f32; 2] state x = 0.1 state y = 0.1
        step {
            let h1 = 1.0 - 2.0 / (exp(min(x * v[0] + y * v[1] + v[2], 20.0)) + 1.0)
            let h2 = 1.0 + h1 * w[0]
            x = sin(b[0] + h2 * w[1]) y = cos(b[1] + h2 * w[2])
        }
        output x",
        // A nested sum that is subtracted.
        "input w: [f32; 4] state x = 0.1 state y = 0.1
        step {
            let h = 1.0 - 2.0 / (exp(min(x * 3.0, 20.0)) + 1.0)
            x = -(sin(y) + h * w[0]) - cos(x) y = sin(h)
        }
        output x",
        // Intended roundings, through names.
        "state x = 0.1 state y = 0.1
        step {
            let z = x * 0.159 let r = z + 12582912.0 let f = z - (r - 12582912.0)
            y = sin(f * 6.28) x = x * 1.1
        }
        output y",
        "input d: [f32; 4] state x = 0.5 state e = 0.0
        step {
            var s = 1000.0 * sin(x) var c = 0.0
            for i in 0..4 { let y = cos(d[i] * x) - c let t = s + y c = (t - s) - y s = t }
            x = cos(s) e = 1000.0 * c
        }
        output e",
    ] {
        let program = compile(source).unwrap_or_else(|errors| panic!("{source}: {errors:?}")).program;
        for bound in [Bound::Latency, Bound::Special, Bound::Issue] {
            let layout = LaneLayout::default();
    let Some((changed, _)) = rewrites::apply(&program, &layout, bound, &schedule(false)) else {
                continue;
            };
            check(&changed);
            assert_near(&program, &changed, 3, 2e-5);
        }
    }
}

/// A bias that each lane has of its own is not a bias of the whole sum.
#[test]
fn biases_of_lanes_stay_with_them() {
    let source = "const N = 32 input w: [f32; N] input b: [f32; N] input q: [f32; N]
        input c: f32 input d: f32 input e: f32
        state x = 0.1 state y = 0.2
        step {
            var total = c
            for j in 0..N { total += w[j] * tanh(x + w[j]) }
            y = sin(3.0 * (d + x * e))
            x = sum(for i in 0..N: q[i] * sin(b[i] + total)) + y
        }
        output x";
    let artifact = compile(source).expect("a legal model");
    let Laid { program, layout } = Laid::new(&artifact, 32, 32);
    let (changed, _) = rewrites::apply(&program, &layout, Bound::Latency, &schedule(false))
        .expect("something to change");
    let text = print(&changed);
    assert!(
        text.contains("let c_first") || text.contains("let c_first_shifted"),
        "{text}"
    );
    assert!(!text.contains("b_value_first"), "{text}");
}

/// Where devices respect infinities, `tanh` needs no bound: 2 over infinity is 0.
#[test]
fn tanh_ends_at_infinity() {
    let source = "input w: [f32; 4]
        state a = 1.0 state b = 1.0
        step { b = min(b * 1e6, 3e38) a = tanh(w[0] + b * w[1]) }
        output a";
    let program = compile(source).expect("a legal model").program;
    for (bound, has_infinities, is_bounded) in [
        (Bound::Latency, true, false),
        (Bound::Issue, true, false),
        (Bound::Latency, false, true),
    ] {
        let (changed, _) = rewrites::apply(
            &program,
            &LaneLayout::default(),
            bound,
            &schedule(has_infinities),
        )
        .expect("something to change");
        let text = print(&changed);
        assert_eq!(text.contains("3261517005u"), is_bounded, "{text}");
        for steps in [1, 2, 6, 7, 20] {
            assert_near(&program, &changed, steps, 1e-6);
        }
    }
}
