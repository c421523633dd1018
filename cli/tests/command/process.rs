//! Signals, pipes and help.

use crate::{Place, Said};
use std::{
    io::Read,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Runs for hours on any machine.
const ENDLESS: &str = "
agents 100_000
steps 1_000_000
state x = 0.5
step { x = 3.9 * x * (1.0 - x) }
output x
";

#[test]
fn an_interrupted_run_ends_soon_and_says_so() {
    let place = Place::new();
    place.write("endless.sim", ENDLESS);
    let mut child = place
        .command(&[
            "run",
            "endless.sim",
            "--backend",
            "cpu",
            "--output",
            "out.csv",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("simc can be started");
    // Long enough for the handler to be there; before that the signal ends the process without a word.
    thread::sleep(Duration::from_secs(2));
    let pressed = Instant::now();
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(killed.expect("kill can be started").success());
    let status = child.wait().expect("simc can be waited for");
    assert!(pressed.elapsed() < Duration::from_secs(20));
    assert_eq!(status.code(), Some(130));
    let mut text = String::new();
    child
        .stderr
        .expect("it is piped")
        .read_to_string(&mut text)
        .expect("it is text");
    assert_eq!(text, "interrupted: the run has no results\n");
    assert_eq!(place.names(), ["endless.sim"]);
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let place = Place::new();
    place.write("small.sim", "agents 2\noutput a = agent\n");
    for args in [
        &["explain"][..],
        &["run", "small.sim", "--backend", "cpu"],
        &["build", "small.sim", "--emit", "wgsl"],
    ] {
        let mut child = place
            .command(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("simc can be started");
        drop(child.stdout.take());
        let said = Said::from(child.wait_with_output().expect("simc can be waited for"));
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{args:?}");
    }
}

#[test]
fn version_and_help_are_there() {
    let place = Place::new();
    let version = place.good(&["--version"]).out;
    assert_eq!(version, format!("simc {}\n", env!("CARGO_PKG_VERSION")));
    insta::assert_snapshot!("help", place.good(&["--help"]).out);
    insta::assert_snapshot!("help-run", place.good(&["run", "--help"]).out);
    insta::assert_snapshot!("help-bench", place.good(&["bench", "--help"]).out);
    insta::assert_snapshot!("help-fmt", place.good(&["fmt", "--help"]).out);
    insta::assert_snapshot!("help-build", place.good(&["build", "--help"]).out);
    assert_eq!(place.simc(&["fly"]).code, 2);
}
