//! What a host dispatches of a kernel: its entry points, when, and by how many workgroups.

use super::{Kernel, Schedule};
use crate::value::{VEC4_WORDS, WORD_BYTES};
use std::fmt;

/// Why no step of a model with worlds can be several dispatches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// A fold of the world stands in a loop: the number of dispatches would depend on its iterations.
    FoldInLoop,
    /// A fold combines more agents than workgroups of workgroups of workgroups.
    LargeFold,
    /// Code of worlds is checked, and keeps what it finds with the agents.
    Checks,
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Obstacle::FoldInLoop => "a fold of the world stands in a loop",
            Obstacle::LargeFold => "a fold combines more than 2^24 agents",
            Obstacle::Checks => "code of worlds is checked",
        })
    }
}

/// An entry point that a run dispatches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Its name.
    pub name: String,
    /// When it is dispatched.
    pub when: When,
    /// By how many workgroups.
    pub grid: Grid,
}

/// When an entry point is dispatched, for a range of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Once: it computes all steps of the range.
    Range,
    /// Before the first step of a run.
    Birth,
    /// In each step; a range has one.
    Step,
    /// After each step `t` where `t + 1` is a multiple of `every`.
    Sample {
        /// Steps from one to the next.
        every: u32,
    },
    /// After the last step of a run.
    End,
}

/// The number of workgroups of a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grid {
    /// One for this many agents.
    Agents(u32),
    /// This many for each world.
    Worlds(u32),
}

/// A buffer of `vec4`s that kernels alone read and write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scratch {
    /// Its binding.
    pub binding: u32,
    /// `vec4`s for each agent.
    pub per_agent: u32,
    /// `vec4`s for each world.
    pub per_world: u32,
}

impl Scratch {
    /// Its bytes, for these agents in worlds of `members`.
    pub fn bytes(&self, agents: u32, members: u32) -> u64 {
        let rows = u64::from(self.per_agent) * u64::from(agents)
            + u64::from(self.per_world) * u64::from(agents / members.max(1));
        rows.max(1) * u64::from(VEC4_WORDS) * WORD_BYTES
    }
}

/// A schedule and its kernel, whose `decisions` say why.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The schedule.
    pub schedule: Schedule,
    /// The kernel.
    pub kernel: Kernel,
}
