//! How one run of a batch differs from the simulation.

use crate::array::Array;

/// The differences between one run of a batch and its simulation: the seed, params and inputs. See
/// [`Simulation::run_each`](crate::Simulation::run_each).
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
    /// A run that does not differ.
    pub fn new() -> Variation {
        Variation::default()
    }

    /// Whether the run does not differ.
    pub(crate) fn is_none(&self) -> bool {
        self.seed.is_none() && self.params.is_empty() && self.inputs.is_empty()
    }

    /// Sets the seed of every draw.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Variation {
        self.seed = Some(seed);
        self
    }

    /// Sets a param, as [`Simulation::param`](crate::Simulation::param) does. The value is checked when the
    /// run starts.
    #[must_use]
    pub fn param(mut self, name: &str, value: impl Into<Array>) -> Variation {
        self.params.push((name.to_owned(), value.into()));
        self
    }

    /// Sets an input, as [`Simulation::input`](crate::Simulation::input) does. The values are checked when
    /// the run starts.
    #[must_use]
    pub fn input(mut self, name: &str, values: impl Into<Array>) -> Variation {
        self.inputs.push((name.to_owned(), values.into()));
        self
    }
}
