//! `simc fit`: published estimates, files that runs take, ranges and Ctrl-C.

use crate::Place;
use serde_json::Value;
#[cfg(unix)]
use std::{
    process::{Command, Stdio},
    thread,
    time::Duration,
};

/// The equations of W. O. Kermack and A. G. McKendrick (1927); an agent is a day.
const SIR: &str = "\
agents 14
steps 1400
const N = 763.0
param beta = 1.0 in 0.1..5.0
param gamma = 0.3 in 0.05..2.0
input cases = 0.0
state s = N - 1.0
state i = 1.0
step t {
    if t == 100 * (agent + 1) { stop }
    integrate rk4(0.01) {
        s' = -beta * s * i / N
        i' = beta * s * i / N - gamma * i
    }
}
output residual = i - cases
output square = (i - cases) ** 2
";

/// Boys in bed in a boarding school in the north of England: Communicable Disease Surveillance Centre,
/// "Influenza in a boarding school", British Medical Journal 1 (1978) 587.
const CASES: &str = "cases\n3\n8\n26\n76\n225\n298\n258\n233\n189\n128\n68\n29\n14\n4\n";

fn place() -> Place {
    let place = Place::new();
    place.write("sir.sim", SIR).write("cases.csv", CASES);
    place
}

fn object(text: &str) -> Value {
    serde_json::from_str(text).expect("an object")
}

fn near(value: &Value, exact: f64, part: f64) {
    let value = value.as_f64().expect("a number");
    assert!(
        (value - exact).abs() <= part * exact.abs(),
        "{value}, not {exact}"
    );
}

/// J. D. Murray, "Mathematical Biology", finds 1.66 and 0.44 for this epidemic. The digits here are those of
/// a script of Gauss and Newton's method in double precision.
#[test]
fn an_epidemic_is_fitted_and_its_params_run() {
    let place = place();
    let args = [
        "fit",
        "sir.sim",
        "--least-squares",
        "residual",
        "--over",
        "beta,gamma",
    ];
    let args = [
        &args[..],
        &["--input", "cases=cases.csv", "-o", "best.json"],
    ]
    .concat();
    let said = place.good(&args);
    assert!(
        said.out.contains("residuals   14, standard deviation 18.5"),
        "{}",
        said.out
    );
    let best = object(&place.text("best.json"));
    near(&best["params"]["beta"], 1.669_226_14, 1e-5);
    near(&best["params"]["gamma"], 0.443_450_19, 1e-5);
    near(&best["loss"], 4_121.941_48, 1e-5);
    near(&best["estimates"][0]["standard_error"], 0.025_709_94, 1e-3);
    near(&best["estimates"][1]["standard_error"], 0.015_569_57, 1e-3);
    near(&best["correlation"][0][1], 0.376_939_6, 1e-3);
    // The file is not replaced unasked.
    assert_eq!(place.simc(&args).code, 1);

    let run = [
        "run",
        "sir.sim",
        "--params",
        "best.json",
        "--input",
        "cases=cases.csv",
        "--json",
    ];
    let run = object(&place.good(&run).out);
    let squares = run["outputs"][1]["mean"].as_f64().expect("a mean") * 14.0;
    near(&best["loss"], squares, 1e-6);
}

/// Each other method comes to the same point, from gradients of the mean square or without any.
#[test]
fn other_methods_find_the_same() {
    let place = place();
    for method in ["lbfgs", "adam", "nelder-mead", "cma-es"] {
        let args = [
            "fit",
            "sir.sim",
            "--minimise",
            "mean(square)",
            "--over",
            "beta,gamma",
            "--json",
        ];
        let more = ["--input", "cases=cases.csv", "--method", method];
        let found = object(&place.good(&[&args[..], &more].concat()).out);
        let part = if method == "adam" { 1e-2 } else { 1e-3 };
        near(&found["params"]["beta"], 1.669_226, part);
        near(&found["params"]["gamma"], 0.443_450, part);
        assert_eq!(found["method"], method);
    }
}

#[test]
fn a_param_at_an_end_of_its_range_is_marked() {
    let place = place();
    place.write("sir.sim", SIR.replace("0.05..2.0", "0.05..0.4"));
    let args = [
        "fit",
        "sir.sim",
        "--least-squares",
        "residual",
        "--over",
        "beta,gamma",
    ];
    let more = ["--input", "cases=cases.csv", "--starts", "4"];
    let said = place.good(&[&args[..], &more].concat());
    assert!(
        said.out.contains("at the upper end of its range"),
        "{}",
        said.out
    );
    assert!(said.out.contains("searches    4, of which"), "{}", said.out);
}

/// J. C. Hull, "Options, Futures, and Other Derivatives": a call at 1.875 with a spot of 21, a strike of 20,
/// a rate of 0.1 and 0.25 years implies a volatility of 0.235.
#[test]
fn a_volatility_is_implied() {
    let place = Place::new();
    place.write(
        "implied.sim",
        "agents 1
param sigma = 0.2 in 0.01..2.0
const SPOT = 21.0
const STRIKE = 20.0
const RATE = 0.1
const YEARS = 0.25
fn call(sigma: f32) -> f32 {
    let width = sigma * sqrt(YEARS)
    let d1 = (log(SPOT / STRIKE) + (RATE + 0.5 * sigma * sigma) * YEARS) / width
    return SPOT * normal_cdf(d1) - STRIKE * exp(-RATE * YEARS) * normal_cdf(d1 - width)
}
output residual = call(sigma) - 1.875
",
    );
    let args = [
        "fit",
        "implied.sim",
        "--least-squares",
        "residual",
        "--over",
        "sigma",
        "--json",
    ];
    let found = object(&place.good(&args).out);
    near(&found["params"]["sigma"], 0.2345, 1e-3);
}

/// Ctrl-C ends the search with the best point, which is printed and written.
#[cfg(unix)]
#[test]
fn an_interrupted_fit_keeps_the_best_point() {
    let place = place();
    let args = [
        "fit",
        "sir.sim",
        "--minimise",
        "mean(square)",
        "--over",
        "beta,gamma",
        "--json",
    ];
    let more = [
        "--input",
        "cases=cases.csv",
        "--method",
        "adam",
        "--iterations",
        "100_000_000",
    ];
    let mut child = place
        .command(&[&args[..], &more, &["-o", "best.json"]].concat())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("simc can be started");
    thread::sleep(Duration::from_secs(2));
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(killed.expect("kill can be started").success());
    let status = child.wait().expect("simc can be waited for");
    assert_eq!(status.code(), Some(130));
    let best = object(&place.text("best.json"));
    assert_eq!(best["ended"], "interrupted");
    assert!(
        best["loss"].as_f64().expect("a number") < 20_000.0,
        "{best}"
    );
}
