//! Runs mutants in numbers, and shows one by its seed: `sim-oracle mutants FIRST COUNT [FOLDER]`,
//! `sim-oracle mutant SEED`. A worker process of either is `sim-oracle worker`.

use sim_oracle::programs::Profile;
use sim_oracle::{attack, campaign, compare, mutants::Corpus};
use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's allocator, which counts, and refuses what exceeds [`attack::MEMORY`] in a worker.
struct Counting;

static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);
static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// Safety: every block comes from the system's allocator and goes back there with its own layout;
// counting does not touch it. A null pointer is what `GlobalAlloc` asks for where there is no memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let size = layout.size();
        let now = NOW.fetch_add(size, Ordering::Relaxed).saturating_add(size);
        if now > LIMIT.load(Ordering::Relaxed) {
            NOW.fetch_sub(size, Ordering::Relaxed);
            return std::ptr::null_mut();
        }
        PEAK.fetch_max(now, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words[..] {
        ["worker"] => {
            LIMIT.store(attack::MEMORY, Ordering::Relaxed);
            let reset = || PEAK.store(NOW.load(Ordering::Relaxed), Ordering::Relaxed);
            attack::work(reset, || PEAK.load(Ordering::Relaxed)).map_err(|error| error.to_string())
        }
        ["mutant", seed] => show(seed),
        ["mutants", first, count] => mutants(first, count, None),
        ["mutants", first, count, folder] => mutants(first, count, Some(Path::new(folder))),
        ["program", seed] => program(seed, &[]),
        ["program", seed, ref rest @ ..] => program(seed, rest),
        ["programs", first, count] => programs(first, count, &[]),
        ["programs", first, count, ref rest @ ..] => programs(first, count, rest),
        ["examine", file] => examine(file),
        _ => Err("sim-oracle mutants FIRST COUNT [FOLDER] | mutant SEED | examine FILE".into()),
    };
    match outcome {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            std::process::ExitCode::FAILURE
        }
    }
}

fn corpus() -> Result<Corpus, String> {
    Corpus::read(&sim_oracle::repository()).map_err(|error| error.to_string())
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("`{text}` is no number"))
}

fn show(seed: &str) -> Result<(), String> {
    let mutant = corpus()?.mutant(number(seed)?);
    println!("// {}: {}", mutant.origin, mutant.recipe.join(", "));
    println!("{}", mutant.text);
    Ok(())
}

fn examine(file: &str) -> Result<(), String> {
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let verdict = attack::Worker::new(program).examine(&text);
    println!("{:?}", verdict.map_err(|error| error.to_string())?);
    Ok(())
}

fn profile(rest: &[&str]) -> Profile {
    match rest.contains(&"integers") {
        true => Profile::Integers,
        false => Profile::Whole,
    }
}

/// Shows a program; `integers` and `worlds` may follow its seed.
fn program(seed: &str, rest: &[&str]) -> Result<(), String> {
    let worlds = rest.contains(&"worlds");
    let program = sim_oracle::programs::program(number(seed)?, profile(rest), worlds);
    println!("{}{}", program.launch_text(), program.text);
    Ok(())
}

/// Compares programs; `integers`, `worlds` and `gpu` may follow the numbers.
fn programs(first: &str, count: &str, rest: &[&str]) -> Result<(), String> {
    let (profile, worlds) = (profile(rest), rest.contains(&"worlds"));
    let ways = compare::ways(rest.contains(&"gpu"));
    let seeds = number(first)?..number(first)? + number(count)?;
    let found = campaign::programs(seeds, profile, worlds, &ways, |line| eprintln!("{line}"));
    println!("{}", found.summary());
    for fault in &found.faults {
        println!("\n{fault}");
    }
    match found.faults.is_empty() {
        true => Ok(()),
        false => Err(format!("{} faults", found.faults.len())),
    }
}

fn mutants(first: &str, count: &str, folder: Option<&Path>) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let seeds = number(first)?..number(first)? + number(count)?;
    let found = campaign::mutants(&corpus()?, &program, seeds, |line| eprintln!("{line}"))
        .map_err(|error| error.to_string())?;
    println!("{}", found.summary());
    for fault in &found.faults {
        println!("\n{fault}");
        if let Some(folder) = folder {
            fault.write(folder).map_err(|error| error.to_string())?;
        }
    }
    match found.faults.is_empty() {
        true => Ok(()),
        false => Err(format!("{} faults", found.faults.len())),
    }
}
