//! Runs that are cut between two steps: which steps a part of a run has, and the words that travel from one
//! part to the next.

use sim_compiler::manifest::Sampling;
use std::{any::Any, fmt, ops::Range, sync::Arc};

/// What a run needs to go on: everything that a kernel or a machine keeps from one step to the next, hidden
/// states included.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Saved {
    /// The steps that are done.
    pub(crate) step: u32,
    /// By word of an agent's row of states: that of all agents.
    pub(crate) states: Vec<Vec<u32>>,
    /// By agent: its step count and flags.
    pub(crate) progress: Vec<u32>,
    /// By word of a world's row of states: that of all worlds.
    pub(crate) world_states: Vec<Vec<u32>>,
    /// By series: the samples that were taken, as in `RawResults::series`.
    pub(crate) series: Vec<Vec<u32>>,
    /// The name of the kernel that computed it; empty on the CPU.
    pub(crate) kernel: String,
    /// What that kernel keeps beside states, by chunk of the population.
    pub(crate) scratch: Vec<Scratch>,
    /// Where states and scratch are, too, or alone, if they were left on the device.
    pub(crate) on_device: Option<OnDevice>,
}

/// Memory of a device, which the backend knows that has put something there.
#[derive(Clone)]
pub(crate) struct OnDevice(pub(crate) Arc<dyn Any + Send + Sync>);

impl PartialEq for OnDevice {
    fn eq(&self, other: &OnDevice) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for OnDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnDevice")
    }
}

/// What a kernel that takes several dispatches a step keeps of a chunk of agents.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Scratch {
    /// The first agent, counted within the run, and the number of agents.
    pub(crate) agents: [u32; 2],
    pub(crate) words: Vec<u32>,
}

/// The steps of a run that are computed by one call of a backend.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<'a> {
    /// Where the steps before it ended; `None` if it begins with `init`.
    pub(crate) from: Option<&'a Saved>,
    /// Its last step, exclusive. If it is the run's, the part ends with `finish`.
    pub(crate) until: u32,
    /// Whether a part that is cut computes the outputs, too, as if the run ended with it: backends that would
    /// need a pass of its own for them leave them empty.
    pub(crate) previews: bool,
    /// Whether a part that is cut may leave the states on the device, for the part after it.
    #[cfg_attr(
        not(feature = "gpu"),
        expect(dead_code, reason = "only the GPU backend reads it")
    )]
    pub(crate) leaves: bool,
}

impl<'a> Part<'a> {
    /// A whole run.
    pub(crate) fn whole(steps: u32) -> Part<'static> {
        Part {
            from: None,
            until: steps,
            previews: false,
            leaves: false,
        }
    }

    /// The steps after `saved`, up to `until`. A run that has done none begins anew.
    pub(crate) fn after(saved: &'a Saved, until: u32) -> Part<'a> {
        let from = Some(saved).filter(|saved| saved.step > 0);
        Part {
            from,
            until,
            previews: false,
            leaves: false,
        }
    }

    /// Its steps.
    pub(crate) fn steps(&self) -> Range<u32> {
        self.from.map_or(0, |from| from.step)..self.until
    }

    /// Whether it ends before the last of all steps, so that there are no results yet.
    pub(crate) fn is_cut(&self, all: u32) -> bool {
        self.until < all
    }

    /// The numbers of the samples that it takes.
    pub(crate) fn samples(&self, sampling: Sampling) -> Range<usize> {
        let taken = |from: &Saved| sampling.samples(from.step) as usize;
        self.from.map_or(0, taken)..sampling.samples(self.until) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_take_each_sample_once() {
        for every in 1..5 {
            let sampling = Sampling {
                every,
                words: 1,
                world_words: 0,
            };
            for first in 1..9 {
                let saved = Saved {
                    step: first,
                    ..Saved::default()
                };
                let before = Part::whole(first).samples(sampling);
                let after = Part::after(&saved, 10).samples(sampling);
                let whole = Part::whole(10).samples(sampling);
                assert_eq!((before.start, before.end), (0, after.start));
                assert_eq!(after.end, whole.end);
            }
        }
    }
}
