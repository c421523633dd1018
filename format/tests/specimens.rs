//! One construct a specimen: `specimens/<name>.sim`, and in its snapshot what becomes of it.

use sim_format::{Error, edit, format};
use std::{fs, path::Path};

fn specimens() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/specimens");
    let mut found: Vec<(String, String)> = fs::read_dir(folder)
        .expect("the specimens are there")
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "sim"))
        .map(|path| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let text = fs::read_to_string(&path).expect("a specimen is text");
            (name.into_owned(), text)
        })
        .collect();
    found.sort();
    assert!(found.len() > 10, "the specimens are there");
    found
}

fn formatted(source: &str) -> String {
    format(source).unwrap_or_else(|error| panic!("{error:?}\n{source}"))
}

#[test]
fn each_construct_has_its_style() {
    for (name, source) in specimens() {
        let text = formatted(&source);
        assert_eq!(formatted(&text), text, "{name}: twice is once");
        insta::with_settings!({
            snapshot_path => "specimens/snapshots",
            prepend_module_to_snapshot => false,
            omit_expression => true
        }, {
            insta::assert_snapshot!(name, text);
        });
    }
}

#[test]
fn white_space_does_not_matter_but_for_paragraphs() {
    for (name, source) in specimens() {
        let no_comments = !source.contains("//");
        let no_paragraphs: String = source
            .lines()
            .filter(|line| !line.is_empty())
            .collect::<Vec<_>>()
            .join("\n");
        if no_comments {
            let one_line = no_paragraphs.replace('\n', " ");
            assert_eq!(formatted(&one_line), formatted(&no_paragraphs), "{name}");
        }
        let tabbed = source.replace(' ', "\t \t");
        if no_comments {
            assert_eq!(formatted(&tabbed), formatted(&source), "{name}");
        }
    }
}

#[test]
fn lines_end_as_they_did() {
    assert_eq!(
        formatted("state x=1 \r\n\r\n\r\n// c \r\nstate y=2"),
        "state x = 1\r\n\r\n// c\r\nstate y = 2\r\n"
    );
    assert_eq!(formatted("state x=1"), "state x = 1\n");
    assert_eq!(formatted("\u{feff}state x=1\n"), "state x = 1\n");
    assert_eq!(formatted(""), "");
    assert_eq!(formatted("\n\n"), "");
    assert_eq!(formatted("\n// alone"), "// alone\n");
    assert_eq!(formatted("/* alone */"), "/* alone */\n");
    let comment = "/* of\r\n  two lines */\r\nstate x = 1\r\n";
    assert_eq!(formatted(comment), comment);
}

#[test]
fn syntax_errors_are_handed_back() {
    for source in [
        "state x =",
        "state x = 1 /* a",
        "state x = 1\0",
        "state x = (1",
        "step { x = }",
    ] {
        match format(source) {
            Err(Error::Syntax(diagnostics)) => assert!(!diagnostics.is_empty(), "{source}"),
            other => panic!("{source}: {other:?}"),
        }
    }
    // What only the checker minds is none of the formatter's business.
    assert_eq!(formatted("state x=y"), "state x = y\n");
}

#[test]
fn an_edit_is_as_small_as_it_can_be() {
    let mut sources: Vec<String> = specimens().into_iter().map(|(_, text)| text).collect();
    sources.push("// é\nstate x=1 // è\n".to_owned());
    sources.push("state x = 1\n\n\n\n".to_owned());
    for source in sources {
        let text = formatted(&source);
        let edit = edit(&source)
            .expect("it can be formatted")
            .expect("it is not in style");
        let mut edited = source.clone();
        edited.replace_range(edit.span.range(), &edit.text);
        assert_eq!(edited, text);
    }
    assert_eq!(edit("state x = 1\n").expect("it can be formatted"), None);
    let small = edit("state a = 1\nstate b=2\nstate c = 3\n").expect("it can be formatted");
    let small = small.expect("it is not in style");
    assert_eq!((small.span.range(), small.text.as_str()), (19..20, " = "));
}

#[test]
fn the_deepest_and_longest_models_are_formatted() {
    let deep = format!("state x = {}1{}\n", "(".repeat(64), ")".repeat(64));
    let chain = format!("state x = 1{}\n", " ** 2".repeat(200));
    let signs = format!("state x = {}1\n", "- ".repeat(200));
    let long = format!("state x = [{}1]\n", "1,".repeat(200_000));
    let items: String = (0..50_000)
        .map(|n| format!("state x{n}={n} // {n}\n"))
        .collect();
    for source in [deep, chain, signs, long, items] {
        let text = formatted(&source);
        assert_eq!(formatted(&text), text);
    }
}
