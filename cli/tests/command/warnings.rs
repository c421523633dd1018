//! Warnings: where they go, what denies and what allows them.

use crate::Place;
use serde_json::Value;

const ODD: &str = "\
agents 2
steps 1
param rate = 0.5
state x = 1.0
step {
    let unused = 2.0
    x *= 0.5
}
output x
";

#[test]
fn every_command_shows_them_and_goes_on() {
    let place = Place::new();
    place.write("odd.sim", ODD);
    for args in [
        &["check", "odd.sim"][..],
        &["run", "odd.sim", "--backend", "cpu"],
        &["build", "odd.sim", "--emit", "hir"],
        &["build", "odd.sim", "--explain"],
    ] {
        let said = place.good(args);
        assert!(
            said.err.contains("[W0201] Warning"),
            "{args:?}: {}",
            said.err
        );
        assert!(
            said.err.contains("[W0202] Warning"),
            "{args:?}: {}",
            said.err
        );
        assert!(!said.out.contains("W02"), "{args:?}: {}", said.out);
    }
    let said = place.good(&["check", "odd.sim"]);
    assert!(
        said.err
            .ends_with("1 file checked, no mistakes, 2 warnings\n"),
        "{}",
        said.err
    );
}

#[test]
fn denied_warnings_are_mistakes() {
    let place = Place::new();
    place.write("odd.sim", ODD);
    for command in ["check", "run", "build", "bench"] {
        let said = place.simc(&[command, "odd.sim", "--deny", "warnings"]);
        assert_eq!(said.code, 1, "{command}: {}", said.err);
        assert!(
            said.err.contains("[W0201] Error"),
            "{command}: {}",
            said.err
        );
        assert!(
            said.err.contains("simc explain W02"),
            "{command}: {}",
            said.err
        );
        assert_eq!(said.out, "", "{command}");
        let both = ["--deny", "warnings", "--allow", "W0201,unread_value"];
        let said = place.simc(&[&["check", "odd.sim"], &both[..]].concat());
        assert_eq!(
            (said.code, said.err.contains("W02")),
            (0, false),
            "{}",
            said.err
        );
    }
    let one = place.simc(&["check", "odd.sim", "--deny", "W0202"]);
    assert_eq!(one.code, 1);
    assert!(one.err.contains("[W0201] Warning"), "{}", one.err);
    assert!(one.err.contains("[W0202] Error"), "{}", one.err);
    for code in ["E0201", "everything"] {
        let said = place.simc(&["check", "odd.sim", "--deny", code]);
        assert_eq!(said.code, 2, "{}", said.err);
        assert!(
            said.err.contains("no warning has this code"),
            "{}",
            said.err
        );
    }
}

#[test]
fn tools_see_them_as_warnings() {
    let place = Place::new();
    place.write("odd.sim", ODD);
    let said = place.good(&["check", "--json", "odd.sim"]);
    let found: Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!(found[0]["severity"], "warning");
    assert_eq!(found[1]["code"], "W0201");
    assert_eq!(found[1]["fixes"][0]["title"], "Remove it");
    let said = place.simc(&[
        "check", "--sarif", "odd.sim", "--deny", "W0201", "--allow", "W0202",
    ]);
    let log: Value = serde_json::from_str(&said.out).expect("JSON");
    let results = log["runs"][0]["results"].as_array().expect("results");
    assert_eq!((said.code, results.len()), (1, 1), "{log}");
    assert_eq!(results[0]["level"], "error");
}

#[test]
fn a_model_with_mistakes_has_no_warnings() {
    let place = Place::new();
    place.write("wrong.sim", format!("{ODD}output y = z\n"));
    let said = place.simc(&["check", "wrong.sim"]);
    assert_eq!(said.code, 1);
    assert!(!said.err.contains("W02"), "{}", said.err);
}
