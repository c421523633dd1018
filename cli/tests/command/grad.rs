//! `simc grad`: against the closed forms of Black and Scholes, and what is said of derivatives that are
//! wrong.

use crate::Place;
use serde_json::Value;

pub(crate) const CALL: &str = "\
agents 20_000
steps  50
const DT = 1.0 / 50.0
param rate   = 0.05
param sigma  = 0.2 in 0.01..1.0
param strike = 105.0
param spot   = 100.0
param n      = 3
state price = spot
step { price *= exp((rate - 0.5 * sigma * sigma) * DT + sigma * sqrt(DT) * normal()) }
output payoff = exp(-rate) * max(price - strike, 0.0)
output price
output k = n
";

fn json(place: &Place, args: &[&str]) -> Value {
    let said = place.good(
        &[
            &["grad", "call.sim", "--of", "mean(payoff)", "--json"],
            args,
        ]
        .concat(),
    );
    serde_json::from_str(&said.out).expect("an object")
}

/// F. Black and M. Scholes, Journal of Political Economy 81 (1973): value, delta, vega and rho. Values by
/// SciPy 1.17.
#[test]
fn greeks_are_those_of_black_and_scholes_and_agree_with_differences() {
    let place = Place::new();
    place.write("call.sim", CALL);
    let known = [0.542_228_333_6, 39.670_523_808, 46.201_481_123];
    let args = ["--wrt", "spot,sigma,rate", "--check", "--seed", "5"];
    let found = json(&place, &args);
    for (slope, known) in found["gradient"]
        .as_array()
        .expect("a list")
        .iter()
        .zip(known)
    {
        let [value, error] =
            ["value", "standard_error"].map(|key| slope[key].as_f64().expect("a number"));
        assert!(
            (value - known).abs() < 4.0 * error && error < 0.02 * known,
            "{slope}"
        );
    }
    assert_eq!(found["check"]["agrees"], true);
    assert_eq!(found["check"]["agents"], 128);
    for component in found["check"]["components"].as_array().expect("a list") {
        assert!(
            component["error_of_f64"].as_f64().expect("a number") < 1e-6,
            "{component}"
        );
    }
    let said = place.good(&[&["grad", "call.sim", "--of", "mean(payoff)"], &args[..]].concat());
    assert_eq!(said.out.matches("  agrees\n").count(), 3, "{}", said.out);
    assert!(
        said.out.contains("means over 128 of 20_000 agents"),
        "{}",
        said.out
    );
}

/// A params file counts as its values do, and an option counts more.
#[test]
fn params_come_from_a_file_too() {
    let place = Place::new();
    place.write("call.sim", CALL);
    place.write("p.json", "{\"sigma\": 0.3, \"strike\": 95}");
    let from_file = json(
        &place,
        &[
            "--wrt",
            "sigma",
            "--params",
            "p.json",
            "--param",
            "strike=90",
        ],
    );
    let given = json(
        &place,
        &[
            "--wrt",
            "sigma",
            "--param",
            "sigma=0.3",
            "--param",
            "strike=90",
        ],
    );
    assert_eq!(from_file["value"], given["value"]);
    assert_ne!(
        from_file["value"],
        json(&place, &["--wrt", "sigma"])["value"]
    );
    // Other commands take it, too.
    let run = |args: &[&str]| {
        let said = place.good(&[&["run", "call.sim", "--json", "--backend", "cpu"], args].concat());
        let summary: Value = serde_json::from_str(&said.out).expect("an object");
        summary["outputs"][0]["mean"].clone()
    };
    let args = ["--params", "p.json", "--param", "strike=90"];
    assert_eq!(
        run(&args),
        run(&["--param", "sigma=0.3", "--param", "strike=90"])
    );
}

/// A derivative that grows by the exponent of chaos is lost, and the exit code says so.
#[test]
fn a_derivative_that_differs_is_a_failure() {
    let place = Place::new();
    place.write(
        "chaos.sim",
        "agents 4\nsteps 120\nparam r = 3.9\nstate x = 0.3 + 0.1 * f32(agent)\n\
         step { x = r * x * (1.0 - x) }\noutput x\n",
    );
    let said = place.simc(&[
        "grad",
        "chaos.sim",
        "--of",
        "mean(x)",
        "--wrt",
        "r",
        "--check",
    ]);
    assert_eq!(said.code, 1, "{}", said.out);
    assert!(
        said.err.starts_with("[E0991] Error: the derivative by `r`"),
        "{}",
        said.err
    );
    // The same without the many steps.
    let args = [
        "grad",
        "chaos.sim",
        "--of",
        "mean(x)",
        "--wrt",
        "r",
        "--check",
        "--steps",
        "5",
    ];
    assert!(place.good(&args).out.contains("agrees"));
}

/// Where the output jumps, the derivative along paths is another one than that of the mean.
#[test]
fn a_jump_is_spoken_of() {
    let place = Place::new();
    place.write(
        "stairs.sim",
        "agents 500\nsteps 1\nparam a = 0.5\nstate x = 0.0\nstate u = 0.0\n\
         step { u = uniform(0.0, 1.0) x = a + select(0.0, 1.0, u < a) }\noutput x\n",
    );
    let args = [
        "grad",
        "stairs.sim",
        "--of",
        "mean(x)",
        "--wrt",
        "a",
        "--check",
    ];
    let said = place.simc(&[&args[..], &["--check-agents", "500"]].concat());
    assert!(
        said.out
            .contains("the differences by `a` depend on their step"),
        "{}",
        said.out
    );
}
