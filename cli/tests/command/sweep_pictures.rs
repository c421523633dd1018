//! Plots of sweeps, and the tables of what their points observe and record.

use crate::Place;

/// Every mean is known, and no two points of a grid have the same.
const MODEL: &str = "
//! A model to sweep.
agents 40
world 8
steps 6
enum Kind { Red, Blue }
/// How steep it is [m].
param slope = 1.0 in 0.0..10.0
param shift = 0.0 in 0.0..100.0
param kind: Kind = Red
param missing = 1.0 in 0.0..1.0
state x = 0.0
step { x += slope + 0.01 * f32(agent % 8) * normal() }
/// Height [m].
output height = 3.0 * slope + shift + if kind == Blue { 0.5 } else { 0.0 }
output noisy = x
output holed = if slope == 3.0 { NAN } else { slope }
output is_high = slope > 2.0
output many = [for k in 0..6: slope * f32(k)]
observe level = mean(x) every 2
observe count = count(x > 3.0)
observe range = quantiles(x, 0.25, 0.75) every 3
world observe top = max(x) every 3
record x every 2
";

const RUN: [&str; 5] = ["run", "model.sim", "--backend", "cpu", "--force"];

fn place() -> Place {
    let place = Place::new();
    place.write("model.sim", MODEL);
    place
}

/// The picture of what is shown.
fn svg(place: &Place, args: &[&str], show: &str) -> String {
    let plot = ["--plot", "p.svg", "--show", show];
    place.good(&[&RUN[..], args, &plot].concat());
    place.text("p.svg")
}

/// Shapes with both of these in their text: how many each has.
fn shapes(svg: &str, one: &str, other: &str) -> Vec<usize> {
    let lines = svg.lines();
    let found = lines.filter(|line| line.contains(one) && line.contains(other));
    found.map(|line| line.matches('M').count()).collect()
}

const DISCS: &str = "stroke-linecap=\"round\"";
const BLUE: &str = "#0072b2";

#[test]
fn one_param_is_a_curve_with_a_band_and_a_mark_at_each_point() {
    let place = place();
    let swept = ["--sweep", "slope=0:4:9"];
    let picture = svg(&place, &swept, "noisy");
    assert_eq!(shapes(&picture, DISCS, BLUE), [9]);
    let curve = "stroke-width=\"2\"";
    assert_eq!(shapes(&picture, curve, BLUE), [1]);
    assert_eq!(shapes(&picture, "fill-opacity", BLUE), [1], "the band");
    for text in [
        ">A model to sweep<",
        ">9 points · 40 agents · 6 steps · seed 0<",
        ">slope · How steep it is [m]<",
        ">mean of 40 agents · the band is ± 2 standard errors<",
    ] {
        assert!(picture.contains(text), "{text}: {picture}");
    }
    // What does not vary over agents has no band.
    let picture = svg(&place, &swept, "height");
    assert!(shapes(&picture, "fill-opacity", BLUE).is_empty());
    assert!(picture.contains(">Height [m]<") && picture.contains(">mean of 40 agents<"));
    // Names have no curve between them.
    let picture = svg(&place, &["--sweep", "kind=Red,Blue"], "noisy");
    assert_eq!(shapes(&picture, DISCS, BLUE), [2]);
    assert_eq!(shapes(&picture, curve, BLUE), [1, 1], "two bars of errors");
    assert!(picture.contains(">Red<") && picture.contains(">Blue<"));
    // What has no number is a gap.
    let picture = svg(&place, &["--sweep", "slope=1:5:5"], "holed");
    assert_eq!(shapes(&picture, DISCS, BLUE), [4]);
    assert_eq!(shapes(&picture, curve, BLUE), [1, 1]);
    let args = [
        "--sweep",
        "slope=1,2,11",
        "--plot",
        "p.svg",
        "--show",
        "height",
    ];
    assert_eq!(place.simc(&[&RUN[..], &args].concat()).code, 1);
    let picture = place.text("p.svg");
    assert_eq!(shapes(&picture, DISCS, BLUE), [2]);
    assert!(picture.contains("3 points (1 without results)"));
}

#[test]
fn two_params_of_a_grid_are_a_heat_map_and_others_are_points() {
    let place = place();
    let grid = ["--sweep", "shift=0,20,40", "--sweep", "slope=1:4:4"];
    let picture = svg(&place, &grid, "height");
    let cells = |picture: &str| shapes(picture, "crispEdges", "").iter().sum::<usize>();
    // The scale of colours has 64 pieces.
    assert_eq!(cells(&picture), 12 + 64);
    assert!(picture.contains(">shift<") && picture.contains(">slope · How steep it is [m]<"));
    let grid = ["--sweep", "kind=Blue,Red", "--sweep", "slope=1,4,2"];
    let picture = svg(&place, &grid, "height");
    assert_eq!(cells(&picture), 6 + 64);
    for (show, panels) in [("height", 3), ("height:noisy", 1), ("is_high", 3)] {
        let drawn = ["--sweep-sobol", "64", "--sweep-over", "slope,shift,missing"];
        let picture = svg(&place, &drawn, show);
        assert_eq!(shapes(&picture, DISCS, BLUE), vec![64; panels], "{show}");
    }
    let drawn = ["--sweep-sobol", "64", "--sweep-over", "slope,shift"];
    let picture = svg(&place, &drawn, "height");
    assert!(picture.contains(">height by shift<") && picture.contains("of the variance<"));
    // Six elements over one param.
    let picture = svg(&place, &["--sweep", "slope=1,2,4"], "many");
    assert!(cells(&picture) > 64 && picture.contains(">element of many<"));
}

#[test]
fn series_have_a_curve_for_each_point() {
    let place = place();
    let few = ["--sweep", "slope=1,2,3", "--sweep", "kind=Red,Blue"];
    let picture = svg(&place, &few, "level");
    assert!(picture.contains(">slope 1, kind Red<") && picture.contains(">slope 3, kind Blue<"));
    assert_eq!(shapes(&picture, "stroke-width=\"1.8\"", "").len(), 6);
    let many = ["--sweep", "slope=0:5:20"];
    for (show, note) in [
        ("level", ">observed at 20 points, a curve each<"),
        ("top", ">mean of 5 worlds at 20 points, a curve each<"),
    ] {
        let picture = svg(&place, &many, show);
        assert_eq!(
            shapes(&picture, "stroke-width=\"1.2\"", "").len(),
            20,
            "{show}"
        );
        assert!(picture.contains(note), "{picture}");
        assert!(
            picture.contains(">slope · How steep it is [m]<"),
            "{picture}"
        );
    }
    let picture = svg(&place, &["--sweep", "slope=0:5:200"], "level");
    assert!(
        picture.contains(">observed at 50 of 200 points, a curve each<"),
        "{picture}"
    );
}

#[test]
fn plots_go_to_files_and_terminals_and_say_what_they_lack() {
    let place = place();
    let swept = [&RUN[..], &["--sweep", "slope=1:2:5"]].concat();
    let dark = ["--plot", "p.png", "--theme", "dark", "-o", "t.csv"];
    let said = place.good(&[&swept[..], &dark].concat());
    assert!(said.out.contains("p.png, a plot"), "{}", said.out);
    assert_eq!(&place.read("p.png")[1..4], b"PNG");
    let said = place.good(&[&swept[..], &["-q", "--show", "height", "--plot"]].concat());
    assert!(said.out.contains("height  Height [m]"), "{}", said.out);
    for (args, part) in [
        (
            &["--plot", "p.svg", "--show", "level+count"][..],
            "name each of them",
        ),
        (
            &["--plot", "p.svg", "--show", "nothing"],
            "no output or series",
        ),
        (&["--plot", "p.gif"], "no known form of picture"),
        (&["--plot", "--json"], "standard output"),
        (&["--checkpoint", "c.ckpt"], "Ctrl-C"),
    ] {
        let said = place.simc(&[&swept[..], args].concat());
        let is_refused = said.code > 0 && said.out.is_empty();
        assert!(
            is_refused && said.err.contains(part),
            "{args:?}: {}",
            said.err
        );
    }
}

/// The cells of a CSV file by line, with its header.
fn cells(text: &str) -> Vec<Vec<String>> {
    let line = |line: &str| line.split(',').map(str::to_owned).collect();
    text.lines().map(line).collect()
}

fn column(table: &[Vec<String>], name: &str) -> Vec<String> {
    let at = table[0].iter().position(|column| column == name);
    let at = at.unwrap_or_else(|| panic!("{name} is not in {:?}", table[0]));
    table[1..].iter().map(|row| row[at].clone()).collect()
}

fn numbers(table: &[Vec<String>], name: &str) -> Vec<f64> {
    let cells = column(table, name).into_iter();
    cells.map(|cell| cell.parse().expect("a number")).collect()
}

#[test]
fn what_is_observed_has_a_row_per_point_and_step() {
    let place = place();
    let swept = ["--sweep", "slope=1,11,2", "-o", "t.csv"];
    let said = place.simc(&[&RUN[..], &swept].concat());
    assert!(said.code == 1 && said.err.contains("E0973"), "{}", said.err);
    assert!(
        said.out.contains("t.observe.csv, a row per point and step"),
        "{}",
        said.out
    );
    place.good(&[&RUN[..], &["--param", "slope=2", "-o", "one.csv"]].concat());
    let table = cells(&place.text("t.observe.csv"));
    let expected = [
        "point", "slope", "step", "level", "count", "range[0]", "range[1]",
    ];
    assert_eq!(table[0], expected);
    let points = column(&table, "point");
    assert_eq!(
        points,
        [["0"; 7], ["2"; 7]].concat(),
        "the second one failed"
    );
    assert_eq!(column(&table, "slope")[7..], ["2"; 7]);
    let one = cells(&place.text("one.observe.csv"));
    for name in ["step", "level", "count", "range[0]", "range[1]"] {
        // Text may differ, `2` and `2.0`; values do not.
        let [found, expected] = [&column(&table, name)[7..], &column(&one, name)].map(|cells| {
            cells
                .iter()
                .map(|cell| cell.parse::<f32>().ok())
                .collect::<Vec<_>>()
        });
        assert_eq!(found, expected, "{name}");
    }
    assert_eq!(
        column(&table, "level")[1],
        "",
        "it is sampled every 2 steps"
    );
    // Those of worlds and agents are statistics over them.
    let table = cells(&place.text("t.world.observe.csv"));
    let one = cells(&place.text("one.world.observe.csv"));
    let tops = numbers(&one, "top");
    assert_eq!((tops.len(), table.len()), (15, 7));
    for (sample, tops) in tops.chunks(5).enumerate() {
        let mean = tops.iter().sum::<f64>() / 5.0;
        let squares: f64 = tops.iter().map(|top| (top - mean).powi(2)).sum();
        let error = (squares / 4.0 / 5.0).sqrt();
        assert!((numbers(&table, "top.mean")[3 + sample] - mean).abs() < 1e-6);
        assert!((numbers(&table, "top.std_err")[3 + sample] - error).abs() < 1e-6);
    }
    let table = cells(&place.text("t.record.csv"));
    let one = numbers(&cells(&place.text("one.record.csv")), "x");
    let last = one[one.len() - 40..].iter();
    assert_eq!(table.len(), 9);
    let most = last.fold(0.0, |a: f64, b| b.max(a));
    assert_eq!(numbers(&table, "x.max")[7] as f32, most as f32);
    assert_eq!(numbers(&table, "x.count")[7], 40.0);
}

#[test]
fn repeats_pool_what_is_observed_and_a_sweep_with_series_is_repeated() {
    let place = place();
    let repeats = ["--repeats", "4", "--common-draws", "false"];
    let swept = [&RUN[..], &["--sweep", "slope=1,2"], &repeats].concat();
    place.good(&[&swept[..], &["-o", "t.csv"]].concat());
    let table = cells(&place.text("t.observe.csv"));
    let mut last = Vec::new();
    for seed in ["4", "5", "6", "7"] {
        let args = ["--param", "slope=2", "--seed", seed, "-o", "one.csv"];
        place.good(&[&RUN[..], &args].concat());
        let one = cells(&place.text("one.observe.csv"));
        last.push(f64::from(one[7][1].parse::<f32>().expect("a number")));
    }
    let mean = last.iter().sum::<f64>() / 4.0;
    let squares: f64 = last.iter().map(|it| (it - mean).powi(2)).sum();
    assert!((numbers(&table, "count.mean").len()) == 14);
    let found = |name: &str| -> f64 { column(&table, name)[13].parse().expect("a number") };
    assert!((found("level.mean") - mean).abs() < 1e-9, "{last:?}");
    assert!((found("level.std_err") - (squares / 12.0).sqrt()).abs() < 1e-9);
    let record = cells(&place.text("t.record.csv"));
    assert_eq!(column(&record, "x.count")[7], "160");
    let said = place.good(&["rerun", "t.meta.json"]);
    assert!(said.out.contains("observe level.mean") && said.out.contains("record x.mean"));
    assert!(said.out.ends_with("all results are the same, to the bit\n"));
    // All tables in one file, and in a directory.
    place.good(&[&swept[..], &["-o", "t.json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&place.text("t.json")).expect("JSON");
    let lengths = ["points", "observe", "world observe", "record"]
        .map(|table| json[table].as_array().map_or(0, Vec::len));
    assert_eq!(lengths, [2, 14, 6, 8]);
    assert!(json["observe"][1]["level.mean"].is_null());
    place.good(&[&swept[..], &["-o", "all/"]].concat());
    for file in ["points", "observe", "world.observe", "record"] {
        assert!(
            place.path(&format!("all/{file}.parquet")).is_file(),
            "{file}"
        );
    }
}

#[test]
fn columns_of_one_name_are_told_apart_and_a_model_may_have_series_only() {
    let place = place();
    let model = "
agents 8
steps 2
param point = 1.0
param level = 2.0
state x = 0.0
step { x += level * point }
observe level = mean(x)
";
    place.write("model.sim", model);
    let swept = ["--sweep", "point=1,3", "--sweep", "level=5,7"];
    for file in ["t.csv", "t.npz", "t.parquet", "t.json"] {
        place.good(&[&RUN[..], &swept, &["-o", file]].concat());
    }
    let table = cells(&place.text("t.observe.csv"));
    assert_eq!(
        table[0],
        ["point", "param.point", "param.level", "step", "level"]
    );
    assert_eq!(table[12], ["3", "3", "7", "2", "42"]);
    let table = cells(&place.text("t.csv"));
    assert_eq!(table[0], ["point", "param.point", "level", "error"]);
    let picture = svg(&place, &swept[..2], "level");
    assert_eq!(shapes(&picture, "stroke-width=\"1.8\"", "").len(), 2);
}

#[test]
fn series_that_do_not_fit_memory_are_refused() {
    let place = place();
    let args = ["--sweep", "slope=0:10:1000", "--steps", "1e6"];
    let said = place.simc(&[&RUN[..], &args, &["-o", "t.csv"]].concat());
    assert!(said.code == 1 && said.err.contains("E0972"), "{}", said.err);
    assert!(said.err.contains("`every`") && !place.path("t.csv").exists());
}
