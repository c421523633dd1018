//! Every complaint of the command, once, as its user sees it.

mod cases;

use crate::Place;
use cases::{Case, npy};
use std::collections::BTreeSet;

const MODEL: &str = "// allow(W0202)
agents 2
enum Kind { Red, Blue }
struct Order { price: f32, size: f32 }
param sigma = 0.5 in 0.0..1.0
param weights = [0.1, 0.2, 0.3]
param turns: i32 = 1
data table: [[f32; 2]]
data fixed: [[i32; 2]; 3]
data orders: [Order]
data places: [vec2]
input x: f32 = 0.0
input w: [f32; 2] ~ normal()
input n: i32 = 0
input k: Kind = Red
input b: bool = false
input o: Order = Order(0.0, 0.0)
output y = x + sigma + weights[0] + f32(turns) + table[0][0] + f32(fixed[0][0]) \
    + orders[0].price + places[0].x
";

/// Codes that no user can provoke: bugs of ours, and what needs a terminal or several GPUs.
const BEYOND_REACH: [&str; 7] = [
    "E0910", "E0911", "E0912", "E0918", "E0920", "E0922", "E0929",
];

#[test]
fn every_complaint_has_its_report() {
    let place = Place::new();
    place.write("model.sim", MODEL);
    std::fs::create_dir(place.path("folder.csv")).expect("a directory can be made");
    std::os::unix::fs::symlink("/dev/null", place.path("null.arrow")).expect("it can be made");
    let mut codes = BTreeSet::new();
    for Case { slug, files, args } in cases::all() {
        for (name, bytes) in &files {
            let bytes: &[u8] = if slug == "csv_malformed-utf16" {
                b"\xff\xfea\x00"
            } else {
                bytes
            };
            place.write(name, bytes);
        }
        let said = place.simc(&[&["run", "model.sim", "--backend", "cpu"], &args[..]].concat());
        assert_eq!(said.code, 1, "{slug}: {}", said.err);
        assert_eq!(said.out, "", "{slug}");
        codes.extend(code_of(&said.err));
        insta::assert_snapshot!(slug, said.err);
    }
    codes.extend(model_files(&place));
    codes.extend(writing(&place));
    codes.extend(repeating(&place));
    codes.extend(usage(&place));
    codes.extend(testing(&place));
    codes.extend(gradients(&place));
    codes.extend(for_the_web(&place));
    codes.insert(endless(&place));
    codes.insert(failed_points(&place));
    codes.insert(disk_short(&place));
    let listed = place.good(&["explain"]).out;
    let missing: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(code, _)| code)
        .filter(|code| code.starts_with("E09") && !BEYOND_REACH.contains(code))
        .filter(|&code| !codes.contains(code))
        .collect();
    assert!(missing.is_empty(), "no specimen for {missing:?}");
}

/// Results beyond the space of the disk, whose amount is in the message.
fn disk_short(place: &Place) -> String {
    let model = "agents 2_000_000_000\noutput x = [for i in 0..9999: 0.0]\n";
    place.write("many.sim", model);
    let args = [
        "run",
        "many.sim",
        "--backend",
        "cpu",
        "--batch",
        "1e6",
        "-o",
        "x.npy",
    ];
    let said = place.simc(&args);
    assert_eq!(said.code, 1, "{}", said.out);
    let free = said.err.split("file system has ").nth(1);
    let free = free.and_then(|rest| rest.split('\n').next());
    let free = free.expect("the message has both amounts");
    insta::assert_snapshot!("disk_short", said.err.replace(free, "[free]"));
    code_of(&said.err).expect("it has a code")
}

/// A sweep of which one point has no results.
fn failed_points(place: &Place) -> String {
    place.write(
        "swept.sim",
        "agents 2\nparam p = 0.5 in 0.0..1.0\noutput x = p\n",
    );
    let args = ["run", "swept.sim", "--backend", "cpu", "--sweep", "p=0.5,2"];
    let said = place.simc(&args);
    assert!(
        said.code == 1 && said.out.contains("p = 2 is not in 0..1"),
        "{}",
        said.out
    );
    insta::assert_snapshot!("failed_points", said.err);
    code_of(&said.err).expect("it has a code")
}

/// The code of a report, `[E0901] Error: …`.
fn code_of(report: &str) -> Option<String> {
    Some(report.strip_prefix('[')?.split_once(']')?.0.to_owned())
}

/// Models that are no text, and codes that are none.
fn model_files(place: &Place) -> Vec<String> {
    place.write(
        "small.sim",
        "agents 2\nsteps 5\nstate price = 0.0\nstep { price += 1.0 }\n",
    );
    place.write("latin1.sim", b"// caf\xe9\nagents 2\n");
    let mut codes = Vec::new();
    std::fs::create_dir(place.path("empty")).expect("a directory can be made");
    place.write(
        "silent.sim",
        "agents 2\nsteps 1\nstate x = 0.0\nstep { x += 1.0 }\n",
    );
    place.write(
        "ranged.sim",
        "agents 2\nparam p = 0.5 in 0.0..1.0\noutput x = p\n",
    );
    let calls: [(&str, &[&str]); 16] = [
        (
            "too_large_sweep",
            &["run", "ranged.sim", "--sweep-random", "10_000_000"],
        ),
        (
            "elites_form",
            &[
                "search",
                "ranged.sim",
                "--maximise",
                "x",
                "--over",
                "p",
                "-o",
                "x.txt",
            ],
        ),
        ("new_exists", &["new", "latin1"]),
        ("new_without_name", &["new", ".."]),
        ("no_such_page", &["man", "rum"]),
        ("nothing_to_draw", &["run", "silent.sim", "--plot"]),
        ("not_traced", &["trace", "small.sim", "--columns", "prize"]),
        ("steps_beyond", &["trace", "small.sim", "--steps", "10..20"]),
        ("trace_form", &["trace", "small.sim", "-o", "small.xlsx"]),
        ("launch-agent", &["trace", "small.sim", "--agent", "9"]),
        ("not_utf8", &["check", "latin1.sim"]),
        ("no_such_file-model", &["run", "missing.sim"]),
        ("directory_for_file-model", &["build", "folder.csv"]),
        ("no_models", &["fmt", "empty"]),
        ("unknown_code", &["explain", "E9999"]),
        ("source_too_large", &["check", "/dev/zero"]),
    ];
    for (slug, args) in calls {
        let said = place.simc(args);
        assert_eq!(said.code, 1, "{slug}: {}", said.err);
        codes.extend(code_of(&said.err));
        insta::assert_snapshot!(slug, said.err);
    }
    let said = place.simc(&["check", "/proc/self/mem"]);
    insta::assert_snapshot!("unreadable_file", said.err);
    codes.extend(code_of(&said.err));
    codes
}

/// Command lines that are not understood.
fn usage(place: &Place) -> Vec<String> {
    let calls: [(&str, &[&str]); 12] = [
        ("bad_arguments-command", &["rum"]),
        ("bad_arguments-argument", &["run", "--bakend", "cpu"]),
        ("bad_arguments-missing", &["run"]),
        (
            "bad_arguments-value",
            &["build", "model.sim", "--emit", "wgls"],
        ),
        (
            "bad_arguments-number",
            &["run", "model.sim", "--agents", "1.5"],
        ),
        ("bad_arguments-no_value", &["run", "model.sim", "--seed"]),
        (
            "bad_arguments-twice",
            &["run", "--seed", "1", "--seed", "2"],
        ),
        (
            "bad_arguments-conflict",
            &["check", "model.sim", "--json", "--sarif"],
        ),
        (
            "bad_arguments-adapter",
            &["run", "model.sim", "--adapter", "x", "--backend", "cpu"],
        ),
        (
            "bad_arguments-output",
            &["run", "model.sim", "--json", "--output", "-"],
        ),
        (
            "bad_arguments-format",
            &["run", "model.sim", "-o", "a.csv", "--format", "parquet"],
        ),
        (
            "bad_arguments-format-pipe",
            &["run", "model.sim", "-o", "-", "--format", "npz"],
        ),
    ];
    let mut codes = Vec::new();
    for (slug, args) in calls {
        let said = place.simc(args);
        assert_eq!(
            (said.code, said.out.as_str()),
            (2, ""),
            "{slug}: {}",
            said.err
        );
        codes.extend(code_of(&said.err));
        insta::assert_snapshot!(slug, said.err);
    }
    codes
}

/// The runtime for the web is absent, of another version, and no text. Its tests have the words: `web.rs`.
fn for_the_web(place: &Place) -> Vec<String> {
    std::fs::create_dir(place.path("runtime")).expect("a directory can be made");
    let build = || {
        let args = [
            "build",
            "model.sim",
            "--target",
            "web",
            "-o",
            "site",
            "--runtime",
            "runtime",
        ];
        let said = place.simc(&args);
        assert_eq!((said.code, said.out.as_str()), (1, ""));
        code_of(&said.err).expect("the complaint has a code")
    };
    let absent = build();
    place.write("runtime/version.txt", "0.0.1");
    let other = build();
    place.write("runtime/version.txt", b"\xff");
    vec![absent, other, build()]
}

/// Derivatives that do not exist, and fits that cannot begin.
fn gradients(place: &Place) -> Vec<String> {
    place.write(
        "loss.sim",
        "agents 9\nparam p = 0.5\nparam n = 3\nparam q = 0.0\nstate x = 0.0\nstate hits = 0.0\n\
         finish {\n    x = p * f32(n)\n    hits = f32(bernoulli(p))\n}\n\
         output x\noutput hits\noutput root = sqrt(q * f32(agent - 2))\n",
    );
    place.write(
        "chaos.sim",
        "agents 4\nsteps 120\nparam r = 3.9\nstate x = 0.3 + 0.1 * f32(agent)\n\
         step { x = r * x * (1.0 - x) }\noutput x\n",
    );
    place.write("p.json", "[0.5]");
    let fit = &["fit", "loss.sim", "--minimise", "mean(x)", "--over", "p"];
    let with = |more: &[&'static str]| [&fit[..], more].concat();
    let grad = |of, wrt| vec!["grad", "loss.sim", "--of", of, "--wrt", wrt];
    let calls = [
        (
            "bad_params_file",
            vec!["run", "loss.sim", "--params", "p.json"],
        ),
        (
            "gradient_disagrees",
            vec![
                "grad",
                "chaos.sim",
                "--of",
                "mean(x)",
                "--wrt",
                "r",
                "--check",
            ],
        ),
        ("fit_form", with(&["-o", "best.csv"])),
        ("no_start_range", with(&["--starts", "3"])),
        ("launch-no_derivative", grad("mean(hits)", "p")),
        ("launch-no_path", grad("mean(root)", "p")),
        ("launch-not_finite", grad("mean(root)", "q")),
    ];
    let mut codes = Vec::new();
    for (slug, args) in calls {
        let said = place.simc(&args);
        assert_eq!(said.code, 1, "{slug}: {}", said.err);
        codes.extend(code_of(&said.err));
        insta::assert_snapshot!(slug, said.err);
    }
    codes
}

/// Tests of models.
fn testing(place: &Place) -> Vec<String> {
    place.write(
        "tested.sim",
        "agents 2\nstate x = 1.0\noutput x\n\ntest \"x is 2\" {\n    expect mean(x) ~ 2.0 within 0.25\n}\n",
    );
    place.write(
        "uncounted.sim",
        "output a = agent\n\ntest \"agents count from 0\" {\n    expect min(a) == 0\n}\n",
    );
    place.write(
        "wide.sim",
        "agents 2_000_000_000\ninput w: [f32; 2]\noutput a = w[0]\n\ntest \"weights\" {\n    \
         input w = [1.0, 2.0]\n    expect min(a) == 1.0\n}\n",
    );
    place.write("untested.sim", "agents 2\noutput a = agent\n");
    let calls: [(&str, &[&str]); 5] = [
        ("expectation_failed", &["test", "tested.sim"]),
        ("no_tests", &["test", "untested.sim"]),
        ("no_tests-filter", &["test", "tested.sim", "--filter", "y"]),
        ("test_without_count", &["test", "uncounted.sim"]),
        ("test_input_too_large", &["test", "wide.sim"]),
    ];
    let mut codes = Vec::new();
    for (slug, args) in calls {
        let said = place.simc(args);
        assert_eq!(said.code, 1, "{slug}: {}", said.err);
        codes.extend(code_of(&said.err));
        insta::assert_snapshot!(slug, said.err);
    }
    codes
}

/// Full disks, and models without outputs.
fn writing(place: &Place) -> Vec<String> {
    place.write("small.sim", "agents 2\noutput a = agent\n");
    place.write(
        "silent.sim",
        "agents 2\nsteps 1\nstate x = 0.0\nstep { x += 1.0 }\n",
    );
    let mut codes = Vec::new();
    let said = place.simc(&["run", "silent.sim", "--backend", "cpu", "-o", "out.csv"]);
    assert_eq!(said.code, 1);
    insta::assert_snapshot!("no_outputs", said.err);
    codes.extend(code_of(&said.err));

    std::os::unix::fs::symlink("/dev/full", place.path("full.csv")).expect("a link can be made");
    let said = place.simc(&["run", "small.sim", "--backend", "cpu", "-o", "full.csv"]);
    assert_eq!(said.code, 1);
    assert!(
        said.out.contains("seed"),
        "the summary is printed: {}",
        said.out
    );
    insta::assert_snapshot!("unwritable", said.err);
    codes.extend(code_of(&said.err));

    place.write("old.csv", "kept\n");
    let said = place.simc(&["run", "small.sim", "--backend", "cpu", "-o", "old.csv"]);
    assert_eq!((said.code, said.out.as_str()), (1, ""));
    assert_eq!(place.text("old.csv"), "kept\n");
    insta::assert_snapshot!("file_exists", said.err);
    codes.extend(code_of(&said.err));

    place.write("wide.sim", "agents 2\noutput a = [for i in 0..16385: i]\n");
    let said = place.simc(&["run", "wide.sim", "--backend", "cpu", "-o", "wide.arrow"]);
    assert_eq!((said.code, said.out.as_str()), (1, ""));
    insta::assert_snapshot!("too_many_columns", said.err);
    codes.extend(code_of(&said.err));

    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .expect("Linux has it");
    let output = place
        .command(&["explain"])
        .stdout(full)
        .output()
        .expect("simc can be started");
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    insta::assert_snapshot!("standard_output", said);
    codes.extend(code_of(&said));
    codes
}

/// Runs that cannot be repeated, or have other results.
fn repeating(place: &Place) -> Vec<String> {
    let model = "agents 2\noutput a = agent\n";
    place.write("again.sim", model);
    place.good(&["run", "again.sim", "--backend", "cpu", "-o", "again.csv"]);
    let args = ["run", "-", "--backend", "cpu", "-o", "piped.csv"];
    assert_eq!(place.piped(&args, model).code, 0);
    place.write("broken.meta.json", "{\"metadata\": 1}\n");
    place.write("later.meta.json", "{\"metadata\": 2}\n");
    let mut codes = Vec::new();
    let mut rerun = |slug, metadata| {
        let said = place.simc(&["rerun", metadata]);
        assert_eq!(said.code, 1, "{slug}: {}", said.err);
        codes.extend(code_of(&said.err));
        let root = place.0.to_string_lossy().into_owned();
        insta::assert_snapshot!(slug, said.err.replace(&root, "[PLACE]"));
    };
    rerun("bad_metadata", "again.sim");
    rerun("bad_metadata-missing", "broken.meta.json");
    rerun("bad_metadata-version", "later.meta.json");
    rerun("came_through_a_pipe", "piped.meta.json");
    place.write("again.sim", "agents 2\noutput a = agent + 1\n");
    rerun("results_differ", "again.meta.json");
    std::fs::rename(place.path("again.sim"), place.path("gone.sim")).expect("it is there");
    rerun("moved_model", "again.meta.json");
    codes
}

/// A pipe that says that more is to come than any memory holds.
fn endless(place: &Place) -> String {
    let path = place.path("endless.npy");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.is_ok_and(|made| made.success()));
    let writer = std::thread::spawn(move || {
        std::fs::write(path, npy("<f4", "(1099511627776, 2)", &[0; 800])).expect("it is read");
    });
    let args = ["--backend", "cpu", "--data", "table=endless.npy"];
    let said = place.simc(&[&["run", "model.sim"], &args[..]].concat());
    writer.join().expect("it has written");
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(
        said.err.contains("take more than 8796093 MB"),
        "{}",
        said.err
    );
    code_of(&said.err).expect("it has a code")
}
