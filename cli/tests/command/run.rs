//! `simc run`: counts, params, seeds, the summary.

use crate::Place;
use sim_tests::launch::has_gpu;

/// Counts its steps and remembers a draw.
const WALK: &str = "
agents 5
steps 4
param scale = 1.0 in 0.0..10.0
param shift = [0.0, 0.0]
param flip = false
param turns: i32 = 1
state x = 0.0
state n = 0
step {
    x += 1.0
    n += turns
}
output value = if flip { -scale * x } else { scale * x }
output shifted = shift
output place = f32(agent)
output count = n
";

fn json(place: &Place, args: &[&str]) -> serde_json::Value {
    let said = place.good(&[args, &["--backend", "cpu", "--json"]].concat());
    assert_eq!(said.err, "");
    serde_json::from_str(&said.out).expect("--json prints JSON and nothing else")
}

fn row<'a>(summary: &'a serde_json::Value, name: &str) -> &'a serde_json::Value {
    let rows = summary["outputs"].as_array().expect("outputs are a list");
    rows.iter()
        .find(|row| row["name"] == name)
        .unwrap_or_else(|| panic!("no row {name}"))
}

#[test]
fn the_model_says_how_many_unless_the_command_does() {
    let place = Place::new();
    place.write("walk.sim", WALK);
    let own = json(&place, &["run", "walk.sim"]);
    assert_eq!(
        (&own["agents"], &own["steps"], &own["seed"]),
        (&5.into(), &4.into(), &0.into())
    );
    assert_eq!(own["agent_steps"], 20);
    assert_eq!(row(&own, "value")["mean"], 4.0);
    assert_eq!(own["backend"], "cpu");
    let report = json(
        &place,
        &[
            "run", "walk.sim", "--agents", "1_000", "--steps", "1e1", "--seed", "7",
        ],
    );
    assert_eq!(
        (&report["agents"], &report["steps"], &report["seed"]),
        (&1000.into(), &10.into(), &7.into())
    );
    assert_eq!(row(&report, "value")["mean"], 10.0);
    assert_eq!(row(&report, "count")["minimum"], 10.0);
}

#[test]
fn params_take_numbers_lists_and_truths() {
    let place = Place::new();
    place.write("walk.sim", WALK);
    let report = json(
        &place,
        &[
            "run",
            "walk.sim",
            "--param",
            "scale=2.5",
            "--param",
            "shift=-1,1_000.5",
            "--param",
            "flip=true",
            "--param",
            "turns=-3",
        ],
    );
    assert_eq!(row(&report, "value")["mean"], -10.0);
    assert_eq!(row(&report, "shifted[0]")["mean"], -1.0);
    assert_eq!(row(&report, "shifted[1]")["maximum"], 1000.5);
    assert_eq!(row(&report, "count")["mean"], -12.0);
}

#[test]
fn the_rows_have_the_statistics_of_the_agents() {
    let place = Place::new();
    place.write("walk.sim", WALK);
    let said = json(&place, &["run", "walk.sim"]);
    // Agents 0 to 4: by hand.
    let row = row(&said, "place");
    let expected = [
        ("count", 5.0),
        ("nan", 0.0),
        ("mean", 2.0),
        ("standard_deviation", 2.5_f64.sqrt()),
        ("standard_error", 2.5_f64.sqrt() / 5.0_f64.sqrt()),
        ("minimum", 0.0),
        ("lower_quartile", 1.0),
        ("median", 2.0),
        ("upper_quartile", 3.0),
        ("maximum", 4.0),
    ];
    for (key, value) in expected {
        assert_eq!(row[key].as_f64(), Some(value), "{key}");
    }
}

#[test]
fn a_part_of_a_population_draws_what_the_whole_draws() {
    let place = Place::new();
    place.write(
        "draw.sim",
        "steps 3\nstate x = normal()\nstep { x += normal() }\noutput x\noutput a = agent\n",
    );
    place.good(&[
        "run",
        "draw.sim",
        "--agents",
        "10",
        "--backend",
        "cpu",
        "-o",
        "all.csv",
        "--seed",
        "9",
    ]);
    place.good(&[
        "run",
        "draw.sim",
        "--agents",
        "4",
        "--first-agent",
        "6",
        "--backend",
        "cpu",
        "-o",
        "part.csv",
        "--seed",
        "9",
        "--population",
        "10",
    ]);
    let (all, part) = (place.text("all.csv"), place.text("part.csv"));
    let (all, part): (Vec<&str>, Vec<&str>) = (all.lines().collect(), part.lines().collect());
    assert_eq!(part.len(), 5);
    assert_eq!(all[7..], part[1..]);
}

#[test]
fn the_summary_for_people_names_everything() {
    let place = Place::new();
    place.write("walk.sim", WALK);
    let said = place.good(&["run", "walk.sim", "--backend", "cpu", "--output", "out.csv"]);
    let mut text = String::new();
    for line in said.out.lines() {
        // Times differ from run to run.
        let kept = match line.split_once("  ") {
            Some(("time" | "time    ", _)) => "time      …",
            Some(("speed" | "speed   ", _)) => "speed     …",
            _ => line,
        };
        text.push_str(kept);
        text.push('\n');
    }
    insta::assert_snapshot!("summary", text);
}

#[test]
fn quantiles_are_chosen() {
    let place = Place::new();
    place.write("walk.sim", WALK);
    let args = [
        "run",
        "walk.sim",
        "--agents",
        "101",
        "--quantiles",
        "0.01,0.5,0.995",
    ];
    let found = json(&place, &args);
    let expected = serde_json::json!([
        { "probability": 0.01, "value": 1.0 },
        { "probability": 0.5, "value": 50.0 },
        { "probability": 0.995, "value": 99.5 },
    ]);
    assert_eq!(row(&found, "place")["quantiles"], expected);
    assert_eq!(row(&found, "place")["median"], 50.0);
    let said = place.good(&[&args[..], &["--quiet", "--backend", "cpu"]].concat());
    insta::assert_snapshot!("quantiles", said.out);
    let none = json(&place, &["run", "walk.sim"]);
    assert!(row(&none, "place")["quantiles"].is_null());
    assert!(none["statistics_seconds"].as_f64() > Some(0.0));
    for wrong in ["2", "-1", "NaN", "half"] {
        let option = format!("--quantiles={wrong}");
        let said = place.simc(&["run", "walk.sim", &option]);
        assert_eq!(said.code, 2, "{wrong}: {}", said.err);
    }
}

/// Many agents, worlds, series, and outputs of each type.
const MARKET: &str = "
agents 8_000
world 4
steps 30
world input tax = 0.25
state wealth = 0.0
world state price = 0.0
step { wealth += (1.0 - tax) * f32(agent) }
world step { price = mean(for other in world: other.wealth) }
output wealth
output is_rich = wealth > 10_000.0
output number = agent * 100_000
output broken = if agent == 3 { sqrt(-1.0 - wealth) } else { 1.0 }
world output price
world output place = [f32(world.number), price]
record wealth every 10
observe all_wealth = mean(wealth) every 5
world observe greatest_wealth_of_all = max(wealth)
";

#[test]
fn a_summary_fits_a_terminal() {
    let place = Place::new();
    place.write("market.sim", MARKET);
    let said = place.good(&["run", "market.sim", "--backend", "cpu", "-q"]);
    let wide = said.out.lines().find(|line| line.chars().count() > 100);
    assert_eq!(wide, None);
    insta::assert_snapshot!("summary-market", said.out);
}

#[test]
fn many_values_share_a_row() {
    let place = Place::new();
    place.write(
        "wide.sim",
        "agents 2\noutput w = [for i in 0..17: f32(i)]\noutput v = vec3(1.0, 2.0, 3.0)\n",
    );
    let said = json(&place, &["run", "wide.sim"]);
    let wide = row(&said, "w");
    assert_eq!(
        (&wide["elements"], &wide["count"]),
        (&17.into(), &34.into())
    );
    assert_eq!(wide["mean"], 8.0);
    assert_eq!(row(&said, "v.z")["mean"], 3.0);
}

#[test]
fn agents_that_stop_are_counted() {
    let place = Place::new();
    place.write(
        "stop.sim",
        "agents 4\nsteps 10\nstep t { if t == 2 && agent < 3 { stop } }\noutput a = agent\n",
    );
    let said = json(&place, &["run", "stop.sim"]);
    assert_eq!(said["stopped_agents"], 3);
}

#[test]
fn counts_that_are_none_are_usage_errors() {
    let place = Place::new();
    for args in [
        ["--agents", "1.5"],
        ["--steps", "-1"],
        ["--seed", "many"],
        ["--param", "sigma"],
    ] {
        let said = place.simc(&["run", "walk.sim", args[0], args[1]]);
        assert_eq!(said.code, 2, "{args:?}");
        assert!(said.err.contains(args[0]), "{}", said.err);
    }
}

#[test]
fn the_telemetry_adds_up() {
    let place = Place::new();
    place.write("walk.sim", WALK);
    let on_cpu = &json(&place, &["run", "walk.sim"])["telemetry"];
    assert_eq!(
        (on_cpu["submissions"].as_u64(), on_cpu["bytes_up"].as_u64()),
        (Some(0), Some(0))
    );
    assert!(on_cpu["gpu_ms"].is_null() && on_cpu["pipeline_cache"].is_null());
    let ms = |report: &serde_json::Value, key: &str| report[key].as_f64().expect("a number");
    assert!(ms(on_cpu, "compile_ms") + ms(on_cpu, "run_ms") <= ms(on_cpu, "total_ms"));
    if !has_gpu() {
        return;
    }
    let on_gpu = |more: &[&str]| -> serde_json::Value {
        let args = [
            "run",
            "walk.sim",
            "--backend",
            "gpu",
            "--json",
            "--agents",
            "1000",
        ];
        let said = place.good(&[&args, more].concat());
        serde_json::from_str(&said.out).expect("--json prints JSON")
    };
    let report = &on_gpu(&["--no-cache"])["telemetry"];
    assert!(report["pipeline_cache"].is_null(), "{report}");
    assert!(!place.path("cache").exists());
    // Five words of outputs and one of steps.
    assert!(
        report["bytes_down"].as_u64() >= Some(1000 * 4 * 6),
        "{report}"
    );
    assert!(report["bytes_up"].as_u64() >= Some(4 * 8), "{report}");
    assert!(report["submissions"].as_u64() >= Some(1), "{report}");
    let phases = ["device_ms", "module_ms", "pipeline_ms", "wait_ms"];
    assert!(phases.iter().all(|key| ms(report, key) > 0.0), "{report}");
    let sum: f64 = phases.iter().map(|key| ms(report, key)).sum();
    assert!(
        sum <= ms(report, "run_ms") && ms(report, "run_ms") <= ms(report, "total_ms"),
        "{report}"
    );
    let found = |report: serde_json::Value| report["telemetry"]["pipeline_cache"].clone();
    let (first, second) = (found(on_gpu(&[])), found(on_gpu(&[])));
    if !first.is_null() {
        assert_eq!(
            (first.as_str(), second.as_str()),
            (Some("miss"), Some("hit"))
        );
    }
}

#[test]
fn a_gpu_that_computes_the_statistics_prints_the_same() {
    if !has_gpu() {
        return;
    }
    let place = Place::new();
    let model = "steps 9
state x = normal()
state n = 0
step {
    x += normal()
    n += 1
    if x > 5.0 { stop }
}
output x
output odd = n % 2 == 1
output pair = vec2(x, -1.0 / x)
output many = [for i in 0..20: x + f32(i)]
output n
";
    place.write("draws.sim", model);
    let said = |args: &[&str]| {
        let args = [
            &["run", "draws.sim", "--agents", "70_001", "--backend", "gpu"],
            args,
        ]
        .concat();
        place.good(&args).out
    };
    let table = |text: &str| -> Vec<String> {
        let report = text.lines().take_while(|line| !line.starts_with("time"));
        report.map(str::to_owned).collect()
    };
    let (fetched, reduced) = (said(&["--reduce", "false"]), said(&["--reduce", "true"]));
    assert!(table(&fetched).len() > 10, "{fetched}");
    assert_eq!(table(&reduced), table(&fetched));
    let report = |args: &[&str]| -> serde_json::Value {
        serde_json::from_str(&said(args)).expect("--json prints JSON")
    };
    let down = |report: &serde_json::Value| report["telemetry"]["bytes_down"].as_u64();
    let (fetched, reduced) = (
        report(&["--json", "--reduce", "false"]),
        report(&["--json", "--reduce", "true"]),
    );
    assert_eq!(
        (&fetched["reduced"], &reduced["reduced"]),
        (&false.into(), &true.into())
    );
    assert_eq!(fetched["agent_steps"], reduced["agent_steps"]);
    assert!(down(&fetched) > Some(4 * 26 * 70_001) && down(&reduced) < Some(200_000));
    // A file takes everything.
    let written = report(&["--json", "--reduce", "true", "--output", "all.npy"]);
    assert_eq!(written["reduced"], false);
    assert_eq!(down(&written), down(&fetched));
}

/// Draws, stops, infinities and NaNs, and an output with one row for all of its values.
const DRAWS: &str = "steps 9
state x = normal()
state n = 0
step {
    x += normal()
    n += 1
    if x > 5.0 { stop }
}
output x
output odd = n % 2 == 1
output pair = vec2(x, -1.0 / x)
output root = sqrt(x)
output never = sqrt(-1.0 - x * x)
output far = if x > 4.0 { 1.0 / (x - x) } else { x }
output many = [for i in 0..20: x + f32(i)]
output n
output word: u32 = u32(n) * 3000000000u
";

#[test]
fn statistics_are_the_same_whether_outputs_are_held_or_not() {
    let place = Place::new();
    place.write("draws.sim", DRAWS);
    for agents in ["1", "2", "513", "70_001"] {
        let report = |reduce: &str| {
            let args = ["run", "draws.sim", "--agents", agents, "--reduce", reduce];
            json(&place, &args)
        };
        let (held, passed) = (report("false"), report("true"));
        assert_eq!(held["outputs"], passed["outputs"], "{agents} agents");
        for key in ["agent_steps", "stopped_agents"] {
            assert_eq!(held[key], passed[key], "{agents} agents");
        }
        assert_eq!(
            (&held["passes"], &held["reduced"]),
            (&1.into(), &false.into())
        );
        assert_eq!(
            (&passed["passes"], &passed["reduced"]),
            (&2.into(), &true.into())
        );
        let never = row(&passed, "never");
        assert_eq!(
            (&never["count"], never["median"].is_null()),
            (&0.into(), true)
        );
    }
    let said = place.good(&[
        "run",
        "draws.sim",
        "--agents",
        "9",
        "--backend",
        "cpu",
        "--reduce",
        "true",
    ]);
    assert!(said.out.contains("\npasses    2: "), "{}", said.out);
}

#[test]
fn a_given_input_reaches_every_pass() {
    let place = Place::new();
    let model = "input x: f32 = 0.0\ninput z ~ normal()\noutput both = x + z\noutput x = x\n";
    place.write("both.sim", model);
    let rows: String = (0..3000).map(|agent| format!("{}\n", agent % 97)).collect();
    place.write("x.csv", format!("x\n{rows}"));
    let report = |reduce: &str| {
        let args = ["run", "both.sim", "--agents", "3000", "--input", "x=x.csv"];
        json(&place, &[&args[..], &["--reduce", reduce]].concat())
    };
    let (held, passed) = (report("false"), report("true"));
    assert_eq!(held["outputs"], passed["outputs"]);
    assert_eq!(row(&passed, "x")["maximum"], 96.0);
}

const CHECKED: &str = "agents 9
steps 4
state price = 1.0
step {
    price *= 2.0
    assert agent < 3 || price < 8.0, \"prices stay low\"
}
output price
";

#[test]
fn assertions_are_checked_on_request() {
    let place = Place::new();
    place.write("m.sim", CHECKED);
    place.good(&["run", "m.sim"]);
    let said = place.simc(&["run", "m.sim", "--check"]);
    assert_eq!(said.code, 1, "{}", said.out);
    for part in [
        "[E0730] Error: an assertion does not hold: prices stay low",
        "m.sim:6:5",
        "false in agent 3, in step 2",
        "`simc explain E0730` says more",
    ] {
        assert!(said.err.contains(part), "{part}: {}", said.err);
    }
    assert_eq!(said.out, "");
    for backend in ["cpu", "reference"] {
        place.good(&[
            "run",
            "m.sim",
            "--check",
            "--steps",
            "2",
            "--backend",
            backend,
        ]);
        let again = place.simc(&["run", "m.sim", "--check", "--backend", backend]);
        assert_eq!((again.code, &again.err), (1, &said.err));
    }
    place.good(&["explain", "E0730"]);
}
