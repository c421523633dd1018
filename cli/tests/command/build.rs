//! `simc build`, `simc check` and `simc explain`.

use crate::{Place, repository};
use std::fs;

const MODEL: &str = "\
//! A walk.
agents 100
steps 10
param sigma = 0.5
data table: [f32]
state x = 0.0
step t { x += sigma * normal() + table[t] }
output x
";

const EMITS: [(&str, &str); 10] = [
    ("tokens", "tokens"),
    ("ast", "ast"),
    ("hir", "hir"),
    ("ir", "ir"),
    ("wgsl", "wgsl"),
    ("manifest", "json"),
    ("spirv", "spv"),
    ("msl", "metal"),
    ("hlsl", "hlsl"),
    ("glsl", "comp"),
];

#[test]
fn everything_is_written_under_the_models_name() {
    let place = Place::new();
    place.write("walk.sim", MODEL);
    let emits = EMITS.map(|(name, _)| name).join(",");
    place.good(&["build", "walk.sim", "-o", "deep/out", "--emit", &emits]);
    for (name, ending) in EMITS {
        let bytes = place.read(&format!("deep/out/walk.{ending}"));
        assert!(!bytes.is_empty(), "{name}");
        if name != "spirv" {
            let said = place.good(&["build", "walk.sim", "--emit", name]);
            assert_eq!(
                said.out.as_bytes(),
                bytes,
                "{name} is the same on standard output"
            );
            assert_eq!(said.err, "");
        }
    }
    assert_eq!(
        place.read("deep/out/walk.spv")[..4],
        0x0723_0203_u32.to_le_bytes()
    );
    let count = fs::read_dir(place.path("deep/out"))
        .expect("it was made")
        .count();
    assert_eq!(count, EMITS.len());
}

/// Few agents on a large GPU reserve memory, many do not; a software device copies no branches.
#[test]
fn a_devices_kernel_is_that_of_its_runs() {
    let place = Place::new();
    let branching = "agents 100 steps 100 state x = 0.0\n\
                     step { if random() < 0.5 { x += sin(normal()) stop } }\noutput x\n";
    place.write("walk.sim", branching);
    let kernel = |more: &[&str]| {
        let args = [&["build", "walk.sim", "--emit", "wgsl"], more].concat();
        place.good(&args).out
    };
    let reserved = "var<workgroup> reserved";
    assert!(!kernel(&[]).contains(reserved));
    assert!(kernel(&["--device", "large-gpu"]).contains(reserved));
    let many = kernel(&["--device", "large-gpu", "--agents", "1e6"]);
    assert!(!many.contains(reserved));
    let software = kernel(&["--device", "software"]);
    assert_eq!(software.matches("steps_run++").count(), 1, "{software}");
    assert!(many.matches("steps_run++").count() > 1, "{many}");
    let alone = place
        .command(&["build", "walk.sim", "--agents", "7"])
        .output();
    let alone = alone.expect("it ran");
    assert_eq!(alone.status.code(), Some(2));
    let said = String::from_utf8_lossy(&alone.stderr);
    assert!(said.contains("add `--device PROFILE`"), "{said}");
}

#[test]
fn the_kernel_and_the_manifest_are_the_default() {
    let place = Place::new();
    place.write("walk.sim", MODEL);
    place.good(&["build", "walk.sim", "-o", "out"]);
    assert_eq!(place.names(), ["out", "walk.sim"]);
    let manifest: serde_json::Value =
        serde_json::from_slice(&place.read("out/walk.json")).expect("the manifest is JSON");
    assert_eq!(manifest["version"], 1);
    assert_eq!(manifest["doc"], "A walk.");
    assert_eq!(manifest["params"][0]["name"], "sigma");
    assert_eq!(manifest["data"][0]["shape"], serde_json::json!([0]));
    place.good(&["build", "walk.sim"]);
    assert_eq!(place.names(), ["out", "walk.json", "walk.sim", "walk.wgsl"]);
}

#[test]
fn a_kernel_can_prepare_what_agents_share() {
    const SHARED: &str =
        "state x = 0.0\nstep t { x += sin(f32(t)) + cos(0.5 * f32(t)) }\noutput x\n";
    let place = Place::new();
    place.write("waves.sim", SHARED);
    place.good(&["build", "waves.sim", "--step-table", "true"]);
    let manifest: serde_json::Value =
        serde_json::from_slice(&place.read("waves.json")).expect("the manifest is JSON");
    let expected = serde_json::json!({
        "binding": 5, "rows_per_step": 1, "words": 4, "workgroup_size": 64
    });
    assert_eq!(manifest["step_table"], expected);
    let kernel = String::from_utf8(place.read("waves.wgsl")).expect("WGSL is text");
    assert!(kernel.contains("fn prepare("), "{kernel}");
    place.good(&["build", "waves.sim"]);
    let kernel = String::from_utf8(place.read("waves.wgsl")).expect("WGSL is text");
    assert!(!kernel.contains("prepare"), "{kernel}");
    let said = place.simc(&["build", "waves.sim", "--step-table=true", "--emit", "msl"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("--emit wgsl"), "{}", said.err);
}

#[test]
fn a_kernel_is_tuned_by_hand() {
    const SUM: &str = "input w: [f32; 64] = [for i in 0..64: 0.5]\nstate x = 0.0\n\
                       step { x += sum(for i in 0..64: w[i] * x) }\noutput x\n";
    let place = Place::new();
    place.write("sum.sim", SUM);
    let workgroup_size = |more: &[&str]| {
        let args = [&["build", "sum.sim", "--emit", "manifest"], more].concat();
        let manifest: serde_json::Value =
            serde_json::from_str(&place.good(&args).out).expect("the manifest is JSON");
        manifest["workgroup_size"].as_u64().expect("a number")
    };
    assert_eq!(workgroup_size(&[]), 64);
    assert_eq!(
        workgroup_size(&["--lanes", "4"]),
        16,
        "agents of a workgroup"
    );
    let gpu = ["--device", "large-gpu", "--lanes", "32"];
    assert_eq!(workgroup_size(&gpu), 2);
    let said = place.good(&["build", "sum.sim", "--explain", "--lanes", "8"]);
    assert!(said.out.contains("8 lanes per agent"), "{}", said.out);
}

#[test]
fn wrong_tuning_says_what_is_right() {
    let place = Place::new();
    place.write("walk.sim", MODEL);
    for (option, words) in [
        (
            "--lanes=129",
            ["`--lanes <N>` cannot be `129`", "a number from 1 to 128"],
        ),
        (
            "--unroll-steps=many",
            ["`--unroll-steps <N>` cannot be `many`", "from 1 to 64"],
        ),
        (
            "--relax=1",
            ["`--relax <BOOL>` cannot be `1`", "one of `false`, `true`"],
        ),
        (
            "--occupancy=half",
            ["`--occupancy <WORD>` cannot be `half`", "`low`, `full`"],
        ),
        (
            "--reassociate=false",
            ["no argument `--reassociate", "mean `--relax`?"],
        ),
        (
            "--prepare",
            ["no argument `--prepare", "mean `--step-table`?"],
        ),
        (
            "--reduce=true",
            ["no argument `--reduce`", "`simc build --help` lists"],
        ),
    ] {
        let said = place.simc(&["build", "walk.sim", option]);
        assert_eq!(said.code, 2, "{}", said.err);
        for word in words {
            assert!(said.err.contains(word), "{option}: {}", said.err);
        }
    }
}

#[test]
fn several_stages_need_a_directory() {
    let place = Place::new();
    place.write("walk.sim", MODEL);
    let said = place.simc(&["build", "walk.sim", "--emit", "ir", "--emit", "wgsl"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("-o DIR"), "{}", said.err);
}

#[test]
fn mistakes_are_reported_for_every_file() {
    let place = Place::new();
    place.write("good.sim", MODEL);
    place.write(
        "bad.sim",
        "agents 1\nsteps 1\nstate x = 0.0\nstep { x += sgima }\noutput x\n",
    );
    let said = place.simc(&["check", "bad.sim", "missing.sim", "good.sim"]);
    assert_eq!((said.code, said.out.as_str()), (1, ""));
    assert!(
        said.err.contains("bad.sim:4") && said.err.contains("missing.sim"),
        "{}",
        said.err
    );
    assert!(
        said.err.ends_with("3 files checked, 2 with mistakes\n"),
        "{}",
        said.err
    );
    let said = place.good(&["check", "good.sim"]);
    assert_eq!(said.err, "1 file checked, no mistakes\n");
    for command in ["build", "run"] {
        assert_eq!(place.simc(&[command, "bad.sim"]).code, 1);
    }
}

#[test]
fn odd_models_are_no_trouble() {
    let place = Place::new();
    place.write("empty.sim", "");
    place.write(
        "mark.sim",
        format!("\u{feff}{}", MODEL.replace('\n', "\r\n")),
    );
    place.write("zeros.sim", [0; 1000]);
    place.write(
        "deep.sim",
        format!(
            "const X = {}1{}\n",
            "(".repeat(100_000),
            ")".repeat(100_000)
        ),
    );
    assert_eq!(place.simc(&["check", "mark.sim"]).code, 0);
    for name in ["empty.sim", "zeros.sim", "deep.sim"] {
        let said = place.simc(&["check", name]);
        assert!(said.code == 0 || said.code == 1, "{name}: {}", said.err);
        assert!(!said.err.contains("panicked"), "{name}: {}", said.err);
    }
}

#[test]
fn every_message_can_be_explained() {
    let place = Place::new();
    let listed = place.good(&["explain"]).out;
    let codes: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert!(codes.len() > 30 && codes.is_sorted(), "{listed}");
    let mut unique = codes.clone();
    unique.dedup();
    assert_eq!(unique, codes, "every code has one meaning");
    for code in ["E0001", "e0701", "E0901", "no_such_file"] {
        let text = place.good(&["explain", code]).out;
        assert!(text.starts_with('E') && text.lines().count() >= 3, "{text}");
    }
}

#[test]
fn the_examples_compile_in_every_language() {
    let place = Place::new();
    let examples = fs::read_dir(repository("lang-examples")).expect("the examples are there");
    let mut count = 0;
    for entry in examples {
        let path = entry.expect("it can be read").path();
        if path.extension().is_some_and(|ending| ending == "sim") {
            let path = path.to_string_lossy();
            place.good(&[
                "build",
                &path,
                "-o",
                "out",
                "--emit",
                "spirv,msl,hlsl,glsl,wgsl,manifest",
            ]);
            count += 1;
        }
    }
    assert!(count > 10, "{count} examples");
}

#[test]
fn precise_mathematics_is_written_into_the_kernel_in_every_language() {
    let place = Place::new();
    place.write("walk.sim", MODEL);
    let kernel = |math| place.good(&["build", "walk.sim", "--math", math, "--emit", "wgsl"]);
    assert!(kernel("precise").out.contains("fn precise_normal_from("));
    let plain = place.good(&["build", "walk.sim", "--emit", "wgsl"]);
    assert!(!plain.out.contains("precise"));
    assert_eq!(kernel("fast").out, plain.out);
    let emits = "spirv,msl,hlsl,glsl";
    place.good(&[
        "build", "walk.sim", "--math", "precise", "--emit", emits, "-o", "out",
    ]);
}
