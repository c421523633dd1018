//! Chooses mutants by a seed and writes them into a copy of the project, until all of them compile.

use crate::{
    find::{Change, Site, sites},
    numbers, option,
    rewrite::{Mutant, rewritten},
};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// A site and its file, relative to the tree.
struct Candidate {
    file: String,
    site: Site,
}

/// What every crate with mutants gets.
const MODULE: &str = "//! Which mutant is awake.

/// Is it this one?
pub fn active(number: usize) -> bool {
    static AWAKE: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    let read = || std::env::var(\"MUTANT\").ok().and_then(|text| text.parse().ok()).unwrap_or(usize::MAX);
    *AWAKE.get_or_init(read) == number
}
";

pub fn prepare(mut args: Vec<String>) -> Result<(), String> {
    let tree = PathBuf::from(option(&mut args, "--tree").ok_or("--tree is missing")?);
    let seed: u64 = option(&mut args, "--seed")
        .and_then(|text| text.parse().ok())
        .unwrap_or(1);
    let count: usize = option(&mut args, "--count")
        .and_then(|text| text.parse().ok())
        .unwrap_or(300);
    let mut refused: BTreeSet<usize> = numbers(option(&mut args, "--skip"))?.into_iter().collect();
    let statements = args.iter().position(|arg| arg == "--statements");
    statements.iter().for_each(|at| drop(args.remove(*at)));
    let candidates = candidates(&tree, &args, statements.is_some())?;
    println!("{} mutants in {}", candidates.len(), args.join(", "));
    let order = shuffled(candidates.len(), seed);
    let originals = originals(&tree, &candidates)?;
    declare(&tree)?;
    loop {
        let chosen: Vec<usize> = (order.iter().copied())
            .filter(|number| !refused.contains(number))
            .take(count)
            .collect();
        write(&tree, &candidates, &originals, &chosen)?;
        let broken = broken(&tree)?;
        if broken.is_empty() {
            let list: Vec<Value> = chosen
                .iter()
                .map(|&number| shown(number, &candidates[number]))
                .collect();
            let path = tree.join("mutants.json");
            let text = serde_json::to_string_pretty(&list).map_err(|error| error.to_string())?;
            fs::write(&path, text).map_err(|error| error.to_string())?;
            println!(
                "{} mutants, {} others do not compile",
                chosen.len(),
                refused.len()
            );
            return Ok(());
        }
        println!("{} do not compile: {broken:?}", broken.len());
        refused.extend(broken);
    }
}

fn shown(number: usize, candidate: &Candidate) -> Value {
    json!({
        "number": number,
        "file": candidate.file,
        "line": candidate.site.line,
        "what": candidate.site.what,
    })
}

fn candidates(tree: &Path, paths: &[String], statements: bool) -> Result<Vec<Candidate>, String> {
    let mut files = Vec::new();
    for path in paths {
        walk(&tree.join(path), &mut files);
    }
    files.sort();
    let mut candidates = Vec::new();
    for path in files {
        let source =
            fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let relative = path.strip_prefix(tree).unwrap_or(&path);
        let found = sites(&source).map_err(|error| format!("{}: {error}", path.display()))?;
        let wanted = |site: &Site| matches!(site.change, Change::Statement) == statements;
        candidates.extend(found.into_iter().filter(wanted).map(|site| Candidate {
            file: relative.to_string_lossy().into_owned(),
            site,
        }));
    }
    Ok(candidates)
}

/// The sources under a path, tests left out.
fn walk(path: &Path, found: &mut Vec<PathBuf>) {
    let name = path.file_stem().unwrap_or_default();
    if name == "tests" {
        return;
    }
    if path.is_dir() {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            walk(&entry.path(), found);
        }
    } else if path.extension().is_some_and(|extension| extension == "rs") {
        found.push(path.to_owned());
    }
}

/// Numbers below `count` in an order by a seed (splitmix64, Fisher and Yates).
fn shuffled(count: usize, seed: u64) -> Vec<usize> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let mut order: Vec<usize> = (0..count).collect();
    for k in (1..count).rev() {
        order.swap(k, (next() % (k as u64 + 1)) as usize);
    }
    order
}

fn originals(tree: &Path, candidates: &[Candidate]) -> Result<BTreeMap<String, String>, String> {
    let mut originals = BTreeMap::new();
    for candidate in candidates {
        if !originals.contains_key(&candidate.file) {
            let text = fs::read_to_string(tree.join(&candidate.file));
            let text = text.map_err(|error| format!("{}: {error}", candidate.file))?;
            originals.insert(candidate.file.clone(), text);
        }
    }
    Ok(originals)
}

/// Gives the crates their module.
fn declare(tree: &Path) -> Result<(), String> {
    for (krate, module) in [
        ("compiler", MODULE),
        (
            "runtime",
            "//! Which mutant is awake.\n\npub(crate) use sim_compiler::mutants::active;\n",
        ),
    ] {
        let lib = tree.join(krate).join("src/lib.rs");
        let text = fs::read_to_string(&lib).map_err(|error| error.to_string())?;
        if !text.contains("mod mutants;") {
            let word = if krate == "compiler" {
                "pub mod"
            } else {
                "mod"
            };
            let text = text.replacen("\nmod ", "\n#[doc(hidden)]\nKIND mutants;\nmod ", 1);
            let text = match text.contains("KIND mutants;") {
                true => text,
                false => {
                    text.replacen("\npub mod ", "\n#[doc(hidden)]\nKIND mutants;\npub mod ", 1)
                }
            };
            fs::write(
                &lib,
                text.replace("KIND mutants", &format!("{word} mutants")),
            )
            .map_err(|error| error.to_string())?;
        }
        let path = tree.join(krate).join("src/mutants.rs");
        fs::write(path, module).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn write(
    tree: &Path,
    candidates: &[Candidate],
    originals: &BTreeMap<String, String>,
    chosen: &[usize],
) -> Result<(), String> {
    let mut by_file: BTreeMap<&str, Vec<Mutant>> = BTreeMap::new();
    for &number in chosen {
        by_file
            .entry(&candidates[number].file)
            .or_default()
            .push(Mutant {
                number,
                site: candidates[number].site.clone(),
            });
    }
    for (file, source) in originals {
        let text = match by_file.get(file.as_str()) {
            Some(mutants) => rewritten(source, mutants),
            None => source.clone(),
        };
        let path = tree.join(file);
        // Files that stay as they are keep their times, so that little is built again.
        if fs::read_to_string(&path).ok().as_deref() != Some(&text) {
            fs::write(path, text).map_err(|error| error.to_string())?;
        }
    }
    Ok(())
}

/// The numbers of the mutants that the compiler complains of.
fn broken(tree: &Path) -> Result<BTreeSet<usize>, String> {
    let output = Command::new("cargo")
        .args([
            "check",
            "--message-format=json",
            "-p",
            "sim-runtime",
            "-p",
            "sim-compiler",
        ])
        .args(["-p", "sim-tests", "--lib", "--keep-going"])
        .current_dir(tree)
        .output()
        .map_err(|error| error.to_string())?;
    let mut broken = BTreeSet::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Ok(message) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        let message = &message["message"];
        if message["level"] != "error" {
            continue;
        }
        let spans = message["spans"].as_array().cloned().unwrap_or_default();
        for span in spans.iter().filter(|span| span["is_primary"] == true) {
            let (Some(file), Some(start)) =
                (span["file_name"].as_str(), span["byte_start"].as_u64())
            else {
                continue;
            };
            match before(&tree.join(file), start as usize) {
                Some(number) => drop(broken.insert(number)),
                None => return Err(format!("no mutant: {}", message["rendered"])),
            }
        }
    }
    if broken.is_empty() && !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(broken)
}

/// The mutant that stands last before a place.
fn before(path: &Path, place: usize) -> Option<usize> {
    const CALL: &str = "crate::mutants::active(";
    let text = fs::read_to_string(path).ok()?;
    // An error at the question itself belongs to it.
    let end = text[place..]
        .find('\n')
        .map_or(text.len(), |end| place + end);
    let near = text[..end]
        .rfind(CALL)
        .filter(|&at| at <= place + CALL.len())?;
    let digits = &text[near + CALL.len()..];
    digits[..digits.find(')')?].parse().ok()
}
