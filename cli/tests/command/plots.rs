//! `simc run --plot`: pictures of each kind of result, in files and on a terminal.

use crate::{Place, Said};

/// Something of each kind, without draws.
const MODEL: &str = "
//! Walkers on a line. They never meet.

agents 40
steps  6

enum Kind { Slow, Fast }

state x = 0.1 * f32(agent)

step {
    x = 1.1 * x + 0.05 * f32(agent % 4)
}

/// Distance [m] that is beyond the first metre.
output beyond = max(x - 3.0, 0.0)
/// Place at the end.
output place = vec2(x, x * x)
/// Steps so far.
output steps_done = agent % 5
/// Is it fast?
output kind = if x > 2.0 { Fast } else { Slow }
/// Is it even?
output even = agent % 2 == 0
/// Where it was, by hour.
output hours = [for k in 0..6: x * f32(k)]
/// Numbers that are none.
output bad = if agent % 3 == 0 { 0.0 / (x - x) } else { 4.5 }

/// Mean place.
observe place_mean = mean(x)
observe place_sd   = sd(x)
/// Places.
observe range = quantiles(x, 0.1, 0.5, 0.9)
/// How many are where.
observe bins = histogram(x, 0.0, 10.0, 5)
/// Place.
record x
record kind = if x > 2.0 { Fast } else { Slow }
";

fn walkers() -> Place {
    let place = Place::new();
    place.write("walkers.sim", MODEL);
    place
}

const RUN: [&str; 5] = ["run", "walkers.sim", "--backend", "cpu", "--quiet"];

fn drawn(place: &Place, args: &[&str]) -> Said {
    place.good(&[&RUN, args, &["--force"]].concat())
}

/// The SVG of what is shown.
fn svg(place: &Place, show: &str) -> String {
    drawn(
        place,
        &["--plot", "p.svg", "--show", show, "--size", "420x300"],
    );
    place.text("p.svg")
}

#[test]
fn each_kind_of_result_has_its_plot() {
    let place = walkers();
    let shown = [
        ("mass", "beyond"),
        ("names", "kind"),
        ("elements", "hours"),
        ("scatter", "place.x:place.y"),
        ("band", "place_mean,place_sd"),
        ("quantiles", "range"),
        ("heat_map", "bins"),
    ];
    for (name, show) in shown {
        insta::assert_snapshot!(format!("plot-{name}.svg"), svg(&place, show));
    }
    drawn(&place, &["--agents", "3", "--plot", "p.svg", "--show", "x"]);
    let record = place.text("p.svg");
    for agent in ["agent 0", "agent 1", "agent 2"] {
        assert!(record.contains(agent), "{record}");
    }
    assert!(!record.contains("agent 3"), "{record}");
}

#[test]
fn a_plot_says_what_it_leaves_out() {
    let place = walkers();
    let bad = svg(&place, "bad");
    assert!(bad.contains("14 NaN left out"), "{bad}");
    assert!(bad.contains("all are 4.5"), "{bad}");
    let mass = svg(&place, "beyond");
    let exact = place.good(&[&RUN[..], &["--output", "o.csv"]].concat());
    assert_eq!(exact.err, "");
    let csv = place.text("o.csv");
    let zeros = csv
        .lines()
        .skip(1)
        .filter(|line| line.starts_with("0.0,"))
        .count();
    let share = format!("{} % are exactly 0", 100.0 * zeros as f64 / 40.0);
    assert!(mass.contains(&share), "{share} of {mass}");
    // Labels come from the comments.
    assert!(
        mass.contains("Distance [m] that is beyond the first metre<"),
        "{mass}"
    );
    assert!(mass.contains("Walkers on a line<"), "{mass}");
    assert!(mass.contains("40 agents · 6 steps · seed 0<"), "{mass}");
}

#[test]
fn equal_runs_give_equal_files_and_themes_differ() {
    let place = walkers();
    drawn(&place, &["--plot", "a.svg"]);
    drawn(&place, &["--plot", "b.svg"]);
    drawn(&place, &["--plot", "dark.svg", "--theme", "dark"]);
    assert_eq!(place.text("a.svg"), place.text("b.svg"));
    assert_ne!(place.text("a.svg"), place.text("dark.svg"));
    // Whole or not at all: nothing else is left behind.
    assert_eq!(place.names(), ["a.svg", "b.svg", "dark.svg", "walkers.sim"]);
}

#[test]
fn a_png_has_twice_the_size_and_is_not_blank() {
    let place = walkers();
    let said = place.good(&[
        "run",
        "walkers.sim",
        "--backend",
        "cpu",
        "--plot",
        "p.png",
        "--size",
        "500x400",
    ]);
    assert!(
        said.out.contains("written   p.png, a plot\n"),
        "{}",
        said.out
    );
    let picture = tiny_skia::Pixmap::decode_png(&place.read("p.png")).expect("it is a PNG");
    assert_eq!((picture.width(), picture.height()), (1000, 800));
    let white = |pixel: &&tiny_skia::PremultipliedColorU8| {
        (pixel.red(), pixel.green(), pixel.blue()) == (255, 255, 255)
    };
    let blank = picture.pixels().iter().filter(white).count();
    let share = blank as f64 / 800_000.0;
    assert!((0.3..0.97).contains(&share), "{share} is blank");
    // The title is written in the embedded font.
    let title = picture.pixels()[..1000 * 100]
        .iter()
        .filter(|pixel| !white(pixel));
    assert!(title.count() > 1000, "the title is there");
}

#[test]
fn a_terminal_shows_what_it_can() {
    let place = walkers();
    let text = |locale: &str, show: &str| {
        let mut command = place.command(&[&RUN[..], &["--plot", "--show", show]].concat());
        let output = command
            .env("LC_ALL", locale)
            .output()
            .expect("simc can be started");
        let said = Said::from(output);
        assert_eq!((said.code, said.err.as_str()), (0, ""));
        // Before it stands the summary.
        let from = said
            .out
            .find("\nbeyond\n")
            .expect("the first plot has a title");
        said.out[from..].to_owned()
    };
    let show = "beyond,kind,range,x,place.x:place.y,bins";
    let letters = text("C.UTF-8", show);
    insta::assert_snapshot!("plot-terminal", letters);
    let plain = text("C", show);
    assert!(plain.is_ascii() && !plain.contains('\u{1b}'), "{plain}");
    insta::assert_snapshot!("plot-terminal-ascii", plain);
    assert!(
        letters.lines().all(|line| line.chars().count() <= 80),
        "{letters}"
    );
}

#[test]
fn one_agent_without_steps_is_drawn() {
    let place = walkers();
    for file in [&["--plot", "p.svg"][..], &["--plot", "p.png"], &["--plot"]] {
        for steps in ["0", "6"] {
            let said = drawn(
                &place,
                &[&["--agents", "1", "--steps", steps], file].concat(),
            );
            assert_eq!(said.err, "");
        }
    }
    // One value is no distribution.
    let text = drawn(&place, &["--agents", "1", "--plot", "--show", "place.x"]).out;
    assert!(text.contains("the only value is 0\n"), "{text}");
}

#[test]
fn what_cannot_be_drawn_is_said_before_the_run() {
    let place = walkers();
    let refused = |args: &[&str], parts: &[&str]| {
        let said = place.simc(&[&RUN, args].concat());
        assert_ne!(said.code, 0, "{args:?}");
        assert_eq!(said.out, "", "{args:?}");
        for part in parts {
            assert!(said.err.contains(part), "{part} of {}", said.err);
        }
    };
    refused(&["--plot", "p.pdf"], &["E0983", ".svg or .png"]);
    refused(&["--plot", "nowhere/p.svg"], &["E0914", "nowhere"]);
    refused(
        &["--plot", "p.svg", "--show", "beyon"],
        &["E0985", "did you mean `beyond`?"],
    );
    refused(&["--plot", "p.svg", "--show", "place.z"], &["E0985"]);
    refused(&["--plot", "p.svg", "--show", ""], &["E0985"]);
    refused(
        &["--plot", "p.svg", "--show", "beyond:x"],
        &["E0986", "`x` is a record"],
    );
    refused(
        &["--plot", "p.svg", "--show", "place:beyond"],
        &["E0986", "several numbers"],
    );
    refused(
        &["--plot", "p.svg", "--show", "beyond+even"],
        &["E0986", "an output"],
    );
    refused(
        &["--plot", "p.svg", "--size", "9000x10"],
        &["E0921", "200 to 4000"],
    );
    refused(&["--plot", "--json"], &["E0921", "standard output"]);
    refused(&["--show", "beyond"], &["E0921", "--plot"]);
    let swallowed = place.simc(&["run", "--plot", "walkers.sim"]);
    assert!(
        swallowed.err.contains("stands before `--plot`"),
        "{}",
        swallowed.err
    );
    assert_eq!(place.names(), ["walkers.sim"]);
}
