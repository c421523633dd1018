//! Several runs of one model that differ in little: what the caller says of each, and what a backend is given.

use crate::{
    bind::{Array, Launch},
    control::Control,
    error::Error,
    run::Keep,
};
use std::sync::Arc;

/// How one run of a batch differs from the simulation: by its seed, its params, its inputs. See
/// [`crate::Simulation::run_each`].
///
/// ```
/// use sim_runtime::Variation;
///
/// let sweep: Vec<Variation> = (0..100)
///     .map(|k| Variation::new().seed(k).param("sigma", 0.1 + 0.005 * k as f32))
///     .collect();
/// # assert_eq!(sweep.len(), 100);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Variation {
    pub(crate) seed: Option<u64>,
    pub(crate) params: Vec<(String, Array)>,
    pub(crate) inputs: Vec<(String, Array)>,
}

impl Variation {
    /// None at all.
    pub fn new() -> Variation {
        Variation::default()
    }

    /// Does the run differ in nothing?
    pub(crate) fn is_none(&self) -> bool {
        self.seed.is_none() && self.params.is_empty() && self.inputs.is_empty()
    }

    /// The seed of every draw.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Variation {
        self.seed = Some(seed);
        self
    }

    /// The value of a param, as [`crate::Simulation::param`] takes it; checked when the run begins.
    #[must_use]
    pub fn param(mut self, name: &str, value: impl Into<Array>) -> Variation {
        self.params.push((name.to_owned(), value.into()));
        self
    }

    /// The values of an input, as [`crate::Simulation::input`] takes them; checked when the run begins.
    #[must_use]
    pub fn input(mut self, name: &str, values: impl Into<Array>) -> Variation {
        self.inputs.push((name.to_owned(), values.into()));
        self
    }
}

/// Runs of one kernel: all have the same agents, steps and tables.
#[cfg_attr(
    not(feature = "gpu"),
    expect(dead_code, reason = "only a GPU's session reads it")
)]
pub(crate) struct Batch<'a> {
    /// How many, at least 1.
    pub(crate) runs: usize,
    /// The launch of each. On a GPU its inputs are complete.
    pub(crate) launch: &'a dyn Fn(usize) -> Result<Arc<Launch>, Error>,
    /// Do all have the same inputs?
    pub(crate) same_inputs: bool,
    pub(crate) keep: Keep,
    pub(crate) control: Control<'a>,
}
