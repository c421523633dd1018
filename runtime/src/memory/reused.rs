//! A buffer pool in host memory: that of results that were dropped, kept for those of the next run. The
//! system maps fresh memory when it is first written, page fault by page fault, which takes longer than
//! copying results into it.

use super::{MANY, zeroed};
use crate::error::Error;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Most words that are kept: 256 MiB.
const MOST: usize = 64 << 20;
/// What debug builds fill reused memory with: a NaN with a recognisable payload.
const POISON: u32 = 0x7fc0_0ded;

/// Memory that nobody uses. A browser's memory stays mapped, and needs none of this.
static KEPT: Mutex<Vec<Vec<u32>>> = Mutex::new(Vec::new());

fn kept() -> MutexGuard<'static, Vec<Vec<u32>>> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Words of any value, all of which the caller overwrites: zeros, or those of results that were dropped.
///
/// # Errors
/// [`Error::HostMemory`]
pub(crate) fn to_overwrite(len: usize) -> Result<Vec<u32>, Error> {
    match take(len) {
        Some(mut words) => {
            if cfg!(debug_assertions) {
                words.fill(POISON);
            }
            Ok(words)
        }
        None => zeroed(len),
    }
}

/// Kept memory of this length. If there is none, runs have another size now, and all is freed.
fn take(len: usize) -> Option<Vec<u32>> {
    if len < MANY || cfg!(target_family = "wasm") {
        return None;
    }
    let mut kept = kept();
    let found = kept.iter().position(|words| words.len() == len);
    if found.is_none() {
        kept.clear();
    }
    found.map(|at| kept.swap_remove(at))
}

/// Keeps the memory of results that nobody needs, unless it is small or too much is kept.
pub(crate) fn keep(words: Vec<u32>) {
    if words.len() < MANY || cfg!(target_family = "wasm") {
        return;
    }
    let mut kept = kept();
    let all: usize = kept.iter().map(Vec::len).sum();
    if all + words.len() <= MOST {
        kept.push(words);
    }
}

/// Frees all that is kept. Was there any?
pub(super) fn free() -> bool {
    let freed = std::mem::take(&mut *kept());
    !freed.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A length that no other test has.
    const LEN: usize = MANY + 77;

    #[test]
    fn memory_is_used_again_for_results_of_the_same_length() {
        // Other tests may free what is kept at any moment.
        let reused = (0..100).any(|_| {
            let words = to_overwrite(LEN).expect("there is memory");
            let place = words.as_ptr();
            keep(words);
            let again = to_overwrite(LEN).expect("there is memory");
            assert_eq!(again.len(), LEN);
            again.as_ptr() == place
        });
        assert!(reused);
    }

    #[test]
    fn small_memory_is_zeros_and_not_kept() {
        keep(vec![1; MANY - 1]);
        assert!(kept().iter().all(|words| words.len() != MANY - 1));
        let words = to_overwrite(100).expect("there is memory");
        assert_eq!(words, [0; 100]);
    }

    #[test]
    fn no_more_is_kept_than_may_be() {
        keep(vec![0; MOST + 1]);
        assert!(kept().iter().all(|words| words.len() <= MOST));
        keep(vec![0; LEN + 1]);
        free();
        assert!(kept().iter().all(|words| words.len() != LEN + 1));
    }
}
