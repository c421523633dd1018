//! `simc doctor`: what it lists and measures.

use crate::Place;
use sim_tests::launch::has_gpu;

fn json(place: &Place, args: &[&str]) -> serde_json::Value {
    let said = place.good(args);
    serde_json::from_str(&said.out).expect("it is JSON")
}

#[test]
fn it_lists_what_there_is() {
    let place = Place::new();
    let text = place.good(&["doctor", "--no-measure"]).out;
    for word in ["processor  ", "cache      ", "auto       takes "] {
        assert!(text.contains(word), "no `{word}`: {text}");
    }
    let found = json(&place, &["doctor", "--no-measure", "--json"]);
    assert!(found["threads"].as_u64() > Some(0), "{found}");
    assert!(found["measured"].is_null(), "{found}");
    assert_eq!(found["auto"].is_null(), found["reason"].is_string());
    assert!(place.names().is_empty(), "nothing is kept");
}

#[test]
fn it_measures_an_adapter() {
    if !has_gpu() {
        return;
    }
    let place = Place::new();
    let adapters = json(&place, &["doctor", "--no-measure", "--json"])["adapters"].clone();
    let name = adapters[0]["name"].as_str().expect("an adapter has a name");
    let found = json(&place, &["doctor", "--adapter", name, "--json"]);
    let measured = &found["measured"];
    assert_eq!(measured["adapter"], name);
    assert_eq!(measured["agrees"], true);
    // Between a very fast machine of 200 cores and a very slow one.
    let speed = |name: &str| measured[name].as_f64().expect("it is measured");
    assert!(
        (1e-14..1e-8).contains(&speed("cpu_instruction_seconds")),
        "{measured}"
    );
    assert!(
        (1e-18..1e-7).contains(&speed("gpu_instruction_seconds")),
        "{measured}"
    );
    assert!((1e-3..60.0).contains(&speed("open_seconds")), "{measured}");
    let is_kept = place.names().contains(&"cache".to_owned());
    assert_eq!(is_kept, found["auto"] == name, "kept if `auto` takes it");
}
