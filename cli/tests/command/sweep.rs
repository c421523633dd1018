//! `simc run --sweep …`: points, their rows, and what is refused.

use crate::{Place, Said};

const MODEL: &str = "
agents 64
steps 5
enum Kind { Red, Blue }
param sigma = 0.5 in 0.0..1.0
param drift: f32
param w = [0.1, 0.2, 0.3]
param turns: i32 = 2 in 1..4
param kind: Kind = Red
state x = 0.0
step { x += drift + sigma * normal() * w[1] }
output x
output n = f32(turns) + f32(i32(kind))
";

fn place() -> Place {
    let place = Place::new();
    place.write("model.sim", MODEL);
    place
}

fn sweep(place: &Place, args: &[&str]) -> Said {
    place.simc(&[&["run", "model.sim", "--backend", "cpu"], args].concat())
}

/// The columns of a table, by name.
fn column(text: &str, name: &str) -> Vec<String> {
    let mut lines = text.lines();
    let head = lines.next().expect("it has a header");
    let at = head.split(',').position(|column| column == name);
    let at = at.unwrap_or_else(|| panic!("{name} is not in {head}"));
    lines
        .map(|line| line.split(',').nth(at).expect("a cell").to_owned())
        .collect()
}

#[test]
fn a_grid_has_a_row_for_each_combination_and_each_is_a_run() {
    let place = place();
    let args = [
        "--sweep",
        "sigma=0.0:1.0:3",
        "--sweep",
        "drift=1,-1",
        "--sweep",
        "w[1]=0.5,2",
        "--force",
        "-o",
        "t.csv",
    ];
    let said = sweep(&place, &args);
    assert_eq!(said.code, 0, "{}", said.err);
    let table = place.text("t.csv");
    assert_eq!(column(&table, "point").len(), 12);
    assert_eq!(column(&table, "sigma")[4..8], ["0.5", "0.5", "0.5", "0.5"]);
    assert_eq!(column(&table, "drift")[..4], ["1", "1", "-1", "-1"]);
    assert_eq!(column(&table, "w[1]")[..3], ["0.5", "2", "0.5"]);
    let alone = place.good(&[
        "run",
        "model.sim",
        "--backend",
        "cpu",
        "--json",
        "--param",
        "sigma=0.5",
        "--param",
        "drift=-1",
        "--param",
        "w=0.1,2,0.3",
    ]);
    let alone: serde_json::Value = serde_json::from_str(&alone.out).expect("JSON");
    let mean = alone["outputs"][0]["mean"].as_f64().expect("a number");
    assert_eq!(column(&table, "x.mean")[7], mean.to_string());
    assert!(
        said.out.contains("points      12, the same draws at each"),
        "{}",
        said.out
    );
}

#[test]
fn points_come_from_ranges_and_files() {
    let place = place();
    for option in ["--sweep-random", "--sweep-sobol"] {
        let said = sweep(
            &place,
            &[option, "40", "--param", "drift=0", "--force", "-o", "t.csv"],
        );
        assert_eq!(said.code, 0, "{}", said.err);
        let table = place.text("t.csv");
        let sigmas = column(&table, "sigma");
        let inside = |text: &String| (0.0..=1.0).contains(&text.parse::<f64>().expect("a number"));
        assert!(sigmas.len() == 40 && sigmas.iter().all(inside));
        let mut turns = column(&table, "turns");
        turns.sort();
        turns.dedup();
        assert_eq!(turns, ["1", "2", "3", "4"]);
    }
    place.write("p.csv", "kind,drift\nBlue,0.5\nRed,0.25\n");
    let said = sweep(&place, &["--sweep-file", "p.csv", "-o", "-"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(column(&said.out, "n.mean"), ["3", "2"]);
}

#[test]
fn draws_are_common_and_repeats_are_pooled() {
    let place = place();
    let errors = |args: &[&str]| {
        let fixed = [
            "--sweep",
            "turns=1,2",
            "--param",
            "drift=0",
            "--force",
            "-o",
            "t.csv",
        ];
        let said = sweep(&place, &[&fixed, args].concat());
        assert_eq!(said.code, 0, "{}", said.err);
        let table = place.text("t.csv");
        assert_eq!(column(&table, "x.count").len(), 2);
        (column(&table, "x.mean"), column(&table, "x.count"))
    };
    let (means, counts) = errors(&[]);
    assert!(means[0] == means[1] && counts == ["64", "64"]);
    let (means, counts) = errors(&["--common-draws", "false", "--repeats", "3"]);
    assert!(means[0] != means[1] && counts == ["192", "192"]);
}

#[test]
fn a_point_that_fails_does_not_lose_the_others() {
    let place = place();
    let args = [
        "--sweep",
        "sigma=0.5,1.5,0.25",
        "--param",
        "drift=0",
        "--force",
        "-o",
        "t.csv",
        "--covariance",
        "x,n",
    ];
    let said = sweep(&place, &args);
    assert_eq!(said.code, 1);
    assert!(
        said.err.contains("E0973") && said.err.contains("1 of 3 points"),
        "{}",
        said.err
    );
    let table = place.text("t.csv");
    let means = column(&table, "x.mean");
    assert!(!means[0].is_empty() && means[1].is_empty() && !means[2].is_empty());
    let row = table.lines().nth(2).expect("three points");
    assert!(row.ends_with(",sigma = 1.5 is not in 0..1"), "{row}");
    let said = sweep(
        &place,
        &["--sweep", "sigma=0.5,1.5", "--param", "drift=0", "--json"],
    );
    let json: serde_json::Value = serde_json::from_str(&said.out).expect("JSON");
    assert!(
        json["failed"] == 1 && json["table"][0]["x.count"] == 64,
        "{json}"
    );
    assert!(json["table"][1]["x.mean"].is_null());
}

#[test]
fn what_cannot_be_swept_is_refused_with_the_reason() {
    let place = place();
    let cases: [(&[&str], &str, &str); 16] = [
        (&["--sweep", "sgima=0:1:3"], "E0701", "sigma"),
        (
            &["--sweep", "sigma=1:0:3"],
            "E0970",
            "the range from 1 to 0 is empty",
        ),
        (&["--sweep", "sigma=0:1:1"], "E0970", "at least two values"),
        (&["--sweep", "sigma=0:1"], "E0970", "three parts"),
        (&["--sweep", "sigma=NaN"], "E0970", "`NaN`"),
        (&["--sweep", "sigma=0:inf:3"], "E0970", "not finite"),
        (&["--sweep", "sigma=low"], "E0970", "`low` is not a number"),
        (
            &["--sweep", "sigma=0.1", "--param", "sigma=0.2"],
            "E0970",
            "`--param`",
        ),
        (&["--sweep", "w=0.1"], "E0970", "w[0]"),
        (&["--sweep", "w[3]=0.1"], "E0970", "`w[0]` to `w[2]`"),
        (&["--sweep", "turns=1:4:3"], "E0970", "2.5"),
        (
            &["--sweep", "sigma=0:1:1e4", "--sweep", "drift=0:1:1000"],
            "E0972",
            "10_000_000",
        ),
        (&["--sweep-random", "1e7"], "E0972", "10_000_000"),
        (
            &["--sweep-random", "3", "--sweep-over", "drift"],
            "E0971",
            "`drift`",
        ),
        (&["--repeats", "2"], "E0921", "nothing is swept"),
        (
            &["--sweep", "drift=1,2", "-o", "t.npy"],
            "E0921",
            ".npz, .csv",
        ),
    ];
    for (args, code, part) in cases {
        let said = sweep(&place, args);
        assert!(said.code > 0 && said.out.is_empty(), "{args:?}");
        assert!(
            said.err.contains(code) && said.err.contains(part),
            "{args:?}: {}",
            said.err
        );
    }
    for (text, part) in [
        ("sigma\n0.5\nx\n", "p.csv:3"),
        ("sigma,drift\n0.5\n", "p.csv:2"),
        ("1,2\n", "p.csv:1"),
        ("", "p.csv:1"),
    ] {
        place.write("p.csv", text);
        let said = sweep(&place, &["--sweep-file", "p.csv"]);
        assert!(
            said.code == 1 && said.err.contains("E0974") && said.err.contains(part),
            "{}",
            said.err
        );
    }
}
