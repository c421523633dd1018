//! `simc trace`: an agent step by step.

use crate::Place;
use serde_json::Value;

const MODEL: &str = "\
agents 100
steps 12
enum Mood { Calm, Wild }
struct Order { price: f32, size: f32 }
fn double(x: f32) -> f32 {
    let twice = 2.0 * x
    return twice
}
param limit = 6.0
input weight ~ uniform(0.5, 1.5)
state x = weight
state mood: Mood = Calm
state place: vec2 = vec2(0.0, 1.0)
state many: [f32; 20] = 0.25
step at {
    let shock = normal()
    var total = 0.0
    for k in 0..3 {
        let part = shock * f32(k)
        total += part
    }
    let order = Order(double(total), 1.0)
    if total > 0.0 {
        let shock = double(0.5)
        mood = Wild
        x += shock
    }
    x += 0.1 * order.price
    place.x += x
    many[at] = x
    if x > limit { stop }
}
output x
";

#[test]
fn states_and_lets_stand_in_columns() {
    let place = Place::new();
    place.write("model.sim", MODEL);
    let said = place.good(&["trace", "model.sim", "--agent", "17"]);
    insta::assert_snapshot!("trace", format!("{}\n{}", said.out, said.err));
    let said = place.good(&[
        "trace",
        "model.sim",
        "--agent",
        "17",
        "--lets",
        "--steps",
        "2..5",
    ]);
    insta::assert_snapshot!("trace-lets", format!("{}\n{}", said.out, said.err));
    let said = place.good(&[
        "trace",
        "model.sim",
        "--columns",
        "total,shock,many[3]",
        "--csv",
    ]);
    let head = said.out.lines().next();
    assert_eq!(head, Some("step,total,shock:16,shock:24,many[3]"));
}

/// The last row has what the run gives, to the bit.
#[test]
fn the_last_state_is_that_of_the_run() {
    let place = Place::new();
    place.write("model.sim", MODEL);
    let args = ["--seed", "5", "--param", "limit=20"];
    place.good(
        &[
            &["run", "model.sim", "--backend", "cpu", "-o", "out.csv"],
            &args[..],
        ]
        .concat(),
    );
    let outputs = place.text("out.csv");
    for agent in ["0", "41", "99"] {
        let call = [
            "trace",
            "model.sim",
            "--agent",
            agent,
            "--columns",
            "x",
            "--csv",
        ];
        let said = place.good(&[&call[..], &args[..]].concat());
        let row = outputs
            .lines()
            .nth(1 + agent.parse::<usize>().expect("a number"));
        let last = said
            .out
            .lines()
            .last()
            .and_then(|line| line.split_once(','));
        assert_eq!(last.map(|(_, x)| x), row, "{agent}: {}", said.out);
    }
}

#[test]
fn steps_choose_rows_and_length() {
    let place = Place::new();
    place.write("model.sim", MODEL);
    let steps = |args: &[&str]| -> Vec<String> {
        let said = place.good(
            &[
                &["trace", "model.sim", "--csv", "--param", "limit=1e9"],
                args,
            ]
            .concat(),
        );
        let lines = said.out.lines().skip(1);
        lines
            .map(|line| line.split(',').next().unwrap_or_default().to_owned())
            .collect()
    };
    assert_eq!(steps(&["--steps", "..2"]), ["", "0", "1"]);
    assert_eq!(steps(&["--steps", "9.."]), ["9", "10", "11"]);
    assert_eq!(steps(&["--steps", "2"]), ["", "0", "1"]);
    assert_eq!(steps(&["--steps", "15", "--steps", "13..15"]), ["13", "14"]);
    for wrong in [["--steps", "5..5"], ["--steps", "x..2"], ["--agent", "-1"]] {
        let said = place.simc(&[&["trace", "model.sim"], &wrong[..]].concat());
        assert_eq!(said.code, 2, "{wrong:?}: {}", said.err);
    }
    // A model that says neither agents nor steps.
    place.write("bare.sim", "state n = 0\nstep { n += agent }\noutput n\n");
    let said = place.good(&[
        "trace", "bare.sim", "--agent", "3", "--steps", "0..2", "--csv",
    ]);
    assert_eq!(said.out, "step,n\n,0\n0,3\n1,6\n");
}

#[test]
fn files_and_json_have_the_same_values() {
    let place = Place::new();
    place.write("model.sim", MODEL);
    let printed = place.good(&["trace", "model.sim", "--csv", "--lets"]).out;
    place.good(&["trace", "model.sim", "-o", "t.csv", "--lets"]);
    assert_eq!(place.text("t.csv"), printed);
    place.good(&["trace", "model.sim", "-o", "t.json", "--lets"]);
    let found: Value = serde_json::from_str(&place.text("t.json")).expect("it is JSON");
    let rows = found["rows"].as_array().expect("a list");
    assert_eq!(rows.len(), printed.lines().count() - 1);
    assert_eq!(rows[0]["step"], Value::Null);
    assert_eq!(rows[1]["times"]["part"], 3);
    assert_eq!(rows[0]["values"]["mood"], "Calm");
}

/// A world runs whole; an agent that stops ends the trace.
#[test]
fn agents_of_worlds_and_those_that_stop() {
    let place = Place::new();
    place.write(
        "world.sim",
        "agents 12\nsteps 6\nworld 4\nstate x = f32(agent)\nworld state sum_of_all = 0.0\n\
         step at { let mean_of_all = mean(for other in world: other.x)\nx += 0.5 * (mean_of_all - x)\n\
         if at == 3 && agent == 6 { stop } }\n\
         world step { sum_of_all = sum(for other in world: other.x) }\noutput x\n",
    );
    let said = place.good(&["trace", "world.sim", "--agent", "6", "--lets", "--csv"]);
    assert_eq!(
        said.out,
        "step,x,sum_of_all,mean_of_all\n,6.0,0.0,\n0,5.75,22.0,5.5\n1,5.625,22.0,5.5\n2,5.5625,22.0,5.5\n\
         3,5.53125,22.0,5.5\n"
    );
    assert_eq!(said.err, "agent 6 stopped in step 3 of 6\n");
}

/// A long trace is written as it comes.
#[test]
fn long_traces_stream() {
    let place = Place::new();
    place.write(
        "long.sim",
        "agents 1\nsteps 20_000\nstate n = 0\nstep { n += 1 }\noutput n\n",
    );
    let said = place.good(&["trace", "long.sim"]);
    assert_eq!(
        said.out
            .lines()
            .filter(|line| line.starts_with("step"))
            .count(),
        41
    );
    assert_eq!(said.err, "agent 0 ran all 20_000 steps\n");
}
