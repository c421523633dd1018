//! `simc check` for tools: what they read is JSON in a known shape.

use crate::Place;
use serde_json::{Value, json};

const WRONG: &str = "\
const N = 3 // 𝄞
state x = 1.0
step {
    N = 4
    x = xx
}
output x
";

fn parsed(place: &Place, args: &[&str]) -> (i32, Value) {
    let said = place.simc(args);
    assert_eq!(said.err, "", "{args:?}");
    let value = serde_json::from_str(&said.out);
    (
        said.code,
        value.unwrap_or_else(|error| panic!("{error}: {}", said.out)),
    )
}

#[test]
fn json_has_places_causes_and_fixes() {
    let place = Place::new();
    place.write("wrong.sim", WRONG);
    let (code, found) = parsed(&place, &["check", "--json", "wrong.sim"]);
    assert_eq!(code, 1);
    assert_eq!(found.as_array().map(Vec::len), Some(2), "{found}");
    let (assigned, unknown) = (&found[0], &found[1]);
    assert_eq!(assigned["file"], "wrong.sim");
    assert_eq!(assigned["severity"], "error");
    let at = |line: u32, from: u32, to: u32| {
        let [start, end] = [from, to].map(|column| (line, column));
        json!({
            "startLine": start.0, "startColumn": start.1, "endLine": end.0, "endColumn": end.1
        })
    };
    assert_eq!(assigned["span"], at(4, 5, 6));
    assert_eq!(assigned["related"][0]["span"], at(1, 7, 8));
    assert!(assigned["help"].is_string() || assigned["help"].is_null());
    let code = unknown["code"].as_str().expect("a code");
    assert!(place.good(&["explain", code]).out.contains(code));
    let fix = &unknown["fixes"][0];
    assert_eq!(fix["title"], "Write `x`");
    assert_eq!(fix["edits"], json!([{ "span": at(5, 9, 11), "text": "x" }]));
    let message = unknown["message"].as_str().expect("a message");
    assert!(place.simc(&["check", "wrong.sim"]).err.contains(message));
}

#[test]
fn right_models_have_no_mistakes_for_tools_either() {
    let place = Place::new();
    place.write("right.sim", "state x = 1.0\nstep { x *= 0.5 }\noutput x\n");
    assert_eq!(
        parsed(&place, &["check", "--json", "right.sim"]),
        (0, json!([]))
    );
    let (code, found) = parsed(&place, &["check", "--sarif", "right.sim"]);
    assert_eq!((code, &found["runs"][0]["results"]), (0, &json!([])));
    let both = place.simc(&["check", "--json", "--sarif", "right.sim"]);
    assert_eq!(both.code, 2, "{}", both.err);
    let none = place.simc(&["check", "--json", "right.sim", "none.sim"]);
    assert_ne!(none.code, 0);
    assert!(none.err.contains("none.sim"), "{}", none.err);
    assert_eq!(none.out, "[]\n");
}

/// The parts of SARIF 2.1.0 that readers of logs rely on, by section of the standard.
#[test]
fn sarif_has_the_shape_of_the_standard() {
    let place = Place::new();
    place.write("with space.sim", WRONG);
    let (code, log) = parsed(&place, &["check", "--sarif", "with space.sim"]);
    assert_eq!(code, 1);
    // 3.13: the log.
    assert_eq!(log["version"], "2.1.0");
    assert!(
        log["$schema"]
            .as_str()
            .is_some_and(|at| at.contains("sarif-2.1.0"))
    );
    let run = &log["runs"][0];
    assert_eq!(run["columnKind"], "unicodeCodePoints");
    // 3.18, 3.19, 3.49: the tool and its rules.
    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "simc");
    let rules = driver["rules"].as_array().expect("rules");
    let results = run["results"].as_array().expect("results");
    assert_eq!(results.len(), 2);
    for result in results {
        // 3.27: a result.
        let rule = rules.iter().find(|rule| rule["id"] == result["ruleId"]);
        let rule = rule.expect("each result has its rule");
        assert!(
            rule["fullDescription"]["text"]
                .as_str()
                .is_some_and(|text| text.len() > 10)
        );
        assert_eq!(result["level"], "error");
        assert!(result["message"]["text"].is_string());
        // 3.28 to 3.30: places, which count from 1.
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "with%20space.sim");
        for name in ["startLine", "startColumn", "endLine", "endColumn"] {
            assert!(
                place["region"][name].as_u64().is_some_and(|n| n >= 1),
                "{place}"
            );
        }
        // 3.55 to 3.57: fixes.
        for fix in result["fixes"].as_array().expect("fixes") {
            assert!(fix["description"]["text"].is_string());
            let replacement = &fix["artifactChanges"][0]["replacements"][0];
            assert!(replacement["deletedRegion"]["startLine"].is_u64(), "{fix}");
            assert!(replacement["insertedContent"]["text"].is_string(), "{fix}");
        }
    }
    assert_eq!(results[0]["relatedLocations"][0]["id"], 0);
    assert_eq!(results[1]["fixes"].as_array().map(Vec::len), Some(1));
}
