//! Faults in worlds, in what is sampled and in inputs.

use super::{DIVISION, FLOAT, INDEX, fault};
use sim_compiler::ir::checks::{CheckKind, Moment};

/// A fault of a model: its text, kind, agent, world and moment.
type Found<'a> = (&'a str, CheckKind, Option<u32>, Option<u32>, Moment);

const OF_WORLDS: [(&str, Found<'_>); 10] = [
    (
        "step t { x = world[member + t].x }",
        ("member + t", INDEX, Some(3), Some(0), Moment::Step(1)),
    ),
    (
        "step { x = sum(for other in world if other.agent > 5: 1.0 / (other.x - 7.0)) }",
        (
            "1.0 / (other.x - 7.0)",
            FLOAT,
            Some(7),
            Some(1),
            Moment::Step(0),
        ),
    ),
    (
        "step { for other in world { x += 1.0 / (other.x - 7.0) } }",
        (
            "1.0 / (other.x - 7.0)",
            FLOAT,
            Some(4),
            Some(1),
            Moment::Step(0),
        ),
    ),
    (
        "world step t { w = w / (t - world.number) }",
        (
            "w / (t - world.number)",
            DIVISION,
            None,
            Some(0),
            Moment::Step(0),
        ),
    ),
    (
        "world step t { w += count(for other in world if 10 / (other.agent - 6) > t: 1) }",
        (
            "10 / (other.agent - 6)",
            DIVISION,
            Some(6),
            Some(1),
            Moment::Step(0),
        ),
    ),
    (
        "step { if agent != 9 { stop } x = 0.0 } finish { x = 1.0 / x }",
        ("1.0 / x", FLOAT, Some(0), Some(0), Moment::End),
    ),
    (
        "step { x = sum(for other in world: 1e38 * (1.0 + x)) }",
        (
            "sum(for other in world: 1e38 * (1.0 + x))",
            FLOAT,
            None,
            None,
            Moment::Step(0),
        ),
    ),
    (
        "world step { let most = sum(for other in world: 1e38) w = i32(min(most, 1.0)) }",
        (
            "sum(for other in world: 1e38)",
            FLOAT,
            None,
            Some(0),
            Moment::Step(0),
        ),
    ),
    (
        "world input k = 3 / world.number",
        ("3 / world.number", DIVISION, None, Some(0), Moment::Launch),
    ),
    (
        "world output z = w / (world.number - 2)",
        (
            "w / (world.number - 2)",
            DIVISION,
            None,
            Some(2),
            Moment::End,
        ),
    ),
];

#[test]
fn worlds_are_checked() {
    let model = |rest: &str| {
        format!(
            "agents 12\nworld 4\nsteps 3\nstate x = f32(agent)\nworld state w = 1\n{rest}\noutput x\n"
        )
    };
    for (code, (text, kind, agent, world, moment)) in OF_WORLDS {
        let source = model(code);
        let found = fault(&source);
        let at = &source[found.span.range()];
        if world.is_some() {
            assert_eq!((found.agent, found.world), (agent, world), "{source}");
        }
        assert_eq!(
            (at, &found.kind, found.moment),
            (text, &kind, moment),
            "{source}"
        );
    }
}

#[test]
fn samples_and_inputs_are_checked() {
    let model = |rest: &str| {
        format!(
            "agents 200\nsteps 9\nstate x = f32(agent)\nstep {{ x += 1.0 }}\n{rest}\noutput x\n"
        )
    };
    for (code, (text, kind, agent, world, moment)) in [
        (
            "record y = 1.0 / (x - 150.0) every 2",
            (
                "1.0 / (x - 150.0)",
                FLOAT,
                Some(150),
                None,
                Moment::Sample(0),
            ),
        ),
        (
            "record y = 1.0 / (x - 204.0) every 2",
            (
                "1.0 / (x - 204.0)",
                FLOAT,
                Some(198),
                None,
                Moment::Sample(6),
            ),
        ),
        (
            "observe m = mean(1.0 / (x - 204.0))",
            (
                "1.0 / (x - 204.0)",
                FLOAT,
                Some(199),
                None,
                Moment::Sample(5),
            ),
        ),
        (
            "input k = 5 / (agent - 130)",
            (
                "5 / (agent - 130)",
                DIVISION,
                Some(130),
                None,
                Moment::Launch,
            ),
        ),
    ] as [(&str, Found<'_>); 4]
    {
        let source = model(code);
        let found = fault(&source);
        assert_eq!(
            (
                &source[found.span.range()],
                &found.kind,
                found.agent,
                found.world,
                found.moment
            ),
            (text, &kind, agent, world, moment),
            "{source}"
        );
    }
}
