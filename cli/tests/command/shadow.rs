//! `simc run --shadow`: by how much f32 differs from f64.

use crate::Place;
use serde_json::Value;

const MODEL: &str = "\
agents 1_000
steps 40
const DT = 0.025
param sigma = 0.2
state price = 100.0
state drift = 0.0
step {
    price *= exp(-0.5 * sigma * sigma * DT + sigma * sqrt(DT) * normal())
    drift += 1e-9
}
output price
output above = price > 100.0
output tiny = (1.0 + drift) - 1.0
";

#[test]
fn each_output_has_a_verdict() {
    let place = Place::new();
    place.write("model.sim", MODEL);
    let said = place.good(&["run", "model.sim", "--shadow", "--shadow-agents", "50"]);
    insta::assert_snapshot!("shadow", said.out);
    assert_eq!(said.err, "");
    let json = place
        .good(&["run", "model.sim", "--shadow", "--json", "--steps", "10"])
        .out;
    let found: Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!(found["agents"], 256);
    assert_eq!(found["steps"], 10);
    assert_eq!(found["verdict"], "not enough");
    let verdicts: Vec<&str> = (found["outputs"].as_array().expect("a list").iter())
        .map(|output| output["verdict"].as_str().expect("a word"))
        .collect();
    assert_eq!(verdicts, ["enough", "equal", "not enough"]);
}

#[test]
fn it_replaces_the_run() {
    let place = Place::new();
    place.write("model.sim", MODEL);
    let said = place.simc(&["run", "model.sim", "--shadow", "-o", "out.csv"]);
    assert_eq!(said.code, 2, "{}", said.err);
    let said = place.simc(&["run", "model.sim", "--shadow-agents", "5"]);
    assert_eq!(said.code, 2, "{}", said.err);
    // More agents than there are, and one.
    let said = place.good(&["run", "model.sim", "--shadow", "--agents", "3"]);
    assert!(said.out.contains("3 of 3 agents"), "{}", said.out);
    let said = place.good(&["run", "model.sim", "--shadow", "--shadow-agents", "1"]);
    assert!(said.out.contains("1 of 1_000 agents"), "{}", said.out);
}
