//! `simc search`: its files, its checkpoints, Ctrl-C, and what is refused.

use crate::{Place, Said};
use serde_json::Value;

const MODEL: &str = "
agents 40
/// The candidate.
input x: [f32; 3] ~ uniform(-4.0, 4.0)
input y: vec2 ~ normal(0.0, 1.0)
input bias: f32 = 0.25
input n: i32 = 1
output cost = abs(x[0] - 1.5) + abs(x[1] + 0.5) + abs(x[2] - 3.0) + abs(y.x) + abs(y.y - 1.0) + bias * f32(n)
output pair = [bias, bias]
";

fn place() -> Place {
    let place = Place::new();
    place.write("model.sim", MODEL);
    place
}

fn search(place: &Place, args: &[&str]) -> Said {
    let usual = ["search", "model.sim", "--backend", "cpu"];
    place.simc(&[&usual, args].concat())
}

const OVER: [&str; 4] = ["--minimise", "cost", "--over", "x,y"];

fn json(said: &Said) -> Value {
    assert_eq!(said.code, 0, "{}", said.err);
    serde_json::from_str(&said.out).expect("it is JSON")
}

#[test]
fn a_run_takes_the_best_candidates_in_every_form() {
    let place = place();
    for file in ["e.npz", "e.csv", "e.parquet", "e.arrow", "e.npy"] {
        let args = [
            &OVER[..],
            &["--generations", "15", "--elites", "4", "-o", file, "--json"],
        ];
        let report = json(&search(&place, &args.concat()));
        assert_eq!(report["elites"].as_array().map(Vec::len), Some(4));
        let [x, y] = ["x", "y"].map(|name| match file {
            "e.npy" => format!("{name}=e.{name}.npy"),
            _ => format!("{name}={file}"),
        });
        let run = place.good(&[
            "run",
            "model.sim",
            "--backend",
            "cpu",
            "--agents",
            "4",
            "--input",
            &x,
            "--input",
            &y,
            "-o",
            "-",
            "-q",
        ]);
        // `cost` is the first column of the table of outputs.
        let found: Vec<f64> = (run.out.lines().skip(1))
            .map(|line| line.split(',').next().and_then(|cell| cell.parse().ok()))
            .map(|cost| cost.expect("it is a number"))
            .collect();
        let known: Vec<f64> = (report["elites"].as_array().into_iter().flatten())
            .map(|elite| elite["fitness"].as_f64().expect("it is a number"))
            .collect();
        let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-6;
        assert!(
            found.len() == 4 && found.iter().zip(&known).all(near),
            "{file}: {found:?} {known:?}"
        );
        assert!(known[0] < 1.0 && known.is_sorted(), "{known:?}");
    }
    let again = search(&place, &[&OVER[..], &["-o", "e.npz"]].concat());
    assert!(
        again.code == 1 && again.err.starts_with("[E0923]"),
        "{}",
        again.err
    );
}

#[test]
fn the_report_says_what_was_done() {
    let place = place();
    let args = [
        "--generations",
        "300",
        "--method",
        "cma-es",
        "--target",
        "0.26",
        "--from",
        "-2:2",
    ];
    let said = search(&place, &[&OVER[..], &args].concat());
    assert_eq!(said.code, 0, "{}", said.err);
    for part in [
        "fitness  found in  times",
        "cost        minimised",
        "candidates  40 a generation, of 5 genes: x, y",
        "the target is reached",
        "% in runs",
        "draws       of each candidate's own agent, new in each generation",
        "backend     cpu",
        "seed        0, of the search 0",
    ] {
        assert!(said.out.contains(part), "{part:?} is not in\n{}", said.out);
    }
    let report = json(&search(&place, &[&OVER[..], &args, &["--json"]].concat()));
    assert_eq!(report["ended"], "target");
    let generations = report["history"]
        .as_array()
        .map(Vec::len)
        .expect("it is a list");
    assert!(generations < 300 && report["generations"] == generations);
    assert_eq!(report["evaluations"], generations * 40);
    assert_eq!(
        report["elites"][0]["inputs"]["x"].as_array().map(Vec::len),
        Some(3)
    );
    // The optimum: 0.25, where x and y are what the model subtracts.
    let first = &report["elites"][0]["inputs"]["x"][0];
    assert!(
        (first.as_f64().expect("a number") - 1.5).abs() < 0.02,
        "{first}"
    );
    let events = search(
        &place,
        &[&OVER[..], &["--json-progress", "-q", "--generations", "3"]].concat(),
    );
    let last = events.err.lines().last().expect("there is one");
    let last: Value = serde_json::from_str(last).expect("it is JSON");
    assert!(last["done"] == 3 && last["unit"] == "generations", "{last}");
}

/// What must be the same of two searches.
fn results(report: &Value) -> [&Value; 2] {
    [&report["elites"], &report["history"]]
}

#[test]
fn a_checkpoint_takes_a_search_further() {
    let place = place();
    let begun = search(
        &place,
        &[&OVER[..], &["--generations", "6", "--checkpoint", "s.ckpt"]].concat(),
    );
    assert_eq!(begun.code, 0, "{}", begun.err);
    let on = [
        &OVER[..],
        &["--generations", "14", "--resume", "s.ckpt", "--json"],
    ]
    .concat();
    let resumed = json(&search(&place, &on));
    let whole = json(&search(
        &place,
        &[&OVER[..], &["--generations", "14", "--json"]].concat(),
    ));
    assert_eq!(results(&resumed), results(&whole));
    let lost = search(&place, &[&OVER[..], &["--checkpoint", "s.ckpt"]].concat());
    assert!(
        lost.code == 1 && lost.err.starts_with("[E0965]"),
        "{}",
        lost.err
    );
    let other = search(&place, &[&on[..], &["--elites", "3"]].concat());
    assert!(
        other.code == 1 && other.err.starts_with("[E0966]"),
        "{}",
        other.err
    );
    assert!(
        other.err.contains("the number of elites is 3 here, but 10"),
        "{}",
        other.err
    );
    place.write("s.ckpt", "no search");
    let broken = search(&place, &on);
    assert!(
        broken.code == 1 && broken.err.starts_with("[E0966]"),
        "{}",
        broken.err
    );
}

#[cfg(unix)]
#[test]
fn ctrl_c_gives_what_there_is_and_the_command_that_goes_on() {
    use std::{
        process::{Command, Stdio},
        thread,
        time::Duration,
    };
    let place = place();
    let usual = [
        "search",
        "model.sim",
        "--backend",
        "cpu",
        "--json",
        "--generations",
        "4_000_000_000",
    ];
    let files = ["-o", "e.npz", "--checkpoint", "s.ckpt"];
    let child = place
        .command(&[&usual[..], &OVER, &files].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("simc can be started");
    // Long enough for the first generations.
    thread::sleep(Duration::from_secs(2));
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(killed.expect("kill can be started").success());
    let said = Said::from(child.wait_with_output().expect("simc can be waited for"));
    assert_eq!(said.code, 130, "{}", said.err);
    let report: Value = serde_json::from_str(&said.out).expect("it is JSON");
    assert_eq!(report["ended"], "interrupted");
    assert_eq!(place.names(), ["e.npz", "model.sim", "s.ckpt"]);
    let begun = said
        .err
        .starts_with("interrupted: the result is the best of ");
    assert!(
        begun && said.err.ends_with("--resume s.ckpt --force\n"),
        "{}",
        said.err
    );
    let done = report["generations"].as_u64().expect("it is a number");
    let more = (done + 3).to_string();
    let last = ["--json", "--generations", &more];
    let resumed = json(&search(
        &place,
        &[&OVER[..], &last, &["--resume", "s.ckpt"]].concat(),
    ));
    let whole = json(&search(&place, &[&OVER[..], &last].concat()));
    assert_eq!(results(&resumed), results(&whole));
}

#[test]
fn what_cannot_be_searched_is_refused() {
    let place = place();
    let cases: [(&[&str], i32, &str); 9] = [
        (
            &["--minimise", "cots", "--over", "x"],
            1,
            "did you mean `cost`",
        ),
        (&["--minimise", "cost", "--over", "z"], 1, "[E0701]"),
        (&["--minimise", "cost", "--over", "n"], 1, "[E0745]"),
        (&["--minimise", "pair", "--over", "x"], 1, "[E0746]"),
        (
            &["--minimise", "cost", "--over", "x", "--agents", "2"],
            1,
            "[E0747]",
        ),
        (
            &["--minimise", "cost", "--over", "x", "--decay", "2"],
            1,
            "[E0749]",
        ),
        (
            &["--minimise", "cost", "--over", "x", "-o", "e.xlsx"],
            1,
            "[E0956]",
        ),
        (
            &["--minimise", "cost", "--over", "x", "--rate", "0.1"],
            2,
            "`--method ga` takes no `--rate`",
        ),
        (&["--over", "x"], 2, "--maximise"),
    ];
    for (args, code, part) in cases {
        let said = search(&place, args);
        assert_eq!(said.code, code, "{args:?}: {}", said.err);
        assert!(said.err.contains(part), "{args:?}: {}", said.err);
        assert_eq!(said.out, "");
    }
    assert_eq!(place.names(), ["model.sim"]);
}
