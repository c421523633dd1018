//! Builds the tests once, then wakes one mutant after the other and runs the tests until one fails.

use crate::{numbers, option};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    fs::{self, OpenOptions},
    io::Write,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
    sync::Mutex,
    thread,
    time::{Duration, Instant},
};

/// For those that wait for ever.
const MOST: Duration = Duration::from_secs(1800);

/// A test binary and the part of its tests that is run.
struct Stage {
    name: String,
    binary: PathBuf,
    folder: PathBuf,
    args: Vec<String>,
    env: Vec<(String, String)>,
    /// Parts of the names of the files whose mutants it can catch; none for all.
    files: Vec<String>,
    /// Seconds of processor time after which it counts as failed, as a mutant may loop for ever. Not of the
    /// clock, as the machine may have other work.
    processor: u64,
}

enum Outcome {
    Passed,
    Failed,
    TimedOut,
}

pub fn run(mut args: Vec<String>) -> Result<(), String> {
    let tree = PathBuf::from(option(&mut args, "--tree").ok_or("--tree is missing")?);
    let plan = option(&mut args, "--plan").ok_or("--plan is missing")?;
    let results = PathBuf::from(option(&mut args, "--results").ok_or("--results is missing")?);
    let only = numbers(option(&mut args, "--only"))?;
    let jobs: usize = option(&mut args, "--jobs")
        .and_then(|text| text.parse().ok())
        .unwrap_or(1);
    let read = |path: &Path| -> Result<Value, String> {
        let text =
            fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
    };
    let stages = stages(&tree, &read(Path::new(&plan))?)?;
    let known = known(&results);
    let mutants = read(&tree.join("mutants.json"))?;
    let mut left: Vec<Value> = (mutants.as_array().cloned().unwrap_or_default().into_iter())
        .filter(|mutant| {
            let number = mutant["number"].as_u64().unwrap_or_default();
            let wanted = only.is_empty() || only.contains(&(number as usize));
            wanted && !known.contains(&number)
        })
        .collect();
    left.reverse();
    let left = Mutex::new(left);
    let file = OpenOptions::new().create(true).append(true).open(&results);
    let file = Mutex::new(file.map_err(|error| error.to_string())?);
    thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                while let Some(mutant) = left.lock().ok().and_then(|mut left| left.pop()) {
                    let line = judged(&stages, mutant);
                    println!("{line}");
                    if let Ok(mut file) = file.lock() {
                        let _ = writeln!(file, "{line}");
                    }
                }
            });
        }
    });
    summary(&results)
}

/// Numbers that have their result already.
fn known(results: &Path) -> Vec<u64> {
    (lines(results)
        .iter()
        .filter_map(|line| line["number"].as_u64()))
    .collect()
}

fn lines(results: &Path) -> Vec<Value> {
    let text = fs::read_to_string(results).unwrap_or_default();
    (text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok()))
    .collect()
}

fn summary(results: &Path) -> Result<(), String> {
    let lines = lines(results);
    let mut by: BTreeMap<String, usize> = BTreeMap::new();
    for line in &lines {
        *by.entry(line["caught_by"].as_str().unwrap_or("nothing").to_owned())
            .or_default() += 1;
    }
    println!("{} mutants: {by:?}", lines.len());
    Ok(())
}

fn judged(stages: &[Stage], mut mutant: Value) -> Value {
    let started = Instant::now();
    let number = mutant["number"].to_string();
    let file = mutant["file"].as_str().unwrap_or_default().to_owned();
    for stage in stages {
        if !stage.files.is_empty() && !stage.files.iter().any(|part| file.contains(part)) {
            continue;
        }
        let outcome = executed(stage, Some(&number));
        let how = match outcome {
            Ok(Outcome::Passed) => continue,
            Ok(Outcome::Failed) => "failed",
            Ok(Outcome::TimedOut) => "timed out",
            Err(error) => panic!("{}: {error}", stage.binary.display()),
        };
        mutant["caught_by"] = json!(stage.name);
        mutant["how"] = json!(how);
        break;
    }
    mutant["seconds"] = json!(started.elapsed().as_secs());
    mutant
}

/// Runs a stage with a mutant awake, or none.
fn executed(stage: &Stage, mutant: Option<&str>) -> std::io::Result<Outcome> {
    // A mutant that asks for all memory must not get it.
    let mut command = Command::new("sh");
    command
        .args([
            "-c",
            "ulimit -c 0; ulimit -v 12000000; ulimit -t $0; exec nice -n 19 \"$@\"",
        ])
        .arg(stage.processor.to_string())
        .arg(&stage.binary)
        .args(&stage.args)
        .current_dir(&stage.folder)
        .env("INSTA_UPDATE", "no")
        .env("RUST_BACKTRACE", "0")
        .env("RUST_MIN_STACK", "8000000")
        .env_remove("MUTANT")
        .envs(stage.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if let Some(mutant) = mutant {
        command.env("MUTANT", mutant);
    }
    let mut child = command.spawn()?;
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(judge(status));
        }
        if started.elapsed() > MOST {
            child.kill()?;
            child.wait()?;
            return Ok(Outcome::TimedOut);
        }
        thread::sleep(Duration::from_millis(20));
    }
}

fn judge(status: ExitStatus) -> Outcome {
    match (status.success(), status.signal()) {
        (true, _) => Outcome::Passed,
        // SIGXCPU, or SIGKILL where that was not heard.
        (false, Some(24 | 9)) => Outcome::TimedOut,
        (false, _) => Outcome::Failed,
    }
}

/// Builds all that the plan names and runs it once as it is.
fn stages(tree: &Path, plan: &Value) -> Result<Vec<Stage>, String> {
    let entries = plan.as_array().ok_or("the plan is no list")?;
    let targets = entries.iter().filter_map(|entry| entry["target"].as_str());
    let binaries = binaries(tree, targets)?;
    let mut stages = Vec::new();
    for entry in entries {
        let text = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
        let target = text("target");
        let (binary, folder) = binaries
            .get(&target)
            .ok_or(format!("no test binary `{target}`"))?;
        let words = |name: &str| -> Vec<String> {
            let list = entry[name].as_array().cloned().unwrap_or_default();
            list.iter()
                .filter_map(|word| word.as_str().map(str::to_owned))
                .collect()
        };
        let env = entry["env"].as_object().cloned().unwrap_or_default();
        let mut stage = Stage {
            name: text("name"),
            binary: binary.clone(),
            folder: folder.clone(),
            args: words("args"),
            files: words("files"),
            env: (env.into_iter())
                .filter_map(|(name, value)| Some((name, value.as_str()?.to_owned())))
                .collect(),
            processor: entry["processor"].as_u64().unwrap_or(600),
        };
        stage.env.push((
            "INSTA_WORKSPACE_ROOT".to_owned(),
            tree.to_string_lossy().into_owned(),
        ));
        let started = Instant::now();
        if !matches!(executed(&stage, None), Ok(Outcome::Passed)) {
            return Err(format!("{} fails without any mutant", stage.name));
        }
        println!("{}: {:.1} s", stage.name, started.elapsed().as_secs_f64());
        stages.push(stage);
    }
    Ok(stages)
}

/// The test binaries by target, and the folders of their packages.
fn binaries<'p>(
    tree: &Path,
    targets: impl Iterator<Item = &'p str>,
) -> Result<BTreeMap<String, (PathBuf, PathBuf)>, String> {
    let mut wanted = vec!["--lib"];
    for target in targets {
        let name = target.split_once(':').map_or(target, |(_, name)| name);
        if !name.starts_with("sim_") {
            wanted.extend(["--test", name]);
        }
    }
    let output = Command::new("cargo")
        .args(["test", "--no-run", "--message-format=json"])
        .args(wanted)
        .args(["-p", "sim-compiler", "-p", "sim-runtime", "-p", "sim-tests"])
        .current_dir(tree)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err("the tests do not build".to_owned());
    }
    let mut found = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Ok(message) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        let (Some(path), Some(manifest)) = (
            message["executable"].as_str(),
            message["manifest_path"].as_str(),
        ) else {
            continue;
        };
        let name = message["target"]["name"].as_str().unwrap_or_default();
        let folder = Path::new(manifest).parent().unwrap_or(tree);
        found.insert(
            format!("{}:{name}", package(folder)),
            (path.into(), folder.to_owned()),
        );
    }
    Ok(found)
}

fn package(folder: &Path) -> String {
    folder
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}
