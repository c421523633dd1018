//! What searches over inputs need: those of the next run, and devices that breed.

use super::Simulation;
use crate::{
    bind::{Launch, bind},
    breeding::{Bred, Plan, Wanted},
    error::Error,
    snapshot::Identity,
};
use std::sync::Arc;

impl Simulation {
    /// The launch of the next run with every input computed: drawn, or by its default.
    ///
    /// # Errors
    /// Those of a launch.
    pub(crate) fn complete_launch(&self) -> Result<Launch, Error> {
        let launch = bind(&self.artifact, &self.settings)?;
        if launch.absent.is_empty() {
            return Ok(launch);
        }
        self.model().with_all_inputs(&launch)
    }

    /// The launch of the next run, with 0 for what the model computes of inputs, which it says.
    ///
    /// # Errors
    /// Those of a launch.
    pub(crate) fn launch_of_next(&self) -> Result<Launch, Error> {
        let launch = bind(&self.artifact, &self.settings)?;
        let words = self.artifact.manifest.input_words as usize;
        let inputs = match launch.inputs.is_empty() {
            true => Arc::new(vec![0; launch.agents as usize * words]),
            false => Arc::clone(&launch.inputs),
        };
        Ok(Launch { inputs, ..launch })
    }

    /// A launch of this simulation with every input computed.
    ///
    /// # Errors
    /// Those of a launch.
    pub(crate) fn completed(&self, launch: &Launch) -> Result<Launch, Error> {
        self.model().with_all_inputs(launch)
    }

    /// Whether what ran the last run can breed generations.
    pub(crate) fn can_breed(&self) -> bool {
        let can = self.with_backend(|backend| Ok(Some(backend.can_breed())));
        can.is_ok_and(|can| can == Some(true))
    }

    /// Lets what ran the last run breed generations: see [`Executor::breed`](crate::batch::Executor::breed).
    /// 0 if there was no run.
    ///
    /// # Errors
    /// Those of the device.
    pub(crate) fn breed(&self, plan: &Plan<'_>) -> Result<usize, Error> {
        let count = self.with_backend(|backend| backend.breed(plan).map(Some))?;
        Ok(count.unwrap_or(0))
    }

    /// See [`Executor::bred`](crate::batch::Executor::bred).
    ///
    /// # Errors
    /// Those of the device.
    pub(crate) fn bred(&self) -> Result<Option<Bred>, Error> {
        self.with_backend(|backend| backend.bred())
    }

    /// See [`Executor::bred_rows`](crate::batch::Executor::bred_rows).
    ///
    /// # Errors
    /// Those of the device.
    pub(crate) fn bred_rows(&self, wanted: Wanted<'_>) -> Result<Option<Vec<u32>>, Error> {
        self.with_backend(|backend| backend.bred_rows(wanted))
    }

    /// Whether the launch gives values for an input.
    pub(crate) fn gives_input(&self, name: &str) -> bool {
        self.settings.inputs.contains_key(name)
    }

    /// What the next run is bound to.
    ///
    /// # Errors
    /// Those of a launch.
    pub(crate) fn identity(&self) -> Result<Identity, Error> {
        let launch = bind(&self.artifact, &self.settings)?;
        Ok(Identity::of(&self.artifact, &launch))
    }

    /// The number of agents of the next run.
    ///
    /// # Errors
    /// [`Error::MissingCount`]
    pub(crate) fn agent_count(&self) -> Result<u32, Error> {
        let agents = self.settings.agents.or(self.artifact.manifest.agents);
        agents.ok_or(Error::MissingCount { what: "agents" })
    }
}
