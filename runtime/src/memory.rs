//! Whether results will fit the machine's memory. Linux hands out memory that it does not have and ends
//! the process later, so asking the allocator is not enough.

use crate::{error::Error, run::Keep};
use sim_compiler::manifest::Manifest;

/// Results below so many bytes need no question.
const ALWAYS: u64 = 64 << 20;

/// Refuses a batch of so many runs if their results cannot fit into what is available now.
///
/// # Errors
/// [`Error::HostMemory`]
pub(crate) fn check(
    manifest: &Manifest,
    agents: u32,
    keep: Keep,
    runs: usize,
) -> Result<(), Error> {
    // Once as they come from the backend, once by name; and the progress of each agent.
    let mut words = 0;
    if keep.outputs {
        words += 2 * u64::from(manifest.output_words) + 1;
    }
    if keep.states {
        words += 2 * u64::from(manifest.state_words);
    }
    // One run is taken while the next is on its way.
    let bytes = 4 * words * u64::from(agents) * runs.min(2) as u64;
    // Asking takes as long as a short run on a GPU.
    if bytes < ALWAYS {
        return Ok(());
    }
    match available() {
        Some(available) if bytes > available => Err(Error::HostMemory { bytes }),
        _ => Ok(()),
    }
}

/// Bytes that programs can still have, where the system says so.
fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}
