//! `--real f64`: what comes in and goes out has the digits of `f64`, and what does not follow is refused.

use crate::Place;
use serde_json::Value;
use sim_runtime::{Backend, Control, Options, RealType, Simulation};

const DECAY: &str = "\
agents 3
steps 5
param rate = 0.1 in 0.0..0.9
param scale = [0.1, 0.2]
data weight: [f32]
input start: f32
state x = start
step t { x = x * (1.0 - rate) + scale[0] * weight[0] }
output x
output number = agent
observe total = sum(x) every 5
";

/// Decays as the model does.
fn exact(start: f64, rate: f64) -> f64 {
    (0..5).fold(start, |x, _| x * (1.0 - rate) + 0.1 * 0.3)
}

fn place() -> Place {
    let place = Place::new();
    place
        .write("decay.sim", DECAY)
        .write("start.csv", "start\n0.1\n0.7\n1e-300\n")
        .write("weight.csv", "weight\n0.3\n");
    place
}

const GIVEN: [&str; 6] = [
    "--real",
    "f64",
    "--data",
    "weight=weight.csv",
    "--input",
    "start=start.csv",
];

fn run<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["run", "decay.sim"][..], &GIVEN, more].concat()
}

#[test]
fn texts_are_doubles_and_csv_has_all_their_digits() {
    let place = place();
    let said = place.good(&run(&["--param", "rate=0.3", "-q", "--output", "-"]));
    let found: Vec<f64> = (said.out.lines().skip(1))
        .map(|line| {
            line.split(',')
                .next()
                .expect("a cell")
                .parse()
                .expect("a number")
        })
        .collect();
    assert_eq!(found, [0.1, 0.7, 1e-300].map(|start| exact(start, 0.3)));
}

/// What one form writes, another run reads, to the same bits.
#[test]
fn files_of_all_forms_hold_doubles() {
    let place = place();
    let expected = [0.1, 0.7, 1e-300].map(|start| exact(start, 0.1));
    for form in ["csv", "npz", "parquet", "arrow"] {
        place.good(&run(&["-q", "--output", &format!("in_{form}.{form}")]));
        let column = format!("start=in_{form}.{form}:x");
        let said = place.good(&[
            "run",
            "decay.sim",
            "--real",
            "f64",
            "--data",
            "weight=weight.csv",
            "--input",
            &column,
            "--steps",
            "0",
            "-q",
            "--output",
            "-",
        ]);
        let found: Vec<f64> = (said.out.lines().skip(1))
            .map(|line| {
                line.split(',')
                    .next()
                    .expect("a cell")
                    .parse()
                    .expect("a number")
            })
            .collect();
        assert_eq!(found, expected, "{form}");
    }
    place.good(&run(&["-q", "--output", "array.npy"]));
    let npy = place.read("array.x.npy");
    assert!(String::from_utf8_lossy(&npy).contains("'descr': '<f8'"));
    assert!(npy.ends_with(&expected[2].to_le_bytes()));
    place.good(&run(&["-q", "--output", "object.json"]));
    let json: Value = serde_json::from_str(&place.text("object.json")).expect("JSON");
    assert_eq!(json["x"][1].as_f64(), Some(expected[1]));
}

#[test]
fn what_is_done_in_f32_only_is_refused() {
    let place = place();
    for more in [&["--backend", "gpu"][..], &["--check"], &["--shadow"]] {
        let said = place.simc(&run(more));
        assert_ne!(said.code, 0, "{more:?}");
        assert!(said.err.contains("E0735"), "{more:?}: {}", said.err);
        assert!(said.err.contains("`f32` only"), "{more:?}: {}", said.err);
    }
}

/// The number that is searched is none of `f32`, whose next one is off by 2e-8.
#[test]
fn a_search_finds_doubles() {
    let place = place();
    place.write(
        "bowl.sim",
        "agents 20\ninput x ~ uniform(-1.0, 1.0)\noutput cost = (x - 0.7) ** 2\n",
    );
    let words = |text: &'static str| text.split(' ').collect::<Vec<&str>>();
    let bowl = words("bowl.sim --real f64 --backend cpu");
    let search = words(
        "--minimise cost --over x --method cma-es --target 1e-24 --elites 3 -o best.npz --json",
    );
    let said = place.good(&[&["search"], &bowl[..], &search].concat());
    let found: Value = serde_json::from_str(&said.out).expect("JSON");
    let genes: Vec<f64> = (0..3)
        .map(|k| &found["elites"][k]["inputs"]["x"][0])
        .map(|gene| gene.as_f64().expect("a number"))
        .collect();
    assert!((genes[0] - 0.7).abs() <= 1e-12, "{genes:?}");
    // A run takes what was written.
    let run = words("--agents 3 --input x=best.npz --format json -o - -q");
    let said = place.good(&[&["run"], &bowl[..], &run].concat());
    let values: Value = serde_json::from_str(&said.out).expect("JSON");
    for (k, gene) in genes.iter().enumerate() {
        assert_eq!(
            values["cost"][k].as_f64(),
            Some((gene - 0.7) * (gene - 0.7))
        );
    }
}

/// A checkpoint belongs to the type that it was begun with.
#[test]
fn checkpoints_know_their_type() {
    let place = Place::new();
    let source = "agents 3\nsteps 5\nstate x = 0.1\nstep { x = x * 0.7 + 0.1 }\noutput x\n";
    place.write("model.sim", source);
    let cut = |name: &str, real| {
        let options = Options {
            real,
            ..Options::default()
        };
        let simulation = Simulation::compile_with(source, options).expect("it compiles");
        let simulation = simulation.backend(Backend::Cpu);
        let mut snapshot = simulation.begin().expect("it begins");
        let control = Control::default();
        simulation
            .advance(&mut snapshot, 3, &control)
            .expect("it goes on");
        let mut bytes = Vec::new();
        snapshot.write(&mut bytes).expect("memory takes everything");
        place.write(name, bytes);
    };
    cut("single.ckpt", RealType::F32);
    cut("double.ckpt", RealType::F64);
    let resumed = |checkpoint: &str, real: &str| {
        place.simc(&[
            "run",
            "model.sim",
            "--real",
            real,
            "--resume",
            checkpoint,
            "-q",
            "--output",
            "-",
        ])
    };
    let whole = place.good(&["run", "model.sim", "--real", "f64", "-q", "--output", "-"]);
    assert_eq!(resumed("double.ckpt", "f64").out, whole.out);
    for (checkpoint, real) in [("single.ckpt", "f64"), ("double.ckpt", "f32")] {
        let said = resumed(checkpoint, real);
        assert_ne!(said.code, 0, "{checkpoint} in {real}");
        assert!(
            said.err.contains("real f64"),
            "{checkpoint} in {real}: {}",
            said.err
        );
    }
}

/// A fit to 12 digits, whose file gives the same params to another run.
#[test]
fn fits_and_derivatives_are_in_f64() {
    let place = Place::new();
    place.write(
        "fit.sim",
        "agents 1\nparam x = 1.0\noutput residual = x * x - 2.0\noutput y = x\n",
    );
    let args = [
        "fit",
        "fit.sim",
        "--real",
        "f64",
        "--least-squares",
        "residual",
        "--over",
        "x",
        "-o",
        "best.json",
    ];
    place.good(&args);
    let best: Value = serde_json::from_str(&place.text("best.json")).expect("JSON");
    let x = best["params"]["x"].as_f64().expect("a number");
    assert!((x - 2.0_f64.sqrt()).abs() < 1e-12, "{x}");
    let said = place.good(&[
        "run",
        "fit.sim",
        "--real",
        "f64",
        "--params",
        "best.json",
        "-q",
        "--output",
        "-",
    ]);
    let row = said.out.lines().nth(1).expect("a row").to_owned();
    assert_eq!(
        row.split(',').nth(1).and_then(|cell| cell.parse().ok()),
        Some(x)
    );
    let grad = [
        "grad",
        "fit.sim",
        "--real",
        "f64",
        "--of",
        "mean(residual)",
        "--wrt",
        "x",
        "--params",
        "best.json",
        "--json",
    ];
    let found: Value = serde_json::from_str(&place.good(&grad).out).expect("JSON");
    let slope = found["gradient"][0]["value"].as_f64();
    assert_eq!(slope, Some(2.0 * x), "{found}");
}
