//! Pipes in place of files: read where somebody writes, waited for where nobody does, never where a file is
//! meant.

use crate::{Place, Said};
use sim_tests::launch::has_gpu;
use std::{
    fs,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// A pipe in the place that somebody writes to once it is read.
fn pipe(place: &Place, name: &str, content: Option<Vec<u8>>) -> Option<JoinHandle<()>> {
    let path = place.path(name);
    let made = Command::new("mkfifo").arg(&path).status();
    assert!(made.is_ok_and(|made| made.success()));
    content.map(|content| thread::spawn(move || fs::write(path, content).expect("it is read")))
}

#[test]
fn models_and_tables_come_through_pipes() {
    let place = Place::new();
    let model = "agents 2\ndata t: [f32]\ninput x: f32\noutput y = t[agent] + x\n";
    let mut npy = crate::files::header("<f4", "(2,)");
    npy.extend([10.0_f32, 20.0].into_iter().flat_map(f32::to_le_bytes));
    let writers = [
        pipe(&place, "model.sim", Some(model.into())),
        // A pipe of no known ending is a CSV file, as that of `<(…)` is.
        pipe(&place, "63", Some("t\n1\n2\n".into())),
        pipe(&place, "x.npy", Some(npy)),
    ];
    place.good(&[
        "run",
        "model.sim",
        "--backend",
        "cpu",
        "--data",
        "t=63",
        "--input",
        "x=x.npy",
        "-o",
        "out.csv",
    ]);
    writers
        .into_iter()
        .flatten()
        .for_each(|writer| writer.join().expect("it has written"));
    assert_eq!(place.text("out.csv"), "y\n11.0\n22.0\n");
}

#[test]
fn who_waits_for_a_pipe_says_so_and_can_be_ended() {
    let place = Place::new();
    place.write("t.sim", "agents 2\ndata t: [f32]\noutput y = t[agent]\n");
    pipe(&place, "t.csv", None);
    let mut child = place
        .command(&["run", "t.sim", "--backend", "cpu", "--data", "t=t.csv"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("simc can be started");
    let mut line = String::new();
    let stderr = child.stderr.take().expect("it is piped");
    BufReader::new(stderr)
        .read_line(&mut line)
        .expect("it is text");
    assert_eq!(line, "waiting for somebody to write to the pipe `t.csv`\n");
    let killed = Command::new("kill").arg(child.id().to_string()).status();
    assert!(killed.is_ok_and(|killed| killed.success()));
    let since = Instant::now();
    child.wait().expect("it ends");
    assert!(since.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_cache_that_is_a_pipe_or_others_may_write_to_is_passed_over_and_replaced() {
    if !has_gpu() {
        return;
    }
    let place = Place::new();
    place.write("small.sim", "agents 2\noutput a = agent\n");
    let run = || -> Said { place.good(&["run", "small.sim", "--backend", "gpu", "--json"]) };
    let found = |said: &Said| -> serde_json::Value {
        let report: serde_json::Value =
            serde_json::from_str(&said.out).expect("--json prints JSON");
        report["telemetry"]["pipeline_cache"].clone()
    };
    if found(&run()).is_null() {
        return;
    }
    assert_eq!(found(&run()), "hit");
    let entries = fs::read_dir(place.path("cache")).expect("it was made");
    let [file] = &entries
        .flatten()
        .map(|entry| entry.path())
        .collect::<Vec<_>>()[..]
    else {
        panic!("one file");
    };
    let open_to_all = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    fs::set_permissions(file, open_to_all).expect("it is ours");
    assert_eq!(found(&run()), "miss");
    assert_eq!(found(&run()), "hit");
    fs::remove_file(file).expect("it is ours");
    let made = Command::new("mkfifo").arg(file).status();
    assert!(made.is_ok_and(|made| made.success()));
    assert_eq!(found(&run()), "miss");
    assert_eq!(found(&run()), "hit");
}
