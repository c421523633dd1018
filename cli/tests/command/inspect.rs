//! `simc inspect`: what a model takes and gives.

use crate::Place;
use serde_json::{Value, json};

const MODEL: &str = "\
//! A market of worlds.
//!
//! Its second paragraph.
agents 8_000
world 4
enum Kind { Red, Blue }
struct Order { price: f32, size: i32 }
/// How fast it goes,
/// per year.
param rate = 0.1 in 0.001..2.0
param weights = [[1.0, 2.0], [3.0, 4.0]]
param many = [for k in 0..20: f32(k)]
param kind: Kind = Blue
param needed: i32
data table: [[f32; 3]]
input skill ~ normal()
input order: Order
world input tax = 0.5
state wealth = rate + weights[0][0] + many[3] + f32(needed) + table[0][0] + skill + order.price * tax
world state price = 0.0
step { if kind == Red { wealth += f32(order.size) } }
world step { price = mean(for other in world: other.wealth) }
/// What it owns.
output wealth
output is_rich = wealth > 1.0
output place = vec2(wealth, 0.0)
world output prices = [price, price]
record wealth every 10
observe total = sum(wealth)
world observe most = max(wealth) every 1_000
";

#[test]
fn everything_that_a_model_takes_and_gives_is_shown() {
    let place = Place::new();
    place.write("market.sim", MODEL);
    let said = place.good(&["inspect", "market.sim"]);
    assert_eq!(said.err, "");
    insta::assert_snapshot!("inspect", said.out);
    assert_eq!(place.piped(&["inspect", "-"], MODEL).code, 0);
}

#[test]
fn json_says_the_same() {
    let place = Place::new();
    place.write("market.sim", MODEL);
    let said = place.good(&["inspect", "market.sim", "--json"]);
    let found: Value = serde_json::from_str(&said.out).expect("it is JSON");
    let names = |kind: &str| -> Vec<String> {
        let items = found[kind].as_array().expect("it is a list");
        let name = |item: &Value| item["name"].as_str().expect("it has a name").to_owned();
        items.iter().map(name).collect()
    };
    assert_eq!(
        (&found["agents"], &found["world"]),
        (&json!(8000), &json!(4))
    );
    assert_eq!(found["steps"], Value::Null);
    assert_eq!(
        names("params"),
        ["rate", "weights", "many", "kind", "needed"]
    );
    assert_eq!(names("inputs"), ["skill", "order.price", "order.size"]);
    assert_eq!(names("world_inputs"), ["tax"]);
    assert_eq!(names("outputs"), ["wealth", "is_rich", "place"]);
    assert_eq!(names("world_outputs"), ["prices"]);
    assert_eq!(names("world_states"), ["price"]);
    assert_eq!(
        [names("records"), names("observes"), names("world_observes")],
        [["wealth"], ["total"], ["most"]]
    );
    let expected = json!({
        "name": "rate", "type": "f32", "scalar": "f32", "shape": [], "source": "default",
        "default": [0.1], "range": [0.001, 2.0], "doc": "How fast it goes,\nper year.",
    });
    assert_eq!(found["params"][0], expected);
    assert_eq!(found["params"][3]["default"], json!(["Blue"]));
    assert_eq!(found["params"][3]["variants"], json!(["Red", "Blue"]));
    assert_eq!(found["params"][4]["source"], "required");
    assert_eq!(found["data"][0]["shape"], json!([null, 3]));
    assert_eq!(found["outputs"][2]["type"], "vec2");
    assert_eq!(found["records"][0]["every"], 10);
}

#[test]
fn a_model_with_mistakes_is_reported() {
    let place = Place::new();
    let said = place.piped(&["inspect", "-"], "agents 1\noutput x = y\n");
    assert_eq!((said.code, said.out.as_str()), (1, ""));
    assert!(said.err.contains("<stdin>:2:12"), "{}", said.err);
}
