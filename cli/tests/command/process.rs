//! Signals, pipes and help.

use crate::{Place, Said};
use std::{
    io::Read,
    process::{Child, Command, Stdio},
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

/// Starts a run that writes a large file, and waits until it does.
fn writing(place: &Place, program: &mut Command) -> Child {
    let mut child =
        (program.stdout(Stdio::null()).stderr(Stdio::null()).spawn()).expect("simc can be started");
    let is_written = |name: &String| name.starts_with(".out.csv.");
    while !place.names().iter().any(is_written) {
        assert_eq!(
            child.try_wait().expect("it can be asked"),
            None,
            "it has ended"
        );
        thread::sleep(Duration::from_millis(2));
    }
    child
}

fn send(signal: &str, child: &Child) {
    let killed = Command::new("kill")
        .args([signal, &child.id().to_string()])
        .status();
    assert!(killed.expect("kill can be started").success());
}

/// Takes seconds to write.
const LARGE: &str =
    "agents 10_000_000\nsteps 1\nstate x = 0.1\nstep { x += f32(agent) }\noutput x\n";

const WRITE: [&str; 6] = [
    "run",
    "large.sim",
    "--backend",
    "cpu",
    "--output",
    "out.csv",
];

#[test]
fn no_signal_leaves_a_temporary_file() {
    let place = Place::new();
    place.write("large.sim", LARGE);
    for signals in [
        &["-TERM"][..],
        &["-HUP"],
        &["-INT"],
        &["-TERM", "-TERM"],
        &["-HUP", "-INT"],
    ] {
        let mut child = writing(&place, &mut place.command(&WRITE));
        for signal in signals {
            send(signal, &child);
            // Two signals at once are one.
            thread::sleep(Duration::from_millis(5));
            if child.try_wait().expect("it can be asked").is_some() {
                break;
            }
        }
        let status = child.wait().expect("simc can be waited for");
        assert_eq!(status.code(), Some(130), "{signals:?}");
        assert_eq!(place.names(), ["large.sim"], "{signals:?}");
    }
}

#[test]
fn a_signal_that_is_to_be_ignored_is_ignored() {
    let place = Place::new();
    place.write("large.sim", LARGE.replace("10_000_000", "1_000_000"));
    // As `nohup` starts a program.
    let mut nohup = Command::new("sh");
    nohup
        .args([
            "-c",
            "trap '' HUP; exec \"$0\" \"$@\"",
            env!("CARGO_BIN_EXE_simc"),
        ])
        .args(WRITE)
        .current_dir(&place.0);
    let mut child = writing(&place, &mut nohup);
    send("-HUP", &child);
    let status = child.wait().expect("simc can be waited for");
    assert_eq!(status.code(), Some(0));
    assert_eq!(place.names(), ["large.sim", "out.csv", "out.meta.json"]);
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
    insta::assert_snapshot!("help-rerun", place.good(&["rerun", "--help"]).out);
    insta::assert_snapshot!("help-bench", place.good(&["bench", "--help"]).out);
    insta::assert_snapshot!("help-fmt", place.good(&["fmt", "--help"]).out);
    insta::assert_snapshot!("help-build", place.good(&["build", "--help"]).out);
    insta::assert_snapshot!("help-inspect", place.good(&["inspect", "--help"]).out);
    let said = place.good(&["completions", "--help"]).out;
    insta::assert_snapshot!("help-completions", said);
    assert_eq!(place.simc(&["fly"]).code, 2);
}
