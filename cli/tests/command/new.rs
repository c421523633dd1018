//! `simc new` and `simc man`: what they write is used.

use crate::Place;

/// Templates with the agents and steps of a quick run, and a number of the summary within bounds: the path
/// to it in the JSON, and the least and greatest value.
const TEMPLATES: [(&str, &str, &str, &str, [f64; 2]); 6] = [
    // A walk from 0 to 20 or -20 takes 400 steps on average, with a deviation of 326.6.
    ("agent", "4000", "10_000", "/outputs/0/mean", [379.0, 421.0]),
    // Black and Scholes: 8.0214, with a deviation of 13.2.
    ("gbm", "20_000", "252", "/outputs/0/mean", [7.64, 8.4]),
    // The final-size equation with 2 % infected at the start: 0.803536, in 100 towns.
    (
        "epidemic",
        "100_000",
        "120",
        "/world_outputs/0/mean",
        [0.79, 0.815],
    ),
    // A conserved quantity: the largest drift is rounding.
    ("ode", "1_000", "2_000", "/outputs/2/maximum", [0.0, 2e-5]),
    // Of many policies some gain, and none more than the sum of all gains.
    ("policy", "4_000", "250", "/outputs/0/maximum", [1.4, 10.0]),
    // A flock has order in the end: the length of the mean heading.
    ("flock", "256", "500", "/world_outputs/0/mean", [0.95, 1.0]),
];

#[test]
fn each_template_runs_and_gives_what_it_says() {
    for (template, agents, steps, path, [least, greatest]) in TEMPLATES {
        let place = Place::new();
        let said = place.good(&["new", "models/a b", "--template", template]);
        let run = said.out.lines().nth(3).expect("it says how to run it");
        let mut args: Vec<&str> = run.trim().split(' ').skip(1).collect();
        // The shell joins what is quoted.
        assert_eq!(args[1..3], ["'models/a", "b.sim'"], "{run}");
        args.splice(1..3, ["models/a b.sim"]);
        if args.len() > 2 {
            assert_eq!(args[3..], ["returns='models/a", "b.csv'"], "{run}");
            args.splice(3.., ["returns=models/a b.csv"]);
        }
        let more = [
            "--agents",
            agents,
            "--steps",
            steps,
            "--backend",
            "cpu",
            "--json",
        ];
        let said = place.good(&[&args[..], &more].concat());
        let json: serde_json::Value = serde_json::from_str(&said.out).expect("it is JSON");
        let found = json.pointer(path).and_then(serde_json::Value::as_f64);
        let found = found.unwrap_or_else(|| panic!("{template} has no {path}: {}", said.out));
        assert!((least..=greatest).contains(&found), "{template}: {found}");
        place.good(&["check", "--deny", "warnings", "models/a b.sim"]);
        place.good(&["fmt", "--check", "models/a b.sim"]);
        let change = said_param(&place, template);
        place.good(&["check", &change]);
    }
}

/// The param that the message changes is one of the model; gives the model that was written to see.
fn said_param(place: &Place, template: &str) -> String {
    let said = place.good(&["new", "again.sim", "--template", template]);
    let line = said.out.lines().nth(4).expect("a second call is shown");
    let (_, change) = line.split_once("--param ").expect("it sets a param");
    let (name, _) = change.split_once('=').expect("it gives a value");
    let shown = place.good(&["inspect", "again.sim", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&shown.out).expect("it is JSON");
    let params = json["params"].as_array().expect("a list");
    assert!(params.iter().any(|param| param["name"] == name), "{change}");
    "again.sim".to_owned()
}

#[test]
fn nothing_is_overwritten() {
    let place = Place::new();
    place.write("walk.csv", "mine\n");
    let said = place.simc(&["new", "walk", "-t", "policy"]);
    assert_eq!(said.code, 1);
    assert!(said.err.contains("E0987"), "{}", said.err);
    assert_eq!(place.names(), ["walk.csv"], "not the model alone, either");
    place.good(&["new", "walk.sim"]);
    assert_eq!(place.simc(&["new", "walk"]).code, 1);
    assert_eq!(place.text("walk.csv"), "mine\n");
}

#[test]
fn every_command_has_a_manual_page() {
    let place = Place::new();
    place.good(&["man", "--output", "man1"]);
    let help = place.good(&["help"]).out;
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands = commands.take_while(|line| !line.is_empty());
    let names: Vec<&str> = commands
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(names.len() > 9, "{help}");
    for name in names.into_iter().filter(|name| *name != "help") {
        let page = place.text(&format!("man1/simc-{name}.1"));
        assert_eq!(place.good(&["man", name]).out, page);
        assert!(page.contains(".SH OPTIONS"), "{name}: {page}");
    }
    let page = place.text("man1/simc.1");
    assert!(
        page.contains(".SH NOTES\n.nf\nExit codes:\n  0    done;"),
        "{page}"
    );
}
