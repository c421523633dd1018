//! The inputs of agents as the next run has them, for searches over them.

use super::Simulation;
use crate::{
    bind::{Launch, bind},
    error::Error,
    snapshot::Identity,
};

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
