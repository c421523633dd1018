//! `simc test`: the tests of models, what it says of them, and its exit code.

use crate::Place;
use std::path::Path;

const MODEL: &str = "\
agents 1_000
steps  10

enum Health { Well, Ill }
struct Order { price: f32, sizes: [i32; 3] }

param risk = 0.25 in 0.0..1.0
data table: [f32]
input start: [f32; 2] = 1.0

state x      = start[0]
state health = if bernoulli(risk) { Ill } else { Well }

step t {
    x += table[t]
}

observe total = sum(x) every 5
record x every 5

output x
output health
output order = Order(x, [1, 2, agent])
output place = [vec2(x, 0.5), vec2(0.0, 1.5)]

";

/// Runs the tests of a model with these parts in one.
fn tested(parts: &str) -> crate::Said {
    let place = Place::new();
    place.write("ones.csv", "table\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n");
    place.write(
        "model.sim",
        format!("{MODEL}test \"all\" {{\n{parts}\n}}\n"),
    );
    place.simc(&["test", "model.sim"])
}

/// What holds of the model, for ones in the table.
const HOLD: [&str; 25] = [
    "mean(x) == 11.0",
    "mean(x) ~ 11.0 within 0.0",
    "sum(x) ~ 11_000.0 within 1 %",
    "min(x) in 11.0..12.0",
    "max(x) <= 11.0",
    "var(x) == 0.0",
    "sd(order.sizes[2]) ~ 288.819436 within 0.0001",
    "count(x) == agents",
    "all(x == 11.0)",
    "!any(x != 11.0)",
    "any(health == Ill)",
    "mean(health == Ill) ~ risk within 4 se",
    "count(health == Ill) + count(health == Well) == 1_000",
    "quantile(order.sizes[2], 0.25) == 249.75",
    "quantile(order.sizes[2], 1.0) == 999.0",
    "agents[7].order.sizes[2] == 7",
    "agents[0].order.price == 11.0",
    "agents[999].place[1].y == 1.5",
    "mean(place[0].x) == 11.0",
    "at(total, 0) == 1_000.0",
    "at(total, steps) == 11_000.0",
    "max(total) - min(total) == 10_000.0",
    "mean(at(x, 5)) == 6.0",
    "min(at(x, 0)) * 2.0 == 2",
    "(mean(x) - 1.0) / 2.0 > 4.9",
];

#[test]
fn values_of_a_run_are_found() {
    let expects = HOLD.map(|text| format!("    expect {text}"));
    let said = tested(&format!(
        "    data table from \"ones.csv\"\n{}",
        expects.join("\n")
    ));
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert_eq!(
        said.out.lines().next(),
        Some("test model.sim: all ... ok"),
        "{}",
        said.out
    );
}

#[test]
fn what_does_not_hold_is_reported() {
    let wrong = [
        ("mean(x) == 10.0", "found 11, expected 10"),
        ("mean(x) ~ 10.0 within 0.25", "found 11, expected about 10"),
        ("mean(x) ~ 10.0 within 1 %", "10 times the tolerance of 0.1"),
        (
            "mean(order.sizes[2]) ~ 0.0 within 4 se",
            "its standard error is 9.13",
        ),
        ("max(x) < 11.0", "found 11, expected < 11"),
        ("min(x) in 11.5..12.0", "found 11, expected 11.5 to 12"),
        ("all(x < 11.0)", "found false, expected true"),
        ("count(x > 0.0) == 7", "found 1000, expected 7"),
        ("at(total, 5) == 0.0", "found 6000, expected 0"),
        ("sd(x) ~ 1.0 within 0.5", "found 0, expected about 1"),
    ];
    let place = Place::new();
    let mut text = MODEL.to_owned();
    for (number, (expectation, _)) in wrong.iter().enumerate() {
        text += &format!(
            "test \"{number}\" {{\n    data table = [1.0; 10]\n    expect {expectation}\n}}\n"
        );
    }
    place.write("model.sim", &text);
    let said = place.simc(&["test", "model.sim"]);
    assert_eq!(said.code, 1);
    for (expectation, message) in wrong {
        assert!(said.err.contains(message), "{expectation}: {}", said.err);
    }
    assert!(
        said.out.contains("test model.sim: 3 ... FAILED"),
        "{}",
        said.out
    );
    let result = "test result: FAILED. 0 passed; 10 failed";
    assert!(said.out.contains(result), "{}", said.out);
}

#[test]
fn a_nan_fails() {
    let said = tested(
        "    data table = [1.0; 10]\n    input start = [0.0 * INFINITY, 1.0]\n    \
         expect min(x) > 0.0\n    expect max(x) < 100.0\n    expect mean(x) ~ 1.0 within 1e30",
    );
    assert_eq!(said.code, 1);
    assert_eq!(said.err.matches("found NaN").count(), 3, "{}", said.err);
}

#[test]
fn assertions_are_checked() {
    let place = Place::new();
    place.write(
        "model.sim",
        "agents 4\nsteps 3\nstate x = 0.0\nstep {\n    x += 1.0\n    assert x < 2.5, \"x is small\"\n}\n\
         output x\n\ntest \"two steps\" {\n    steps 2\n    expect max(x) == 2.0\n}\n\ntest \"three\" {\n    \
         expect max(x) == 3.0\n}\n",
    );
    let said = place.simc(&["test", "model.sim"]);
    assert_eq!(said.code, 1);
    assert!(
        said.out.contains("model.sim: two steps ... ok"),
        "{}",
        said.out
    );
    assert!(
        said.out.contains("model.sim: three ... FAILED"),
        "{}",
        said.out
    );
    assert!(said.err.contains("x is small"), "{}", said.err);
}

#[test]
fn folders_filters_and_lists() {
    let place = Place::new();
    let model = |name: &str| {
        format!(
            "agents 2\noutput a = agent\n\ntest \"{name} counts\" {{\n    expect max(a) == 1\n}}\n"
        )
    };
    std::fs::create_dir(place.path("models")).expect("a folder can be made");
    place.write("models/one.sim", model("one"));
    place.write("models/two.sim", model("two"));
    let said = place.good(&["test", "models", "--list"]);
    let names = ["models/one.sim: one counts", "models/two.sim: two counts"];
    let names = names.map(|name| name.replace('/', std::path::MAIN_SEPARATOR_STR));
    assert_eq!(said.out.lines().collect::<Vec<_>>(), names);
    let said = place.good(&["test", "models", "--filter", "two"]);
    assert!(
        said.out.contains("1 passed; 0 failed; 1 filtered out"),
        "{}",
        said.out
    );
    let said = place.good(&["test", "models", "--backend", "cpu,reference"]);
    assert!(
        said.out.contains("one counts on reference ... ok"),
        "{}",
        said.out
    );
    let said = place.good(&["test", "models", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&said.out).expect("it is JSON");
    assert_eq!(json["passed"], 2);
    assert_eq!(json["tests"][0]["expectations"][0]["text"], "max(a) == 1");
    place.write("models/wrong.sim", "state x = y\n");
    let said = place.simc(&["test", "models"]);
    assert_eq!(said.code, 1);
    assert!(
        said.out
            .contains("2 passed; 0 failed; 1 model with mistakes"),
        "{}",
        said.out
    );
}

/// A model with tests is the model without them.
#[test]
fn tests_change_nothing_of_a_model() {
    let place = Place::new();
    let test = "test \"t\" {\n    data table = [1.0; 10]\n    expect mean(x) > 0.0\n}\n";
    place.write("with.sim", format!("{MODEL}{test}"));
    place.write("without.sim", MODEL);
    for what in ["wgsl", "manifest", "ir", "hir"] {
        let emitted = |name| place.good(&["build", name, "--emit", what]).out;
        assert_eq!(emitted("with.sim"), emitted("without.sim"), "{what}");
    }
}

/// The words of tests are names elsewhere.
#[test]
fn models_with_such_names_are_legal() {
    let place = Place::new();
    place.write(
        "names.sim",
        "agents 2\nparam test = 1.0\nparam seed = 2.0\nstate expect = test\nstate within = seed\n\
         fn at(from: f32) -> f32 { return from }\noutput se = at(expect + within)\noutput test = expect\n\
         test \"names\" {\n    param test = 3.0\n    expect max(se) == test + seed\n    \
         expect max(test) == 3.0\n}\n",
    );
    let said = place.simc(&["test", "names.sim"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
}

#[test]
fn examples_pass() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lang-examples");
    let place = Place::new();
    let said = place.simc(&["test", &examples.display().to_string()]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let passed = said.out.lines().filter(|line| line.ends_with("... ok"));
    assert!(passed.count() >= 12, "{}", said.out);
}
