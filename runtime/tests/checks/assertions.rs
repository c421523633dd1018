//! Assertions: where each kind of code fails, and that nothing else does.

use super::{fault, is_fine, simulation};
use sim_compiler::ir::checks::{CheckKind, Moment};
use sim_runtime::{Backend, Run};

/// Where an assertion of the source does not hold: the agent, the world, when, and the message.
type Place<'a> = (Option<u32>, Option<u32>, Moment, &'a str);

fn fails(source: &str, (agent, world, moment, message): Place<'_>) {
    let found = fault(source);
    let kind = CheckKind::Assertion {
        message: message.to_owned(),
    };
    assert_eq!(
        (found.agent, found.world, found.moment, &found.kind),
        (agent, world, moment, &kind),
        "{source}"
    );
    let text = &source[found.span.range()];
    assert!(
        text.starts_with("assert ") && text.ends_with(&format!("\"{message}\"")),
        "{text}"
    );
}

const ROOT: &str = "fn root(x: f32) -> f32 { assert x >= 0.0, \"no root\" return sqrt(x) }\n";

#[test]
fn the_first_failure_of_the_lowest_agent_is_reported() {
    let blocks = [
        ("init { A }", Moment::Beginning),
        ("step { A }", Moment::Step(0)),
        ("step t { if t == 2 { A } }", Moment::Step(2)),
        (
            "step t { for i in 0..3 { if i == t { A } } }",
            Moment::Step(0),
        ),
        (
            "step { integrate rk4(0.1) { A x' = 1.0 } }",
            Moment::Step(0),
        ),
        ("step t { match t { 1 => A, _ => {} } }", Moment::Step(1)),
        ("finish { A }", Moment::End),
    ];
    for (block, moment) in blocks {
        let block = block.replace('A', "assert agent < 70, \"few agents\"");
        let source = format!("agents 200\nsteps 4\nstate x = 0.0\n{block}\noutput x\n");
        fails(&source, (Some(70), None, moment, "few agents"));
    }
}

#[test]
fn functions_check_what_they_are_called_with() {
    let model = |rest: &str| format!("agents 5\nsteps 3\n{ROOT}{rest}\n");
    let third = |moment| (Some(3), None, moment, "no root");
    let last = "f32(2 - agent)";
    let forms = [
        (format!("output y = root({last})"), Moment::End),
        (
            format!("state y = root({last})\noutput y"),
            Moment::Beginning,
        ),
        (
            format!("input y = root({last})\noutput z = y"),
            Moment::Launch,
        ),
        (
            format!("fn twice(x: f32) -> f32 {{ return 2.0 * root(x) }}\noutput y = twice({last})"),
            Moment::End,
        ),
        (
            format!("output y = sum(for i in 0..4: root({last} + f32(i)))"),
            Moment::End,
        ),
        (
            format!("output y = [for i in 0..4: root({last} + f32(i))]"),
            Moment::End,
        ),
        (
            format!("output y = if agent > 2 {{ root({last}) }} else {{ 0.0 }}"),
            Moment::End,
        ),
        (
            format!("output y = agent > 2 && root({last}) > 0.0"),
            Moment::End,
        ),
    ];
    for (rest, moment) in forms {
        fails(&model(&rest), third(moment));
    }
}

#[test]
fn what_is_not_reached_is_not_checked() {
    let forms = [
        "output y = if agent < 3 { root(f32(2 - agent)) } else { 0.0 }",
        "output y = agent < 3 && root(f32(2 - agent)) >= 0.0",
        "output y = agent > 2 || root(f32(2 - agent)) >= 0.0",
        "output y = sum(for i in 0..9 if i >= agent: root(f32(i - agent)))",
        "output y = [for i in 0..4: if i < agent { 0.0 } else { root(f32(i - agent)) }]",
        "step t { if t == 9 { assert false, \"never\" } }\noutput y = 0",
        "step { if agent > 1 { stop } x = root(f32(1 - agent)) }\nstate x = 0.0\noutput x",
    ];
    for rest in forms {
        let source = format!("agents 5\nsteps 3\n{ROOT}{rest}\n");
        is_fine(&source);
    }
}

#[test]
fn worlds_check_for_themselves() {
    let model =
        |rest: &str| format!("agents 12\nworld 4\nsteps 3\n{ROOT}state x = f32(agent)\n{rest}\n");
    let total = "world state total = 0.0\n";
    fails(
        &model(&format!(
            "{total}world step t {{ total += 1.0 assert world.number < 1 || t < 1, \"late\" }}"
        )),
        (None, Some(1), Moment::Step(1), "late"),
    );
    fails(
        &model("step { assert member != 2 || x < 5.0, \"small\" }"),
        (Some(6), Some(1), Moment::Step(0), "small"),
    );
    // An element of a fold of the world is an agent's.
    fails(
        &model(&format!(
            "{total}world step {{ total = sum(for other in world: root(6.0 - other.x)) }}"
        )),
        (Some(7), Some(1), Moment::Step(0), "no root"),
    );
    for held in [
        "world step { total = sum(for other in world if other.x < 7.0: root(6.0 - other.x)) }",
        "step { x += sum(for other in world if other.x < 7.0: root(6.0 - other.x)) * 0.0 }",
        "step { x += sum(for other in world if other.x <= x: root(x - other.x)) * 0.0 }",
    ] {
        let source = model(&format!("{total}{held}"));
        is_fine(&source);
    }
    fails(
        &model(&format!(
            "{total}world input y = f32(1 - world.number)\nworld output z = root(y)"
        )),
        (None, Some(2), Moment::End, "no root"),
    );
    fails(
        &model("world input y = root(f32(1 - world.number))\nworld output z = y"),
        (None, Some(2), Moment::Launch, "no root"),
    );
}

const MODEL: &str = "
agents 300
steps 20
input pull = normal_pull(0.1)
state x = normal()
state y = 0.0
fn normal_pull(x: f32) -> f32 { A x > 0.0, \"positive\" return x }
fn noisy(x: f32) -> f32 {
    let z = normal()
    A abs(z) < 9.0, \"not so far out\"
    return x + 0.1 * z
}
step t {
    A y >= f32(t) - 0.001, \"y counts\"
    x = noisy(x) - pull * x
    integrate heun(1.0) { A y >= 0.0, \"no less\" y' = 1.0 }
    if random() < 0.001 { stop }
}
output x
output y
";

#[test]
fn checked_runs_give_the_numbers_of_others() {
    let asserts = MODEL.replace(" A ", " assert ");
    let without: String = (MODEL.split_inclusive('\n'))
        .map(|line| match line.split_once(" A ") {
            Some((before, rest)) => {
                let (_, after) = rest.rsplit_once('"').expect("a message");
                format!("{before} {after}")
            }
            None => line.to_owned(),
        })
        .collect();
    let (with, without) = (simulation(&asserts, false), simulation(&without, false));
    assert_eq!(with.wgsl(), without.wgsl());
    let with = with.backend(Backend::Cpu).run().expect("a run");
    let names = ["x", "y"];
    let bits = |run: &Run, name| -> Vec<u32> {
        let values = run.output::<f32>(name).expect("an output");
        values.iter().map(|x| x.to_bits()).collect()
    };
    let counts = |run: &Run| run.steps().expect("kept").collect::<Vec<u32>>();
    for backend in [Backend::Cpu, Backend::Reference] {
        let simulation = simulation(&asserts, true).backend(backend);
        let checked = simulation.run().expect("all assertions hold");
        assert_eq!(checked.outputs().len(), names.len());
        for name in names {
            assert_eq!(bits(&with, name), bits(&checked, name), "{name}");
        }
        assert_eq!(counts(&with), counts(&checked));
    }
}
