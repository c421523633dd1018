//! What is refused is what results take.

use super::{Error, Keep, available, check};
use sim_compiler::manifest::Manifest;

const OUTPUTS: Keep = Keep {
    outputs: true,
    states: false,
};

fn manifest(source: &str) -> Manifest {
    sim_compiler::compile(source)
        .expect("a legal model")
        .manifest
}

/// Agents whose results take about three times the memory that there is, if each has so many words.
fn too_many(words: u64) -> Option<u32> {
    let agents = 3 * available()? / (4 * words);
    Some(u32::try_from(agents).expect("enough words for few agents"))
}

fn refused(manifest: &Manifest, agents: u32, keep: Keep, runs: usize) -> bool {
    match check(manifest, agents, keep, runs) {
        Ok(()) => false,
        Err(Error::HostMemory { bytes }) => {
            assert!(available().is_none_or(|available| bytes > available));
            true
        }
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn states_count_where_they_are_kept() {
    let manifest = manifest("state w = [1.0; 1000] output first = w[0]");
    let Some(agents) = too_many(1000) else { return };
    assert!(refused(&manifest, agents, Keep::ALL, 1));
    assert!(!refused(&manifest, agents, OUTPUTS, 1));
}

#[test]
fn outputs_count_where_they_are_kept() {
    let manifest = manifest("state w = [1.0; 1000] output w output again = w");
    let Some(agents) = too_many(2000) else { return };
    assert!(refused(&manifest, agents, OUTPUTS, 1));
    let none = Keep {
        outputs: false,
        states: false,
    };
    assert!(!refused(&manifest, agents, none, 1));
}

/// One run's results are taken while the next one's come.
#[test]
fn two_runs_need_twice_as_much() {
    let manifest = manifest("state w = [1.0; 1000] output w");
    let Some(agents) = too_many(1000) else { return };
    // Twice 1000 words for each agent: 5/6 of the memory for one run, and 5/3 for two or more.
    let agents = agents / 36 * 5;
    assert!(!refused(&manifest, agents, OUTPUTS, 1));
    assert!(refused(&manifest, agents, OUTPUTS, 2));
    assert!(!refused(&manifest, agents / 5 * 2, OUTPUTS, 100));
}
