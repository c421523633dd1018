//! What is split over lanes, where lanes exchange values, and what stays as it is.

use crate::kernel::lanes::Laid;
use crate::{
    compile,
    ir::{BinaryOp, Expr, LaneOp, Program, print::print},
    kernel::lane_layout::LaneLayout,
    kernel::lanes::allows_barriers,
    passes::tests::check,
};

/// A model whose agents have four lanes.
fn split(source: &str) -> (Program, LaneLayout) {
    let artifact = compile(source).unwrap_or_else(|errors| panic!("{source}: {errors:?}"));
    let Laid { program, layout } = Laid::new(&artifact, 4, 32);
    assert_eq!(layout.lanes, 4, "{source}");
    check(&program);
    (program.into_owned(), layout)
}

/// A loop from 1 on becomes one over all elements only where the sum began with element 0 of the same array.
#[test]
fn sums_keep_what_they_begin_with() {
    let text = |first: &str| {
        let (program, _) = split(&format!(
            "input w: [f32; 8] input v: [f32; 8] state x = 0.5
            step {{
                var s = {first}
                for i in 1..8 {{ s += w[i] }}
                x = sin(s) + sum(for k in 0..8: sin(cos(v[k] * x)))
            }}
            output x"
        ));
        print(&program)
    };
    let another = text("v[0]");
    assert!(another.contains("v[0] + w[1] + w[2] + w[3]"), "{another}");
    let later = text("w[2]");
    assert!(later.contains("= w[2]"), "{later}");
    for text in [another, later] {
        assert!(!text.contains("w[0]"), "{text}");
    }
}

/// A reduction over lanes that only a branch reads is computed before the branch.
#[test]
fn lanes_talk_before_a_branch_that_reads_what_they_say() {
    let (program, layout) = split(
        "param n = 2 input w: [f32; 8] state x = 1.0
        fn next(w: [f32; 8], n: i32, least: f32, x: f32) -> f32 {
            var y = x
            if x > 0.5 { y = least for i in 0..n { y += sin(y) } return y }
            return x * 1.1
        }
        step { x = next(w, n, min(for i in 0..8: sin(cos(w[i] * x))), x) }
        output x",
    );
    let text = print(&program);
    let at = |part: &str| (text.find(part)).unwrap_or_else(|| panic!("no {part} in {text}"));
    assert!(at("lanes_min(") < at("if x"), "{text}");
    assert!(allows_barriers(&program, &layout), "{text}");
}

/// Where `||` skips a synchronisation for some lanes, the others would wait for ever.
#[test]
fn lanes_do_not_wait_behind_an_operand_that_decides() {
    let (mut program, layout) = split(
        "input w: [f32; 8] state hit = false state x = 1.0
        step {
            for i in 0..8 { hit = hit || sin(cos(w[i] * x)) > 2.0 }
            if hit { x *= 0.5 } else { x *= 1.5 }
        }
        output hit",
    );
    assert!(allows_barriers(&program, &layout), "{}", print(&program));
    let mut swapped = 0;
    for at in 0..program.exprs.len() {
        if let Expr::Binary(BinaryOp::Or, a, b) = program.exprs[at]
            && matches!(
                program[a],
                Expr::AcrossLanes {
                    op: LaneOp::Any,
                    ..
                }
            )
        {
            program.exprs[at] = Expr::Binary(BinaryOp::Or, b, a);
            swapped += 1;
        }
    }
    let text = print(&program);
    assert_eq!(swapped, 1, "{text}");
    assert!(!allows_barriers(&program, &layout), "{text}");
}
