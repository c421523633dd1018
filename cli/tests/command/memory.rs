//! Runs within the memory that there is: refused before they begin, or computed without holding what nobody
//! takes.

use crate::{Place, Said};
use std::process::Command;

/// `simc` with a limit of its address space, in KiB, and two threads.
fn limited(place: &Place, kibibytes: u64, args: &str) -> Said {
    let command = format!("ulimit -v {kibibytes} && exec \"$SIMC\" {args}");
    let output = Command::new("sh")
        .args(["-c", &command])
        .current_dir(&place.0)
        .env("SIMC", env!("CARGO_BIN_EXE_simc"))
        .env("NO_COLOR", "1")
        .env("RAYON_NUM_THREADS", "2")
        .output();
    Said::from(output.expect("sh can be started"))
}

const BRIEF: &str = "agents 10\nsteps 1\nstate x = 0.0\nstep { x += f32(agent) }\noutput x\n";

#[test]
fn what_nobody_takes_is_not_held() {
    let place = Place::new();
    place.write("brief.sim", BRIEF);
    // A hundred million values are 400 MB, and were held three times over.
    let args = "run brief.sim --backend cpu --agents 1e8 --json";
    let said = limited(&place, 1_000_000, args);
    assert_eq!(said.code, 0, "{}", said.err);
    let report: serde_json::Value = serde_json::from_str(&said.out).expect("--json prints JSON");
    assert_eq!(
        (&report["passes"], &report["agent_steps"]),
        (&2.into(), &100_000_000.into())
    );
    let row = &report["outputs"][0];
    assert_eq!(row["count"], 100_000_000);
    // The numbers of the agents, rounded to floats.
    for (key, expected) in [
        ("mean", 49_999_999.5),
        ("lower_quartile", 24_999_999.75),
        ("median", 49_999_999.5),
        ("upper_quartile", 74_999_999.25),
        ("maximum", 99_999_999.0),
    ] {
        let found = row[key].as_f64().expect("a number");
        assert!((found - expected).abs() <= 4.0, "{key}: {found}");
    }
}

/// What a run says that is refused for its memory, as it has these words.
fn refused(place: &Place, args: &str, parts: &[&str]) -> String {
    let said = limited(place, 3_000_000, args);
    assert_eq!(
        (said.code, said.out.as_str()),
        (1, ""),
        "{args}: {}",
        said.err
    );
    assert!(said.err.starts_with("[E0713]"), "{args}: {}", said.err);
    for part in [&["of memory (", " are available", "--agents "], parts].concat() {
        assert!(said.err.contains(part), "{args}: {part}: {}", said.err);
    }
    said.err
}

#[test]
fn a_run_beyond_the_memory_there_is_is_refused_with_the_amounts() {
    let place = Place::new();
    place.write("brief.sim", BRIEF);
    // Only agents that may stop have step counts of their own.
    let stops = BRIEF.replace("step {", "step { if x > 5.0 { stop }");
    place.write("stops.sim", &stops);
    place.write(
        "wide.sim",
        "agents 10\nsteps 1\ninput w: [f32; 1000] ~ normal()\nstate x = w\nstep { x[0] += 1.0 }\noutput x\n",
    );
    let refused = |args: &str, parts: &[&str]| refused(&place, args, parts);
    let report = refused(
        "run stops.sim --backend cpu --agents 2e9 --output out.npz",
        &[
            "needs 16.0 GB",
            "outputs 8.0 GB",
            "step counts 8.0 GB",
            "without `--output` holds no outputs",
        ],
    );
    // What it says can be done can be done, as far as memory goes: the next one is told to take no more.
    let most = report
        .split("`--agents ")
        .nth(1)
        .and_then(|rest| rest.split('`').next());
    let most: u64 = most
        .expect("a number")
        .replace('_', "")
        .parse()
        .expect("a number");
    assert!((100_000_000..375_000_000).contains(&most), "{report}");
    refused(
        "run brief.sim --backend cpu --agents 2e9 --output out.npz",
        &["needs 8.0 GB", "outputs 8.0 GB"],
    );
    refused(
        "run wide.sim --backend reference --agents 1e7",
        &[
            "rows of inputs 40.0 GB",
            "rows of states 40.0 GB",
            "outputs 40.0 GB",
        ],
    );
    // No machine has so much, with or without limits.
    let said = place.simc(&[
        "run",
        "wide.sim",
        "--backend",
        "cpu",
        "--agents",
        "2e9",
        "--output",
        "out.npy",
    ]);
    assert_eq!(said.code, 1, "{}", said.err);
    // The values of one array alone, which would be written in batches.
    assert!(said.err.starts_with("[E0964]"), "{}", said.err);
    assert!(said.err.contains("at least 8000.0 GB"), "{}", said.err);
    assert_eq!(place.names(), ["brief.sim", "stops.sim", "wide.sim"]);
}

#[test]
fn outputs_beyond_memory_are_written_in_batches() {
    let place = Place::new();
    place.write("brief.sim", BRIEF);
    // Outputs of 160 MB, which is more than a third of the memory there is.
    let args = "run brief.sim --backend cpu --agents 4e7 --output out.npy --json";
    let said = limited(&place, 300_000, args);
    assert_eq!(said.code, 0, "{}", said.err);
    let report: serde_json::Value = serde_json::from_str(&said.out).expect("--json prints JSON");
    let row = &report["outputs"][0];
    assert_eq!(
        (&row["count"], &row["maximum"], &row["median"]),
        (
            &40_000_000.into(),
            &39_999_999.0_f32.into(),
            &serde_json::Value::Null
        )
    );
    assert!(report["batches"].as_u64() > Some(1), "{report}");
    let bytes = std::fs::read(place.path("out.npy")).expect("it was written");
    let start = bytes.len() - 160_000_000;
    for agent in [0_usize, 1, 8_388_608, 25_000_001, 39_999_999] {
        let at = start + 4 * agent;
        let word = bytes[at..at + 4].try_into().expect("4 bytes");
        assert_eq!(f32::from_le_bytes(word), agent as f32, "{agent}");
    }
    // With the other results of a run they are refused, in time.
    let said = limited(
        &place,
        300_000,
        "run brief.sim --agents 8e7 --backend cpu --output all.npz",
    );
    assert!(said.err.starts_with("[E0713]"), "{}", said.err);
    assert!(
        said.err.contains("are written in batches to .csv"),
        "{}",
        said.err
    );
}
