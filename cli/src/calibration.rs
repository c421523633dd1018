//! What `simc doctor` measured of this machine, kept in the directory of caches for `simc run`.

use crate::{cache, failure::Failure, output, problem};
use serde::{Deserialize, Serialize};
use sim_runtime::Calibration;
use std::{env, fs, io::Write, path::PathBuf, thread};

/// The file.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Stored {
    /// The processor and its threads: another one has other speeds.
    processor: String,
    threads: usize,
    adapter: String,
    gpu_open_seconds: f64,
    gpu_instruction_seconds: f64,
    cpu_instruction_seconds: f64,
    cpu_threads: u32,
}

fn place() -> Option<PathBuf> {
    cache::directory().map(|directory| directory.join("calibration.json"))
}

/// The processor's name, if the system tells it.
pub(crate) fn processor() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// Threads that run at a time.
pub(crate) fn threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// What was measured on this machine before, or estimates.
pub(crate) fn stored() -> Calibration {
    let text = place().and_then(|place| fs::read_to_string(place).ok());
    let stored = text.and_then(|text| serde_json::from_str::<Stored>(&text).ok());
    stored.and_then(valid).unwrap_or_default()
}

/// Of this machine, and with speeds that are some.
fn valid(stored: Stored) -> Option<Calibration> {
    let here = stored.processor == processor().unwrap_or_default() && stored.threads == threads();
    let speeds = [
        stored.gpu_open_seconds,
        stored.gpu_instruction_seconds,
        stored.cpu_instruction_seconds,
    ];
    let positive = speeds.iter().all(|it| it.is_finite() && *it > 0.0);
    (here && positive && stored.cpu_threads > 0).then_some(Calibration {
        gpu_open_seconds: stored.gpu_open_seconds,
        gpu_instruction_seconds: stored.gpu_instruction_seconds,
        cpu_instruction_seconds: stored.cpu_instruction_seconds,
        cpu_threads: stored.cpu_threads,
    })
}

/// Keeps a measurement, and says where; nowhere if there is no directory of caches.
///
/// # Errors
/// Why the file cannot be written.
pub(crate) fn store(adapter: &str, measured: Calibration) -> Result<Option<PathBuf>, Failure> {
    let Some(place) = place() else {
        return Ok(None);
    };
    let stored = Stored {
        processor: processor().unwrap_or_default(),
        threads: threads(),
        adapter: adapter.to_owned(),
        gpu_open_seconds: measured.gpu_open_seconds,
        gpu_instruction_seconds: measured.gpu_instruction_seconds,
        cpu_instruction_seconds: measured.cpu_instruction_seconds,
        cpu_threads: measured.cpu_threads,
    };
    let text = serde_json::to_string_pretty(&stored).expect("its numbers are finite") + "\n";
    if let Some(directory) = place.parent() {
        let made = fs::create_dir_all(directory);
        made.map_err(|error| problem::unwritable(directory, &error))?;
    }
    output::replace(&place, |out| out.write_all(text.as_bytes()))?;
    Ok(Some(place))
}

/// What the system is called.
pub(crate) fn system() -> String {
    format!("{} {}", env::consts::OS, env::consts::ARCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here() -> Stored {
        Stored {
            processor: processor().unwrap_or_default(),
            threads: threads(),
            adapter: "a".to_owned(),
            gpu_open_seconds: 0.2,
            gpu_instruction_seconds: 1e-14,
            cpu_instruction_seconds: 1e-11,
            cpu_threads: 4,
        }
    }

    #[test]
    fn measurements_of_other_machines_and_nonsense_are_left_alone() {
        assert_eq!(valid(here()).map(|it| it.gpu_open_seconds), Some(0.2));
        let other = Stored {
            processor: "another".to_owned(),
            ..here()
        };
        assert_eq!(valid(other), None);
        let more = Stored {
            threads: threads() + 1,
            ..here()
        };
        assert_eq!(valid(more), None);
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let nonsense = Stored {
                cpu_instruction_seconds: wrong,
                ..here()
            };
            assert_eq!(valid(nonsense), None);
        }
    }
}
