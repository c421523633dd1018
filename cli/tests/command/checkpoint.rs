//! `--checkpoint`, `--every`, `--resume` and `--json-progress`.

use crate::{Place, Said};
use sim_tests::launch::has_gpu;
use std::{
    collections::hash_map::RandomState,
    env,
    fmt::Write,
    fs,
    hash::BuildHasher,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Draws, a compensated sum, agents that stop, and everything that can be sampled of agents.
const ALONE: &str = "
agents 1_000
steps 4_000
param pull = 0.01
input start ~ normal()
state x = start
state y = 1.0
state n = 0
step t {
    integrate heun(0.001) { y' = -y }
    x += normal() - pull * x
    n += poisson(0.5)
    if bernoulli(0.0001) && t > 2_000 { stop }
}
record x every 1_000
observe mean_x = mean(x) every 100
observe quarters = quantiles(x, 0.25, 0.5, 0.75) every 500
output x
output y
output n
";

/// Worlds, with draws and states of their own.
const WORLDS: &str = "
world 20
agents 1_000
steps 1_500
world state heat = random()
state x = random()
step {
    let mean_x = mean(for o in world: o.x)
    x += 0.1 * (mean_x - x) + 0.01 * normal() * heat
}
world step { heat = 0.9 * heat + 0.05 * random() + 0.05 * max(for o in world: o.x) }
world output final_heat = heat
world observe warm = heat every 50
observe total = sum(x) every 25
record x every 300
output x
";

/// Runs for hours on any machine.
const ENDLESS: &str = "
agents 100_000
steps 1_000_000
state x = 0.5
step { x = 3.9 * x * (1.0 - x) }
output x
";

fn kill(child: &Child, signal: &str) {
    let killed = Command::new("kill")
        .args([signal, &child.id().to_string()])
        .status();
    assert!(killed.expect("kill can be started").success());
}

fn started(place: &Place, args: &[&str]) -> Child {
    let mut command = place.command(args);
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("simc can be started")
}

/// How often each run is killed: 2 times, or as the environment says.
fn kills() -> u32 {
    env::var("SIM_KILLS").map_or(2, |text| text.parse().expect("SIM_KILLS is a number"))
}

/// All files of results, as text.
fn results(place: &Place, stem: &str) -> String {
    let mut all = String::new();
    for name in place.names() {
        if let Some(kind) = name.strip_prefix(stem)
            && kind.ends_with(".csv")
        {
            let _ = write!(all, "{kind}\n{}", place.text(&name));
        }
    }
    all
}

/// Kills a run as often as asked for, each time going on from its last checkpoint, and compares what it gives
/// in the end with what a run gives that nobody disturbed.
fn survives(source: &str, backend: &str) {
    let place = Place::new();
    place.write("model.sim", source);
    let base = [
        "run",
        "model.sim",
        "--backend",
        backend,
        "--seed",
        "5",
        "-q",
    ];
    let began = Instant::now();
    place.good(&[&base[..], &["-o", "whole.csv"]].concat());
    let most = began.elapsed().as_millis() as u64;
    let expected = results(&place, "whole");
    assert!(expected.len() > 10_000);
    let (mut killed, mut resumed) = (0, 0);
    let finished = loop {
        let mut args = base.to_vec();
        args.extend([
            "--force",
            "-o",
            "cut.csv",
            "--checkpoint",
            "run.ckpt",
            "--every",
            "20ms",
        ]);
        if place.path("run.ckpt").exists() {
            args.extend(["--resume", "run.ckpt"]);
            resumed += 1;
        }
        let mut child = started(&place, &args);
        if killed == kills() {
            break Said::from(child.wait_with_output().expect("simc can be waited for"));
        }
        let moment = RandomState::new().hash_one(killed) % most;
        thread::sleep(Duration::from_millis(moment));
        if child.try_wait().expect("it can be asked").is_some() {
            // It was faster: from the beginning, until it has been killed often enough.
            let said = Said::from(child.wait_with_output().expect("simc can be waited for"));
            assert_eq!(said.code, 0, "{}", said.err);
            assert_eq!(results(&place, "cut"), expected);
            let written = place
                .names()
                .into_iter()
                .filter(|name| name.starts_with("cut"));
            written.for_each(|name| fs::remove_file(place.path(&name)).expect("it is there"));
            continue;
        }
        child.kill().expect("it can be killed");
        child.wait().expect("simc can be waited for");
        killed += 1;
    };
    assert_eq!(finished.code, 0, "{}", finished.err);
    assert_eq!(
        results(&place, "cut"),
        expected,
        "{backend}, resumed {resumed} times"
    );
    // What a killed process was writing under another name stays.
    let names = place.names();
    assert!(!names.iter().any(|name| name == "run.ckpt"), "{names:?}");
    eprintln!("{backend}: killed {killed} times, resumed {resumed} times: identical");
}

#[test]
fn a_killed_run_goes_on_to_the_same_bits_on_the_cpu() {
    survives(ALONE, "cpu");
    survives(WORLDS, "cpu");
}

#[test]
fn a_killed_run_goes_on_to_the_same_bits_on_a_gpu() {
    if has_gpu() {
        survives(ALONE, "gpu");
        survives(WORLDS, "gpu");
    }
}

/// Starts the endless run, and interrupts it once it has written a checkpoint.
fn interrupted(place: &Place) -> Said {
    place.write("endless.sim", ENDLESS);
    let args = ["run", "endless.sim", "--backend", "cpu"];
    let more = ["--checkpoint", "run.ckpt", "--every", "100ms"];
    let child = started(place, &[&args[..], &more[..]].concat());
    let pressed = Instant::now();
    while !place.path("run.ckpt").exists() {
        assert!(
            pressed.elapsed() < Duration::from_secs(60),
            "there is no checkpoint"
        );
        thread::sleep(Duration::from_millis(5));
    }
    kill(&child, "-INT");
    Said::from(child.wait_with_output().expect("simc can be waited for"))
}

#[test]
fn an_interrupted_run_says_how_to_go_on() {
    let place = Place::new();
    let said = interrupted(&place);
    assert_eq!((said.code, said.out.as_str()), (130, ""));
    let (first, second) = said.err.split_once('\n').expect("two lines");
    assert!(first.starts_with("interrupted: "), "{first}");
    assert!(
        first.ends_with(" of 1_000_000 steps are done and saved"),
        "{first}"
    );
    let command =
        "run endless.sim --backend cpu --checkpoint run.ckpt --every 100ms --resume run.ckpt\n";
    assert!(
        second.starts_with("to go on from the last checkpoint: "),
        "{second}"
    );
    assert!(second.ends_with(command), "{second}");
    assert_eq!(place.names(), ["endless.sim", "run.ckpt"]);

    let refused = |args: &[&str]| {
        let resume = [&["run", "endless.sim", "--resume", "run.ckpt"], args].concat();
        let said = place.simc(&resume);
        assert_eq!((said.code, said.out.as_str()), (1, ""));
        let mut lines = said.err.lines().map(str::to_owned);
        lines.next().expect("it says something")
    };
    let other = refused(&["--agents", "99_999"]);
    let expected = "[E0966] Error: the number of agents is 99999 here, but 100000 in the snapshot";
    assert_eq!(other, expected);
    let other = refused(&["--seed", "1"]);
    assert_eq!(
        other,
        "[E0966] Error: the seed is 1 here, but 0 in the snapshot"
    );
    let other = refused(&["--checkpoint", "run.ckpt", "--seed", "1"]);
    assert_eq!(
        other,
        "[E0966] Error: the seed is 1 here, but 0 in the snapshot"
    );
    place.write("endless.sim", ENDLESS.replace("3.9", "3.8"));
    let expected =
        "[E0966] Error: the snapshot is of another model, or of this one as it was before";
    assert_eq!(refused(&[]), expected);
    place.write("endless.sim", ENDLESS);
    let bytes = place.read("run.ckpt");
    place.write("run.ckpt", &bytes[..bytes.len() - 1]);
    assert_eq!(
        refused(&[]),
        "[E0966] Error: this is no complete snapshot: it ends too early"
    );
    let said = place.simc(&["run", "endless.sim", "--checkpoint", "run.ckpt"]);
    assert!(said.err.starts_with("[E0965]"), "{}", said.err);
    assert_eq!(place.read("run.ckpt").len(), bytes.len() - 1);
}

#[cfg(target_os = "linux")]
#[test]
fn results_that_cannot_be_written_leave_the_checkpoint() {
    let place = Place::new();
    place.write(
        "model.sim",
        "agents 9\nsteps 50\nstate x = 0\nstep { x += 1 }\noutput x\n",
    );
    std::os::unix::fs::symlink("/dev/full", place.path("full.csv")).expect("a link can be made");
    let args = [
        "run",
        "model.sim",
        "--backend",
        "cpu",
        "--checkpoint",
        "run.ckpt",
    ];
    let args = [&args[..], &["--every", "10steps", "-o"]].concat();
    let said = place.simc(&[&args[..], &["full.csv"]].concat());
    assert_eq!(said.code, 1);
    assert!(said.err.starts_with("[E0915]"), "{}", said.err);
    assert!(
        said.err.contains("\nto go on from the last checkpoint: "),
        "{}",
        said.err
    );
    place.good(&[&args[..], &["out.csv", "--resume", "run.ckpt"]].concat());
    assert_eq!(place.text("out.csv"), format!("x\n{}", "50\n".repeat(9)));
    assert_eq!(
        place.names(),
        ["full.csv", "model.sim", "out.csv", "out.meta.json"]
    );
}

#[test]
fn tools_get_a_line_of_json_for_each_event() {
    let place = Place::new();
    place.write("model.sim", ALONE);
    let args = [
        "run",
        "model.sim",
        "--backend",
        "cpu",
        "--json-progress",
        "-q",
    ];
    let said = place.good(
        &[
            &args[..],
            &["--checkpoint", "a.ckpt", "--every", "1000steps"],
        ]
        .concat(),
    );
    let event = |line: &str| serde_json::from_str::<serde_json::Value>(line).expect("it is JSON");
    let events: Vec<_> = said.err.lines().map(event).collect();
    let saved = events.iter().filter(|event| event["event"] == "checkpoint");
    let steps: Vec<_> = saved.map(|event| event["step"].as_u64()).collect();
    assert_eq!(steps, [Some(1000), Some(2000), Some(3000)]);
    let last = events.last().expect("there are some");
    assert_eq!(
        (last["event"].as_str(), &last["done"]),
        (Some("progress"), &last["total"])
    );
    assert_eq!(last["total"], 1_000 * 4_000);
    // Nobody watches, and nobody asks.
    let quiet = ["run", "model.sim", "--backend", "cpu", "--steps", "10"];
    assert_eq!(place.good(&quiet).err, "");
}

#[test]
fn an_interval_needs_a_unit() {
    let place = Place::new();
    place.write("model.sim", ALONE);
    let args = ["run", "model.sim", "--checkpoint", "a", "--every", "60"];
    let said = place.simc(&args);
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(
        said.err.contains("it needs a unit: ms, s, min, h or steps"),
        "{}",
        said.err
    );
}
