//! `simc bench`: what it checks, and what it says.

use crate::Place;
use serde_json::Value;
use sim_tests::launch::has_gpu;

/// Smooth, with draws: rounding stays what it is.
const GROWTH: &str = "
agents 300
steps 20
param drift = 0.01
data rates: [f32]
state x = 1.0
step t { x *= 1.0 + drift + rates[t] + 0.01 * normal() }
output x
output who = agent
";
/// Makes other numbers of the last bit of a sine.
const MIXER: &str = "
agents 300
steps 40
state x = 0.1
state h: u32 = 1
step {
    x = sin(x * 1.7 + f32(agent)) + 1.5
    h = (h ^ bitcast<u32>(x)) * 16777619u
}
output h
";

fn json(place: &Place, args: &[&str]) -> Value {
    let said = place.good(&[&["bench"], args, &["--json"]].concat());
    assert_eq!(said.err, "");
    serde_json::from_str(&said.out).expect("--json prints JSON and nothing else")
}

fn growth() -> Place {
    let place = Place::new();
    place.write("growth.sim", GROWTH);
    let rates: Vec<String> = (0..20).map(|row| format!("0.00{row:02}")).collect();
    place.write("rates.csv", format!("rates\n{}\n", rates.join("\n")));
    place
}

/// Holds what a row says against itself.
fn consistent(row: &Value) {
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{row}"));
    let total = &row["total_ms"];
    assert!(number(&total["low"]) <= number(&total["median"]), "{row}");
    assert!(number(&total["median"]) <= number(&total["high"]), "{row}");
    let by = match row["rate_by"].as_str() {
        Some("gpu_ms") => number(&row["gpu_ms"]["median"]),
        _ => number(&total["median"]),
    };
    let rate = number(&row["agent_steps"]) / by * 1e3;
    let report = number(&row["agent_steps_per_second"]);
    assert!((report / rate - 1.0).abs() < 1e-6, "{row}");
    assert!(row["floor_ms"].is_null() && row["floor_note"].is_string());
}

#[test]
fn every_population_has_a_row_and_the_file_has_them_all() {
    let place = growth();
    let args = [
        "growth.sim",
        "--backend",
        "cpu",
        "--agents",
        "40,1e3",
        "--data",
        "rates=rates.csv",
        "-o",
        "results.json",
        "--runs",
        "7",
    ];
    let report = json(&place, &args);
    assert_eq!(report["simc"], env!("CARGO_PKG_VERSION"));
    let rows = report["results"].as_array().expect("a list");
    assert_eq!(rows.len(), 2);
    for (row, agents) in rows.iter().zip([40, 1000]) {
        assert_eq!(row["model"], "growth.sim");
        assert_eq!(
            (&row["agents"], &row["steps"]),
            (&agents.into(), &20.into())
        );
        assert_eq!(row["agent_steps"], agents * 20);
        assert_eq!(
            (&row["runs"], &row["verified"]),
            (&7.into(), &"agent by agent".into())
        );
        assert!(row["gpu_ms"].is_null() && row["overhead_us"].is_null());
        let work = &row["operations"]["step"];
        assert!(
            work["float"].as_u64() > Some(0) && work["special"].as_u64() > Some(0),
            "{row}"
        );
        consistent(row);
    }
    let file: Value = serde_json::from_str(&place.text("results.json")).expect("it is JSON");
    assert_eq!(file, report);
}

#[test]
fn people_are_told_the_same() {
    let place = growth();
    let args = [
        "bench",
        "growth.sim",
        "--backend",
        "cpu",
        "--data",
        "rates=rates.csv",
    ];
    let said = place.good(&args).out;
    for part in [
        "growth.sim: 300 agents x 20 steps on processor with ",
        "\n  verified  agent by agent\n",
        "\n  total     ",
        "median of 10 runs",
        " agent-steps/s\n",
        "\n  floor     no floor is known for processors\n",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn what_does_not_run_is_reported_and_the_rest_measured() {
    let place = growth();
    place.write("broken.sim", "agents 2\nsteps 2\nstate x = y\noutput x\n");
    place.write(
        "bare.sim",
        "agents 4\nsteps 3\nstate x = 0.0\nstep { x += 1.0 }\noutput x\n",
    );
    let said = place.simc(&[
        "bench",
        "broken.sim",
        "growth.sim",
        "bare.sim",
        "--backend",
        "cpu",
    ]);
    assert_eq!(said.code, 1);
    assert!(
        said.err.contains("broken.sim") && said.err.contains("rates"),
        "{}",
        said.err
    );
    assert!(!said.out.contains("growth.sim") && said.out.contains("bare.sim: 4 agents"));
    let wrong = place.simc(&["bench", "bare.sim", "--backend", "cpu", "--param", "z=1"]);
    assert_eq!(wrong.code, 1);
    assert!(wrong.err.contains("no param `z`"), "{}", wrong.err);
    // With several models a value is for those that have it.
    let args = [
        "bench",
        "bare.sim",
        "growth.sim",
        "--backend",
        "cpu",
        "--data",
        "rates=rates.csv",
    ];
    place.good(&args);
}

#[test]
fn a_gpu_is_held_against_the_cpu() {
    if !has_gpu() {
        return;
    }
    let place = growth();
    let args = [
        "growth.sim",
        "--backend",
        "gpu",
        "--data",
        "rates=rates.csv",
        "--no-cache",
    ];
    let report = json(&place, &args);
    let row = &report["results"][0];
    assert_eq!(
        (&row["backend"], &row["verified"]),
        (&"gpu".into(), &"agent by agent".into())
    );
    consistent(row);
    let (first, warm) = (&row["first"], &row["warm"]);
    assert!(first["bytes_up"].as_u64() > Some(20 * 4), "{row}");
    assert_eq!(
        (&warm["bytes_up"], &warm["submissions"]),
        (&0.into(), &1.into()),
        "{row}"
    );
    assert_eq!(warm["pipeline_ms"], 0.0);
    assert!(warm["bytes_down"].as_u64() >= Some(300 * 4 * 3), "{row}");
    if let Some(gpu) = row["gpu_ms"]["median"].as_f64() {
        assert!(gpu > 0.0 && gpu <= row["total_ms"]["median"].as_f64().expect("a number"));
    }
}

#[test]
fn what_a_search_finds_can_be_asked_for() {
    if !has_gpu() {
        return;
    }
    let place = growth();
    let args = [
        "growth.sim",
        "--backend",
        "gpu",
        "--data",
        "rates=rates.csv",
    ];
    let report = json(&place, &[&args[..], &["--tune", "--lanes", "1"]].concat());
    let row = &report["results"][0];
    let found = &row["tuned"];
    assert!(found["tried"].as_u64() > Some(5), "{row}");
    assert!(found["untuned_ms"].as_f64() > Some(0.0), "{row}");
    let arguments = found["arguments"].as_str().expect("a text");
    assert!(arguments.starts_with("--lanes 1"), "{arguments}");
    let words: Vec<&str> = arguments.split(' ').collect();
    let again = json(&place, &[&args[..], &words].concat());
    let kernel = |report: &Value| -> Vec<String> {
        let choices = report["kernel"].as_array().expect("choices").iter();
        let words = choices.map(|it| it.as_str().expect("a text").split(':').next());
        words.map(|it| it.unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(kernel(&again["results"][0]), kernel(row));
}

#[test]
fn a_model_that_is_not_verified_has_no_rate() {
    if !has_gpu() {
        return;
    }
    let place = Place::new();
    place.write("mixer.sim", MIXER);
    let said = place.simc(&["bench", "mixer.sim", "--backend", "gpu", "--json"]);
    assert_eq!(said.code, 1, "{}", said.out);
    assert!(said.err.starts_with("[E0920]"), "{}", said.err);
    assert!(
        said.err.contains("values of output `h` differ"),
        "{}",
        said.err
    );
    let report: Value = serde_json::from_str(&said.out).expect("it is JSON");
    assert_eq!(report["results"], Value::Array(Vec::new()));
    place.good(&["bench", "mixer.sim", "--backend", "cpu"]);
}
