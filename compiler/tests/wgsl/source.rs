//! Kernels of whole models: what their text depends on, and constructs as long as a model may make them.

use crate::validate::{naga, tint};
use sim_compiler::{compile, kernel::schedule::Schedule};
use std::{fmt::Write, fs, path::Path};

fn text(source: &str) -> String {
    compile(source).expect("a legal model").wgsl()
}

#[test]
fn the_text_does_not_depend_on_agents_and_steps() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lang-examples");
    let mut changed = 0;
    for entry in fs::read_dir(examples).expect("the folder of the examples") {
        let path = entry.expect("a readable folder").path();
        if path.extension().is_none_or(|extension| extension != "sim") {
            continue;
        }
        let source = fs::read_to_string(&path).expect("a readable example");
        let mut other = String::new();
        for line in source.lines() {
            let line = match line.split_whitespace().next() {
                Some("agents") => "agents 7",
                Some("steps") => "steps 1_000_000_000",
                _ => line,
            };
            other.push_str(line);
            other.push('\n');
        }
        changed += u32::from(other != source);
        assert_eq!(text(&source), text(&other), "{}", path.display());
    }
    assert!(changed > 0, "no example says how many agents or steps");
}

#[test]
fn a_match_may_have_hundreds_of_arms() {
    let mut source = "state x = 0\nstep {\n    match x {\n".to_owned();
    for k in 0..300 {
        let _ = writeln!(source, "        {k} => x = {},", (k * 7 + 1) % 300);
    }
    source.push_str("        _ => x = 0,\n    }\n}\noutput x\n");
    let text = text(&source);
    naga(&text);
    tint(&text);
}

#[test]
fn an_else_if_chain_may_have_hundreds_of_links() {
    for body in ["x += K.5", "x += K.5\nstop"] {
        let mut source =
            "state x = 0.0\nstep {\n    if x < 0.0 {\n        x = 1.0\n    }".to_owned();
        for k in 0..300 {
            let body = body.replace('K', &k.to_string());
            let _ = write!(source, " else if x < {k}.25 {{\n        {body}\n    }}");
        }
        source.push_str("\n}\noutput x\n");
        let text = text(&source);
        naga(&text);
        tint(&text);
    }
}

/// The time loop of a generator that lanes skip ahead, two steps an iteration.
#[test]
fn a_generator_is_skipped_ahead() {
    let source = include_str!("../../../benchmarks/pi.sim");
    let kernel = compile(source).expect("a legal model").kernel(&Schedule {
        lanes: 4,
        unroll_steps: 2,
        ..Schedule::default()
    });
    let text = kernel.wgsl.as_str();
    let main = &text[text.find("fn main(").expect("an entry point")..];
    let end = main.find("run.end_step == run.steps").expect("an end");
    insta::assert_snapshot!(&main[..end]);
}
