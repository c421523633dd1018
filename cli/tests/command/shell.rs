//! The command among others: standard input and output, `--quiet`, completions, adapters.

use crate::{Place, Said, repository};
use sim_tests::launch::has_gpu;

const SMALL: &str =
    "agents 2\nsteps 1\ndata t: [f32]\nstate x = t[0]\nstep { x += t[1] }\noutput x\n";
const PLAIN: &str = "agents 2\nsteps 2\noutput x = agent\n";

#[test]
fn a_model_comes_from_standard_input() {
    let place = Place::new();
    place.write("t.csv", "t\n1\n2\n");
    let args = [
        "run",
        "-",
        "--data",
        "t=t.csv",
        "--backend",
        "cpu",
        "-o",
        "out.csv",
    ];
    let said = place.piped(&args, SMALL);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(place.text("out.csv"), "x\n3.0\n3.0\n");
    let said = place.piped(&["check", "-"], "output x = y\n");
    assert_eq!(said.code, 1);
    assert!(said.err.contains("<stdin>:1:12"), "{}", said.err);
    let said = place.piped(&["check", "--json", "-"], "output x = y\n");
    assert!(said.out.contains("\"<stdin>\""), "{}", said.out);
    assert_eq!(place.piped(&["build", "-", "-o", "out"], PLAIN).code, 0);
    assert!(place.path("out/stdin.wgsl").is_file() && place.path("out/stdin.json").is_file());
    let said = place.piped(&["build", "-", "-o", "-"], PLAIN);
    assert_eq!(said.code, 2, "{}", said.err);
}

#[test]
fn a_table_comes_from_standard_input() {
    let place = Place::new();
    place.write("small.sim", SMALL);
    let args = [
        "run",
        "small.sim",
        "--data",
        "t=-",
        "--backend",
        "cpu",
        "-o",
        "-",
        "-q",
    ];
    let said = place.piped(&args, "t\n1\n2\n");
    assert_eq!(
        (said.out.as_str(), said.err.as_str()),
        ("x\n3.0\n3.0\n", "")
    );
    let said = place.piped(&args, "t\n1\ntwo\n");
    assert_eq!(said.code, 1);
    assert!(said.err.contains("<stdin>:3"), "{}", said.err);
    let said = place.piped(&["run", "-", "--data", "t=-", "--backend", "cpu"], SMALL);
    assert_eq!(said.code, 1);
    assert!(
        said.err
            .contains("only one file can come from standard input"),
        "{}",
        said.err
    );
}

#[test]
fn outputs_go_to_standard_output() {
    let place = Place::new();
    place.write("plain.sim", PLAIN);
    let args = ["run", "plain.sim", "--backend", "cpu", "-o", "-"];
    let said = place.good(&args);
    assert_eq!(said.out, "x\n0\n1\n");
    assert!(
        said.err.starts_with("output  count") && said.err.contains("seed"),
        "{}",
        said.err
    );
    place.write(
        "series.sim",
        "agents 2\nsteps 1\nstate x = 1.0\nstep {}\nobserve m = mean(x)\noutput x\n",
    );
    let said = place.good(&["run", "series.sim", "--backend", "cpu", "-o", "-"]);
    assert_eq!(said.out, "x\n1.0\n1.0\n");
    assert!(
        said.err.contains("others have files: observe\n"),
        "{}",
        said.err
    );
    let json = place.good(&[
        "bench",
        "plain.sim",
        "--backend",
        "cpu",
        "--runs",
        "1",
        "-o",
        "-",
    ]);
    let found: serde_json::Value = serde_json::from_str(&json.out).expect("it is JSON");
    assert!(found.is_array() || found.is_object());
}

#[test]
fn quiet_leaves_results_and_errors() {
    let place = Place::new();
    place
        .write("plain.sim", PLAIN)
        .write("bad.sim", "output x = y\n");
    let run = place.good(&["run", "-q", "plain.sim", "--backend", "cpu"]);
    assert!(
        run.out.starts_with("output") && run.out.lines().count() == 2,
        "{}",
        run.out
    );
    for args in [
        &["check", "plain.sim", "-q"][..],
        &["--quiet", "fmt", "plain.sim"],
        &["build", "plain.sim", "-o", "out", "-q"],
    ] {
        let said = place.good(args);
        assert_eq!((said.out.as_str(), said.err.as_str()), ("", ""), "{args:?}");
    }
    let said = place.simc(&["check", "-q", "bad.sim"]);
    assert_eq!(said.code, 1);
    assert!(
        said.err.contains("[E0201]") && !said.err.contains("checked"),
        "{}",
        said.err
    );
}

/// The lines of the README's block of commands.
#[test]
fn the_examples_of_the_readme_run() {
    let folder = repository("cli");
    let page = std::fs::read_to_string(folder.join("README.md")).expect("the crate has one");
    let block = page
        .split("```sh\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next());
    let lines: Vec<&str> = block.expect("it has a block").lines().collect();
    assert!(lines.len() >= 4, "{lines:?}");
    let place = Place::new();
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(words[0], "simc");
        let mut command = place.command(&words[1..]);
        let said = command.current_dir(&folder).output();
        let said = Said::from(said.expect("simc can be started"));
        assert_eq!(said.code, 0, "{line}: {}", said.err);
        assert!(said.out.lines().count() > 3, "{line}: {}", said.out);
    }
}

#[test]
fn every_shell_has_completions() {
    let place = Place::new();
    for (shell, words) in [
        ("bash", "complete -F _simc"),
        ("zsh", "#compdef simc"),
        ("fish", "complete -c simc"),
        ("powershell", "Register-ArgumentCompleter"),
        ("elvish", "edit:completion:arg-completer[simc]"),
    ] {
        let text = place.good(&["completions", shell]).out;
        for word in [words, "inspect", "adapter", "quantiles"] {
            assert!(text.contains(word), "{shell}: no {word}");
        }
    }
}

#[test]
fn adapters_are_listed_and_chosen_by_name() {
    let place = Place::new();
    place.write("plain.sim", PLAIN);
    for command in ["run", "bench"] {
        let said = place.good(&[command, "--adapter", "list"]);
        match has_gpu() {
            true => assert!(said.out.starts_with("number  adapter  "), "{}", said.out),
            false => assert!(said.err.contains("there is no adapter"), "{}", said.err),
        }
    }
    let said = place.simc(&["run", "plain.sim", "--adapter", "no such adapter"]);
    assert_eq!(said.code, 1);
    for part in ["[E0801]", "`no such adapter`", "`--adapter list`"] {
        assert!(said.err.contains(part), "{part}: {}", said.err);
    }
    if !has_gpu() {
        return;
    }
    let listed = place.good(&["run", "--adapter", "list"]).out;
    let name = listed
        .lines()
        .nth(1)
        .and_then(|line| line.split("  ").filter(|cell| !cell.is_empty()).nth(1))
        .map(str::trim);
    let name = name.expect("a line has a name").to_uppercase();
    let said = place.good(&["run", "plain.sim", "--adapter", &name, "--json"]);
    let found: serde_json::Value = serde_json::from_str(&said.out).expect("it is JSON");
    assert_eq!(found["backend"], "gpu");
    assert_eq!(
        found["adapter"]["name"].as_str().map(str::to_uppercase),
        Some(name)
    );
}
