//! How a program is laid out on a GPU, apart from what it means: the choices that a kernel's text depends on.
//!
//! A schedule never changes what a model computes but for the order in which a float sum is taken
//! (`lanes`); draws are the same bits under each. [`Schedule::default`] asks nothing of the host beyond
//! the manifest; a runtime that knows its device and population takes a better one.

use serde::{Deserialize, Serialize};

/// The choices of one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// Lanes of a subgroup that share one agent: a power of two, 1 to 32. More than 1 needs subgroups.
    pub lanes: u32,
    /// How often the time loop's body stands in the text, at least 1; 0 chooses by the body's size.
    pub unroll_steps: u32,
    /// Computes what depends on the step but not on the agent once, in an entry point `prepare` of its own
    /// that the host dispatches before `main`.
    pub prepare: bool,
}

impl Default for Schedule {
    fn default() -> Self {
        Schedule {
            lanes: 1,
            unroll_steps: 0,
            prepare: false,
        }
    }
}

/// A kernel's text and what a host must know to dispatch it, beside the manifest.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// WGSL with the entry point `main`, and `prepare` if `prepared` says so.
    pub wgsl: String,
    /// Lanes per agent: a workgroup runs `manifest.workgroup_size / lanes` agents.
    pub lanes: u32,
    /// What `prepare` computes; none if there is no such entry point.
    pub prepared: Option<Prepared>,
    /// What the schedule left to the compiler, and what it chose.
    pub choices: Vec<Choice>,
}

/// A choice that was made for a kernel, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What was chosen.
    pub what: String,
    /// The reason.
    pub why: String,
}

/// The table that the entry point `prepare` fills: one row of `vec4`s per step of the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prepared {
    /// Its binding.
    pub binding: u32,
    /// Words of a row, a multiple of 4.
    pub words: u32,
    /// Steps that one workgroup computes.
    pub workgroup_size: u32,
}
