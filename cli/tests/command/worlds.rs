//! Worlds in the command: their inputs, outputs and sizes.

use crate::Place;

/// Four agents a world, of which each adds its skill; worlds are taxed.
const MARKET: &str = "
agents 8
world 4
steps 3
input skill = 1.0
world input tax = 0.5
world state price = 0.0
state wealth = 0.0
step { wealth += skill * (1.0 - tax) }
world step { price = mean(for other in world: other.wealth) }
output wealth
world output price
world output both = [price, f32(world.number)]
";

fn market() -> Place {
    let place = Place::new();
    place.write("market.sim", MARKET);
    place.write("tax.csv", "tax\n0.0\n0.5\n");
    place
}

const RUN: [&str; 6] = [
    "run",
    "market.sim",
    "--backend",
    "cpu",
    "--input",
    "tax=tax.csv",
];

fn refused(place: &Place, args: &[&str], code: &str, parts: &[&str]) {
    let said = place.simc(&[&["run", "--backend", "cpu"], args].concat());
    assert_eq!(said.code, 1, "{}", said.err);
    for part in [&[code], parts].concat() {
        assert!(said.err.contains(part), "{part}: {}", said.err);
    }
}

#[test]
fn outputs_of_worlds_have_rows_and_files_of_their_own() {
    let place = market();
    let said = place.good(&[&RUN[..], &["-o", "out.csv"]].concat());
    let agents = "wealth\n3.0\n3.0\n3.0\n3.0\n1.5\n1.5\n1.5\n1.5\n";
    assert_eq!(place.text("out.csv"), agents);
    let worlds = "price,both[0],both[1]\n3.0,3.0,0.0\n1.5,1.5,1.0\n";
    assert_eq!(place.text("out.world.csv"), worlds);
    for line in [
        "world price        2  2.25",
        "worlds    2 of 4 agents",
        "written   out.csv\n",
        "written   out.world.csv, a row per world\n",
    ] {
        assert!(said.out.contains(line), "{line}: {}", said.out);
    }
    place.good(&[&RUN[..], &["-o", "nested.json"]].concat());
    let found: serde_json::Value =
        serde_json::from_str(&place.text("nested.json")).expect("it is JSON");
    assert_eq!(found["price"], serde_json::json!([3.0, 1.5]));
    assert_eq!(found["both"][1], serde_json::json!([1.5, 1.0]));
    assert_eq!(found["wealth"].as_array().map(Vec::len), Some(8));
    place.good(&[&RUN[..], &["-o", "arrays.npy"]].concat());
    for name in ["arrays.wealth.npy", "arrays.price.npy", "arrays.both.npy"] {
        assert!(place.names().contains(&name.to_owned()), "{name}");
    }
}

#[test]
fn a_model_of_worlds_only_writes_one_table() {
    let place = Place::new();
    place.write(
        "lone.sim",
        "agents 4\nworld 2\nworld output n = world.number\n",
    );
    place.good(&["run", "lone.sim", "--backend", "cpu", "-o", "lone.csv"]);
    assert_eq!(place.text("lone.csv"), "n\n0\n1\n");
    assert_eq!(place.names(), ["lone.csv", "lone.meta.json", "lone.sim"]);
}

#[test]
fn json_counts_worlds() {
    let place = market();
    let said = place.good(&[&RUN[..], &["--json", "-o", "out.csv"]].concat());
    let found: serde_json::Value = serde_json::from_str(&said.out).expect("it is JSON");
    assert_eq!(found["worlds"], 2);
    assert_eq!(
        found["written"],
        serde_json::json!(["out.csv", "out.world.csv", "out.meta.json"])
    );
    let rows = found["world_outputs"].as_array().expect("a list");
    let names: Vec<&str> = rows.iter().filter_map(|row| row["name"].as_str()).collect();
    assert_eq!(names, ["price", "both[0]", "both[1]"]);
    assert_eq!(
        (&rows[0]["count"], &rows[0]["mean"]),
        (&2.into(), &2.25.into())
    );
    place.write("none.sim", "agents 2\noutput a = agent\n");
    let none = place.good(&["run", "none.sim", "--backend", "cpu", "--json"]);
    let none: serde_json::Value = serde_json::from_str(&none.out).expect("it is JSON");
    assert_eq!(none["worlds"], serde_json::Value::Null);
    assert_eq!(none["world_outputs"], serde_json::json!([]));
}

#[test]
fn an_input_of_worlds_has_a_row_for_each() {
    let place = market();
    place.write("three.csv", "tax\n0\n1\n2\n");
    let says = ["[2] of f32", "every world needs one row", "--agents 12"];
    refused(
        &place,
        &["market.sim", "--input", "tax=three.csv"],
        "E0939",
        &says,
    );
    let args = ["market.sim", "--input", "tax=three.csv", "--agents", "12"];
    place.good(&[&["run", "--backend", "cpu"], &args[..]].concat());
    let args = ["market.sim", "--input", "tax=tax.csv", "--world", "2"];
    refused(&place, &args, "E0939", &["[4] of f32", "--agents 4"]);
    place.write("skill.csv", "skill\n1\n2\n");
    refused(
        &place,
        &["market.sim", "--input", "skill=skill.csv"],
        "E0939",
        &["every agent"],
    );
}

#[test]
fn worlds_are_whole() {
    let place = market();
    let says = [
        "worlds of 4 agents do not divide the number of agents: 10",
        "8 and 12",
    ];
    refused(&place, &["market.sim", "--agents", "10"], "E0718", &says);
    let says = ["worlds of 3 agents", "6 and 9"];
    refused(&place, &["market.sim", "--world", "3"], "E0718", &says);
    let says = [
        "do not divide the number of agents: 2",
        "the nearest number that they divide is 4",
    ];
    refused(&place, &["market.sim", "--agents", "2"], "E0718", &says);
    let says = ["do not divide the number of the first agent: 2"];
    refused(
        &place,
        &["market.sim", "--first-agent", "2"],
        "E0718",
        &says,
    );
    let says = ["do not divide the population: 13"];
    refused(
        &place,
        &["market.sim", "--population", "13"],
        "E0718",
        &says,
    );
    place.good(&[
        "run",
        "market.sim",
        "--backend",
        "cpu",
        "--agents",
        "12",
        "--world",
        "3",
    ]);
}

#[test]
fn the_size_of_a_world_is_for_models_with_worlds() {
    let place = Place::new();
    place.write("none.sim", "agents 4\nstate x = 1.0\noutput x\n");
    refused(
        &place,
        &["none.sim", "--world", "2"],
        "E0719",
        &["the model has no worlds"],
    );
    for (name, text) in [
        ("member.sim", "agents 4\noutput m = member\n"),
        ("size.sim", "agents 4\noutput m = len(world)\n"),
        ("other.sim", "agents 4\noutput m = world[0].agent\n"),
        (
            "step.sim",
            "agents 4\nsteps 1\nworld step {}\noutput m = agent\n",
        ),
    ] {
        place.write(name, text);
        let says = ["says what `world` is", "add `--world N`"];
        refused(&place, &[name], "E0709", &says);
        place.good(&["run", name, "--backend", "cpu", "--world", "2"]);
    }
}

#[test]
fn bench_verifies_whole_worlds() {
    let place = market();
    let args = ["bench", "market.sim", "--backend", "cpu", "--runs", "2"];
    let sizes = ["--agents", "96", "--world", "48"];
    let said = place.good(&[&args[..], &sizes].concat());
    assert!(
        said.out.contains("verified  agent by agent"),
        "{}",
        said.out
    );
}
