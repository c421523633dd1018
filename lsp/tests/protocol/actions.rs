//! Every fix that is offered mends the mistake that it is offered for.

use crate::editor::{Editor, Server, URI, edited, models};
use serde_json::{Value, json};
use std::fmt::Write;

/// What is the same before and after a fix elsewhere in the file.
fn identity(problem: &Value) -> (&Value, &Value) {
    (&problem["code"], &problem["message"])
}

fn specimens() -> Vec<(String, String)> {
    let mut all = models("tests/errors");
    all.extend(models("tests/warnings"));
    all
}

#[test]
fn code_actions_mend_their_mistakes() {
    let mut list = String::new();
    for (name, text) in specimens() {
        let (connection, server) = Server::start();
        let mut editor = Editor::open(connection, &text);
        let problems = editor.diagnostics();
        for problem in &problems {
            for action in editor.actions(&problem["range"]) {
                let title = action["title"].as_str().expect("a title");
                writeln!(list, "{name}: {title}").expect("a string takes all");
                let after = edited(&text, &action["edit"]["changes"][URI]);
                let whole = 0..editor.text.len();
                editor.change(whole, &after);
                let left = editor.diagnostics();
                for mended in action["diagnostics"].as_array().expect("what it mends") {
                    let alike = |list: &[Value]| {
                        let same = list.iter().map(identity);
                        same.filter(|other| *other == identity(mended)).count()
                    };
                    assert!(alike(&left) < alike(&problems), "{name}: {title}\n{after}");
                }
                let mistakes = |list: &[Value]| {
                    let severe = list.iter().filter(|problem| problem["severity"] == 1);
                    severe.count()
                };
                let (before, left) = (mistakes(&problems), mistakes(&left));
                assert!(left <= before, "{name}: {title}\n{after}");
                let whole = 0..editor.text.len();
                editor.change(whole, &text);
            }
        }
        editor.leave();
        server.ended();
    }
    insta::assert_snapshot!("actions", list);
}

#[test]
fn warnings_have_their_severity_and_what_is_unused_its_tag() {
    let (connection, server) = Server::start();
    let text = "state x = 1.0\nstep t {\n    if x != 1.0 || x != 2.0 { x = 3.0 }\n}\noutput x\n";
    let mut editor = Editor::open(connection, text);
    let problems = editor.diagnostics();
    let facts = |problem: &Value| {
        let tags = problem["tags"].clone();
        (problem["code"].clone(), problem["severity"].clone(), tags)
    };
    let found: Vec<_> = problems.iter().map(facts).collect();
    let unused = (json!("W0201"), json!(2), json!([1]));
    let decided = (json!("W0204"), json!(2), Value::Null);
    assert_eq!(found, [unused, decided]);
    editor.leave();
    server.ended();
}

/// A fix of the catalog that does not mend its specimen would never be offered.
#[test]
fn fixes_of_the_catalog_are_offered() {
    for (name, text) in specimens() {
        let document = sim_lsp::analysis::Document::new(text);
        for diagnostic in document.diagnostics() {
            let offered = sim_lsp::analysis::action::fixes(&document, diagnostic);
            for fix in &diagnostic.fixes {
                assert!(
                    offered.contains(fix),
                    "{name}: `{}` mends nothing",
                    fix.title
                );
            }
        }
    }
}
