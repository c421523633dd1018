//! `simc run --check`: what it says of a fault, as text and as JSON.

use crate::Place;

const MODEL: &str = "
agents 8
steps 5
const TABLE = [1.0, 2.0, 3.0]
state x = 1.0
fn pick(i: i32) -> f32 {
    return TABLE[i + 1]
}
step t {
    for k in 0..2 {
        x += pick(t - k)
    }
}
output x
";

#[test]
fn a_fault_is_shown_with_its_values() {
    let place = Place::new();
    place.write("m.sim", MODEL);
    place.good(&["run", "m.sim", "--backend", "cpu"]);
    place.good(&[
        "run",
        "m.sim",
        "--check",
        "--steps",
        "2",
        "--backend",
        "cpu",
    ]);
    for backend in ["cpu", "reference"] {
        let said = place.simc(&["run", "m.sim", "--check", "--backend", backend]);
        assert_eq!((said.code, said.out.as_str()), (1, ""));
        for part in [
            "[E0731] Error: an index is outside its array: 3 of 3 elements",
            "m.sim:7:18",
            "3 in agent 0, in step 2",
            "keep the index within the array",
            "`simc explain E0731` says more",
        ] {
            assert!(said.err.contains(part), "{part}: {}", said.err);
        }
    }
    for code in ["E0731", "E0732", "E0733", "E0734"] {
        place.good(&["explain", code]);
    }
}

#[test]
fn a_fault_is_an_object_for_tools() {
    let place = Place::new();
    place.write("m.sim", MODEL);
    let said = place.simc(&["run", "m.sim", "--check", "--json", "--backend", "cpu"]);
    assert_eq!(said.code, 1, "{}", said.err);
    let found: serde_json::Value = serde_json::from_str(&said.out).expect("JSON");
    let fault = &found["fault"];
    let expected = serde_json::json!({
        "code": "E0731",
        "message": "an index is outside its array: 3 of 3 elements",
        "file": "m.sim",
        "line": 7,
        "column": 18,
        "text": "i + 1",
        "agent": 0,
        "world": null,
        "moment": "step",
        "step": 2,
        "values": [
            { "line": 7, "column": 18, "text": "i + 1", "name": null, "value": 3 },
            { "line": 7, "column": 18, "text": "i + 1", "name": "elements", "value": 3 },
        ],
    });
    assert_eq!(*fault, expected);
}
