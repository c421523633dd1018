//! Many texts, and what they found: one entry per fault, with the seed and the smallest text that shows it.

use crate::attack::{self, Verdict, Worker};
use crate::compare::{Outcome, Way, compare};
use crate::examine::End;
use crate::mutants::Corpus;
use crate::programs::{self, Profile, Program};
use crate::shrink::shrink;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Texts tried to make one smaller.
const TRIALS: usize = 1_500;

/// A fault of the compiler.
#[derive(Clone, Debug)]
pub struct Fault {
    /// What all its texts have in common.
    pub signature: String,
    /// How many texts showed it.
    pub count: u64,
    /// The seed of the first.
    pub seed: u64,
    /// What is known of it.
    pub report: String,
    /// A small text that shows it.
    pub text: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "== {} ({} texts, first seed {})",
            self.signature, self.count, self.seed
        )?;
        writeln!(f, "{}", self.report)?;
        match self.text.len() > 3_000 {
            true => write!(f, "---- {} bytes", self.text.len()),
            false => write!(f, "----\n{}", self.text),
        }
    }
}

impl Fault {
    /// Writes the small text to a file of the folder, named after the seed.
    ///
    /// # Errors
    /// What the file system says.
    pub fn write(&self, folder: &Path) -> std::io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let text = format!("// {}\n{}", self.signature.replace('\n', " "), self.text);
        std::fs::write(folder.join(format!("mutant_{}.sim", self.seed)), text)
    }
}

/// What a campaign found.
#[derive(Debug, Default)]
pub struct Found {
    /// Texts by how far they got.
    pub ends: BTreeMap<String, u64>,
    /// Faults, those of most texts first.
    pub faults: Vec<Fault>,
}

impl Found {
    /// One line.
    pub fn summary(&self) -> String {
        let ends: Vec<String> = self
            .ends
            .iter()
            .map(|(end, n)| format!("{n} {end}"))
            .collect();
        let texts: u64 = self.faults.iter().map(|fault| fault.count).sum();
        format!(
            "{}; {} faults in {texts} texts",
            ends.join(", "),
            self.faults.len()
        )
    }

    fn add(&mut self, seed: u64, text: &str, verdict: Verdict) -> Option<Fault> {
        let (signature, report) = match verdict {
            Verdict::Good(end) => {
                let name = match end {
                    End::Refused => "refused by the compiler",
                    End::NotLaunched => "refused at launch",
                    End::Cancelled => "run for their time",
                    End::Ran => "run to the end",
                };
                *self.ends.entry(name.to_owned()).or_default() += 1;
                return None;
            }
            Verdict::Fault { signature, report } => (signature, report),
        };
        if let Some(fault) = self
            .faults
            .iter_mut()
            .find(|fault| fault.signature == signature)
        {
            fault.count += 1;
            return None;
        }
        let fault = Fault {
            signature,
            count: 1,
            seed,
            report,
            text: text.to_owned(),
        };
        self.faults.push(fault.clone());
        Some(fault)
    }
}

/// A comparison; a panic is a fault at its place.
fn judged(program: &Program, ways: &[Way]) -> Result<Outcome, String> {
    let judge = std::panic::AssertUnwindSafe(|| compare(program, ways));
    std::panic::catch_unwind(judge).unwrap_or_else(|_| Err(attack::last_panic()))
}

fn kind(error: &str) -> &str {
    error.split(" | ").next().unwrap_or_default()
}

/// Compares the programs of some seeds, with `worlds` every third one of worlds; `say` hears of new faults
/// and of progress.
pub fn programs(
    seeds: Range<u64>,
    profile: Profile,
    worlds: bool,
    ways: &[Way],
    say: impl Fn(&str),
) -> Found {
    attack::note_panics();
    let mut found = Found::default();
    let first = seeds.start;
    for seed in seeds {
        if seed > first && (seed - first).is_multiple_of(1_000) {
            say(&format!("{} programs", seed - first));
        }
        let program = programs::program(seed, profile, worlds);
        let error = match judged(&program, ways) {
            Ok(outcome) => {
                *found.ends.entry(format!("{outcome:?}")).or_default() += 1;
                continue;
            }
            Err(error) => error,
        };
        let signature = kind(&error).to_owned();
        if let Some(fault) = found
            .faults
            .iter_mut()
            .find(|fault| fault.signature == signature)
        {
            fault.count += 1;
            continue;
        }
        say(&format!("seed {seed}: {error}"));
        let begin = std::time::Instant::now();
        let text = shrink(&program.text, TRIALS, |text| {
            let smaller = Program {
                text: text.to_owned(),
                ..program.clone()
            };
            let same = |error: String| kind(&error) == signature;
            begin.elapsed().as_secs() < 60 && judged(&smaller, ways).err().is_some_and(same)
        });
        let program = Program { text, ..program };
        let report = judged(&program, ways).err().unwrap_or(error);
        let text = program.launch_text() + &program.text;
        found.faults.push(Fault {
            signature,
            count: 1,
            seed,
            report,
            text,
        });
    }
    found
        .faults
        .sort_by_key(|fault| std::cmp::Reverse(fault.count));
    found
}

/// Examines the mutants of some seeds with workers of a program; `say` hears of new faults and of progress.
///
/// # Errors
/// Workers that cannot be started.
pub fn mutants(
    corpus: &Corpus,
    program: &Path,
    seeds: Range<u64>,
    say: impl Fn(&str) + Sync,
) -> std::io::Result<Found> {
    let found = Mutex::new(Found::default());
    let next = AtomicU64::new(seeds.start);
    let lanes = std::thread::available_parallelism().map_or(1, |count| count.get());
    let lane = || -> std::io::Result<()> {
        let mut worker = Worker::new(program);
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return Ok(());
            }
            if seed > seeds.start && (seed - seeds.start).is_multiple_of(5_000) {
                say(&format!("{} texts", seed - seeds.start));
            }
            let mutant = corpus.mutant(seed);
            let verdict = worker.examine(&mutant.text)?;
            let new = lock(&found).add(seed, &mutant.text, verdict);
            if let Some(fault) = new {
                say(&format!("seed {seed}: {}", fault.report));
                let small = smaller(&mut worker, &fault);
                let mut found = lock(&found);
                let entry = found
                    .faults
                    .iter_mut()
                    .find(|other| other.signature == fault.signature);
                if let Some(entry) = entry {
                    entry.text = small;
                }
            }
        }
    };
    std::thread::scope(|scope| {
        let lanes: Vec<_> = (0..lanes).map(|_| scope.spawn(lane)).collect();
        let panicked = |_| Err(std::io::Error::other("a thread panicked"));
        (lanes.into_iter()).try_for_each(|lane| lane.join().unwrap_or_else(panicked))
    })?;
    let mut found = found
        .into_inner()
        .unwrap_or_else(|poison| poison.into_inner());
    found
        .faults
        .sort_by_key(|fault| std::cmp::Reverse(fault.count));
    Ok(found)
}

fn lock(found: &Mutex<Found>) -> std::sync::MutexGuard<'_, Found> {
    found.lock().unwrap_or_else(|poison| poison.into_inner())
}

/// A smaller text with the same fault; slow faults get less time.
fn smaller(worker: &mut Worker, fault: &Fault) -> String {
    let begin = std::time::Instant::now();
    shrink(&fault.text, TRIALS, |text| {
        begin.elapsed().as_secs() < 60
            && matches!(
                worker.examine(text),
                Ok(Verdict::Fault { signature, .. }) if signature == fault.signature
            )
    })
}
