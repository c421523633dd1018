//! Kernels whose agents have several lanes: how these exchange values, and that barriers stand only in
//! uniform control flow.

use crate::validate::{naga, naga_with_subgroups, tint};
use sim_compiler::{
    compile,
    kernel::schedule::{Kernel, Schedule},
};

/// What lanes of several subgroups, or of none, are given: a long sum over inputs, a flag, and the least of
/// them.
const LONG: &str = "
input x: [f32; 1000] = 1.0
output score = sum(for k in 0..1000: x[k] * x[k])
output least = min(for k in 0..1000: x[k])
output any   = any(for k in 0..1000: x[k] > 2.0)
";

fn kernel(source: &str, lanes: u32, subgroup: u32) -> Kernel {
    let artifact = compile(source).expect("a legal model");
    artifact.kernel(&Schedule {
        lanes,
        subgroup,
        ..Schedule::default()
    })
}

/// The text from the memory on.
fn told(kernel: &Kernel) -> &str {
    let text = kernel.wgsl.as_str();
    &text[text.find("// What lanes tell").expect("memory")..]
}

#[test]
fn lanes_of_several_subgroups_talk_through_memory_after_shuffles() {
    let kernel = kernel(LONG, 128, 32);
    assert_eq!((kernel.lanes, kernel.workgroup_size), (128, 128));
    naga_with_subgroups(&kernel.wgsl);
    tint(&format!(
        "enable subgroups;\ndiagnostic(off, subgroup_uniformity);\n{}",
        kernel.wgsl
    ));
    insta::assert_snapshot!(told(&kernel));
}

#[test]
fn lanes_talk_through_memory_where_there_are_no_subgroups() {
    let kernel = kernel(&LONG.replace("1000", "200"), 16, 1);
    assert_eq!((kernel.lanes, kernel.workgroup_size), (16, 64));
    // No capabilities, no extensions.
    naga(&kernel.wgsl);
    tint(&kernel.wgsl);
    insta::assert_snapshot!(told(&kernel));
}

/// A model whose step has a sum over an array, with another step.
fn model(step: &str) -> String {
    format!(
        "param rounds: i32 = 3
        input w: [f32; 256] = 1.0
        state x = 1.0
        step t {{ {step} }}
        output x"
    )
}

const SUM: &str = "x = sum(for i in 0..256: w[i] * x)";

#[test]
fn barriers_stand_where_all_agents_come_by() {
    for (step, lanes) in [
        (SUM.to_owned(), 4),
        (format!("for k in 0..rounds {{ {SUM} }}"), 4),
        (
            format!("{SUM} for k in 0..9 {{ if x > 3.0 {{ break }} x *= 1.5 }}"),
            4,
        ),
        // Agents part: at conditions, at bounds of their own, at `break`, `continue` and `&&`.
        (format!("if x > 0.5 {{ {SUM} }}"), 1),
        (format!("for k in 0..i32(x) {{ {SUM} }}"), 1),
        (
            format!("for k in 0..9 {{ {SUM} if x > 3.0 {{ break }} }}"),
            1,
        ),
        (
            format!("for k in 0..9 {{ if x > 3.0 {{ continue }} {SUM} }}"),
            1,
        ),
        // One that has stopped continues, but not through loops.
        (format!("if x > 3.0 {{ stop }} {SUM}"), 4),
        (
            format!("if x > 3.0 {{ stop }} {SUM} for k in 0..rounds {{ x += sin(x) }}"),
            1,
        ),
    ] {
        let source = model(&step);
        let kernel = kernel(&source, 4, 1);
        assert_eq!(kernel.lanes, lanes, "{step}");
        assert_eq!(kernel.wgsl.contains("workgroupBarrier()"), lanes > 1);
        naga(&kernel.wgsl);
        tint(&kernel.wgsl);
    }
}

#[test]
fn what_lanes_talk_through_counts_as_reserved() {
    let artifact = compile(LONG).expect("a legal model");
    let kernel = artifact.kernel(&Schedule {
        lanes: 128,
        subgroup: 32,
        reserve: true,
        ..Schedule::default()
    });
    // Two halves of four places for floats and as many for words, of 2,048 in all.
    assert!(
        kernel
            .wgsl
            .contains("var<workgroup> reserved: array<u32, 2032>;")
    );
}

#[test]
fn lanes_that_share_steps_talk_before_what_may_leave_that_out() {
    let source = "
        state hit = false
        state all = true
        step {
            let r = random()
            hit = hit || r < 0.01
            all = all && r < 0.99
        }
        output hit
        output all";
    for (lanes, subgroup) in [(4, 1), (64, 1), (64, 32)] {
        let kernel = kernel(source, lanes, subgroup);
        assert_eq!(kernel.lanes, lanes);
        assert!(
            kernel
                .wgsl
                .contains("hit = lanes_any_bool(hit) || hit_before;")
        );
        match subgroup {
            1 => tint(&kernel.wgsl),
            _ => tint(&format!(
                "enable subgroups;\ndiagnostic(off, subgroup_uniformity);\n{}",
                kernel.wgsl
            )),
        }
    }
}

#[test]
fn an_agent_that_stops_leaves_steps_in_which_lanes_do_not_talk() {
    let source = "
        input w: [f32; 256] = 0.5
        state x = 0.0
        step { x += random() if x > 10.0 { stop } }
        output s = sum(for k in 0..256: sin(w[k] * x))";
    let quiet = kernel(source, 128, 1);
    assert_eq!(quiet.lanes, 128);
    assert!(quiet.wgsl.contains("&& !stopped"), "{}", quiet.wgsl);
    tint(&quiet.wgsl);
    let talking = kernel(&model(&format!("{SUM} if x > 10.0 {{ stop }}")), 128, 1);
    assert_eq!(talking.lanes, 128);
    assert!(!talking.wgsl.contains("&& !stopped"), "{}", talking.wgsl);
    tint(&talking.wgsl);
}
