//! `simc fmt`: files, directories, standard input, and what is left alone.

use crate::Place;

const LOOSE: &str = "agents 2\nstate x=1 // kept\nstate longer=2\noutput x\n";
const NEAT: &str = "agents 2\nstate x      = 1 // kept\nstate longer = 2\noutput x\n";
const BROKEN: &str = "agents 2\nstate x=\noutput x\n";

#[test]
fn files_are_written_once() {
    let place = Place::new();
    place.write("a.sim", LOOSE);
    let said = place.good(&["fmt", "a.sim"]);
    assert_eq!(
        (said.out.as_str(), said.err.as_str()),
        ("", "1 file, 1 formatted\n")
    );
    assert_eq!(place.text("a.sim"), NEAT);
    let written = std::fs::metadata(place.path("a.sim")).and_then(|data| data.modified());
    let said = place.good(&["fmt", "a.sim"]);
    assert_eq!(said.err, "1 file, all in canonical style\n");
    let now = std::fs::metadata(place.path("a.sim")).and_then(|data| data.modified());
    assert_eq!(
        written.expect("it has a time"),
        now.expect("it has a time"),
        "what is in style is not written again"
    );
    assert_eq!(place.names(), ["a.sim"], "no temporary file is left");
}

#[test]
fn directories_are_walked_but_not_hidden_ones() {
    let place = Place::new();
    for folder in ["sub/deep", ".hidden"] {
        std::fs::create_dir_all(place.path(folder)).expect("a directory can be made");
    }
    for name in [
        "a.sim",
        "sub/b.sim",
        "sub/deep/c.sim",
        "notes.txt",
        ".hidden/d.sim",
    ] {
        place.write(name, LOOSE);
    }
    let said = place.good(&["fmt"]);
    assert_eq!(said.err, "3 files, 3 formatted\n");
    assert_eq!(place.text("sub/deep/c.sim"), NEAT);
    assert_eq!(place.text("notes.txt"), LOOSE);
    assert_eq!(place.text(".hidden/d.sim"), LOOSE);
    assert_eq!(
        place.good(&["fmt", "sub"]).err,
        "2 files, all in canonical style\n"
    );
}

#[test]
fn check_shows_what_would_change_and_writes_nothing() {
    let place = Place::new();
    place.write("a.sim", LOOSE).write("b.sim", NEAT);
    let said = place.simc(&["fmt", "--check"]);
    assert_eq!(said.code, 1);
    assert_eq!(said.err, "2 files, 1 not in canonical style\n");
    assert_eq!(place.text("a.sim"), LOOSE);
    insta::assert_snapshot!("check", said.out);
    assert_eq!(place.good(&["fmt", "--check", "b.sim"]).out, "");

    let many: String = (0..40).map(|n| format!("state x{n}=1\n\n")).collect();
    place.write("many.sim", many);
    let said = place.simc(&["fmt", "--check", "many.sim"]);
    let lines: Vec<&str> = said.out.lines().collect();
    assert_eq!(lines.len(), 21, "{}", said.out);
    assert!(
        lines[20].starts_with("… ") && lines[20].ends_with(" more lines"),
        "{}",
        lines[20]
    );
}

#[test]
fn files_with_syntax_errors_are_left_alone_and_the_others_formatted() {
    let place = Place::new();
    place.write("a.sim", BROKEN).write("b.sim", LOOSE);
    let said = place.simc(&["fmt", "a.sim", "missing.sim", "b.sim"]);
    assert_eq!(said.code, 1);
    assert_eq!(place.text("a.sim"), BROKEN);
    assert_eq!(place.text("b.sim"), NEAT);
    insta::assert_snapshot!("left_alone", said.err);
}

#[test]
fn standard_input_goes_to_standard_output() {
    let place = Place::new();
    let said = place.piped(&["fmt", "--stdin"], LOOSE);
    assert_eq!(
        (said.code, said.out.as_str(), said.err.as_str()),
        (0, NEAT, "")
    );
    let said = place.piped(&["fmt", "--stdin"], BROKEN);
    assert_eq!((said.code, said.out.as_str()), (1, ""));
    assert!(said.err.contains("<stdin>:"), "{}", said.err);
    assert_eq!(place.piped(&["fmt", "--stdin", "--check"], LOOSE).code, 1);
    let said = place.piped(&["fmt", "--stdin", "--check"], NEAT);
    assert_eq!((said.code, said.out.as_str()), (0, ""));
    assert_eq!(place.simc(&["fmt", "--stdin", "a.sim"]).code, 2);
    let said = place.piped(&["fmt", "-"], LOOSE);
    assert_eq!((said.code, said.out.as_str()), (0, NEAT));
    let said = place.simc(&["fmt", "-", "a.sim"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("format `-` alone"), "{}", said.err);
}

#[cfg(unix)]
#[test]
fn permissions_and_links_are_kept() {
    use std::{fs, os::unix::fs::PermissionsExt};
    let place = Place::new();
    place.write("real.sim", LOOSE);
    let path = place.path("real.sim");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("we own the file");
    std::os::unix::fs::symlink("real.sim", place.path("link.sim")).expect("a link can be made");
    place.good(&["fmt", "link.sim"]);
    assert_eq!(place.text("real.sim"), NEAT);
    let mode = fs::metadata(&path)
        .expect("the file is there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o640);
    let link = fs::symlink_metadata(place.path("link.sim")).expect("the link is there");
    assert!(link.file_type().is_symlink());
}
