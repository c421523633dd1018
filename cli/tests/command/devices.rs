//! `--devices`: what several devices print.

use crate::Place;
use serde_json::Value;

const MODEL: &str = "
agents 1000
steps 12
param rate = 0.5
state x = 1.0
step { x += rate * normal() }
observe mean_x = mean(x) every 4
output x
";

fn place() -> Place {
    let place = Place::new();
    place.write("walk.sim", MODEL);
    place
}

fn json(place: &Place, args: &[&str]) -> Value {
    let said = place.good(&[args, &["--json"]].concat());
    serde_json::from_str(&said.out).expect("--json prints JSON and nothing else")
}

#[test]
fn a_run_on_several_devices_prints_their_shares() {
    let place = place();
    let one = json(&place, &["run", "walk.sim", "--backend", "cpu"]);
    assert!(one.get("devices").is_none());
    let two = json(&place, &["run", "walk.sim", "--devices", "cpu,cpu"]);
    assert_eq!(two["outputs"], one["outputs"]);
    assert_eq!(two["series"], one["series"]);
    let devices = two["devices"].as_array().expect("it is a list");
    let names: Vec<_> = devices.iter().map(|device| &device["name"]).collect();
    assert_eq!(names, ["cpu", "cpu#2"]);
    let agents = devices.iter().map(|device| device["agents"].as_u64());
    assert_eq!(agents.sum::<Option<u64>>(), Some(1000));
    let said = place.good(&["run", "walk.sim", "--devices", "cpu,cpu"]);
    for part in [
        "devices   cpu: processor with",
        "cpu#2: processor",
        "`cpu,cpu` were asked for",
    ] {
        assert!(said.out.contains(part), "{part}: {}", said.out);
    }
    assert!(!said.out.contains("unlike"), "{}", said.out);
}

#[test]
fn a_sweep_on_several_devices_is_that_of_one() {
    let place = place();
    let sweep = ["run", "walk.sim", "--sweep", "rate=0.1:1.0:20"];
    let one = json(&place, &[&sweep[..], &["--backend", "cpu"]].concat());
    let two = json(&place, &[&sweep[..], &["--devices", "cpu,cpu"]].concat());
    assert_eq!(two["table"], one["table"]);
    let devices = two["devices"].as_array().expect("it is a list");
    let agents = devices.iter().map(|device| device["agents"].as_u64());
    assert_eq!(agents.sum::<Option<u64>>(), Some(20_000));
}

#[test]
fn a_benchmark_times_one_device_and_all_in_turns() {
    let place = place();
    let said = place.good(&["bench", "walk.sim", "--devices", "cpu,cpu", "--runs", "3"]);
    for part in ["alone ", " times as fast", "with the same bits", "cpu#2"] {
        assert!(said.out.contains(part), "{part}: {}", said.out);
    }
    let report = json(
        &place,
        &["bench", "walk.sim", "--devices", "cpu,cpu", "--runs", "3"],
    );
    let alone = &report["results"][0]["alone"];
    assert_eq!(alone["same_bits"], true);
    assert!(alone["ratio"]["median"].as_f64() > Some(0.0));
}

#[test]
fn what_is_no_list_of_devices_is_a_usage_error() {
    let place = place();
    for (text, part) in [
        ("0", "one number is how many"),
        ("0,,1", "before or after a comma"),
        ("all,cpu", "`all` stands alone"),
    ] {
        let said = place.simc(&["run", "walk.sim", "--devices", text]);
        assert_eq!(said.code, 2, "{}", said.err);
        assert!(said.err.contains(part), "{part}: {}", said.err);
    }
    let both = ["--devices", "cpu,cpu", "--backend", "cpu"];
    let said = place.simc(&[&["run", "walk.sim"], &both[..]].concat());
    assert_eq!(said.code, 2, "{}", said.err);
    let saved = ["--devices", "cpu,cpu", "--checkpoint", "walk.ckpt"];
    let said = place.simc(&[&["run", "walk.sim"], &saved[..]].concat());
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(said.err.contains("[E0750]"), "{}", said.err);
}
