//! Where arithmetic fences stand, and that they change no result.

use crate::{
    compile,
    ir::print::print,
    kernel::fences::fenced,
    passes::tests::{check, outcome, random},
};

const HEAD: &str = "param r = 0.05 param w = 0.2 input a: f32 state x = 1.0 state y = 2.0 \
    state v = vec2(1.0, 2.0) state e: [f32; 40] = [0.0; 40] output o = x + y + v.x + e[3] ";

/// The program with fences; empty if there are none.
fn text(step: &str, keeps_order: bool) -> String {
    let source = format!("{HEAD} step t {{ {step} y = sin(y) v = v.yx * 1.5 }}");
    let program = compile(&source).expect("a legal model").program;
    fenced(&program, keeps_order).map_or(String::new(), |program| {
        check(&program);
        print(&program)
    })
}

#[test]
fn what_a_variable_adds_to_itself_is_fenced() {
    for (step, expected) in [
        ("x += a * y + w * y", "x + fence (a * y + w * y)"),
        ("x = (a * y + w * y) + x", "fence (a * y + w * y) + x"),
        ("x -= a * y - w * y", "x - fence (a * y - w * y)"),
        ("x = x + a * y + (w - y)", "x + a * y + fence (w - y)"),
        ("let d = a * y + w * y x += d y = d", "x + fence d"),
        (
            "let z = x + (a + w * y) x = z y = sin(z)",
            "x + fence (a + w * y)",
        ),
        (
            "if y > 0.0 { x += a * y + w * y } else { x += a * y - w * y }",
            "x + fence (a_y - w_y)",
        ),
        (
            "x = clamp(x + (a * y + w), 0.0, 9.0)",
            "x + fence (a * y + w)",
        ),
        ("v += v.yx * a + v.yx * w", "v + fence ("),
        (
            "for i in 0..40 { e[i] += a * y + f32(i) * y }",
            "e_3 + fence (a_y + 3.0 * y)",
        ),
        (
            "var s = 0.0 for i in 0..t { s += a * y + f32(i) * y } y = s",
            "s + fence (",
        ),
    ] {
        let text = text(step, false);
        assert!(text.contains(expected), "{step}: {text}");
    }
}

#[test]
fn products_that_stay_the_same_are_fenced() {
    let text = text("y = sin(r * w + y)", false);
    assert!(text.contains(": f32 = fence (r * w)"), "{text}");
}

#[test]
fn sums_that_take_a_term_off_again_are_fenced() {
    let step = "let more = a * y + w let sum = x + more y = more - (sum - x) x = sum";
    let text = text(step, false);
    for expected in ["x + fence more", "fence more - fence (fence sum - x)"] {
        assert!(text.contains(expected), "no {expected} in {text}");
    }
}

#[test]
fn values_over_themselves_are_fenced() {
    for keeps_order in [false, true] {
        let text = text("y = (a * y) / (a * y) + (y - y)", keeps_order);
        assert!(text.contains("a_y / (fence a_y)"), "{text}");
        assert!(text.contains("y - fence y"), "{text}");
    }
}

/// These only where a compiler keeps the order of all others.
#[test]
fn compilers_that_keep_the_order_get_few_fences() {
    let text = text(
        "let sum = x + a y = a - (sum - x) x = sum + (a * y + w)",
        true,
    );
    assert!(text.contains("fence (fence sum - x)"), "{text}");
    assert!(text.contains("sum + (a * y + w)"), "{text}");
}

#[test]
fn other_sums_have_no_fence() {
    for step in [
        // One product: a contraction rounds once, by the size of the variable as before.
        "x += a * y",
        // Of the step alone.
        "y = sin(a * x + (x * x + a))",
        "x = y + (a * y + a)",
    ] {
        assert_eq!(text(step, false), "", "{step}");
    }
}

#[test]
fn fences_keep_results() {
    for seed in 20_000..20_100 {
        let program = random::program(seed);
        let Some(fenced) = fenced(&program, false) else {
            continue;
        };
        check(&fenced);
        let results = [&program, &fenced].map(|program| outcome::run(program, 3, 1));
        assert_eq!(results[0], results[1], "program {seed}");
    }
}
