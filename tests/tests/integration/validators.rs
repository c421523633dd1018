//! Every kernel through naga as WebGPU has it (no capabilities), and through tint where it is on the PATH.

use super::files;
use sim_compiler::{Math, Options, compile_with, kernel::schedule::Schedule, random::Generator};
use std::{
    collections::HashSet,
    process::{Command, Stdio},
};

/// Every model of the repository in every form, as name and kernel; kernels of one text once.
fn kernels() -> Vec<(String, String)> {
    let mut kernels = Vec::new();
    for folder in ["lang-examples", "tests/language", "tests/run"] {
        for (name, source) in files::models(folder) {
            for (optimise, generator, math) in [
                (true, Generator::KeyedHash, Math::Fast),
                (false, Generator::KeyedHash, Math::Fast),
                (true, Generator::Philox4x32, Math::Fast),
                (true, Generator::KeyedHash, Math::Precise),
            ] {
                let artifact = compile_with(
                    &source,
                    Options {
                        optimise,
                        generator,
                        math,
                        ..Options::default()
                    },
                )
                .unwrap_or_else(|diagnostics| panic!("{folder}/{name}: {diagnostics:?}"));
                let form = format!(
                    "{folder}/{name} ({}, {generator:?}, {math:?})",
                    if optimise { "optimised" } else { "plain" }
                );
                for (unroll_steps, step_table) in [(1, false), (3, true), (8, true)] {
                    let kernel = artifact.kernel(&Schedule {
                        unroll_steps,
                        step_table,
                        ..Schedule::default()
                    });
                    // Without a step table the kernel is one of those that are here already.
                    if step_table <= kernel.step_table.is_some() || unroll_steps == 3 {
                        let form =
                            format!("{form}, {unroll_steps} steps, step table: {step_table}");
                        kernels.push((form, kernel.wgsl));
                    }
                }
                kernels.push((form, artifact.wgsl()));
            }
        }
    }
    let mut seen = HashSet::new();
    kernels.retain(|(_, wgsl)| seen.insert(wgsl.clone()));
    kernels
}

/// The kernels of the examples and benchmarks for agents of several lanes.
fn lane_kernels() -> Vec<(String, String)> {
    let mut kernels = Vec::new();
    let examples = files::models("lang-examples");
    for (name, source) in examples.into_iter().chain(files::models("benchmarks")) {
        let artifact = sim_compiler::compile(&source).expect("an example compiles");
        for (lanes, subgroup) in [
            (2, 32),
            (4, 32),
            (8, 32),
            (32, 32),
            (4, 1),
            (64, 16),
            (128, 1),
        ] {
            let kernel = artifact.kernel(&Schedule {
                lanes,
                subgroup,
                step_table: lanes == 4 || lanes == 8,
                reserve: lanes > 2,
                ..Schedule::default()
            });
            if kernel.lanes > 1 {
                let form = format!("{name}, {lanes} lanes in subgroups of {subgroup}");
                kernels.push((form, kernel.wgsl));
            }
        }
    }
    kernels
}

/// The kernels of examples, benchmarks and specimens whose sums and divisions are changed.
fn relaxed_kernels() -> Vec<(String, String)> {
    let mut kernels = Vec::new();
    for folder in ["lang-examples", "benchmarks", "tests/run"] {
        for (name, source) in files::models(folder) {
            let artifact = sim_compiler::compile(&source).expect("a model compiles");
            for (lanes, step_table) in [(1, false), (1, true), (4, true), (32, false)] {
                let kernel = artifact.kernel(&Schedule {
                    lanes,
                    step_table,
                    relax: true,
                    ..Schedule::default()
                });
                let new = lanes == 1 || kernel.lanes > 1;
                if kernel.schedule.relax && new {
                    let name = format!("{folder}/{name}, relaxed, {lanes} lanes");
                    kernels.push((name, kernel.wgsl));
                }
            }
        }
    }
    kernels
}

/// What naga says against a kernel, if anything.
pub(crate) fn naga_complaint(wgsl: &str) -> Option<String> {
    naga_complaint_with(wgsl, naga::valid::Capabilities::empty())
}

fn naga_complaint_with(wgsl: &str, capabilities: naga::valid::Capabilities) -> Option<String> {
    let module = match naga::front::wgsl::parse_str(wgsl) {
        Ok(module) => module,
        Err(error) => return Some(error.emit_to_string(wgsl)),
    };
    let flags = naga::valid::ValidationFlags::all();
    let mut validator = naga::valid::Validator::new(flags, capabilities);
    validator.subgroup_stages(naga::valid::ShaderStages::COMPUTE);
    validator.subgroup_operations(naga::valid::SubgroupOperationSet::all());
    validator
        .validate(&module)
        .err()
        .map(|error| error.emit_to_string(wgsl))
}

#[test]
fn naga_accepts_every_kernel() {
    let complaints: Vec<String> = kernels()
        .into_iter()
        .filter_map(|(name, wgsl)| {
            naga_complaint(&wgsl).map(|complaint| format!("{name}: {complaint}"))
        })
        .collect();
    files::report("kernels are refused by naga", complaints);
}

#[test]
fn naga_accepts_lanes() {
    let kernels = lane_kernels();
    assert!(
        kernels.len() > 20,
        "only {} kernels share agents",
        kernels.len()
    );
    let complaints: Vec<String> = (kernels.into_iter())
        .filter_map(|(name, wgsl)| {
            naga_complaint_with(&wgsl, naga::valid::Capabilities::SUBGROUP)
                .map(|complaint| format!("{name}: {complaint}"))
        })
        .collect();
    files::report("kernels of several lanes are refused by naga", complaints);
}

#[test]
fn naga_accepts_relaxed_kernels() {
    let kernels = relaxed_kernels();
    assert!(kernels.len() > 20, "only {} kernels", kernels.len());
    let complaints: Vec<String> = (kernels.into_iter())
        .filter_map(|(name, wgsl)| {
            naga_complaint_with(&wgsl, naga::valid::Capabilities::SUBGROUP)
                .map(|complaint| format!("{name}: {complaint}"))
        })
        .collect();
    files::report("relaxed kernels are refused by naga", complaints);
}

#[test]
fn tint_accepts_every_kernel() {
    if Command::new("tint")
        .arg("--help")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_err()
    {
        eprintln!("SKIPPED: tint is not on the PATH");
        return;
    }
    let folder = std::env::temp_dir().join(format!("sim-tint-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder can be made");
    let mut complaints = Vec::new();
    // What the standard wants to be said, and naga does not know.
    let standard = "enable subgroups;\ndiagnostic(off, subgroup_uniformity);\n";
    let lanes = lane_kernels().into_iter().chain(relaxed_kernels());
    let lanes = lanes.map(|(name, wgsl)| (name, standard.to_owned() + &wgsl));
    for (number, (name, wgsl)) in kernels().into_iter().chain(lanes).enumerate() {
        let path = folder.join(format!("{number}.wgsl"));
        std::fs::write(&path, wgsl).expect("a temporary file can be written");
        let output = Command::new("tint")
            .args(["--format", "wgsl"])
            .arg(&path)
            .output()
            .expect("tint starts");
        if !output.status.success() {
            complaints.push(format!(
                "{name}: {}",
                String::from_utf8_lossy(&output.stderr)
            ));
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    files::report("kernels are refused by tint", complaints);
}
